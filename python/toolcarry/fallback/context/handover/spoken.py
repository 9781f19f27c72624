"""What the user asked for, and what the assistant said in the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from toolcarry.fallback.context.handover.kinds import words
from toolcarry.fallback.dialogue import SpokenText
from toolcarry.model.content.client_blocks import without_blocks
from toolcarry.model.session import CLIENT_TEXTS

_CLIENT_TEXTS: Final = (*CLIENT_TEXTS, *words("client_texts"))
_USER_TAGS: Final = words("user_tags")
_CONTROLS: Final = frozenset(words("controls"))
_COMMAND_TAGS: Final = words("command_tags")
_NEAR: Final = 3
"""A request that is repeated within this number of messages counts as one request."""


class Spoken(NamedTuple):
    """The requests of the user, oldest first, and what the assistant said after the last one, if it ends there."""

    requests: list[SpokenText]
    answer: SpokenText | None


def spoken_in(turns: Sequence[SpokenText]) -> Spoken:
    """Return the requests and the final answer among the turns, which are given newest first."""
    requests: list[SpokenText] = []
    for turn in turns:
        if turn.speaker == "USER":
            text = request_in(turn.text)
            is_again = (
                bool(requests)
                and requests[-1].text == text
                and requests[-1].position - turn.position <= _NEAR
            )
            if text and not is_again:
                requests.append(turn._replace(text=text))
    requests.reverse()
    last = next((turn for turn in turns if turn.speaker in ("USER", "ASSISTANT")), None)
    answer = last if last is not None and last.speaker == "ASSISTANT" else None
    return Spoken(requests, answer)


def request_in(text: str) -> str:
    """Return what the user asked for in a text, without the tags of a client; empty if the client wrote all of it.

    >>> request_in("<command-message>review</command-message><command-name>/review</command-name><command-args>a.py</command-args>")
    '/review a.py'
    >>> request_in("<task>Fix it.</task>"), request_in("<command-name>/clear</command-name>")
    ('Fix it.', '')
    """
    text = without_blocks(text).strip()
    if text.startswith(_COMMAND_TAGS):
        name = _within(text, "command-name")
        return "" if name in _CONTROLS else f"{name} {_within(text, 'command-args')}".strip()
    if text.startswith("<"):
        for tag in _USER_TAGS:
            said = _within(text, tag)
            if said:
                return said
    return "" if text.startswith(_CLIENT_TEXTS) else text


def _within(text: str, tag: str) -> str:
    """Return the text in the first pair of tags; empty if there is none."""
    inside, found, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
    return inside.strip() if found else ""
