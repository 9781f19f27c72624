"""Faults that providers refuse, by the kinds in which they are reported in public. Each is put into a whole request.

A fault changes the request in place, and returns false where it finds no place. ``FAULTS`` has its providers, and the kinds
of corrections by which `check` may name it.
"""

import base64
import math
import struct
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from support.providers.requests import KEYS, parts, walk

Request = dict[str, Any]
Inject = Callable[[Random, str, Request], bool]
HALF = "\ud83d"
ALL = ("anthropic", "openai", "responses", "gemini", "bedrock", "ollama")


class Fault(NamedTuple):
    """A fault: how it is made, who refuses it, and what `check` calls it."""

    inject: Inject
    providers: tuple[str, ...]
    kinds: tuple[str, ...]


def png(width: int, height: int) -> str:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + bytes(8)
    return base64.b64encode(head).decode()


def messages_of(provider: str, request: Request) -> list[Any]:
    found: list[Any] = request[KEYS.get(provider, "messages")]
    return found


def one(random: Random, found: Iterator[Any] | list[Any]) -> Any:
    every = list(found)
    return random.choice(every) if every else None


def calls_of(provider: str, request: Request) -> list[Any]:
    """Return the objects that have a call's name and arguments."""
    found = []
    for each in walk(messages_of(provider, request)):
        if provider in ("openai", "ollama"):
            found += [call["function"] for call in each.get("tool_calls") or ()]
        elif provider == "anthropic":
            found += [each] if each.get("type") == "tool_use" else []
        elif provider == "responses":
            found += [each] if each.get("type") == "function_call" else []
        else:
            key = "functionCall" if provider == "gemini" else "toolUse"
            found += [each[key]] if key in each else []
    return found


def show(random: Random, provider: str, request: Request, stated: str, data: str) -> bool:
    """Add an image to a message of the user, or to a result that is a list of parts."""
    url = f"data:image/{stated};base64,{data}"
    source = {"type": "base64", "media_type": f"image/{stated}", "data": data}
    image: Any = {
        "anthropic": {"type": "image", "source": source},
        "openai": {"type": "image_url", "image_url": {"url": url}},
        "responses": {"type": "input_image", "image_url": url},
        "gemini": {"inlineData": {"mimeType": f"image/{stated}", "data": data}},
        "bedrock": {"image": {"format": stated, "source": {"bytes": data}}},
    }[provider]
    key = "parts" if provider == "gemini" else "content"
    users = [each for each in messages_of(provider, request) if each.get("role") == "user"]
    lists = [each[key] for each in users if isinstance(each.get(key), list)]
    if provider in ("anthropic", "bedrock"):
        held = [part.get("toolResult", part) for list_ in lists for part in list_]
        results = [each for each in held if isinstance(each.get("content"), list)]
        # Nobody puts an image next to a marker.
        lists += [each["content"] for each in results if not failed(each) and not is_marker(each)]
    found = one(random, lists)
    if found is None:
        return False
    found.append(image)
    return True


def is_marker(result: Any) -> bool:
    return any("[toolcarry:" in str(part.get("text")) for part in result["content"])


def failed(result: Any) -> bool:
    return bool(result.get("is_error")) or result.get("status") == "error"


def broken_image(random: Random, provider: str, request: Request) -> bool:
    data = random.choice(("", png(1, 1)[:9] + "...[truncated]", "[redacted]", "aGk="))
    return show(random, provider, request, "png", data)


def image_of_another_type(random: Random, provider: str, request: Request) -> bool:
    return show(random, provider, request, "jpeg", png(1, 1))


def wide_image(random: Random, provider: str, request: Request) -> bool:
    return show(random, provider, request, "png", png(*random.choice(((8001, 9), (9, 9000)))))


