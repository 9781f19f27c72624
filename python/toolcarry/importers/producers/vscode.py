"""VS Code's chat (GitHub Copilot): requests, each with the rounds of calls that answered it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry._input.vscode_log import replayed
from toolcarry.importers.producers.base import (
    About,
    Imported,
    Signs,
    ToolCall,
    ToolResult,
    each_object,
    kind_of,
    nothing,
    objects,
    records,
    shown_parts,
)

NAME = "vscode-chat"
ABOUT = About(
    "VS Code chat: an exported session, chatSessions/*.json and *.jsonl",
    "`requests` whose items have a `message` and a `response`",
    "microsoft/vscode, src/vs/workbench/contrib/chat/common/model: chatModel.ts, objectMutationLog.ts",
)
SIGNS = Signs(("requests", "kind", "response"))
ASIDE = frozenset(
    (
        "responderUsername",
        "inputState",
        "invocationMessage",
        "pastTenseMessage",
        "variableData",
        "parts",
    )
)


def claims(message: JsonObject) -> bool:
    is_log = message.get("kind") == 0 and "v" in message
    if is_log:
        message = as_object(message["v"]) or {}
    # The requests may be in the lines after the first one.
    if is_log and message.get("requests") == []:
        return "sessionId" in message or "responderUsername" in message
    first = next(each_object(message.get("requests")), None)
    if first is None or not ("responderUsername" in message or "response" in first):
        return False
    return all("message" in each for each in each_object(message.get("requests")))


read = call = result = nothing


def fold(items: Sequence[Any]) -> Iterator[Any]:
    """Return the messages of the document: the user's text, and one message for each round of calls."""
    for request in each_object(document_in(items).get("requests")):
        asked = as_object(request.get("message"))
        yield Imported(NAME, "user", request.get("message") if asked is None else asked.get("text"))
        metadata = as_object((as_object(request.get("result")) or {}).get("metadata")) or {}
        rounds = objects(metadata.get("toolCallRounds"))
        answers = as_object(metadata.get("toolCallResults")) or {}
        for made in rounds:
            calls = [to_call(entry) for entry in objects(made.get("toolCalls"))]
            results = [
                to_result(each.call_id, answer)
                for each in calls
                if (answer := as_object(answers.get(each.call_id))) is not None
            ]
            yield Imported(NAME, "assistant", made.get("response"), calls, results)
        if not rounds:
            yield Imported(NAME, "assistant", said(request.get("response")))


def document_in(items: Sequence[Any]) -> JsonObject:
    """Return the document: the only item, or what the lines make of the first one."""
    first = as_object(items[0]) if items else None
    if first is not None and first.get("kind") == 0:
        return replayed(first.get("v"), items)
    return next(filter(claims, records(items)), {})


def accounted(items: Sequence[Any]) -> Iterator[Any]:
    """Yield the document, whose lines may hold earlier states."""
    yield document_in(items)


def said(response: object) -> object:
    """Return the texts of a response; its other parts show progress, and what tools do."""
    texts = []
    for part in objects(response):
        text = part.get("value", as_object(part.get("content")) or {})
        inner = as_object(text)
        text = inner.get("value") if inner is not None else text
        if isinstance(text, str) and kind_of(part, "kind") in ("", "markdownContent"):
            texts.append(text)
    return "".join(texts)


def to_call(entry: JsonObject) -> ToolCall:
    call_id, name = text_or_empty(entry.get("id")), text_or_empty(entry.get("name"))
    return ToolCall(entry, call_id, name, entry.get("arguments"))


def to_result(call_id: str, answer: JsonObject) -> ToolResult:
    parts = [
        {"type": "text", "text": part["value"]} if isinstance(part.get("value"), str) else part
        for part in objects(answer.get("content"))
    ]
    return ToolResult(answer, call_id, "", shown_parts(parts), answer.get("isError") is True)
