"""The line of the history that a request goes on with, and its new messages."""

from __future__ import annotations

import orjson
import pytest
from support.builders.recorded_talks import call, model, result, user

from toolcarry import InputError
from toolcarry.integrations.recorder.lines import find_spot, sign_of
from toolcarry.tract import Tract

FIRST = [user("Go."), call("t1"), result("t1", "one")]
CLEARED = "[Old tool result content cleared]"


def test_only_what_is_new_is_appended(talk, target) -> None:
    made = talk(target)
    made.ask(FIRST[:1], call("t1"))
    made.ask(FIRST, model("Done."))
    made.ask([*FIRST, model("Done."), user("More.")], model("Yes."))
    assert made.said() == ["Go.", "t1", "one", "Done.", "More.", "Yes."]
    assert made.names() == ["c1"]
    assert made.recorder.counts == {"recorded": 3, "commits": 6}


def test_it_is_the_same_after_a_restart_and_in_another_process(talk, target) -> None:
    messages = [*FIRST]
    for number in range(4):
        made = talk(target)
        made.ask(messages, model(f"answer {number}"))
        messages += [model(f"answer {number}"), user(f"more {number}")]
    first, second = talk(target), talk(target)
    for number in range(3):  # by turns, with what the other one wrote unknown to each
        for made in (first, second):
            made.ask(messages, model(f"turn {number} {made is first}"))
            messages += [
                model(f"turn {number} {made is first}"),
                user(f"next {number} {made is first}"),
            ]
    assert first.names() == ["c1"]
    wanted = [said for message in messages[3:-1] for said in [message["content"]]]
    texts = [said if isinstance(said, str) else said[0]["text"] for said in wanted]
    assert first.said() == ["Go.", "t1", "one", *texts]


