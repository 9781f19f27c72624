"""Generated conversations: in every shape, in good order and in none, and policies to carry them by.

``transcripts`` is any of them. Ids repeat or lead nowhere; results come twice, before their calls, or never; a session
file has side chains, branches, records that come twice, and gaps."""

import json
from typing import Any

from hypothesis import strategies as st
from support.strategies.formats import conversations, shaped
from support.strategies.texts import hostile, markdown_lines, texts
from support.strategies.tools import calls, contents, synthetic

Message = dict[str, Any]

ids = st.sampled_from(("call_0", "call_1", "call_2", "t1", "t2", "t3", "t4", "t5"))
any_id = st.one_of(ids, ids, ids, st.sampled_from(("", None, 7)))
no_id = st.just("")
names = calls.map(lambda call: call.name)
user_text = texts.map(lambda text: {"role": "user", "content": text})
errors = st.sampled_from((False, False, False, True, None, "yes"))


def tool_use(call: Any, call_id: Any, kind: str) -> Message:
    return {"type": kind, "id": call_id, "name": call.name, "input": call.input}


def tool_result(call_id: Any, content: Any, is_error: Any) -> Message:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}


def said_by(role: str) -> Any:
    return lambda content: {"role": role, "content": content}


uses = st.builds(
    tool_use,
    calls,
    any_id,
    st.sampled_from(("tool_use", "tool_use", "server_tool_use", "mcp_tool_use")),
)
results = st.builds(tool_result, any_id, contents | synthetic, errors)
text_block = texts.map(lambda text: {"type": "text", "text": text})
thinking = st.just({"type": "thinking", "thinking": "hm", "signature": "c2ln"})

anthropic = st.one_of(
    st.lists(uses | text_block | thinking, min_size=1, max_size=3).map(said_by("assistant")),
    st.lists(results | text_block, min_size=1, max_size=3).map(said_by("user")),
    st.lists(uses | results, max_size=4).map(said_by("assistant")),
    user_text,
)


def with_calls(given: list[Message], content: Any) -> Message:
    return {"role": "assistant", "content": content, "tool_calls": given}


def chat_call(call: Any, call_id: Any, as_text: bool) -> Message:
    arguments = text_of(call.input) if as_text else call.input
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def text_of(value: Any) -> str:
    """Arguments as a backend writes them, with its own spacing."""
    return json.dumps(value)


def role_tool(call_id: Any, content: Any) -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


openai_chat = st.one_of(
    st.builds(
        with_calls,
        st.lists(st.builds(chat_call, calls, any_id, st.just(True)), min_size=1, max_size=3),
        st.none() | texts,
    ),
    st.builds(role_tool, any_id, contents | synthetic),
    user_text,
)
legacy = st.one_of(
    st.builds(
        lambda call: {
            "role": "assistant",
            "function_call": {"name": call.name, "arguments": text_of(call.input)},
        },
        calls,
    ),
    st.builds(
        lambda name, content: {"role": "function", "name": name, "content": content},
        names,
        contents,
    ),
)
ollama = st.one_of(
    st.builds(
        with_calls,
        st.lists(
            st.builds(
                lambda call: {"function": {"name": call.name, "arguments": call.input}}, calls
            ),
            min_size=1,
            max_size=3,
        ),
        texts,
    ),
    st.builds(
        lambda name, content: {"role": "tool", "tool_name": name, "content": content},
        names,
        contents,
    ),
    texts.map(lambda text: {"role": "tool", "content": text}),
    user_text,
)
strange = st.sampled_from(
    (
        {},
        {"role": "system", "content": "Be kind."},
        {"role": 7, "content": {"a": 1}},
        {"type": "function_call_output", "x": 1},
        {"role": "assistant", "content": None, "tool_calls": "none"},
        {
            "role": "assistant",
            "content": [None, 3, "text", {"type": ["list"]}],
            "tool_calls": [None, 5],
        },
        {"role": "assistant", "function_call": "x", "tool_calls": [{"function": "f", "id": 3}]},
    )
)
twice = st.builds(
    lambda call, call_id: {
        "role": "assistant",
        "content": [tool_use(call, call_id, "tool_use")],
        "tool_calls": [chat_call(call, call_id, as_text=True)],
    },
    calls,
    ids,
)


