"""Over-long and repeated ids next to messages of unknown role and members that no reader knows: one repair is enough."""

import json
from types import ModuleType
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import IS_LONG

from toolcarry import ProjectPolicy

LONG = "too" + "Q" * 61 + "lu_04"
IDS = st.sampled_from(
    (LONG, LONG, LONG + "x", LONG[:32], LONG[:64], f"{LONG[:32]}_2", "t1", "t 1", "")
)
ROLES = st.sampled_from(
    ({"role": "assistant"}, {"role": "assistant"}, {"role": "user"}, {"reasoning": "assistant"}, {"role": "system"},
     {"role": "tool"}, {"role": "robot"}, {"role": None}, {})
)  # fmt: skip
MORE = st.sampled_from(
    ({}, {}, {}, {"tool_calls": []}, {"reasoning": "assistant"}, {"x": 1}, {"function_call": None}, {"type": "note"},
     {"tool_calls": [{"x": 1}]}, {"toolCallId": "t1"})
)  # fmt: skip
TEXT = {"type": "text", "text": "Go."}


@st.composite
def parts(draw: st.DrawFn) -> dict[str, Any]:
    call_id = draw(IDS)
    unread = {"type": "note", "x": 1}
    return draw(
        st.sampled_from(
            (
                {"type": "tool_use", "id": call_id, "name": "f", "input": {}},
                {"type": "tool_use", "id": call_id, "name": "f", "input": {}},
                {"type": "tool_result", "tool_use_id": call_id, "content": "ok"},
                TEXT,
                {"type": "text", "text": " "},
                unread,
            )
        )
    )


@st.composite
def messages(draw: st.DrawFn) -> dict[str, Any]:
    content = st.one_of(
        st.just("Go."), st.lists(parts(), max_size=3), st.lists(parts(), max_size=3)
    )
    return {**draw(ROLES), "content": draw(content), **draw(MORE)}


@settings(max_examples=20_000 if IS_LONG else 400)
@given(history=st.lists(messages(), min_size=1, max_size=6))
def test_one_repair_is_enough(api: ModuleType, history: list[Any]) -> None:
    policy = ProjectPolicy(repair=True)
    once = api.project_body(json.dumps({"messages": history}).encode(), policy=policy)
    again = api.project_body(once.body, policy=policy)
    assert (again.body, again.report.mends) == (once.body, ()), once.body
