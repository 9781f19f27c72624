"""The members in the records of destinations are those of the providers' SDKs: a new one fails here."""

from typing import Any, get_args, get_origin, get_type_hints

import pytest
from support.sdk import sdk

from toolcarry.model.destinations import DESTINATIONS

pytestmark = pytest.mark.sdk


def shapes_of(union: Any) -> dict[str, set[str]]:
    """Return the members of typed dicts by their types; those of shapes with one type are put together."""
    found: dict[str, set[str]] = {}
    for shape in (each for each in get_args(union) if isinstance(each, type)):
        hints: dict[str, Any] = get_type_hints(shape)
        names = hints["type"]
        while get_origin(names) is not None and get_origin(names).__name__ in ("Required", "Union"):
            names = get_args(names)[0]
        for name in get_args(names):
            found[name] = found.get(name, set()) | set(hints)
    return found


def record(name: str, rule: str) -> dict[str, set[str]]:
    return {kind: set(own) for kind, own in DESTINATIONS[name].record[rule].items()}


def test_members_of_parts() -> None:
    beta = sdk("anthropic.types.beta")
    own, found = record("anthropic", "part_members"), shapes_of(beta.BetaContentBlockParam)
    assert own == {name: found[name] for name in own}
    roles = [get_type_hints(shape) for shape in get_args(beta.BetaMessageParam)]
    assert record("anthropic", "message_members")["*"] <= set().union(*roles)


def test_items_of_responses() -> None:
    types = sdk("openai.types.responses")
    own, found = record("openai-responses", "message_members"), shapes_of(types.ResponseInputItemParam)  # fmt: skip
    found["reasoning"] -= {"status"}  # "Unknown parameter: 'input[3].status'"
    assert own == {name: found[name] for name in own}
    given = sdk("openai.types.responses.response_input_content_param").ResponseInputContentParam
    parts = shapes_of(given)
    said = (types.ResponseOutputTextParam, types.ResponseOutputRefusalParam)
    parts |= {get_args(get_args(get_type_hints(each, include_extras=True)["type"])[0])[0]: set(get_type_hints(each)) for each in said}  # fmt: skip
    assert record("openai-responses", "part_members") == parts


def test_parts_of_bedrock() -> None:
    model = sdk("botocore.session").get_session().get_service_model("bedrock-runtime")
    message = model.operation_model("Converse").input_shape.members["messages"].member
    part = message.members["content"].member
    inner = part.members["toolResult"].members["content"].member
    assert record("bedrock", "message_members")["*"] == set(message.members)
    assert record("bedrock", "part_members")[""] == {*part.members, *inner.members}
    for name, members in record("bedrock", "held_members").items():
        assert members == set(part.members[name].members)


def test_parts_of_gemini() -> None:
    types = sdk("google.genai.types")

    def names(kind: Any) -> set[str]:
        fields = kind.model_fields
        return {*fields, *(field.alias or name for name, field in fields.items())}

    assert record("gemini", "message_members")["*"] == names(types.Content)
    assert record("gemini", "part_members")[""] == names(types.Part)
    held = record("gemini", "held_members")
    for camel, snake, kind in (
        ("functionCall", "function_call", types.FunctionCall),
        ("functionResponse", "function_response", types.FunctionResponse),
        ("inlineData", "inline_data", types.Blob),
        ("fileData", "file_data", types.FileData),
    ):
        assert held[camel] | held[snake] == names(kind)