OF_PROTOCOL: tuple[dict[str, Any], ...] = (
    {"type": "image", "data": png(1, 1), "mimeType": "image/png"},
    {"type": "audio", "data": "UklGRiQAAABXQVZF", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a.py", "name": "a.py"},
    {"type": "resource", "resource": {"uri": "a.md", "mimeType": "text/plain", "text": "a"}},
)
"""Parts as the Model Context Protocol has them."""


def part_of_the_protocol(random: Random, provider: str, request: Request) -> bool:
    """Put a part of MCP into a message of the user, or next to an answer of Gemini."""
    part = dict(random.choice(OF_PROTOCOL))
    key = "parts" if provider == "gemini" else "content"
    users = [each for each in messages_of(provider, request) if each.get("role") == "user"]
    lists = [each[key] for each in users if isinstance(each.get(key), list)]
    found = one(random, lists)
    if found is None:
        return False
    answers = [each["functionResponse"] for each in found if "functionResponse" in each]
    if answers and random.random() < 0.5:
        found = random.choice(answers).setdefault("parts", [])
    found.append(part)
    return True


def list_of_parts(random: Random, provider: str, request: Request) -> bool:
    """Write a content of Ollama as a list."""
    message = one(random, [each for each in messages_of(provider, request) if each.get("content")])
    if message is None:
        return False
    url = f"data:image/png;base64,{png(1, 1)}"
    image = {"type": "image_url", "image_url": {"url": url}}
    message["content"] = [{"type": "text", "text": message["content"]}, image][
        : random.choice((1, 2))
    ]
    return True


def number_that_json_has_not(random: Random, provider: str, request: Request) -> bool:
    """Give a call an argument that is NaN or an infinity."""
    call = one(random, calls_of(provider, request))
    key = {"gemini": "args", "ollama": "arguments"}.get(provider, "input")
    if call is None or not isinstance(call.get(key), dict):
        return False
    call[key]["limit"] = random.choice((math.nan, math.inf, -math.inf))
    return True


def blank_text(random: Random, provider: str, request: Request) -> bool:
    lists = [each["content"] for each in messages_of(provider, request) if each["role"] == "user"]
    found = one(random, [each for each in lists if isinstance(each, list)])
    if found is None:
        return False
    blank = random.choice(("", " ", "\n\t"))
    found.append({"type": "text", "text": blank} if provider == "anthropic" else {"text": blank})
    return True


def many_wide_images(random: Random, provider: str, request: Request) -> bool:
    return all([show(random, provider, request, "png", png(2100, 9)) for _ in range(21)])


def broken_file(random: Random, provider: str, request: Request) -> bool:
    """Put a document, a file or a film into a message of the user, without the bytes that it says it has."""
    data = random.choice(("", "[redacted]", "JVBERi0...[truncated]"))
    url = f"data:application/pdf;base64,{data}"
    part: Any = {
        "anthropic": {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}},
        "openai": {"type": "file", "file": {"filename": "a.pdf", "file_data": url}},
        "responses": {"type": "input_file", "filename": "a.pdf", "file_data": url},
        "gemini": {"inlineData": {"mimeType": "application/pdf", "data": data}},
        "bedrock": {"document": {"format": "pdf", "name": "a", "source": {"bytes": data}}},
    }[provider]  # fmt: skip
    key = "parts" if provider == "gemini" else "content"
    users = [each for each in messages_of(provider, request) if each.get("role") == "user"]
    found = one(random, [each[key] for each in users if isinstance(each.get(key), list)])
    if found is None:
        return False
    found.append(part)
    return True


def image_beside_the_words(random: Random, provider: str, request: Request) -> bool:
    """Give a message of Ollama an image that is a URL, or none at all."""
    image = random.choice((f"data:image/png;base64,{png(1, 1)}", "[redacted]", ""))
    users = [each for each in messages_of(provider, request) if each.get("role") == "user"]
    message = one(random, users)
    if message is None:
        return False
    message["images"] = [png(1, 1), image]
    return True


def too_many_images(random: Random, provider: str, request: Request) -> bool:
    most = {"bedrock": 20}.get(provider, 500)
    return all([show(random, provider, request, "png", png(1, 1)) for _ in range(most + 3)])


def empty_list(random: Random, provider: str, request: Request) -> bool:
    users = [each for each in messages_of(provider, request) if each.get("role") == "user"]
    message = one(random, users)
    return message is not None and message.update(content=[]) is None