def list_of(message: st.SearchStrategy[Message]) -> st.SearchStrategy[list[Message]]:
    return st.lists(message, max_size=10)


def in_good_order(given: list[tuple[Any, Any, Any, bool]]) -> list[Message]:
    """Turns as a client writes them: each call with its result, ids given in order."""
    messages: list[Message] = []
    for number, (call, content, is_error, is_chat) in enumerate(given):
        name = f"toolu_{number}"
        if is_chat:
            messages.append(with_calls([chat_call(call, name, as_text=True)], None))
            messages.append(role_tool(name, content))
        else:
            messages.append(said_by("assistant")([tool_use(call, name, "tool_use")]))
            messages.append(said_by("user")([tool_result(name, content, is_error)]))
    return messages


orderly = st.lists(st.tuples(calls, contents, errors, st.booleans()), max_size=12).map(
    in_good_order
)
message = st.one_of(anthropic, openai_chat, legacy, ollama, strange, twice)

few_ids = st.sampled_from(("a", "b", ""))
few_calls = st.builds(
    lambda name, call_id: {"type": "tool_use", "id": call_id, "name": name, "input": {}},
    st.sampled_from(("f", "g", "")),
    few_ids,
)
few_results = st.builds(
    lambda name, call_id, content: {
        "role": "tool",
        "name": name,
        "tool_call_id": call_id,
        "content": content,
    },
    st.sampled_from(("f", "f", "g", None)),
    few_ids,
    st.sampled_from(("1", "2", "[Tool result missing]")),
)
tangles = list_of(
    few_results
    | few_results
    | st.lists(few_calls, min_size=1, max_size=2).map(said_by("assistant"))
)
"""Conversations of few ids and few names, so that everything gets in the way of everything."""

uuids = st.sampled_from(tuple(f"u{number}" for number in range(12)))


def record(
    uuid: str,
    parent: str | None,
    inner: Message,
    message_id: str | None,
    side: tuple[bool, str | None],
) -> Message:
    is_side, agent = side
    made: Message = {
        "type": inner.get("role"),
        "uuid": uuid,
        "parentUuid": parent,
        "message": dict(inner),
    }
    if message_id is not None:
        made["message"]["id"] = message_id
    if is_side:
        made["isSidechain"] = True
    if agent is not None:
        made["agentId"] = agent
    return made


@st.composite
def sessions(draw: st.DrawFn) -> list[Message]:
    """The lines of a session file: mostly a chain, sometimes a branch, a side chain, a gap or a repetition."""
    lines: list[Message] = []
    written: list[str] = []
    for number in range(draw(st.integers(0, 12))):
        oddity = draw(
            st.sampled_from(("", "", "", "", "", "line", "again", "summary", "branch", "lost"))
        )
        if oddity == "line":
            lines.append({})
        elif oddity == "summary":
            lines.append({"type": "summary", "summary": "S", "leafUuid": draw(uuids)})
        elif oddity == "again" and lines:
            lines.append(draw(st.sampled_from(lines)))
        else:
            parent = written[-1] if written else None
            if oddity == "branch":
                parent = draw(st.none() | uuids)
            elif oddity == "lost":
                parent = "lost"
            made = record(
                f"u{number}",
                parent,
                draw(anthropic),
                draw(st.sampled_from((None, None, None, "msg_1", "msg_2"))),
                draw(
                    st.sampled_from(
                        ((False, None),) * 4 + ((True, None), (True, "a1"), (True, "a2"))
                    )
                ),
            )
            written.append(made["uuid"])
            lines.append(made)
    return lines


transcripts: st.SearchStrategy[list[Any]] = st.one_of(
    orderly,
    tangles,
    list_of(anthropic),
    list_of(openai_chat | legacy),
    list_of(ollama),
    sessions() | conversations,
    list_of(message | shaped),
)
summaries = st.one_of(
    st.just(""), texts, markdown_lines, st.lists(hostile, max_size=5).map("\n".join)
)
