"""The catalog of all formats that are read: of requests, of sessions, and of other producers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from toolcarry.importers.producers import IMPORTERS

__all__ = ["FORMATS", "FormatFacts", "as_markdown"]


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """The facts about a format. ``name`` is the shape that ``inspect`` reports."""

    name: str
    producer: str
    recognised_by: str
    projected: bool
    """True if ``project`` makes requests of this format smaller; all other formats pass through it unchanged."""
    converted: bool
    """True if ``convert`` writes the format; it reads all of them."""
    tested_with: str
    is_documented: bool = True
    """False if the producer publishes neither its code nor the structure, so that any version may change it."""

    def to_dict(self) -> dict[str, str | bool]:
        """Return the facts as plain values."""
        return asdict(self)


def native(name: str, producer: str, recognised_by: str, tested_with: str, *, is_session: bool = False, is_written: bool = True) -> FormatFacts:  # fmt: skip
    return FormatFacts(name, producer, recognised_by, not is_session, is_written, tested_with)


NATIVE: Final = (
    native("anthropic", "Anthropic Messages; Cline", "parts of the type `tool_use` and `tool_result`", "anthropic's MessageParam; real sessions of Cline"),
    native("openai-chat", "OpenAI Chat Completions", "`tool_calls`; role `tool` with a `tool_call_id`", "openai's ChatCompletionMessageParam"),
    native("ollama", "Ollama", "role `tool` with a `tool_name`", "Ollama's Message"),
    native("openai-responses", "OpenAI Responses", "types `function_call` and `function_call_output`", "openai's ResponseInputItemParam"),
    native("gemini", "Gemini; Qwen Code", "`parts` with a `functionCall` or a `functionResponse`", "Google's Content"),
    native("bedrock", "Bedrock Converse; Strands", "parts with a `toolUse` or a `toolResult`", "Bedrock's ContentBlock"),
    native("claude-code", "Claude Code; Claude Agent SDK, stream-json", "`uuid` next to `message`", "real sessions, 2.0 to 2.1", is_session=True, is_written=False),
    native("codex", "Codex, rollout-*.jsonl and .zst", "type `response_item` with a `payload`", "real sessions, 0.10x to 0.142", is_session=True, is_written=False),
)  # fmt: skip
"""The formats with a reader in each backend."""
WITH_CONTENT: Final = frozenset(("mini-swe-agent", "swe-agent"))
"""The producers whose results ``project`` replaces if they are messages of OpenAI Chat."""
FORMATS: Final[tuple[FormatFacts, ...]] = (
    *NATIVE,
    *(
        FormatFacts(each.NAME, each.ABOUT.producer, each.ABOUT.recognised_by, each.NAME in WITH_CONTENT, False, each.ABOUT.tested_with, each.ABOUT.is_documented)
        for each in sorted(IMPORTERS, key=lambda each: each.NAME)
    ),
)  # fmt: skip
"""All formats."""


def as_markdown() -> str:
    """Return the catalog as the table of docs/reference/formats.md."""
    lines = [
        "| format | producer | recognised by | projected | written by `convert` |",
        "|---|---|---|---|---|",
    ]
    for each in FORMATS:
        flags = ("projected" if each.projected else "", "written" if each.converted else "")
        mark = "" if each.is_documented else " \\*"
        lines.append(
            f"| `{each.name}` | {each.producer}{mark} | {each.recognised_by} | {' | '.join(flags)} |"
        )
    note = "\\* The producer publishes neither its code nor the structure."
    return "\n".join([*lines, "", note]) + "\n"
