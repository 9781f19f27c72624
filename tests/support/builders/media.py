"""Non-text parts of results in every wire format, and every place where a wire format holds base64."""

from collections.abc import Callable
from typing import Any

from support.builders.wire import assistant, bash, use

JsonObject = dict[str, Any]

PAYLOAD = "QUJD" * 50
SIZE = "150 bytes"
PNG = f"data:image/png;base64,{PAYLOAD}"


def found(*content: Any) -> JsonObject:
    """Return a result of a tool of the Model Context Protocol."""
    return {"content": list(content), "isError": False}


def text(value: str) -> JsonObject:
    return {"type": "text", "text": value}


LINES: dict[str, tuple[Any, str]] = {
    "an image of Anthropic's": (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PAYLOAD}},
        f"[image: image/png, {SIZE}]",
    ),
    "an image by its address": (
        {"type": "image", "source": {"type": "url", "url": "https://x.org/a.png"}},
        "[image: https://x.org/a.png]",
    ),
    "an image of OpenAI's": (
        {"type": "image_url", "image_url": {"url": PNG, "detail": "low"}},
        f"[image: image/png, {SIZE}]",
    ),
    "an image of Responses'": (
        {"type": "input_image", "image_url": PNG},
        f"[image: image/png, {SIZE}]",
    ),
    "an image of Responses' by its address": (
        {"type": "input_image", "image_url": "https://x.org/a.png"},
        "[image: https://x.org/a.png]",
    ),
    "an image of a protocol's": (
        {"type": "image", "data": PAYLOAD, "mimeType": "image/png"},
        f"[image: image/png, {SIZE}]",
    ),
    "an image of Gemini's": (
        {"inlineData": {"mimeType": "image/png", "data": PAYLOAD}},
        f"[image: image/png, {SIZE}]",
    ),
    "an image of Gemini's in snake case": (
        {"inline_data": {"mime_type": "image/png", "data": PAYLOAD}},
        f"[image: image/png, {SIZE}]",
    ),
    "a file of Gemini's": (
        {"fileData": {"mimeType": "application/pdf", "fileUri": "gs://b/a.pdf"}},
        "[document: gs://b/a.pdf]",
    ),
    "a file of Gemini's in snake case": (
        {"file_data": {"mime_type": "application/pdf", "file_uri": "gs://b/a.pdf"}},
        "[document: gs://b/a.pdf]",
    ),
    "an image of Bedrock's": (
        {"image": {"format": "png", "source": {"bytes": PAYLOAD}}},
        f"[image: png, {SIZE}]",
    ),
    "a document of Bedrock's": (
        {"document": {"format": "pdf", "name": "d", "source": {"bytes": PAYLOAD}}},
        f"[document: pdf, {SIZE}]",
    ),
    "a film of Bedrock's": (
        {"video": {"format": "mp4", "source": {"bytes": PAYLOAD}}},
        f"[video: mp4, {SIZE}]",
    ),
    "a document of Anthropic's": (
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": PAYLOAD},
        },
        f"[document: application/pdf, {SIZE}]",
    ),
    "a document of words": (
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "words"},
        },
        "words",
    ),
    "a document of parts": (
        {"type": "document", "source": {"type": "content", "content": [text("words")]}},
        "words",
    ),
    "sound of OpenAI's": (
        {"type": "input_audio", "input_audio": {"data": PAYLOAD, "format": "wav"}},
        f"[audio: wav, {SIZE}]",
    ),
    "sound of a protocol's": (
        {"type": "audio", "data": PAYLOAD, "mimeType": "audio/wav"},
        f"[audio: audio/wav, {SIZE}]",
    ),
    "a resource of words": (
        {"type": "resource", "resource": {"uri": "file:///a", "text": "words"}},
        "words",
    ),
    "a resource of bytes": (
        {"type": "resource", "resource": {"mimeType": "image/png", "blob": PAYLOAD}},
        f"[resource: image/png, {SIZE}]",
    ),
    "a search result": (
        {
            "type": "search_result",
            "source": "https://x.org",
            "title": "X",
            "content": [text("words")],
        },
        "[search_result: X, https://x.org]\nwords",
    ),
}


def gemini(answer: JsonObject) -> list[JsonObject]:
    call = {"functionCall": {"name": "f", "args": {}}}
    response = {"functionResponse": {"name": "f", **answer}}
    return [{"role": "model", "parts": [call]}, {"role": "user", "parts": [response]}]


def bedrock(part: JsonObject) -> list[JsonObject]:
    answer = {"toolResult": {"toolUseId": "c", "content": [part]}}
    return [
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}],
        },
        {"role": "user", "content": [answer]},
    ]


def responses(kind: str, output: Any) -> list[JsonObject]:
    return [
        {"type": f"{kind}_call", "call_id": "c", "name": "f"},
        {"type": f"{kind}_call_output", "call_id": "c", "output": output},
    ]


def langchain(content: Any, **more: Any) -> list[JsonObject]:
    call = {"name": "f", "args": {}, "id": "c", "type": "tool_call"}
    return [
        {"type": "ai", "data": {"content": "", "tool_calls": [call]}},
        {"type": "tool", "data": {"content": content, "tool_call_id": "c", **more}},
    ]


