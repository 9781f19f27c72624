"""Thinking in all of its forms is in the prompt, so it counts: as text, or encrypted by its size."""

from types import ModuleType
from typing import Any

import pytest

from toolcarry.api.survey import survey_context
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.message_pieces import DIGITS_PER_TOKEN, MEDIA_TOKENS

WORDS = "The tide table says low water at nine, so the boat has to leave before. " * 20
TOKENS = count_tokens(WORDS, "o200k_base")
DATA = "gAAA" * 1_000
HIDDEN = len(DATA) // DIGITS_PER_TOKEN
SAID: dict[str, Any] = {"role": "assistant", "content": ""}
THOUGHT = {"type": "thinking", "thinking": WORDS, "signature": "c2ln"}

FORMS: list[tuple[dict[str, Any], int]] = [
    (SAID | {"reasoning_content": WORDS}, TOKENS),
    (SAID | {"thinking_blocks": [THOUGHT]}, TOKENS),
    (SAID | {"thinking_blocks": [THOUGHT], "reasoning_content": WORDS}, TOKENS),
    (SAID | {"reasoning_details": [{"type": "reasoning.text", "text": WORDS}], "reasoning": WORDS}, TOKENS),
    (SAID | {"reasoning_details": [{"type": "reasoning.summary", "summary": WORDS}]}, TOKENS),
    (SAID | {"reasoning_details": [{"type": "reasoning.encrypted", "data": DATA}], "reasoning": WORDS}, TOKENS + HIDDEN),
    (SAID | {"content": [{"type": "redacted_thinking", "data": DATA}]}, HIDDEN),
    (SAID | {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": WORDS}]}]}, TOKENS),
    ({"type": "reasoning", "summary": [{"type": "summary_text", "text": WORDS}], "encrypted_content": DATA}, TOKENS + HIDDEN),
]  # fmt: skip


@pytest.mark.parametrize(("message", "wanted"), FORMS)
def test_each_form_counts_once(api: ModuleType, message: dict[str, Any], wanted: int) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
    rest = [call] if "role" not in message else []
    base = api.count_tokens(rest) if rest else 0
    assert api.count_tokens([message, *rest]) - base == wanted


def test_a_survey_has_it_as_thinking() -> None:
    survey = survey_context([{"role": "user", "content": "Go."}, FORMS[6][0]])
    assert survey.parts["thinking"] == HIDDEN


def test_images_of_ollama_count(api: ModuleType) -> None:
    message = {"role": "user", "content": "", "images": ["iVBORw0KGgo=", "iVBORw0KGgo="]}
    assert api.count_tokens([message]) == 2 * MEDIA_TOKENS
