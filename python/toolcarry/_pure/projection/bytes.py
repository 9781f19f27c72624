"""The projection of bytes: a body is decoded to decide, and its unchanged parts are copied byte by byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from toolcarry._input.document import (
    LISTS,
    TABLE,
    holds_conversations,
    is_imported_whole,
    messages_of,
)
from toolcarry._input.json import TOO_DEEP, compact_json, loads
from toolcarry._input.objects import JsonObject, text_or_empty
from toolcarry._pure.projection.plan import Projection, plan
from toolcarry._pure.projection.splice import Spans
from toolcarry._pure.tokens.count import count_tokens
from toolcarry.errors import InputError
from toolcarry.types.policy import Policy
from toolcarry.types.values import Decisions, EncodingName, ProjectReport

GZIP = b"\x1f\x8b"
CONTINUED_KEYS: tuple[str, ...] = tuple(TABLE["continued_keys"])
MODEL_KEYS: tuple[str, ...] = tuple(TABLE["model_keys"])

ProjectedBytes = tuple[bytes | None, ProjectReport, Decisions | None]
"""The new body, or ``None`` if it stays unchanged; and the decisions, unless it could not be read."""


class _Request(NamedTuple):
    """A body that is projected: its messages, their spans, and its other members."""

    messages: list[Any]
    spans: Spans
    frame: JsonObject | None
    """The members of the body besides its messages; ``None`` if it is the list of messages."""

    @property
    def is_continued(self) -> bool:
        """True if the provider stores the conversation before this request."""
        return any((self.frame or {}).get(key) is not None for key in CONTINUED_KEYS)

    def plan(
        self,
        messages: Sequence[Any],
        policy: Policy,
        previous: Decisions | None,
        *,
        is_foreign: bool = False,
    ) -> Projection:
        """Return the plan of a policy for the body, whose messages are read as the given ones."""
        is_counted = policy.max_request_tokens is not None
        return plan(
            messages,
            policy,
            previous,
            frame_tokens=frame_tokens(self.frame or {}, policy.encoding) if is_counted else 0,
            is_continued=self.is_continued,
            weigh=lambda start, end: place(self.spans, end) - place(self.spans, start),
            is_foreign=is_foreign,
            model=_model_of(self.frame or {}),
            frame=self.frame,
        )

    def written(self, found: Projection) -> bytes | None:
        """Return the body that a plan describes; ``None`` if it stays unchanged."""
        is_same = found.drafts is None and not found.frame
        return None if is_same else self.spans.write(found.drafts, found.frame)


def project_body(body: bytes, policy: Policy, previous: Decisions | None) -> ProjectedBytes:
    """Project the messages of a request body. A body that can't be read is not changed, and the reason is reported."""
    request = open_request(body)
    if isinstance(request, str):
        return untouched(request)
    found = request.plan(request.messages, policy, previous)
    return request.written(found), found.report, found.decisions


def open_request(body: bytes) -> _Request | str:
    """Return the request in a body, or the reason why it can't be read."""
    if body.startswith(GZIP):
        return "compressed"
    try:
        document = loads(body)
    except InputError as error:
        reason = "nested too deep" if str(error).startswith(TOO_DEEP) else "not JSON"
        return f"{reason}: byte {error.position}"
    if isinstance(document, list) and holds_conversations(document):
        return "many conversations"
    messages, key = _find_messages(document)
    if messages is None:
        return "no messages"
    for position, message in enumerate(messages):
        if not isinstance(message, dict):
            return f"message {position} is not an object"
    frame = None
    if isinstance(document, dict):
        frame = {name: value for name, value in document.items() if name != key}
    return _Request(messages, Spans(body, key), frame)


def _model_of(frame: JsonObject) -> str:
    """Return the name of the model in a request; empty if there is none."""
    return next((name for key in MODEL_KEYS if (name := text_or_empty(frame.get(key)))), "")


def untouched(reason: str) -> ProjectedBytes:
    return None, ProjectReport(untouched=reason), None


def _find_messages(document: object) -> tuple[list[Any] | None, str | None]:
    """Return the messages of a request, and the key that holds them; ``None`` if it is the list of messages."""
    if isinstance(document, list):
        return document, None
    if not isinstance(document, dict) or is_imported_whole(document):
        return None, None
    messages = messages_of(document)
    if not isinstance(messages, list):
        return None, None
    key = next(key for key in ("messages", *LISTS) if document.get(key) is messages)
    return messages, key


def frame_tokens(frame: JsonObject, encoding: EncodingName) -> int:
    """Return the tokens of a request without its messages: the system prompt, the tools, and its settings."""
    values = frame.values()
    texts = [value if isinstance(value, str) else compact_json(value) for value in values]
    return sum([count_tokens(text, encoding) for text in texts])


def place(spans: Spans, position: int) -> int:
    """Return the number of bytes before a message; 0 for the first one, which includes everything before it."""
    items = spans.items(spans.messages)
    if not position:
        return 0
    return items[position].start if position < len(items) else items[-1].end
