"""Texts in messages of Responses: their type depends on who said them."""

from types import ModuleType
from typing import Any

from support.oracles.repairs import kinds, repair

CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}


def said(role: str, *types: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": kind, "text": "x", **more} for kind in types]}


def test_they_get_the_type_of_their_role(api: ModuleType) -> None:
    """Other members of the text stay, and so do other parts."""
    refusal = {"type": "refusal", "refusal": "No."}
    model = said("assistant", "input_text", "output_text", "text", annotations=[])
    model["content"].append(refusal)
    messages = [
        said("developer", "text"),
        said("user", "output_text", "input_text"),
        CALL,
        OUTPUT,
        model,
    ]
    found = repair(api, messages, "responses")
    assert found.messages == [
        said("developer", "input_text"),
        said("user", "input_text", "input_text"),
        CALL,
        OUTPUT,
        {"role": "assistant", "content": [*said("assistant", *["output_text"] * 3, annotations=[])["content"], refusal]},
    ]  # fmt: skip
    assert kinds(found) == ["text_type"] * 3
    assert [mend.detail for mend in found.report.mends] == [
        "input_text",
        "input_text",
        "output_text",
    ]
    assert found.messages[1]["content"][1] is messages[1]["content"][1]


def test_right_ones_stay(api: ModuleType) -> None:
    messages = [said("user", "input_text"), CALL, OUTPUT, said("assistant", "output_text")]
    found = repair(api, messages, "responses")
    assert (found.messages, found.report.mends) == (messages, ())


def test_outputs_of_tools_are_not_looked_at(api: ModuleType) -> None:
    """Their texts are the client's."""
    listed = {**OUTPUT, "output": [{"type": "input_text", "text": "ok"}]}
    messages = [
        {"role": "user", "content": "?"},
        CALL,
        listed,
        {"type": "message", **said("assistant", "output_text")},
    ]
    assert repair(api, messages, "responses").messages == messages
