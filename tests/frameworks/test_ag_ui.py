"""AG-UI's protocol package writes the talk."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, CALLS, DONE, PIXEL, SAID, TURNS, Call, answered, check

pytest.importorskip("ag_ui", reason="ag-ui-protocol is not installed; `just frameworks` installs it")  # fmt: skip


def called(call: Call) -> Any:
    from ag_ui.core import FunctionCall, ToolCall

    function = FunctionCall(name=call.name, arguments=json.dumps(call.arguments, ensure_ascii=False))  # fmt: skip
    return ToolCall(id=call.call_id, function=function)


def talk() -> list[Any]:
    from ag_ui.core import AssistantMessage, SystemMessage, ToolMessage, UserMessage

    messages: list[Any] = [SystemMessage(id="0", content="Du malst.")]
    for asked, calls in TURNS:
        if asked is not None:
            messages.append(UserMessage(id=f"u{len(messages)}", content=asked))
        said = SAID if asked == ASKED else None
        messages.append(AssistantMessage(id=f"a{len(messages)}", content=said, tool_calls=list(map(called, calls))))  # fmt: skip
        for call, text in answered(calls):
            error = text if call.has_failed else None
            messages.append(ToolMessage(id=f"t{len(messages)}", content=text, tool_call_id=call.call_id, error=error))  # fmt: skip
    return [*messages, AssistantMessage(id="z", content=DONE)]


def test_messages(api: ModuleType) -> None:
    from ag_ui.core import RunAgentInput

    messages = talk()
    asked = RunAgentInput(
        thread_id="t", run_id="r", state={}, messages=messages, tools=[], context=[], forwarded_props={}
    )  # fmt: skip
    dumped = [message.model_dump(by_alias=True, exclude_none=True) for message in messages]
    check(api, "ag-ui-protocol", "messages", json.dumps(dumped).encode(), "ag-ui")
    check(api, "ag-ui-protocol", "RunAgentInput", asked.model_dump_json(by_alias=True).encode(), "ag-ui")  # fmt: skip
    plain = [message.model_dump() for message in messages]
    check(api, "ag-ui-protocol", "messages, snake_case", json.dumps(plain).encode(), "openai-chat", lost_failures=True)  # fmt: skip


def test_images_of_the_user(api: ModuleType) -> None:
    from ag_ui.core import UserMessage

    parts: Any = [
        {"type": "text", "text": ASKED},
        {"type": "image", "source": {"type": "data", "value": PIXEL, "mimeType": "image/png"}},
    ]
    messages = talk()
    messages[1] = UserMessage(id="u1", content=parts)
    dumped = [message.model_dump(by_alias=True, exclude_none=True) for message in messages]
    check(api, "ag-ui-protocol", "messages, an image", json.dumps(dumped).encode(), "ag-ui")


@pytest.mark.parametrize("is_encoded", [False, True])
def test_events(api: ModuleType, is_encoded: bool) -> None:
    from ag_ui import core
    from ag_ui.encoder import EventEncoder

    events: list[Any] = [core.RunStartedEvent(thread_id="t", run_id="r")]

    def say(name: str, text: str) -> None:
        events.append(core.TextMessageStartEvent(message_id=name, role="assistant"))
        half = len(text) // 2
        events.extend(core.TextMessageContentEvent(message_id=name, delta=part) for part in (text[:half], text[half:]))  # fmt: skip
        events.append(core.TextMessageEndEvent(message_id=name))

    for number, (asked, calls) in enumerate(TURNS):
        if asked == ASKED:
            say("a", SAID)
        for call in calls:
            events.append(core.ToolCallStartEvent(tool_call_id=call.call_id, tool_call_name=call.name, parent_message_id=f"m{number}"))  # fmt: skip
            text = json.dumps(call.arguments, ensure_ascii=False)
            events.extend(core.ToolCallArgsEvent(tool_call_id=call.call_id, delta=part) for part in (text[:5], text[5:]))  # fmt: skip
            events.append(core.ToolCallEndEvent(tool_call_id=call.call_id))
        events.extend(core.ToolCallResultEvent(message_id=f"r{call.call_id}", tool_call_id=call.call_id, content=text) for call, text in answered(calls))  # fmt: skip
    say("z", DONE)
    events.append(core.RunFinishedEvent(thread_id="t", run_id="r"))
    if is_encoded:
        encoder = EventEncoder()
        frames = "".join(map(encoder.encode, events))
        given = "".join(line.removeprefix("data: ") + "\n" for line in frames.splitlines() if line)
    else:
        given = "".join(event.model_dump_json(by_alias=True) + "\n" for event in events)
    file = "events, from the encoder, without `data:`" if is_encoded else "events, model_dump_json"
    # An event of a result has no flag of a failure, and no event holds the user's message.
    check(api, "ag-ui-protocol", file, given.encode(), "ag-ui", calls=CALLS, lost_failures=True, said=())  # fmt: skip