def openhands(**seen: Any) -> list[JsonObject]:
    named = {"tool_name": "f", "tool_call_id": "c"}
    return [
        {"kind": "ActionEvent", "action": {}, **named},
        {"kind": "ObservationEvent", "observation": seen, **named},
    ]


def opentelemetry(response: Any) -> list[JsonObject]:
    answer = {"type": "tool_call_response", "id": "c", "response": response}
    return [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f"}]},
        {"role": "tool", "parts": [answer]},
    ]


def server(content: Any) -> list[JsonObject]:
    answer = {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": content}
    return [assistant(use("s", "web_fetch") | {"type": "server_tool_use"}, answer)]


def chat(*content: Any) -> list[JsonObject]:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": list(content)},
    ]


def source(data: str) -> JsonObject:
    return {"type": "base64", "media_type": "application/pdf", "data": data}


def data_url(data: str) -> str:
    return f"data:image/png;base64,{data}"


Place = Callable[[str], list[JsonObject]]

PLACES: dict[str, Place] = {
    "anthropic image": lambda data: bash("x", [{"type": "image", "source": source(data)}]),
    "anthropic document": lambda data: bash("x", [{"type": "document", "source": source(data)}]),
    "anthropic search": lambda data: server(
        [{"type": "web_search_result", "url": "u", "encrypted_content": data}]
    ),
    "anthropic fetch": lambda data: server(
        {"type": "web_fetch_result", "content": {"type": "document", "source": source(data)}}
    ),
    "chat image": lambda data: chat({"type": "image_url", "image_url": {"url": data_url(data)}}),
    "chat image as text": lambda data: chat({"type": "image_url", "image_url": data_url(data)}),
    "chat audio": lambda data: chat({"type": "input_audio", "input_audio": {"data": data}}),
    "chat file": lambda data: chat({"type": "file", "file": {"file_data": data}}),
    "chat file as address": lambda data: chat(
        {"type": "file", "file": {"file_data": data_url(data), "filename": "a"}}
    ),
    "responses image": lambda data: responses(
        "function", [{"type": "input_image", "image_url": data_url(data)}]
    ),
    "responses file": lambda data: responses(
        "custom_tool", [{"type": "input_file", "file_data": data_url(data), "filename": "a"}]
    ),
    "responses screenshot": lambda data: responses(
        "computer", {"type": "computer_screenshot", "image_url": data_url(data)}
    ),
    "responses image generation": lambda data: [
        {"type": "image_generation_call", "id": "ig", "status": "completed", "result": data}
    ],
    "responses code": lambda data: [
        {
            "type": "code_interpreter_call",
            "code": "x",
            "outputs": [{"type": "image", "url": data_url(data)}],
        }
    ],
    "codex image": lambda data: [
        {"type": "response_item", "payload": item}
        for item in responses("function", [{"type": "input_image", "image_url": data_url(data)}])
    ],
    "gemini part": lambda data: gemini(
        {"response": {"output": "x"}, "parts": [{"inlineData": {"mimeType": "m", "data": data}}]}
    ),
    "gemini part alone": lambda data: gemini(
        {"parts": [{"inline_data": {"mime_type": "m", "data": data}}]}
    ),
    "gemini protocol": lambda data: gemini(
        {"response": found(text("x"), {"type": "image", "data": data, "mimeType": "image/png"})}
    ),
    "gemini protocol in a result": lambda data: gemini(
        {"response": {"result": found({"type": "audio", "data": data, "mimeType": "audio/wav"})}}
    ),
    "bedrock image": lambda data: bedrock({"image": {"format": "png", "source": {"bytes": data}}}),
    "bedrock document": lambda data: bedrock(
        {"document": {"format": "pdf", "name": "d", "source": {"bytes": data}}}
    ),
    "bedrock video": lambda data: bedrock({"video": {"format": "mp4", "source": {"bytes": data}}}),
    "langchain image": lambda data: langchain(
        [{"type": "image", "base64": data, "mime_type": "image/png"}]
    ),
    "langchain file": lambda data: langchain(
        [{"type": "file", "base64": data, "mime_type": "application/pdf"}]
    ),
    "langchain older file": lambda data: langchain(
        [{"type": "file", "source_type": "base64", "data": data, "mime_type": "application/pdf"}]
    ),
    "langchain artifact": lambda data: langchain("x", artifact={"image": data}),
    "openhands image": lambda data: openhands(
        content=[{"type": "image", "image_urls": [data_url(data)]}]
    ),
    "openhands screenshot": lambda data: openhands(content=[text("x")], screenshot_data=data),
    "opentelemetry blob": lambda data: opentelemetry(
        [{"type": "blob", "modality": "image", "mime_type": "image/png", "content": data}]
    ),
    "opentelemetry protocol": lambda data: opentelemetry(
        found({"type": "resource", "resource": {"uri": "u", "blob": data}})
    ),
    "atif image": lambda data: [
        {
            "step_id": 1,
            "source": "agent",
            "tool_calls": [{"tool_call_id": "c", "function_name": "f"}],
            "observation": {
                "results": [
                    {"source_call_id": "c", "content": [{"type": "image", "source": source(data)}]}
                ]
            },
        }
    ],
}
"""Where a wire holds base64."""
