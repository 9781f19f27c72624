"""Calls and results that stand in the text of messages, for models without calls of their own.

Roo Code and older Cline write ``<read_file><path>a.py</path></read_file>``, OpenHands ``<function=read>``, Hermes
``<tool_call>``, smolagents ``Calling tools:`` and a list; the client answers in the name of the user. Such calls are not read: a message with one is reported as unread.
"""

from __future__ import annotations

import re
from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object

_TABLE: Final = read_table("structures")
CALL_ELEMENTS: Final = frozenset(_TABLE["call_elements"])
CALL_HEADINGS: Final = tuple(_TABLE["call_headings"])
RESULT_ELEMENTS: Final = tuple(_TABLE["result_elements"])
RESULT_STARTS: Final = tuple(_TABLE["result_starts"])
ROLES: Final = read_table("roles")

LONGEST_NAME: Final = 64
"""The maximum number of characters of the name of an element."""
LONGEST_HEAD: Final = 2_000
"""The number of characters in which the head of a result ends, which holds the arguments of its call."""
WHITE: Final = " \t\r\n"

_CLOSED = re.compile(r"</([a-z][a-z_]*)>")
_HEAD = re.compile(r"\[[a-z][a-z_]*(?:\] Result:| for ['\"])")


def is_in_text(message: JsonObject, role: object) -> bool:
    """Return true if a text of a message is a call of the model, or begins with the result of one."""
    if role in ROLES["request_model_roles"]:
        holds = ends_with_call
    elif role in ROLES["user_roles"]:
        holds = begins_with_result
    else:
        return False
    content = message.get("content")
    if isinstance(content, str):
        return holds(content)
    texts = ((as_object(part) or {}).get("text") for part in as_list(content) or ())
    return any(isinstance(text, str) and holds(text) for text in texts)


def ends_with_call(text: str) -> bool:
    """Return true if a text ends with the element of a call, which begins a line, or with a line that lists calls."""
    text = text.rstrip(WHITE)
    if text.endswith("}]"):
        before, _, line = text.rpartition("\n")
        headings = (f"\n{heading}" for heading in CALL_HEADINGS)
        return line.startswith("[{") and f"\n{before}".endswith(tuple(headings))
    if not text.endswith(">"):
        return False
    start = text.rfind("</", max(0, len(text) - LONGEST_NAME - len("</>")))
    closed = _CLOSED.fullmatch(text, start) if start >= 0 else None
    if closed is None or closed[1] not in CALL_ELEMENTS:
        return False
    name = closed[1]
    opened = f"\n{text[:start]}".rfind(f"\n<{name}")
    if opened < 0:
        return False
    return text[opened + len(name) + 1 : start].startswith((">", "=", " ", "\n"))


def begins_with_result(text: str) -> bool:
    """Return true if a text begins as clients begin the result of a call: ``[read_file for 'a.py'] Result:``."""
    if text.startswith(RESULT_STARTS):
        return True
    if text.startswith("<"):
        return any(
            text.startswith(f"<{name}>") and f"</{name}>" in text for name in RESULT_ELEMENTS
        )
    return _HEAD.match(text) is not None and "] Result:" in text[:LONGEST_HEAD]
