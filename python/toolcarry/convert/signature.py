"""The signature of the thought behind a part, which Google's models want back where the next request repeats it."""

from __future__ import annotations

from typing import Final

from toolcarry._input.objects import Wire, as_object, first_given, text_or_empty

# https://ai.google.dev/gemini-api/docs/thought-signatures
UNSIGNED: Final = "skip_thought_signature_validator"
"""Google's word for a call that none of its models made: since Gemini 3, a turn whose first call has no signature is refused."""


def signature_of(wire: Wire) -> str:
    """The signature at a part of Gemini's, or at a call as Google writes it in OpenAI's shape; empty where there is none.

    >>> signature_of({"functionCall": {"name": "f"}, "thoughtSignature": "c2ln"})
    'c2ln'
    """
    held = as_object((as_object(wire.get("extra_content")) or {}).get("google")) or {}
    given = text_or_empty(first_given(wire, "thoughtSignature", "thought_signature"))
    found = given or text_or_empty(held.get("thought_signature"))
    return "" if found == UNSIGNED else found
