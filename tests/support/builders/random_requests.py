"""Random histories in a provider's format, fast enough for hundreds of thousands: most of them are in disorder.

Hypothesis finds small cases; these are for numbers. Each depends on its seed alone.
"""

from random import Random
from typing import Any

from support.builders.draft_writers import write
from support.builders.drafts import (
    Call,
    DraftTurn,
    Image,
    JsonObject,
    Manner,
    Part,
    Result,
    Text,
    Thinking,
)
from support.providers.validity import PROVIDERS

from toolcarry import ProjectPolicy, Rule

TEXTS = (
    "Go on.",
    "été, 日本語",
    "a line of text\n" * 30,
    "x" * 350,
    "y" * 40,
    "ok",
    "",
    " ",
    "Hm. ",
)
WORDS = ("Go on.", "Done.", "été", "Look at it.\n")
TOOLS: tuple[tuple[str, JsonObject], ...] = (
    ("Read", {"file_path": "a.py"}),
    ("Read", {"file_path": "b.py"}),
    ("Bash", {"command": "pytest -q"}),
    ("Bash", {"command": "rm x"}),
    ("Grep", {"pattern": "x"}),
)


def histories(random: Random, provider: str, *, is_alternating: bool = False) -> list[JsonObject]:
    """Return the messages of a conversation, of one message or more, with what goes wrong in conversations.

    With ``is_alternating`` it begins with the user, the sides take turns, and no message is blank.
    """
    while True:
        turns = said_by_turns(random, is_alternating=is_alternating)
        messages = write(provider, turns, Manner(random.random() < 0.5, random.random() < 0.7))
        if messages:
            return messages


def said_by_turns(random: Random, *, is_alternating: bool) -> list[DraftTurn]:
    turns: list[DraftTurn] = []
    ids: list[tuple[str, str]] = []
    open_ids: list[tuple[str, str]] = []
    role = "user" if is_alternating else random.choice(("user", "user", "assistant"))
    for _ in range(random.randint(1, 9)):
        said = DraftTurn(role, [])
        turns.append(said)
        if role == "assistant":
            say(random, said, ids, open_ids)
        else:
            hear(random, said, ids, open_ids)
        is_next = is_alternating or random.random() < 0.85
        if is_next:
            role = "user" if role == "assistant" else "assistant"
        elif random.random() < 0.1:
            turns.append(DraftTurn("system", [Text("The user is away.")]))
    return turns


def say(
    random: Random, said: DraftTurn, ids: list[tuple[str, str]], open_ids: list[tuple[str, str]]
) -> None:
    """Add the parts of the model: thoughts, words and calls."""
    open_ids.clear()
    if random.random() < 0.2:
        said.parts.append(Thinking("Let me see."))
    if random.random() < 0.4:
        said.parts.append(Text(random.choice(WORDS)))
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        name, given = random.choice(TOOLS)
        call_id = f"t{len(ids)}"
        if random.random() < 0.1:
            call_id = random.choice((*(each for each, _ in ids), "", "a b", "t" * 70))
        ids.append((call_id, name))
        open_ids.append((call_id, name))
        said.parts.append(Call(call_id, name, given))
    if random.random() < 0.1 or not said.parts:
        said.parts.append(Text(random.choice(WORDS)))


def hear(
    random: Random, said: DraftTurn, ids: list[tuple[str, str]], open_ids: list[tuple[str, str]]
) -> None:
    """Add the parts of the user: results of the calls, of no call, or of another one, and words."""
    parts: list[Part] = []
    for call_id, name in open_ids:
        if random.random() < 0.85:
            parts.append(result(random, call_id, name))
    if ids and random.random() < 0.12:
        parts.append(result(random, *random.choice(ids)))
    if random.random() < 0.12:
        parts.append(result(random, "ghost", "Read"))
    if not parts or random.random() < 0.25:
        at = random.choice((0, len(parts)))
        parts.insert(at, Text(random.choice((*WORDS, *WORDS, " "))))
    open_ids.clear()
    said.parts += parts


def result(random: Random, call_id: str, name: str) -> Result:
    content: str | tuple[str | Image, ...] = random.choice(TEXTS)
    if random.random() < 0.1:
        content = (random.choice(TEXTS), Image())
    return Result(call_id, name, content, random.random() < 0.1)


def policies(random: Random) -> ProjectPolicy:
    """Return a policy that repairs and has a total, a limit or results to keep."""
    unit = random.choice(("chars", "chars", "tokens"))
    settings: dict[str, Any] = {
        "repair": True,
        "clear_at_least_tokens": random.choice((0, None, 10, 200)),
        "keep_last_results": random.choice((0, 0, 0, 1, 3)),
        "keep_last_turns": random.choice((0, 0, 0, 1, 2)),
        "keep": random.choice(("auto", "head", "tail", "ends")),
    }
    kind = random.random()
    if kind < 0.7:
        settings[f"max_all_results_{unit}"] = random.choice((0, 100, 400, 900, 2_000))
    if kind > 0.5:
        settings["max_request_tokens"] = random.choice((0, 30, 80, 150, 300, 600))
    if random.random() < 0.4:
        settings[f"max_result_{unit}"] = random.choice((0, 60, 100, 300))
    if random.random() < 0.3:
        keep = random.choice(("last", "all", "first", "none"))
        rule = Rule(("Read",), kind="read", key=("file_path",), keep=keep)
        settings["rules"] = random.choice(((rule,), (), "careful"))
    return ProjectPolicy(**settings)


def requests(random: Random) -> list[JsonObject]:
    """Return the messages of a request of one provider, or ill-formed: of several formats, some of them twice."""
    messages = histories(random, random.choice(PROVIDERS))
    if random.random() < 0.25:
        others = histories(random, random.choice(PROVIDERS))
        at = random.randint(0, len(messages))
        messages = [*messages[:at], *others, *messages[at:]]
    if random.random() < 0.1:
        messages.insert(random.randint(0, len(messages)), dict(random.choice(messages)))
    return messages
