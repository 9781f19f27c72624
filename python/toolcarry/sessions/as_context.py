"""A context in a file and a first prompt that points to it, for an agent that cannot resume a session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from toolcarry.api.context import carry
from toolcarry.api.conversation import Given
from toolcarry.api.tokens import count_tokens, truncate
from toolcarry.redact.hook import Redact, redact_text
from toolcarry.sessions.find import request_in, state_of
from toolcarry.sessions.words import words_of
from toolcarry.sessions.world import World
from toolcarry.types.policy import CarryPolicy

__all__ = ["Talk", "context_of", "first_prompt"]

Talk: TypeAlias = list[dict[str, Any]]
"""A conversation in the format of OpenAI Chat."""
LONGEST: Final = 300
"""The most characters of a request in a prompt."""
SAID: Final = 4
"""The last messages get at most this part of a context: a quarter."""
LEAST: Final = 20
"""The least tokens of a message that still makes sense without its middle."""
GAP: Final = "..."


def context_of(
    messages: Given,
    talk: Talk,
    world: World,
    *,
    max_tokens: int,
    source: str = "",
    redact: Redact | None = None,
) -> str:
    """Return the text of the file: the state of the directory, the last messages, and the context of ``carry``.

    ``talk`` is the same conversation in the format of OpenAI Chat, and ``source`` the file that has the whole of it.
    """
    parts = ["The state of the working directory:", *(f"- {line}" for line in world.lines())]
    if source:
        parts += ["", f"The whole session is in {source}: search it for the id after `whole:` to read a full result."]  # fmt: skip
    said = said_last(talk, max_tokens // SAID)
    if said:
        is_open = state_of(talk) != "finished"
        state = (
            "the last request is not answered yet" if is_open else "the last request was answered"
        )
        parts += ["", f"What was said last ({state}):", *said]
    room = max(max_tokens - count_tokens("\n".join(parts)), max_tokens // 2)
    context = carry(messages, policy=CarryPolicy(max_tokens=room, layout="handover")).text
    text = "\n".join([*parts, "", context]).rstrip() + "\n"
    return text if redact is None else redact_text(text, redact)


def said_last(talk: Talk, room: int) -> list[str]:
    """Return the end of a dialogue as quoted lines, within a number of tokens.

    The last request has priority, then the message just before it, the messages after it, and earlier messages from the
    newest on. A message that does not fit loses its middle.

    >>> said_last([{"role": "user", "content": "Hens or geese?"}, {"role": "assistant", "content": "Hens."}], 100)
    ['', 'User:', '> Hens or geese?', '', 'Assistant:', '> Hens.']
    """
    said = [(each["role"], words) for each in talk if each["role"] in ("user", "assistant") and (words := words_of(each.get("content")).strip())]  # fmt: skip
    last = next((place for place in reversed(range(len(said))) if said[place][0] == "user"), -1)
    after = reversed(range(last + 1, len(said)))
    order = [place for place in (last, last - 1, *after, *reversed(range(last - 1))) if place >= 0]
    kept: dict[int, str] = {}
    for place in order:
        words = said[place][1]
        count = count_tokens(words)
        if count > room and place != last and room < LEAST:
            break
        if count > room:
            words = without_middle(words, room)
        kept[place] = words
        room -= count
    return list(quoted(said, kept))


def without_middle(words: str, room: int) -> str:
    """Return the first and the last lines of a text within a number of tokens; for a single long line, its ends.

    If other lines stay, no line is cut, so that two halves never read as a sentence that nobody said.

    >>> without_middle("one\\ntwo\\nthree\\nfour\\nfive", 6)
    'one\\n...\\nfive'
    """
    mark = "\0"
    plain = words.replace(mark, "")
    head, _, tail = truncate(plain, room, unit="tokens", keep="ends", marker=mark).partition(mark)
    first, last = head.rpartition("\n")[0], tail.partition("\n")[2]
    return f"{first or head}\n{GAP}\n{last or tail}"


def quoted(said: list[tuple[str, str]], kept: dict[int, str]) -> Iterator[str]:
    """Yield the kept messages in their original order; a line of dots replaces the others between them."""
    before = -1
    for place in sorted(kept):
        if place != before + 1:
            yield from ("", GAP)
        yield from ("", f"{said[place][0].title()}:")
        yield from (f"> {line}" for line in kept[place].splitlines())
        before = place


def first_prompt(talk: Talk, path: Path, redact: Redact | None = None) -> str:
    """Return one line that points to the file and says what to do next. A request is redacted before it is shortened.

    >>> first_prompt([{"role": "user", "content": "Count the hens."}], Path("context.md"))
    "Read the file context.md first: it says what another agent did for me so far. Then go on with my request, which is \
not answered yet: 'Count the hens.'"
    """
    begin = f"Read the file {path} first: it says what another agent did for me so far."
    asked = request_in(talk)
    asked = asked if redact is None else redact_text(asked, redact)
    asked = " ".join(asked.replace('"', "'").split())
    asked = asked if len(asked) <= LONGEST else f"{asked[:LONGEST]}..."
    if not asked or state_of(talk) == "finished":
        return f"{begin} My last request was answered: say in one sentence where we are, and wait for the next."
    return f"{begin} Then go on with my request, which is not answered yet: '{asked}'"
