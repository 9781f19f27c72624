"""Writers of drafts in each provider's format.

Whatever holds parts in an order is written in that order, so that a draft in disorder becomes a request in the same
disorder. What a provider has no place for (thinking in OpenAI Chat, a search at the provider's in most) is left out,
and so is a message that would be empty.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from support.builders.drafts import (
    IMAGE_DATA,
    Call,
    DraftTurn,
    Image,
    JsonObject,
    Manner,
    Part,
    Result,
    Search,
    Text,
    Thinking,
    has_image,
    of_kind,
    text_of,
    texts_of,
)


def write(provider: str, turns: Sequence[DraftTurn], manner: Manner) -> list[JsonObject]:
    """The messages in a provider's shape."""
    writer = {
        "anthropic": anthropic,
        "openai": openai,
        "responses": responses,
        "ollama": ollama,
        "gemini": gemini,
        "bedrock": bedrock,
    }[provider]
    messages = [message for said in turns for message in writer(said, manner)]
    for position, message in enumerate(messages):
        if message.get("type") == "reasoning":
            message["id"] = f"rs_{position}"
    return messages


def json_of(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def anthropic(said: DraftTurn, manner: Manner) -> Iterator[JsonObject]:
    blocks = [block for part in said.parts for block in anthropic_blocks(part, manner)]
    if manner.is_plain and len(blocks) == 1 and blocks[0]["type"] == "text":
        yield {"role": said.role, "content": blocks[0]["text"]}
    elif blocks:
        yield {"role": said.role, "content": blocks}


def anthropic_blocks(part: Part, manner: Manner) -> list[JsonObject]:
    match part:
        case Text(text):
            return [{"type": "text", "text": text}]
        case Thinking(text):
            return [{"type": "thinking", "thinking": text, "signature": "c2lnbmF0dXJl"}]
        case Search(number):
            call_id = f"srvtoolu_{number}"
            call = {"type": "server_tool_use", "id": call_id, "name": "web_search"}
            found = {"type": "web_search_tool_result", "tool_use_id": call_id, "content": []}
            return [call | {"input": {"query": "q"}}, found]
        case Call(call_id, name, given):
            return [{"type": "tool_use", "id": call_id, "name": name, "input": given}]
        case Result(call_id, _, content, is_error):
            block: JsonObject = {"type": "tool_result", "tool_use_id": call_id}
            if content or manner.is_plain:
                block["content"] = anthropic_content(content)
            if is_error or not manner.is_plain:
                block["is_error"] = is_error
            return [block]


def anthropic_content(content: str | tuple[str | Image, ...]) -> str | list[JsonObject]:
    if isinstance(content, str):
        return content
    source = {"type": "base64", "media_type": "image/png", "data": IMAGE_DATA}
    return [
        {"type": "text", "text": piece}
        if isinstance(piece, str)
        else {"type": "image", "source": source}
        for piece in content
    ]


def openai(said: DraftTurn, manner: Manner) -> Iterator[JsonObject]:
    if said.role == "assistant":
        words = [part.text for part in of_kind(said, Text)]
        calls = [chat_call(call) for call in of_kind(said, Call)]
        message: JsonObject = {"role": "assistant", "content": "\n".join(words) if words else None}
        if calls:
            message["tool_calls"] = calls
        if words or calls:
            yield message
        return
    for part in said.parts:
        if isinstance(part, Text):
            content = part.text if manner.is_plain else [{"type": "text", "text": part.text}]
            yield {"role": said.role, "content": content}
        elif isinstance(part, Result):
            # "Image URLs are only allowed for messages with role 'user'", so that a list here has texts alone.
            answer: str | list[JsonObject] = ""
            if isinstance(part.content, str):
                answer = part.content
            elif pieces := texts_of(part.content):
                answer = [{"type": "text", "text": piece} for piece in pieces]
            yield {"role": "tool", "tool_call_id": part.call_id, "content": answer}


def chat_call(call: Call) -> JsonObject:
    if call.style == "custom":
        custom = {"name": call.name, "input": json_of(call.given)}
        return {"id": call.call_id, "type": "custom", "custom": custom}
    function = {"name": call.name, "arguments": json_of(call.given)}
    return {"id": call.call_id, "type": "function", "function": function}


def ollama(said: DraftTurn, manner: Manner) -> Iterator[JsonObject]:
    if said.role == "assistant":
        words = "\n".join(part.text for part in of_kind(said, Text))
        message: JsonObject = {"role": "assistant", "content": words}
        if thinking := of_kind(said, Thinking):
            message["thinking"] = thinking[0].text
        if calls := of_kind(said, Call):
            message["tool_calls"] = [
                {"function": {"name": call.name, "arguments": call.given}}
                | ({"id": call.call_id} if manner.has_ids else {})
                for call in calls
            ]
        if words or len(message) > 2:
            yield message
        return
    for part in said.parts:
        if isinstance(part, Text):
            yield {"role": said.role, "content": part.text}
        elif isinstance(part, Result):
            answer: JsonObject = {"role": "tool", "content": text_of(part.content)}
            if not manner.is_plain:
                answer["tool_name"] = part.name
            if manner.has_ids:
                answer["tool_call_id"] = part.call_id
            if has_image(part.content):
                answer["images"] = [IMAGE_DATA]
            yield answer


def gemini(said: DraftTurn, manner: Manner) -> Iterator[JsonObject]:
    parts = [made for part in said.parts if (made := gemini_part(part, manner))]
    has_results_alone = all(isinstance(part, Result) for part in said.parts)
    answering = "function" if has_results_alone and not manner.is_plain else "user"
    if parts:
        yield {"role": "model" if said.role == "assistant" else answering, "parts": parts}


def gemini_part(part: Part, manner: Manner) -> JsonObject:
    match part:
        case Text(text):
            return {"text": text}
        case Thinking(text):
            return {"text": text, "thought": True}
        case Search():
            return {}
        case Call(call_id, name, given):
            call = {"name": name, "args": given} | ({"id": call_id} if manner.has_ids else {})
            return {"functionCall": call, "thoughtSignature": "c2lnbmF0dXJl"}
        case Result(call_id, name, content, is_error):
            text = text_of(content)
            answer: JsonObject = {
                "name": name,
                "response": {"error" if is_error else "output": text},
            }
            if not content and not is_error:
                answer["response"] = {}
            if has_image(content):
                data = {"mimeType": "image/png", "data": IMAGE_DATA}
                answer["parts"] = [{"inlineData": data}]
            return {"functionResponse": answer | ({"id": call_id} if manner.has_ids else {})}


def bedrock(said: DraftTurn, manner: Manner) -> Iterator[JsonObject]:
    content = [made for part in said.parts if (made := bedrock_block(part))]
    if content:  # Bedrock knows two roles
        yield {"role": "assistant" if said.role == "assistant" else "user", "content": content}


def bedrock_block(part: Part) -> JsonObject:
    match part:
        case Text(text):
            return {"text": text}
        case Thinking(text):
            reasoning = {"text": text, "signature": "c2lnbmF0dXJl"}
            return {"reasoningContent": {"reasoningText": reasoning}}
        case Search():
            return {}
        case Call(call_id, name, given):
            return {"toolUse": {"toolUseId": call_id, "name": name, "input": given}}
        case Result(call_id, _, content, is_error):
            pieces: tuple[str | Image, ...] = content if isinstance(content, tuple) else (content,)
            if not isinstance(content, tuple) and not content.strip():
                pieces = ()
            image: JsonObject = {"image": {"format": "png", "source": {"bytes": IMAGE_DATA}}}
            made = [{"text": piece} if isinstance(piece, str) else image for piece in pieces]
            nothing: list[JsonObject] = [] if is_error else [{"json": {}}]
            answer: JsonObject = {"toolUseId": call_id, "content": made or nothing}
            return {"toolResult": answer | ({"status": "error"} if is_error else {})}


def responses(said: DraftTurn, manner: Manner) -> Iterator[JsonObject]:
    for part in said.parts:
        match part:
            case Text(text):
                yield spoken_item(said.role, text, manner)
            case Thinking(text):
                summary = [{"type": "summary_text", "text": text}]
                yield {"type": "reasoning", "summary": summary, "encrypted_content": "ZW5jcnlwdGVk"}
            case Search(number):
                item = {"type": "web_search_call", "id": f"ws_{number}", "status": "completed"}
                yield {**item, "action": {"type": "search", "query": "q"}}
            case Call():
                yield call_item(part)
            case Result():
                yield output_item(part)


def spoken_item(role: str, text: str, manner: Manner) -> JsonObject:
    if role == "user" and manner.is_plain:
        return {"role": "user", "content": text}
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def call_item(call: Call) -> JsonObject:
    words = [str(value) for value in call.given.values()]
    made: JsonObject
    match call.style:
        case "custom":
            made = {"type": "custom_tool_call", "name": call.name, "input": json_of(call.given)}
        case "shell":
            made = {"type": "shell_call", "action": {"commands": words}, "status": "completed"}
        case "local_shell":
            action = {"type": "exec", "command": ["bash", "-lc", *words], "env": {}}
            made = {"type": "local_shell_call", "action": action, "status": "completed"}
        case "apply_patch":
            operation = {"type": "delete_file", "path": " ".join(words)}
            made = {"type": "apply_patch_call", "operation": operation, "status": "completed"}
        case _:
            arguments = json_of(call.given)
            made = {"type": "function_call", "name": call.name, "arguments": arguments}
    return made | {"call_id": call.call_id}


def output_item(result: Result) -> JsonObject:
    content = result.content
    text = text_of(content)
    pieces = content if isinstance(content, tuple) else ()
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE_DATA}"}
    listed = [
        {"type": "input_text", "text": piece} if isinstance(piece, str) else image
        for piece in pieces
    ]
    made: JsonObject
    match result.style:
        case "shell":
            outcome = {"type": "exit", "exit_code": int(result.is_error)}
            output = [{"stdout": text, "stderr": "", "outcome": outcome}]
            made = {"type": "shell_call_output", "output": output}
        case "local_shell":
            made = {"type": "local_shell_call_output", "output": text}
        case "apply_patch":
            status = "failed" if result.is_error else "completed"
            made = {"type": "apply_patch_call_output", "status": status, "output": text}
        case _:
            kind = "custom_tool_call" if result.style == "custom" else "function_call"
            output_of = content if isinstance(content, str) else listed
            made = {"type": f"{kind}_output", "output": output_of}
    return made | {"call_id": result.call_id}