def sound_or_film(random: Random, provider: str, request: Request) -> bool:
    part: Any = {"type": "video_url", "video_url": {"url": "https://example.org/eel.mp4"}}
    if provider == "anthropic":
        part = {"type": "audio", "source": {"type": "url", "url": "https://example.org/eel.mp3"}}
    elif random.random() < 0.5:
        part = {"type": "input_audio", "input_audio": {"data": "T2dnUwAAAAAA", "format": "ogg"}}
    users = [each for each in messages_of(provider, request) if each.get("role") == "user"]
    found = one(random, [each["content"] for each in users if isinstance(each["content"], list)])
    if found is None:
        return False
    found.append(part)
    return True


def lone_surrogate(random: Random, provider: str, request: Request) -> bool:
    """Cut a character in two: in a text, or in the name of an argument."""
    objects = list(walk(messages_of(provider, request)))
    keys = ("text", "content", "output", "arguments")
    places = [
        (each, key)
        for each in objects
        for key in keys
        if isinstance(each.get(key), str) and each[key]
    ]
    inputs = [
        each[key]
        for each in objects
        for key in ("input", "args")
        if isinstance(each.get(key), dict)
    ]
    if inputs and random.random() < 0.3:
        random.choice(inputs)["a" + HALF] = 1
        return True
    if not places:
        return False
    each, key = random.choice(places)
    each[key] = (
        each[key].replace("}", f', "a": "{HALF}"}}') if key == "arguments" else each[key] + HALF
    )
    return key != "arguments" or HALF in each[key]


def id_with_half_a_character(_random: Random, provider: str, request: Request) -> bool:
    """Give two calls of a message ids that differ by half a character."""
    for message in messages_of(provider, request):
        calls = message.get("tool_calls") or ()
        if len(calls) > 1:
            names = {
                call["id"]: f"id{half}" for call, half in zip(calls, (HALF, "\ude00"), strict=False)
            }
            for each in walk(messages_of(provider, request)):
                for key in ("id", "tool_call_id"):
                    if each.get(key) in names:
                        each[key] = names[each[key]]
            return True
    return False


def leaked_member(random: Random, provider: str, request: Request) -> bool:
    """Leave what a stream or a client wrote in a part, or in what it holds."""
    kinds = ("text", "tool_use", "tool_result", "thinking", "input_text", "function_call")
    messages = messages_of(provider, request)
    if provider in ("gemini", "bedrock"):
        key = "parts" if provider == "gemini" else "content"
        own = [part for each in messages for part in each[key]]
        held = ("functionCall", "functionResponse", "toolUse", "toolResult")
        found = [*own, *(part[key] for part in own for key in held if key in part)]
    else:
        found = [each for each in walk(messages) if each.get("type") in kinds]
    part = one(random, found)
    name = random.choice(("index", "partial_json", "_id", "cache_control"))
    if part is None or name in part or (provider == "anthropic" and name == "cache_control"):
        return False
    part[name] = {"type": "ephemeral"} if name == "cache_control" else "0"
    return True


def foreign_member(random: Random, provider: str, request: Request) -> bool:
    said = ("assistant", "model", "user")
    models = [each for each in messages_of(provider, request) if each.get("role") in said]
    message = one(random, models)
    if message is None:
        return False
    names = ("reasoning_content", "refusal", "annotations", "tool_plan", "timestamp", "usage")
    message[random.choice(names)] = "x"
    return True


def many_marks(_random: Random, provider: str, request: Request) -> bool:
    if provider == "bedrock":
        for message in messages_of(provider, request):
            message["content"].append({"cachePoint": {"type": "default"}})
        return len(messages_of(provider, request)) > 4
    kinds = ("text", "tool_use", "tool_result")
    found = [each for each in walk(messages_of(provider, request)) if each.get("type") in kinds]
    for part in (*request["tools"], *found):
        part["cache_control"] = {"type": "ephemeral"}
    return len(request["tools"]) + len(found) > 4


def longer_mark_later(random: Random, provider: str, request: Request) -> bool:
    blocks = [part for each in messages_of(provider, request) for part in parts(each["content"])]
    found = [part for part in blocks if part["type"] in ("text", "tool_use", "tool_result")]
    if not found:
        return False
    request["tools"][-1]["cache_control"] = {"type": "ephemeral"}
    random.choice(found)["cache_control"] = {"type": "ephemeral", "ttl": "1h"}
    return True


