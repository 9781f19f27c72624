"""Generated settings of the jobs on a request."""

from __future__ import annotations

from random import Random
from typing import Any

from support.goldens.texts import a_text

from toolcarry import CarryPolicy, ProjectPolicy, Rule
from toolcarry._input.objects import JsonObject

DESTINATIONS = (
    "anthropic", "anthropic-4-5", "anthropic-4-6", "anthropic-compatible", "anthropic-no-prefill", "bedrock",
    "bedrock-nova", "deepseek", "gemini", "gemini-3", "groq", "mistral", "ollama", "openai-chat", "openai-responses",
    "openrouter",
)  # fmt: skip
OF_SHAPE = {
    "anthropic": ("anthropic", "anthropic-4-5", "anthropic-4-6", "anthropic-compatible", "anthropic-no-prefill"),
    "openai": ("openai-chat", "deepseek", "groq", "mistral", "openrouter"),
    "responses": ("openai-responses",),
    "ollama": ("ollama",),
    "gemini": ("gemini", "gemini-3"),
    "bedrock": ("bedrock", "bedrock-nova"),
}  # fmt: skip
OWN: tuple[JsonObject, ...] = (
    {"name": "strict", "base": "openai-chat", "user_ends": True, "refuses_blank": True},
    {"name": "words", "base": "anthropic", "cache_marks": 1, "fails_in_words": True, "refuses_media": True},
    {"name": "short", "base": "openai-chat", "id": {"at_least": 9, "at_most": 9, "is_word": True}, "typed_calls": True},
    {"name": "old", "base": "openai-chat", "refuses_developer": True, "refused_members": ["name", "refusal"]},
)  # fmt: skip
KINDS = ("diff", "hits", "html", "json", "lines", "listing", "logs", "table", "terminal", "tests", "trace")  # fmt: skip


def rules(random: Random, limits: tuple[int | None, ...]) -> Any:
    if random.random() < 0.7:
        return CarryPolicy().rules
    made = tuple(
        Rule(
            random.choice((("*",), ("Read",), ("re*", "Bash"), ("mcp__x__*",), ("str_replace_editor:view",))),
            kind=random.choice(("read", "edit", "command", "other")),
            key=random.choice(((), ("file_path",), ("path", "query"), ("command",))),
            keep=random.choice(("last", "all", "first", "none")),
            max_result_chars=random.choice(limits),
        )
        for _ in range(random.randint(0, 2))
    )  # fmt: skip
    return random.choice((made, made, "careful"))


def content(random: Random) -> Any:
    return random.choice(("auto", "auto", "auto", "off", tuple(random.choices(KINDS, k=3))))


def carry_policy(random: Random) -> CarryPolicy:
    settings: dict[str, Any] = {
        "layout": random.choice(("auto", "handover", "sections")),
        "keep": random.choice(("auto", "auto", "head", "tail", "ends")),
        "content": content(random),
        "rules": rules(random, (None, 0, 80, 400)),
        "encoding": random.choice(("o200k_base", "o200k_base", "cl100k_base")),
        "framing": random.random() < 0.8,
    }
    unit = random.choice(("chars", "chars", "tokens"))
    most = 1 if unit == "chars" else 4
    if random.random() < 0.75:
        settings[f"max_{unit}"] = random.choice((0, 100, 800, 3_000, 12_000)) // most
    if random.random() < 0.4:
        settings["max_result_chars"] = random.choice((0, 60, 300, 1_000))
    if random.random() < 0.15:
        settings["max_result_tokens"] = random.choice((0, 20, 100))
    for name in ("summary", "files", "changes", "commands", "others", "failed", "interrupted"):
        if random.random() < 0.06:
            settings[f"include_{name}"] = False
    return CarryPolicy(**settings)


def project_policy(random: Random, shape: str) -> ProjectPolicy:
    settings: dict[str, Any] = {
        "repair": random.random() < 0.65,
        "keep": random.choice(("auto", "auto", "head", "tail", "ends")),
        "content": content(random),
        "rules": rules(random, (None, 0, 80, 400)),
        "clear_at_least_tokens": random.choice((0, 0, 10, 200, None)),
        "clear_tool_inputs": random.choice((None, None, None, True, False, ("Write", "mcp__x__*"))),
        "exclude_tools": random.choice(((), (), (), ("Bash",), ("re*",))),
        "keep_last_results": random.choice((0, 0, 0, 1, 3)),
        "keep_last_turns": random.choice((0, 0, 0, 1, 2)),
        "encoding": random.choice(("o200k_base", "o200k_base", "cl100k_base")),
    }
    unit = random.choice(("chars", "tokens"))
    most = 1 if unit == "chars" else 4
    if random.random() < 0.5:
        settings[f"max_all_results_{unit}"] = random.choice((0, 100, 800, 3_000, 12_000)) // most
    if random.random() < 0.5:
        settings["max_result_chars"] = random.choice((0, 60, 150, 300, 1_000))
    if random.random() < 0.2:
        settings["max_result_tokens"] = random.choice((0, 20, 60))
    if random.random() < 0.35:
        settings["max_request_tokens"] = random.choice((0, 60, 200, 600, 2_000))
        if random.random() < 0.3:
            settings["model"] = random.choice(("gpt-4o", "claude-sonnet-4-5", "unknown"))
        if random.random() < 0.1:
            settings |= {
                "max_request_tokens": random.choice(("5%", "80 %")),
                "window_tokens": 4_000,
            }
    kind = random.random()
    if kind < 0.35:
        settings["destination"] = random.choice(OF_SHAPE.get(shape, DESTINATIONS))
    elif kind < 0.45:
        settings["destination"] = random.choice(DESTINATIONS)
    elif kind < 0.55:
        base = "anthropic" if shape == "anthropic" else "openai-chat"
        settings["destination"] = random.choice([own for own in OWN if own["base"] == base])
    return ProjectPolicy(**settings)


def recount_settings(random: Random) -> dict[str, Any]:
    settings: dict[str, Any] = {"max_result_length": random.choice((500, 500, 40, 0))}
    kind = random.random()
    if kind < 0.3:
        settings["max_chars"] = random.choice((0, 100, 600, 3_000))
    elif kind < 0.5:
        settings["max_tokens"] = random.choice((0, 30, 200, 1_000))
        settings["encoding"] = random.choice(("o200k_base", "cl100k_base"))
    if random.random() < 0.2:
        settings["turn_id"] = "role"
    if random.random() < 0.2:
        settings["tool_calls"] = [
            {"name": "Read", "arguments": {"path": "a.py"}, "result": a_text(random), "position": 1},
            {"tool_name": "Bash", "input": "ls", "error": "denied", "turn_id": 1},
            {"name": "now", "role": "assistant", "content": [{"type": "text", "text": "ten"}]},
        ][: random.randint(1, 3)]  # fmt: skip
    return settings
