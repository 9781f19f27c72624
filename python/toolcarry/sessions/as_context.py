"""A context in a file and a first prompt that points to it, for an agent that cannot resume a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, TypeAlias

from toolcarry.api.context import carry
from toolcarry.api.conversation import Given
from toolcarry.redact.hook import Redact, redact_text
from toolcarry.sessions.find import request_in, state_of
from toolcarry.sessions.world import World
from toolcarry.types.policy import CarryPolicy

__all__ = ["Talk", "context_of", "first_prompt"]

Talk: TypeAlias = list[dict[str, Any]]
"""A conversation in the format of OpenAI Chat."""
LONGEST: Final = 300
"""The most characters of a request in a prompt."""


def context_of(
    messages: Given, talk: Talk, world: World, *, max_tokens: int, redact: Redact | None = None
) -> str:
    """Return the text of the file: the state of the directory, the last request, and the context of ``carry``.

    ``talk`` is the same conversation in the format of OpenAI Chat.
    """
    asked = request_in(talk)
    parts = ["The state of the working directory:", *(f"- {line}" for line in world.lines())]  # fmt: skip
    if asked:
        is_open = state_of(talk) != "finished"
        title = "The last request, which is not answered yet:" if is_open else "The last request, which was answered:"  # fmt: skip
        parts += ["", title, "", *(f"> {line}" for line in asked.splitlines())]
    context = carry(messages, policy=CarryPolicy(max_tokens=max_tokens, layout="handover")).text
    text = "\n".join([*parts, "", context]).rstrip() + "\n"
    return text if redact is None else redact_text(text, redact)


def first_prompt(talk: Talk, path: Path, redact: Redact | None = None) -> str:
    """Return one line that points to the file and says what to do next. A request is redacted before it is shortened.

    >>> first_prompt([{"role": "user", "content": "Count the hens."}], Path("context.md"))
    "Read the file context.md first: it tells what another agent did for me so far. Then go on with my request, which is \
not answered yet: 'Count the hens.'"
    """
    begin = f"Read the file {path} first: it tells what another agent did for me so far."
    asked = request_in(talk)
    asked = asked if redact is None else redact_text(asked, redact)
    asked = " ".join(asked.replace('"', "'").split())
    asked = asked if len(asked) <= LONGEST else f"{asked[:LONGEST]}..."
    if not asked or state_of(talk) == "finished":
        return f"{begin} My last request was answered: say in one sentence where we are, and wait for the next."
    return f"{begin} Then go on with my request, which is not answered yet: '{asked}'"