def many_calls(_random: Random, provider: str, request: Request) -> bool:
    messages = messages_of(provider, request)
    function = {"name": "Read", "arguments": "{}"}
    calls = [{"id": f"m{n}", "type": "function", "function": function} for n in range(130)]
    messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    messages += [{"role": "tool", "tool_call_id": call["id"], "content": "1"} for call in calls]
    return True


def unsigned_thought(random: Random, provider: str, request: Request) -> bool:
    models = [each for each in messages_of(provider, request) if each.get("role") == "assistant"]
    message = one(random, [each for each in models if isinstance(each["content"], list)])
    if message is None:
        return False
    message["content"].insert(0, {"type": "thinking", "thinking": "Hm.", "signature": ""})
    return True


def reasoning_without_summary(random: Random, provider: str, request: Request) -> bool:
    items = messages_of(provider, request)
    calls = [n for n, each in enumerate(items) if each.get("type") == "function_call"]
    if not calls:
        return False
    items.insert(
        random.choice(calls), {"type": "reasoning", "id": "rs_new", "encrypted_content": "g"}
    )
    return True


def tools_at(provider: str, request: Request) -> list[Any]:
    found: list[Any] = request["toolConfig"]["tools"] if provider == "bedrock" else request["tools"]
    return found[0]["functionDeclarations"] if provider == "gemini" else found


def tool(provider: str, name: str) -> Any:
    schema = {"type": "object"}
    if provider == "anthropic":
        return {"name": name, "input_schema": schema}
    if provider == "bedrock":
        return {"toolSpec": {"name": name, "inputSchema": {"json": schema}}}
    own = {"name": name, "parameters": schema}
    if provider in ("openai", "ollama"):
        return {"type": "function", "function": own}
    return own if provider == "gemini" else {"type": "function", **own}


def choose(provider: str, request: Request, name: str) -> None:
    if provider == "bedrock":
        request["toolConfig"]["toolChoice"] = {"tool": {"name": name}}
    elif provider == "gemini":
        config = {"mode": "ANY", "allowedFunctionNames": [name]}
        request["toolConfig"] = {"functionCallingConfig": config}
    else:
        request["tool_choice"] = {
            "anthropic": {"type": "tool", "name": name},
            "openai": {"type": "function", "function": {"name": name}},
            "responses": {"type": "function", "name": name},
        }[provider]


def choice_of_no_tool(_random: Random, provider: str, request: Request) -> bool:
    choose(provider, request, "gone")
    return True


def too_many_tools(_random: Random, provider: str, request: Request) -> bool:
    tools_at(provider, request).extend(tool(provider, f"more_{n}") for n in range(600))
    return True


def tool_with_a_dot(random: Random, provider: str, request: Request) -> bool:
    tools_at(provider, request).append(tool(provider, random.choice(("a.b", "a b", "x" * 140))))
    return True


def schema_with_a_choice(random: Random, provider: str, request: Request) -> bool:
    new = tool(provider, "chooses")
    schema = new.get("function", new)["input_schema" if provider == "anthropic" else "parameters"]
    schema[random.choice(("oneOf", "anyOf", "allOf"))] = [{"properties": {"a": {}}}]
    tools_at(provider, request).append(new)
    return True


def tool_without_a_schema(_random: Random, _provider: str, request: Request) -> bool:
    request["tools"].append({"name": "bare"})
    return True


def all_deferred(_random: Random, _provider: str, request: Request) -> bool:
    for each in request["tools"]:
        each["defer_loading"] = True
    return True


def reference_to_no_tool(random: Random, provider: str, request: Request) -> bool:
    found = (
        each for each in walk(messages_of(provider, request)) if each.get("type") == "tool_result"
    )
    result = one(random, [each for each in found if not failed(each)])
    if result is None:
        return False
    result["content"] = [{"type": "tool_reference", "tool_name": "gone"}]
    return True


def arguments_that_are_none(random: Random, provider: str, request: Request) -> bool:
    call = one(random, calls_of(provider, request))
    if call is None:
        return False
    key = {"anthropic": "input", "bedrock": "input", "gemini": "args"}.get(provider, "arguments")
    call[key] = random.choice(("[1", '{"a": ', "ls")) if provider != "gemini" else "ls"
    return True


