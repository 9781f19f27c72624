"""Who says the text of a message: the user, the assistant, or the client in their name."""

from __future__ import annotations

from toolcarry._input.objects import JsonObject, as_object, text_or_empty
from toolcarry.model.formats import read_spoken
from toolcarry.model.formats.message import Spoken
from toolcarry.model.session import QUEUE, TypedAhead, is_client_text
from toolcarry.model.text.sanitize import clean

SUMMARY, CLIENT = "SUMMARY", "CLIENT"


def told(record: JsonObject, message: JsonObject, ahead: TypedAhead) -> tuple[Spoken, str]:
    """Return what a message says, and the name of the client if that wrote it; note what the user says. A compaction of
    Codex says its summary, and a record of Claude Code's queue what the user typed.
    """
    if message is not record:
        said = read_spoken(message)
        if said.speaker == "user":
            ahead.note(said.content)
        return said, client_of(record, message, said)
    if record.get("role") is not None:
        return read_spoken(record), ""
    kind = record.get("type")
    summary = summary_in(record) if kind == "compacted" else ""
    if summary:
        return Spoken("user", summary), SUMMARY
    if kind == QUEUE:
        text = ahead.text_in(record)
        return Spoken("user" if text else "", text), ""
    said = read_spoken(record)
    is_user = kind == "response_item" and said.speaker == "user"
    return said, CLIENT if is_user and is_client_text(said.content) else ""


def summary_in(record: JsonObject) -> str:
    """Return the summary in a compaction of Codex of the items before it; empty if there is none."""
    return text_or_empty((as_object(record.get("payload")) or {}).get("message"))


def client_of(record: JsonObject, message: JsonObject, said: Spoken) -> str:
    """Return the name for what Claude Code wrote in a record; empty if the user or the assistant said it."""
    is_meta = record.get("isMeta") is True
    if said.speaker == "user":
        if record.get("isCompactSummary") is True:
            return SUMMARY
        origin = as_object(record.get("origin")) or {}
        is_told = is_meta or origin.get("kind") == "task-notification"
        is_told = is_told or record.get("subtype") == "notification"  # Qwen Code
        return CLIENT if is_told or is_client_text(said.content) else ""
    is_own = (
        is_meta or record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>"
    )
    return CLIENT if said.speaker == "assistant" and is_own else ""


def safe_turn(text: str) -> str:
    """Return ``text`` cleaned, without newlines around it, and without a line that could end or open a turn."""
    text = clean(text).strip("\n")
    for name in ("USER", "ASSISTANT", SUMMARY, CLIENT):
        text = text.replace(f"[{name}]", f"[\\{name}]").replace(f"[/{name}]", f"[\\/{name}]")
    return text
