"""Repaired histories are requests by the types of the SDKs of Mistral and of Cohere, which take the messages of Chat."""

from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import IS_LONG
from support.strategies.histories import histories_of_functions

from toolcarry import ProjectPolicy

pytest.importorskip(
    "mistralai", reason="mistralai is not installed; it is part of the extra test-sdk"
)
pytest.importorskip("cohere", reason="cohere is not installed; it is part of the extra test-sdk")


@pytest.mark.timeout(0)
@settings(max_examples=5_000 if IS_LONG else 50)
@given(data=st.data())
def test_repaired_histories_have_the_types(rust: ModuleType, data: st.DataObject) -> None:
    from cohere.types import ChatMessageV2
    from mistralai.client.models import ChatCompletionRequestMessage
    from pydantic import TypeAdapter

    messages = data.draw(histories_of_functions())
    found = rust.project(
        messages, policy=ProjectPolicy(repair=True, destination="mistral")
    ).messages
    for kind in (ChatCompletionRequestMessage, ChatMessageV2):
        TypeAdapter(list[kind]).validate_python(found)
