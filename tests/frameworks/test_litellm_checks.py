"""LiteLLM takes repaired histories: it makes of them the requests to its providers, and refuses what it can't convert."""

import copy
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import IS_LONG
from support.strategies.histories import histories_of_functions

from toolcarry import ProjectPolicy

os.environ.setdefault(
    "LITELLM_LOCAL_MODEL_COST_MAP", "True"
)  # otherwise it fetches prices as it is imported
pytest.importorskip("litellm", reason="litellm is not installed; it is part of the extra test-sdk")
gemini = pytest.importorskip("litellm.llms.vertex_ai.gemini.transformation")
if not hasattr(gemini, "transform_request_body"):  # 1.105, which OpenHands' SDK needs
    pytest.skip("this litellm has no public conversion to Gemini", allow_module_level=True)

Convert = Callable[[list[Any]], Any]


def converters() -> dict[str, Convert]:
    """Return LiteLLM's conversions of Chat by the provider, which raise an error for what they refuse."""
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig
    from litellm.llms.bedrock.chat.converse_transformation import AmazonConverseConfig
    from litellm.llms.mistral.chat.transformation import MistralConfig

    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}

    def by(config: Any, model: str) -> Convert:
        return lambda messages: config.transform_request(model, messages, {"tools": [tool]}, {}, {})

    return {
        "anthropic": by(AnthropicConfig(), "claude-sonnet-4-5"),
        "bedrock": by(AmazonConverseConfig(), "anthropic.claude-sonnet-4-5-v1:0"),
        "mistral": by(MistralConfig(), "mistral-large-latest"),
        "gemini": lambda messages: gemini.transform_request_body(
            messages, "gemini-2.5-pro", {}, "gemini", {}, None
        ),
    }


@pytest.mark.timeout(0)
@pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier:UserWarning")  # its own
@settings(max_examples=5_000 if IS_LONG else 50)
@given(data=st.data())
def test_repaired_histories_are_taken(rust: ModuleType, data: st.DataObject) -> None:
    from litellm.llms.base_llm.base_utils import map_developer_role_to_system_role
    from litellm.utils import validate_and_fix_openai_messages

    messages = data.draw(histories_of_functions())
    for destination in ("openai-chat", "mistral"):
        policy = ProjectPolicy(repair=True, destination=destination)
        repaired = rust.project(messages, policy=policy).messages
        for convert in converters().values():
            valid = validate_and_fix_openai_messages(copy.deepcopy(repaired))
            convert(map_developer_role_to_system_role(valid))
