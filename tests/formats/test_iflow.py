"""Sessions of iFlow: a call stands in two records, and the parents of answers are no branches."""

import json
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.builders.producers import ASKED, SAID, sample
from support.examples import examples
from support.oracles.format_checks import as_lines, blocks

JsonObject = dict[str, Any]


def test_each_call_is_read_once(api: ModuleType, rust: ModuleType) -> None:
    for messages in (sample("iflow"), as_lines(sample("iflow"))):
        found = blocks(api, messages)
        assert [(block.call_id, block.position, block.notes.is_active) for block in found] == [
            ("c1", 1, True),
            ("c2", 2, True),
        ]
        assert all(block.tool_result is not None for block in found)
        survey = rust.inspect(messages, tokens=True)
        assert (survey.shape, survey.calls, survey.results, survey.errors) == ("iflow", 2, 2, 1)
        assert (survey.orphan_calls, survey.other_branch_blocks, survey.unread.count) == (0, 0, 0)
        told = [("USER", ASKED), ("ASSISTANT", SAID), ("ASSISTANT", "It is shut.")]
        dialogue = "\n\n".join(f"[{who}]\n{what}\n[/{who}]" for who, what in told)
        assert api.dialogue(messages) == dialogue


@st.composite
def sessions(draw: st.DrawFn) -> tuple[list[JsonObject], list[str]]:
    """Turns of a user, each with windows of calls and their results; with the ids of all calls in their order."""
    records: list[JsonObject] = []
    ids: list[str] = []

    def add(parent: str | None, message: JsonObject) -> str:
        uuid = f"u{len(records)}"
        more = {"uuid": uuid, "parentUuid": parent, "sessionId": "s"}
        records.append({"type": message["role"], "message": message, **more})
        return uuid

    for turn in range(draw(st.integers(1, 3))):
        asked = add(None, {"role": "user", "content": f"Question {turn}."})
        last: list[JsonObject] = []
        for step in range(draw(st.integers(1, 3))):
            names = [f"c{turn}{step}{number}" for number in range(draw(st.integers(1, 3)))]
            calls = [{"type": "tool_use", "id": name, "name": "look", "input": {"path": name}} for name in names]  # fmt: skip
            window, above = (last if draw(st.booleans()) else []), ""
            for call in [*calls, None]:
                content = [*window, *([] if call is None else [call])]
                message = {"id": f"response-{len(records)}", "role": "assistant", "content": content}  # fmt: skip
                above, window = add(asked, message), [] if call is None else [call]
            for name in names:
                add(above, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": f"of {name}"}]})  # fmt: skip
            last, ids = calls[-1:], ids + names
        add(asked, {"id": f"response-{len(records)}", "role": "assistant", "content": [{"type": "text", "text": f"Answer {turn}."}]})  # fmt: skip
    return records, ids


@given(sessions())
@examples(60)
def test_every_call_has_its_result(
    api: ModuleType, rust: ModuleType, session: tuple[list[JsonObject], list[str]]
) -> None:
    records, ids = session
    for messages in (records, as_lines(records), json.dumps(records).encode()):
        found = blocks(api, messages)
        assert [block.call_id for block in found] == ids
        assert [block.tool_result["content"] for block in found] == [f"of {name}" for name in ids]  # type: ignore[index]
        assert all(block.notes.is_active for block in found)
        context = api.carry(messages).text
        assert all(f"of {name}" in context for name in ids)
        survey = rust.inspect(messages)
        assert (survey.calls, survey.results, survey.orphan_calls) == (len(ids), len(ids), 0)


def test_an_id_alone_does_not_make_a_request_a_session(api: ModuleType) -> None:
    """Only a record has parents that are wrong."""
    message = {"id": "response-1", "role": "assistant", "content": "Forty."}
    assert api.dialogue([message]) == "[ASSISTANT]\nForty.\n[/ASSISTANT]"


def test_another_call_of_the_same_id_is_kept(api: ModuleType) -> None:
    records = sample("iflow")
    records[3]["message"]["content"] = [
        {"type": "tool_use", "id": "c2", "name": "look", "input": {"path": "roof"}}
    ]
    assert len(blocks(api, records)) == 3
