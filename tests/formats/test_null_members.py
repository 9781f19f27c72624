"""A member that is null counts as absent: SDK objects have all members of their type."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies.histories import histories
from support.strategies.null_members import with_null_members

PROVIDERS = ("anthropic", "openai", "ollama", "responses", "gemini", "bedrock")


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data())
def test_null_members_change_nothing_that_is_read(
    api: ModuleType, provider: str, data: st.DataObject
) -> None:
    messages = data.draw(histories(provider))
    nulls = data.draw(with_null_members(messages))
    assert read(api, nulls) == read(api, messages)


def read(api: ModuleType, messages: list[Any]) -> Any:
    carried = api.carry(messages)
    blocks = api.extract_tool_blocks(messages)
    pairs = [(block.call_id, block.position, block.is_error) for block in blocks]
    return carried.text, len(carried.report.unread), pairs, api.dialogue(messages)
