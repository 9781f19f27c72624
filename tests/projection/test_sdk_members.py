"""The members of parts in the record of Anthropic are those of its SDK: a new one fails here."""

from typing import Any, get_args, get_origin, get_type_hints

import pytest

from toolcarry.model.destinations import DESTINATIONS

pytestmark = pytest.mark.sdk


def test_members_of_parts() -> None:
    beta = pytest.importorskip("anthropic.types.beta")
    record = DESTINATIONS["anthropic"].record["part_members"]
    found: dict[str, set[str]] = {}
    shapes = [shape for shape in get_args(beta.BetaContentBlockParam) if isinstance(shape, type)]
    for shape in shapes:
        hints: dict[str, Any] = get_type_hints(shape)
        names = hints["type"]
        while get_origin(names) is not None and get_origin(names).__name__ == "Required":
            names = get_args(names)[0]
        for name in get_args(names):
            found[name] = set(hints)
    assert {name: set(members) for name, members in record.items()} == {
        name: found[name] for name in record
    }
