"""LangGraph's and LangChain's own checks take repaired histories: LangGraph asks for a result of each call.

Its error is "Found AIMessages with tool_calls that do not have a corresponding ToolMessage".
"""

from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import IS_LONG
from support.strategies.histories import histories_of_functions

from toolcarry import ProjectPolicy

pytest.importorskip(
    "langgraph", reason="langgraph is not installed; it is part of the extra test-sdk"
)

DESTINATIONS = ("openai-chat", "mistral", "deepseek", "groq", "openrouter")


@pytest.mark.timeout(0)
@settings(max_examples=5_000 if IS_LONG else 50)
@given(data=st.data())
def test_repaired_histories_are_taken(rust: ModuleType, data: st.DataObject) -> None:
    from langchain_core.messages import convert_to_messages, convert_to_openai_messages
    from langgraph.prebuilt.chat_agent_executor import _validate_chat_history

    messages = data.draw(histories_of_functions())
    policy = ProjectPolicy(repair=True, destination=data.draw(st.sampled_from(DESTINATIONS)))
    repaired = convert_to_messages(rust.project(messages, policy=policy).messages)
    _validate_chat_history(repaired)
    convert_to_openai_messages(repaired)
