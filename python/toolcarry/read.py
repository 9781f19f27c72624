"""The read step: what a conversation says, as a list of messages and as the dialogue in it."""

from __future__ import annotations

from toolcarry._backend import kernels
from toolcarry._input.objects import Body, Messages, located, take
from toolcarry.errors import InputError


def dialogue(messages: Messages | Body) -> str:
    """What was said in a conversation, without tools and without thinking: what a summarizer is given.

    Only the active branch is taken, without side chains. Raises ``InputError`` as ``carry`` does.

    >>> print(dialogue([{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}]))
    [USER]
    Fix it.
    [/USER]
    <BLANKLINE>
    [ASSISTANT]
    Done.
    [/ASSISTANT]
    """
    given = take(messages)
    try:
        if isinstance(given, bytes):
            return kernels.dialogue_body(given)
        return kernels.dialogue(given)
    except InputError as error:
        raise located(error, given) from None
