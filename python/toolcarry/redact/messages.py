"""Redact the secrets in messages of any format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from toolcarry._input.objects import MAX_DEPTH, as_list, as_object
from toolcarry.errors import RedactionError
from toolcarry.redact.hook import Redact, redact_text

__all__ = ["Cleaner", "redact_messages"]

NO_CONTENT: Final = frozenset({
    "id", "tool_use_id", "tool_call_id", "call_id", "toolUseId", "item_id", "file_id", "type", "role",
    "signature", "thoughtSignature", "encrypted_content", "media_type", "mediaType", "mimeType", "mime_type", "format",
    "status", "bytes",
})  # fmt: skip
"""The keys whose values are ids, types and the like, and are not redacted."""
TOOL_NAMES: Final = frozenset({"name", "tool_name"})
NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_]+")
UNDERSCORES: Final = re.compile("_+")
LONGEST_SECRET: Final = 512
"""Within a name."""
LONGEST_NAME: Final = 64
# https://platform.openai.com/docs/api-reference/chat/create (tools.function.name)
VALUES: Final = frozenset({"input", "args", "arguments", "parameters", "response", "json"})
"""The keys whose values are arguments or results of tools, in which every string is content."""
JSON_TEXTS: Final = frozenset({"arguments", "partial_json"})
DATA_URL: Final = re.compile(r"data:[\w.+/-]*(?:;[\w.+=-]+)*;base64,[A-Za-z0-9+/=_-]*\Z")
TELLING_NAME: Final = re.compile(r"(?i)key|token|secret|passw|pwd|passphrase|credential|auth")


def redact_messages(messages: Sequence[Any], redact: Redact) -> list[Any]:
    """Return the messages with ``redact`` applied to every string that is content; their number stays the same.

    Messages may be in the format of Anthropic, OpenAI Chat and Responses, Ollama, Gemini, Bedrock, or unknown. Every
    string is content except ids, types, roles, signatures, media types and base64 data. All arguments and results of
    tools are content, and so are the names of arguments. A redacted tool name is still one that providers accept, and
    JSON stays JSON. Text is redacted in the form without control characters and escapes (``redact_text``). The input is
    not changed, and an unchanged part of it is returned as the same object.

    Raises ``RedactionError`` if ``redact`` raises or does not return a string, and if values are nested deeper than
    128.

    >>> redact_messages([{"role": "user", "content": "The PIN is 1234."}], lambda text: text.replace("1234", "****"))
    [{'role': 'user', 'content': 'The PIN is ****.'}]
    """
    cleaner = Cleaner(redact)
    return [cleaner.wire(message, 1) for message in messages]


def redact_name(name: str, redact: Redact) -> str:
    """Return the name of a tool without secrets, of letters, digits, ``-`` and ``_`` if anything was redacted.

    >>> redact_name("run_sk-1", lambda text: text.replace("sk-1", "[secret]")), redact_name("a.b", str)
    ('run_-secret', 'a.b')
    """
    cleaned = next((new for old, new in readings(name, redact) if new != old), name)
    if cleaned is name:
        return name
    return NOT_IN_A_NAME.sub("-", cleaned).strip("-")[:LONGEST_NAME] or "redacted"


def readings(name: str, redact: Redact) -> Iterator[tuple[str, str]]:
    """Yield the ways to read a name, each as it is and redacted: words in names are joined by underscores."""
    spaced = name.replace("_", " ")
    yield name, redact_text(name, redact)
    yield spaced, redact_text(spaced, redact)
    for match in UNDERSCORES.finditer(name):
        start = match.end()
        part = name[start : start + LONGEST_SECRET]
        cleaned = redact_text(part, redact)
        if cleaned != part:
            yield name, name[:start] + cleaned + name[start + LONGEST_SECRET :]


class Cleaner:
    """Walks through values and redacts them; each method returns the same object if nothing changed."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._names: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Redact a string, unless it is a data URL."""
        if not text or (text.startswith("data:") and DATA_URL.match(text)):
            return text
        cleaned = redact_text(text, self._redact)
        return text if cleaned == text else cleaned

    def name(self, name: str) -> str:
        """Redact the name of a tool."""
        if name not in self._names:
            self._names[name] = redact_name(name, self._redact)
        return self._names[name]

    def content(self, text: str, depth: int) -> str:
        """Redact a string that may be JSON, whose strings a reader shows decoded."""
        cleaned = self.text(text)
        if cleaned is not text or "\\" not in text or not text.lstrip().startswith(("{", "[")):
            return cleaned
        return self.json_text(text, depth)

    def wire(self, value: Any, depth: int) -> Any:
        """Redact a part of a message, in which some keys are not content."""
        return self._walk(value, depth, is_value=False)

    def value(self, value: Any, depth: int) -> Any:
        """Redact the arguments or the result of a tool, in which every string is content, and every key."""
        return self._walk(value, depth, is_value=True)

    def _walk(self, value: Any, depth: int, *, is_value: bool) -> Any:
        if isinstance(value, str):
            return self.content(value, depth)
        if value is None or isinstance(value, (int, float)):
            return value
        items = as_list(value)
        found = as_object(value) if items is None else None
        if items is None and found is None:
            return value
        if depth > MAX_DEPTH:
            raise RedactionError(f"redaction failed: nested deeper than {MAX_DEPTH}")
        if found is not None:
            if is_value:
                members = self._members(found, depth + 1)
            else:
                members = {
                    key: self._member(found, key, item, depth + 1) for key, item in found.items()
                }
            is_new = differ(found, members) or differ(found.values(), members.values())
            return members if is_new else value
        cleaned = [self._walk(item, depth + 1, is_value=is_value) for item in items or ()]
        return cleaned if differ(items or (), cleaned) else value

    def _member(self, whole: Any, key: str, value: Any, depth: int) -> Any:
        """Redact a member of a part of a message."""
        if isinstance(value, str):
            if key in TOOL_NAMES:
                return self.name(value)
            if key in NO_CONTENT or (key == "data" and whole.get("type") != "text"):
                return value
            return self.json_text(value, depth) if key in JSON_TEXTS else self.content(value, depth)
        if key == "images" and as_list(value) is not None:  # base64, in Ollama's format
            return value
        return self.value(value, depth) if key in VALUES else self.wire(value, depth)

    def _members(self, found: Any, depth: int) -> dict[Any, Any]:
        """Redact the members of a value: their names, and what they hold."""
        members: dict[Any, Any] = {}
        for key, item in found.items():
            name = self.text(key) if isinstance(key, str) else key
            number = 1
            while name is not key and (name in members or name in found):
                number += 1
                name = f"{self.text(key)} {number}"
            is_text = isinstance(item, str)
            members[name] = self.named(key, item, depth) if is_text else self.value(item, depth)
        return members

    def named(self, name: str, text: str, depth: int) -> str:
        """Redact a string; if its name suggests a secret, match it together with the name, as in ``"token": "..."``."""
        cleaned = self.content(text, depth)
        if cleaned is not text or not isinstance(name, str) or not TELLING_NAME.search(name):
            return cleaned
        before, after = f'"{name}": "', '"'
        shown = self.text(f"{before}{text}{after}")
        if shown.startswith(before) and shown.endswith(after):
            inner = shown[len(before) : -len(after)]
            return text if inner == text else inner
        return shown

    def json_text(self, text: str, depth: int) -> str:
        """Redact a JSON text, and write it again only if something in it changed. Redact other text as a string."""
        repeats: list[str] = []

        def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            made = dict(pairs)
            if len(made) < len(pairs):
                repeats.append("")  # the first of two members of one name is not in ``made``
            return made

        try:
            value = json.loads(text, object_pairs_hook=members)
        except RecursionError:
            raise RedactionError(f"redaction failed: nested deeper than {MAX_DEPTH}") from None
        except ValueError:
            return self.text(text)
        cleaned = self.value(value, depth)
        if cleaned is value and not repeats:
            return text
        return json.dumps(cleaned, ensure_ascii=False)


def differ(before: Iterable[Any], after: Iterable[Any]) -> bool:
    return any(old is not new for old, new in zip(before, after, strict=True))