@pytest.mark.parametrize(
    "echo",
    [
        {"role": "assistant", "content": "Done."},
        {"role": "assistant", "content": [{"type": "text", "text": "Done. ", "citations": None}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "x", "signature": "y"}, {"type": "text", "text": "Done."}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Done.", "cache_control": {"type": "ephemeral"}}]},
    ],
)  # fmt: skip
def test_an_answer_is_known_however_the_client_spells_it(talk, echo) -> None:
    made = talk()
    made.ask(FIRST, model("Done."))
    made.ask([*FIRST, echo, user("More.")])
    assert made.said() == ["Go.", "t1", "one", "Done.", "More."]


def test_a_client_may_drop_and_clear_what_is_old(talk) -> None:
    made = talk()
    messages = [user("Go.")]
    for number in range(12):
        made.ask(messages[-9:] if number % 2 else messages, call(f"t{number}"))
        messages += [call(f"t{number}"), result(f"t{number}", f"whole {number}")]
        if number:
            messages[2 * number] = result(f"t{number - 1}", CLEARED)
    made.ask(messages)
    wanted = [said for number in range(12) for said in (f"t{number}", f"whole {number}")]
    assert made.said() == ["Go.", *wanted]
    assert made.names() == ["c1"]


def test_a_client_may_drop_answers_and_old_messages(talk) -> None:
    made = talk()
    messages = [user("Go.")]
    for number in range(12):
        messages += [call(f"t{number}"), result(f"t{number}", f"whole {number}")]
        made.ask([messages[0], *messages[1:][-8:]], model(f"Not echoed {number}."))
    assert made.names() == ["c1"]
    said = [each for each in made.said() if not each.startswith("Not")]
    assert said == [
        "Go.",
        *(each for number in range(12) for each in (f"t{number}", f"whole {number}")),
    ]


def test_other_continuations_have_lines_of_their_own(talk) -> None:
    made = talk()
    made.ask(FIRST, model("Done."))
    title = [user("Write a title for this.")]
    made.ask(title, model("A title"))
    fork = [*FIRST[:1], call("t2"), result("t2", "two"), model("Other."), user("On.")]
    for messages in (
        [*FIRST, model("Done."), user("More.")],
        fork,
        [*fork, model("Ok."), user("!")],
    ):
        made.ask(messages, model("Ok."))
    names = made.names()
    assert len(names) == 3
    assert names[0] == "c1"
    assert all(name.startswith("c1#") for name in names[1:])
    assert made.said() == ["Go.", "t1", "one", "Done.", "More.", "Ok."]
    assert made.said(names[1]) == ["Write a title for this.", "A title"]
    assert made.said(names[2]) == ["Go.", "t2", "two", "Other.", "On.", "Ok.", "!", "Ok."]
    again = talk(made.target)  # which reads the lines from the store
    again.ask([*fork, model("Ok."), user("!"), model("Ok."), user("?")])
    assert again.names() == names


def test_a_repeated_request_is_recorded_once(talk) -> None:
    made = talk()
    for _ in range(3):
        made.ask(FIRST, model("Done."))
    assert made.said() == ["Go.", "t1", "one", "Done."]
    made.ask(FIRST, model("Another answer."))
    assert made.said() == ["Go.", "t1", "one", "Done."]
    (other,) = set(made.names()) - {"c1"}
    assert made.said(other) == ["Go.", "t1", "one", "Another answer."]


def test_tenants_and_conversations_never_mix(talk, target) -> None:
    made = talk(target)
    for tenant in ("a", "b"):
        for name in ("c1", "c2"):
            made.ask(FIRST, model(f"{tenant} {name}"), tenant=tenant, conversation=name)
    for tenant in ("a", "b"):
        for name in ("c1", "c2"):
            assert made.said(name, tenant) == ["Go.", "t1", "one", f"{tenant} {name}"]
    cleared = [*FIRST[:2], result("t1", CLEARED)]
    gone = made.ask(cleared, tenant="stranger")
    assert orjson.loads(gone)["messages"] == cleared


def test_call_ids_that_begin_again_each_turn(talk) -> None:
    made = talk()
    messages = [user("Go.")]
    for number in range(6):
        made.ask(messages, call("call_0"))
        messages += [call("call_0"), result("call_0", f"out {number}")]
    made.ask(messages)
    with Tract.open(made.target, tenant="me", conversation="c1") as tract:
        turns = tract.find_tool_turns()
        assert [tract.get_content(each) for turn in turns for each in turn.results] == [
            orjson.dumps(result("call_0", f"out {number}")).decode() for number in range(6)
        ] or [len(turn.results) for turn in turns] == [1] * 6


def test_numbers_are_stored_as_they_are_spelled(talk) -> None:
    made = talk()
    call_text = b'{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"F","input":{"n":1.10,"big":12345678901234567890123}}]}'
    body = b'{"model":"m","messages":[{"role":"user","content":"Go."},' + call_text + b"]}"
    made.ask([], body=body)
    with Tract.open(made.target, tenant="me", conversation="c1") as tract:
        assert b"".join(tract.export()).splitlines()[1] == call_text


def test_an_empty_line_takes_no_request() -> None:
    assert find_spot((), [1, 2]) == (None, 0, False)
    assert sign_of({"role": "system", "content": "Now it is noon."}).sign == 0


def test_results_of_every_line_are_found_and_read(talk, target) -> None:
    """A search in the conversation finds what the recorder wrote into its lines, each result once, and no one else's."""
    made = talk(target)
    made.ask([*FIRST, call("t2"), result("t2", "amber lamp")])
    made.ask([*FIRST, call("t3"), result("t3", "green lamp, line one")], model("Another way."))
    made.ask([user("Sum up."), call("s1"), result("s1", "green lamp of a sub-agent")])
    made.ask([user("Go."), call("t9"), result("t9", "green lamp of others")], conversation="c2")
    made.ask([user("Go."), call("t8"), result("t8", "green lamp of another tenant")], tenant="you")
    assert len(made.names()) == 4
    with Tract.open(target, tenant="me", conversation="c1") as tract:
        found = {
            match.commit.tool_call_id: tract.resolve(match.reference)
            for match in tract.search_tool_results("green")
        }
        assert found == {"t3": "green lamp, line one", "s1": "green lamp of a sub-agent"}
        assert len(tract.search_tool_results("lamp")) == 3
        (one,) = tract.search_tool_results("one", limit=1)
        assert [match.commit.tool_call_id for match in tract.search_tool_results("one")] == [
            "t1",
            "t3",
        ]
        assert one.commit.conversation == "c1"
        made.ask([user("Again."), call("s2"), result("s2", "violet lamp")])
        assert "violet lamp" in tract.answer_search({"query": "violet"})
        assert tract.resolve("s2") == "violet lamp"
        with pytest.raises(InputError, match="t9"):
            tract.resolve("t9")
