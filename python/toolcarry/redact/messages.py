"""Redact the secrets in messages of any format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from toolcarry._input.objects import MAX_DEPTH, as_list, as_object
from toolcarry.errors import RedactionError

__all__ = ["redact_messages"]

NO_CONTENT: Final = frozenset({
    "id", "tool_use_id", "tool_call_id", "call_id", "toolUseId", "item_id", "file_id", "type", "role", "name", "tool_name",
    "signature", "thoughtSignature", "encrypted_content", "media_type", "mediaType", "mimeType", "mime_type", "format",
    "status", "bytes",
})  # fmt: skip
"""The keys whose values are ids, types, names and the like, and are not redacted."""
VALUES: Final = frozenset({"input", "args", "arguments", "parameters", "response", "json"})
"""The keys whose values are arguments or results of tools, in which every string is content."""
JSON_TEXTS: Final = frozenset({"arguments", "partial_json"})
DATA_URL: Final = re.compile(r"data:[\w.+/-]*(?:;[\w.+=-]+)*;base64,[A-Za-z0-9+/=_-]*\Z")
TELLING_NAME: Final = re.compile(r"(?i)key|token|secret|passw|pwd|passphrase|credential|auth")

Redact = Callable[[str], str]


def redact_messages(messages: Sequence[Any], redact: Redact) -> list[Any]:
    """Return the messages with ``redact`` applied to every string that is content; their number stays the same.

    Messages may be in the format of Anthropic, OpenAI Chat and Responses, Ollama, Gemini, Bedrock, or unknown. Every
    string is content except ids, types, roles, tool names, signatures, media types and base64 data. All arguments and
    results of tools are content. JSON in ``arguments`` stays JSON. The input is not changed, and an unchanged part of
    it is returned as the same object.

    Raises ``RedactionError`` if ``redact`` raises or does not return a text, and if values are nested deeper than 128.

    >>> redact_messages([{"role": "user", "content": "The PIN is 1234."}], lambda text: text.replace("1234", "****"))
    [{'role': 'user', 'content': 'The PIN is ****.'}]
    """
    cleaner = Cleaner(redact)
    return [cleaner.wire(message, 1) for message in messages]


class Cleaner:
    """Walks through values and redacts them; each method returns the same object if nothing changed."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact

    def text(self, text: str) -> str:
        """Redact a string, unless it is a data URL."""
        if not text or (text.startswith("data:") and DATA_URL.match(text)):
            return text
        try:
            cleaned = self._redact(text)
        except RedactionError:
            raise
        except Exception as error:  # noqa: BLE001 - a hook may raise anything; raised again, without its message
            raise RedactionError(f"redaction failed: {type(error).__name__}") from None
        if not isinstance(cleaned, str):
            raise RedactionError(f"redaction failed: returned {type(cleaned).__name__}")
        return text if cleaned == text else cleaned

    def wire(self, value: Any, depth: int) -> Any:
        """Redact a part of a message, in which some keys are not content."""
        return self._walk(value, depth, self._member_of_wire)

    def value(self, value: Any, depth: int) -> Any:
        """Redact the arguments or the result of a tool, in which every string is content."""
        return self._walk(value, depth, self._member_of_value)

    def _walk(self, value: Any, depth: int, member: Callable[[Any, str, Any, int], Any]) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if value is None or isinstance(value, (int, float)):
            return value
        items = as_list(value)
        found = as_object(value) if items is None else None
        if items is None and found is None:
            return value
        if depth > MAX_DEPTH:
            raise RedactionError(f"redaction failed: nested deeper than {MAX_DEPTH}")
        if found is not None:
            members = {key: member(found, key, item, depth + 1) for key, item in found.items()}
            return members if differ(found.values(), members.values()) else value
        cleaned = [self._walk(item, depth + 1, member) for item in items or ()]
        return cleaned if differ(items, cleaned) else value

    def _member_of_wire(self, whole: Any, key: str, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            if key in NO_CONTENT or (key == "data" and whole.get("type") != "text"):
                return value
            return self.json_text(value, depth) if key in JSON_TEXTS else self.text(value)
        if key == "images" and as_list(value) is not None:  # base64, in Ollama's format
            return value
        return self.value(value, depth) if key in VALUES else self.wire(value, depth)

    def _member_of_value(self, _whole: Any, key: str, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.named(key, value)
        return self.value(value, depth)

    def named(self, name: str, text: str) -> str:
        """Redact a string; if its name suggests a secret, match it together with the name, as in ``"token": "..."``."""
        cleaned = self.text(text)
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
        try:
            value = json.loads(text)
        except RecursionError:
            raise RedactionError(f"redaction failed: nested deeper than {MAX_DEPTH}") from None
        except ValueError:
            return self.text(text)
        cleaned = self.value(value, depth)
        return text if cleaned is value else json.dumps(cleaned, ensure_ascii=False)


def differ(before: Any, after: Any) -> bool:
    return any(old is not new for old, new in zip(before, after, strict=True))
