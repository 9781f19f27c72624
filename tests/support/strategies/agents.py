"""Generated messages as the files of agents and of tracing have them, in good order."""

import json
from typing import Any

from hypothesis import strategies as st
from support.strategies.texts import texts
from support.strategies.tools import calls, contents, synthetic

Message = dict[str, Any]

ids = st.sampled_from(("call_0", "call_0", "call_1", "t1", ""))
answers = contents | synthetic
flags = st.booleans()


def given_to(call: Any, is_text: bool) -> Any:
    return json.dumps(call.input) if is_text else call.input


def a_list(strategy: Any, most: int = 3) -> Any:
    return st.lists(strategy, min_size=1, max_size=most)


def message(role: str, key: str, parts: Any) -> Any:
    return a_list(parts).map(lambda found: {"role": role, key: found})


swe_agent = st.one_of(
    st.builds(
        lambda call, call_id: {
            "role": "assistant",
            "content": "I run it.",
            "message_type": "action",
            "tool_calls": [
                {"id": call_id, "function": {"name": call.name, "arguments": given_to(call, True)}}
            ],
        },
        calls,
        ids,
    ),
    st.builds(
        lambda call_id, content: {
            "role": "tool",
            "content": content,
            "message_type": "observation",
            "tool_call_ids": [call_id],
        },
        ids,
        answers,
    ),
)
steps = st.builds(
    lambda action, seen: {"action": action, "observation": seen, "response": "I run it."},
    st.sampled_from(("ls", "git status", "touch a", "")),
    texts,
)
langchain_calls = st.builds(
    lambda call, call_id, kind: {
        "name": call.name,
        "args": call.input,
        "id": call_id,
        "type": kind,
    },
    calls,
    ids,
    st.sampled_from(("tool_call", "invalid_tool_call")),
)
langchain = st.one_of(
    a_list(langchain_calls).map(
        lambda found: {"type": "ai", "data": {"content": "", "tool_calls": found}}
    ),
    st.builds(
        lambda call_id, name, content, status: {
            "type": "tool",
            "data": {"content": content, "tool_call_id": call_id, "name": name, "status": status},
        },
        ids,
        st.none() | calls.map(lambda call: call.name),
        answers,
        st.sampled_from(("success", "error")),
    ),
    texts.map(lambda text: {"type": "human", "data": {"content": text}}),
)
openhands = st.one_of(
    st.builds(
        lambda call, call_id, is_text: {
            "kind": "ActionEvent",
            "source": "agent",
            "tool_name": call.name,
            "tool_call_id": call_id,
            "tool_call": {"id": call_id, "name": call.name, "arguments": given_to(call, is_text)},
            "action": {"kind": "Action"},
        },
        calls,
        ids,
        flags,
    ),
    st.builds(
        lambda call, call_id, content, is_error: {
            "kind": "ObservationEvent",
            "tool_name": call.name,
            "tool_call_id": call_id,
            "observation": {"content": content, "is_error": is_error},
        },
        calls,
        ids,
        answers,
        flags,
    ),
    st.builds(
        lambda call, call_id, error: {
            "kind": "AgentErrorEvent",
            "tool_name": call.name,
            "tool_call_id": call_id,
            "error": error,
        },
        calls,
        ids,
        texts,
    ),
)
telemetry_calls = st.builds(
    lambda call, call_id, is_text: {
        "type": "tool_call",
        "id": call_id,
        "name": call.name,
        "arguments": given_to(call, is_text),
    },
    calls,
    ids,
    flags,
)
telemetry_results = st.builds(
    lambda call_id, answer: {"type": "tool_call_response", "id": call_id, "response": answer},
    ids,
    answers,
)
said_aloud = texts.map(lambda text: {"type": "text", "content": text})
opentelemetry = st.one_of(
    message("assistant", "parts", telemetry_calls | said_aloud),
    message("tool", "parts", telemetry_results),
    message("user", "parts", said_aloud),
)
atif_calls = st.builds(
    lambda call, call_id: {
        "tool_call_id": call_id,
        "function_name": call.name,
        "arguments": call.input,
    },
    calls,
    ids,
)
atif_results = st.builds(
    lambda call_id, content: {"source_call_id": call_id, "content": content}, ids, answers
)
atif = st.builds(
    lambda source, found, results, text: {
        "step_id": 1,
        "source": source,
        "message": text,
        "tool_calls": found,
        "observation": {"results": results},
    },
    st.sampled_from(("agent", "agent", "user")),
    st.lists(atif_calls, max_size=2),
    st.lists(atif_results, max_size=3),
    texts,
)
