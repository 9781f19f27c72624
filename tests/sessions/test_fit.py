"""A conversation that is larger than the window: shortened, then retold, and always accepted by its provider."""

from __future__ import annotations

from typing import Any

import pytest
from support.rows import for_each

from toolcarry import check, convert, estimate_tokens
from toolcarry.sessions.fit import fit

pytestmark = pytest.mark.usefixtures("rust")


def talk(turns: int, *, is_asked_once: bool = False) -> list[dict[str, Any]]:
    """A conversation of turns with two calls each."""
    messages: list[dict[str, Any]] = []
    for number in range(turns):
        if not (is_asked_once and number):
            messages.append({"role": "user", "content": f"Ask {number}. " + "word " * 80})
        calls = [{"type": "tool_use", "id": f"t{number}-{each}", "name": "Bash", "input": {"command": f"run {number} {each}"}} for each in "ab"]  # fmt: skip
        results = [{"type": "tool_result", "tool_use_id": each["id"], "content": f"line {number}\n" * 300} for each in calls]  # fmt: skip
        messages += [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    return [*messages, {"role": "assistant", "content": "Done."}]


@for_each("to", ["anthropic", "openai-responses"])
@for_each("is_asked_once", [False, True])
@for_each("limit", [50_000, 20_000, 8_000, 3_000])
def test_it_is_accepted(to: Any, is_asked_once: bool, limit: int) -> None:
    whole = convert(talk(40, is_asked_once=is_asked_once), to=to)
    fitted = fit(whole, limit, "barn.jsonl")
    destination = "anthropic" if to == "anthropic" else "openai-responses"
    assert check(fitted.messages, destination=destination) == ()
    if limit > 3_000:  # the last turn and the first request stay
        assert estimate_tokens(fitted.messages, model="gpt-5").value <= limit * 1.1
    kinds = [each.kind for each in fitted.losses]
    assert "shortened" in kinds or "retold" in kinds
    assert all("barn.jsonl" in each.detail for each in fitted.losses if each.kind in ("shortened", "retold"))  # fmt: skip
    said = str(fitted.messages)
    assert "Ask 0." in said
    assert "Done." in said


def test_what_fits_is_unchanged() -> None:
    whole = convert(talk(3), to="anthropic")
    assert fit(whole, 100_000, "barn.jsonl") is whole
    assert fit(whole, 9_000, "barn.jsonl").messages == whole.messages
