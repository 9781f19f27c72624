"""Scopes, models, messages and definitions of tools to draw from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import strategies as st
from support.builders.definition_styles import (
    NEED_A_SCHEMA,
    STYLES,
    WRITERS,
    DraftTool,
    joined,
    no_arguments,
)
from support.strategies.definitions import requests, several

styles = st.sampled_from(STYLES)


def written(value: Any) -> str:
    """JSON with its keys in their order."""
    return json.dumps(value)


@st.composite
def tools_with_style(draw: Any) -> tuple[str, list[DraftTool], list[Any]]:
    style, said = draw(styles), draw(several())
    return style, said, draw(requests(style, said))


SCOPES = ("", "a", "ab", "a:model_b", "A", " a")
MODELS = ("b", "bb", "b:model_b", "model_b:b", "B")
"""Scopes and models that give the same text as other pairs when they are joined."""

CALLED: dict[str, list[Any]] = {
    "openai": [{"role": "assistant", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}],
    "result": [{"role": "tool", "tool_call_id": "c", "content": "x"}],
    "ollama": [{"role": "assistant", "content": "", "tool_calls": [
        {"function": {"name": "f", "arguments": {}}}]}, {"role": "tool", "tool_name": "f", "content": "x"}],
    "anthropic": [{"role": "assistant", "content": [
        {"type": "tool_use", "id": "t", "name": "f", "input": {}}]}],
    "responses": [{"type": "function_call_output", "call_id": "c", "output": "x"}],
    "gemini": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}],
}  # fmt: skip
HELLO = [{"role": "user", "content": "Hello, tool_calls."}, {"role": "assistant", "content": "Hi."}]
MESSAGES = (
    (None, False), ([], False), (HELLO, False),
    *((HELLO + called + HELLO[:1], True) for called in CALLED.values()),
)  # fmt: skip
"""Messages, and whether there is a call or a result in them."""

CHOICES = (
    (None, False), (None, False), ("auto", False), ("required", False), ({"type": "auto"}, False),
    ({"type": "function", "function": {"name": "none"}}, False), ("none", True), ({"type": "none"}, True),
)  # fmt: skip
"""Choices, and whether they refuse all tools."""

INVALID = (None, 7, {}, {"type": 7}, {"name": " "}, {"name": ["f"]}, {"name": None})
"""Definitions that every style refuses; in Gemini's style they are among the functions."""

ALIKE = ["openai", "ollama"]
"""Styles that write a definition alike."""

owners = st.tuples(st.sampled_from(SCOPES), st.sampled_from(MODELS))


@dataclass
class RecentTools:
    """An owner's last tools: their style, their definitions, and the time of their last use.

    ``touched_at`` is later after a lookup without a result, which may or may not have counted as a use.
    """

    style: str
    given: bytes
    tools: list[Any]
    said: list[DraftTool]
    used_at: int
    touched_at: int = field(default=0)

    def use(self, now: int) -> None:
        self.used_at = self.touched_at = now

    def in_style(self, style: str) -> list[Any]:
        """Return the tools that a request in this style gets."""
        if style == self.style:
            return self.tools
        said = [replace(each, strict=False if style == "responses" else None) for each in self.said]
        if self.style in NEED_A_SCHEMA:
            said = [replace(each, schema=each.schema or no_arguments()) for each in said]
        return joined([WRITERS[style](each) for each in said], style)


def schema_of(owner: tuple[str, str], has_schema: bool) -> Any:
    """A schema that says whose it is; or none."""
    if not has_schema:
        return None
    inner = {"type": "object", "description": json.dumps(owner), "properties": {}}
    return {"type": "object", "properties": {"inner": inner}}


def descriptions_in(value: Any) -> list[str]:
    """All that says whose something is, wherever it stands."""
    if isinstance(value, list):
        return [said for inner in value for said in descriptions_in(inner)]
    if not isinstance(value, dict):
        return []
    found = [said for inner in value.values() for said in descriptions_in(inner)]
    return [*found, value["description"]] if "description" in value else found


def given_as(tools: list[Any], form: str) -> Any:
    """Tools as a caller has them: a list of its own, or the bytes of a body."""
    if form == "bytes":
        return json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode()
    if form == "indented":
        return json.dumps(tools, indent=1).encode()
    made = json.loads(json.dumps(tools))
    return tuple(made) if form == "tuple" else made


def spoil(tools: Any) -> None:
    """Change names and schemas, then leave nothing."""
    for tool in tools:
        if isinstance(tool, dict):
            for inner in (tool, *(each for each in tool.values() if isinstance(each, dict))):
                inner["name"] = inner["description"] = '["spoiled"]'
                for key in ("parameters", "input_schema", "inputSchema"):
                    if isinstance(inner.get(key), dict):
                        inner[key]["properties"] = {"spoiled": {"description": '["spoiled"]'}}
            for declared in tool.get("functionDeclarations", ()):
                if isinstance(declared, dict):
                    declared.clear()
    tools.clear()