def id_of_another_item(random: Random, provider: str, request: Request) -> bool:
    items = [each for each in messages_of(provider, request) if each.get("type") == "function_call"]
    own = random.choice(("fc_1", "toolu_1", "", "x" * 70))
    for each in items:
        each["id"] = own
    return len(items) > 1


def name_of_a_document(random: Random, provider: str, request: Request) -> bool:
    users = [each["content"] for each in messages_of(provider, request) if each["role"] == "user"]
    name = random.choice(("a.pdf", "a  b", "été"))
    document = {"format": "pdf", "name": name, "source": {"bytes": "JVBERi0xLjQK"}}
    random.choice(users).append({"document": document})
    return True


MEDIA = ("anthropic", "openai", "responses", "gemini", "bedrock")
FAULTS: dict[str, Fault] = {
    "broken image": Fault(broken_image, MEDIA, ("unreadable_media",)),
    "image of another type": Fault(image_of_another_type, ("anthropic", "bedrock"), ("media_type",)),
    "wide image": Fault(wide_image, ("anthropic", "bedrock"), ("oversized_image",)),
    "part of the protocol": Fault(part_of_the_protocol, MEDIA, ("foreign_part", "unreadable_media")),
    "list of parts": Fault(list_of_parts, ("ollama",), ("joined_content",)),
    "number that JSON has not": Fault(number_that_json_has_not, ("anthropic", "gemini", "bedrock", "ollama"), ("not_finite",)),
    "blank text": Fault(blank_text, ("anthropic", "bedrock"), ("empty_text",)),
    "many wide images": Fault(many_wide_images, ("anthropic",), ("oversized_image",)),
    "sound or film": Fault(sound_or_film, ("anthropic", "openai"), ("unreadable_media",)),
    "lone surrogate": Fault(lone_surrogate, ALL, ("lone_surrogate", "mended_arguments")),
    "half of an id": Fault(id_with_half_a_character, ("openai",), ("renamed_id",)),
    "broken file": Fault(broken_file, MEDIA, ("unreadable_media",)),
    "image beside the words": Fault(image_beside_the_words, ("ollama",), ("unreadable_media", "media_type")),
    "too many images": Fault(too_many_images, ("bedrock", "openai", "responses"), ("oversized_image",)),
    "empty list": Fault(empty_list, ("openai",), ("empty_content",)),
    "leaked member": Fault(leaked_member, ("anthropic", "responses", "gemini", "bedrock"), ("refused_member",)),
    "foreign member": Fault(foreign_member, ("anthropic", "responses", "gemini", "bedrock"), ("refused_member",)),
    "many marks": Fault(many_marks, ("anthropic", "bedrock"), ("cache_mark",)),
    "longer mark later": Fault(longer_mark_later, ("anthropic",), ("cache_mark_order",)),
    "many calls": Fault(many_calls, ("openai",), ("split_calls",)),
    "unsigned thought": Fault(unsigned_thought, ("anthropic",), ("unsigned_thought",)),
    "reasoning without summary": Fault(reasoning_without_summary, ("responses",), ("missing_summary",)),
    "choice of no tool": Fault(choice_of_no_tool, MEDIA, ("undefined_tool",)),
    "too many tools": Fault(too_many_tools, ("openai", "responses", "gemini"), ("dropped_tool",)),
    "tool with a dot": Fault(tool_with_a_dot, ("anthropic", "openai", "responses", "bedrock"), ("refused_name",)),
    "schema with a choice": Fault(schema_with_a_choice, ("anthropic", "openai", "responses"), ("refused_schema",)),
    "tool without a schema": Fault(tool_without_a_schema, ("anthropic",), ("refused_schema",)),
    "all deferred": Fault(all_deferred, ("anthropic",), ("refused_member",)),
    "reference to no tool": Fault(reference_to_no_tool, ("anthropic",), ("undefined_tool",)),
    "arguments that are none": Fault(arguments_that_are_none, ("anthropic", "openai", "responses", "ollama"), ("mended_arguments",)),
    "id of another item": Fault(id_of_another_item, ("responses",), ("dropped_id",)),
    "name of a document": Fault(name_of_a_document, ("bedrock",), ("document_name",)),
}  # fmt: skip
