"""Results are restored only for the calls that certainly are the same, whatever ids a client gives, drops or repeats."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import families

from toolcarry.tract import Tract
from toolcarry.tract.matching import Calls, Said, match

JsonObject = dict[str, Any]
CLEARED = "[Old tool result content cleared]"
IDS: dict[str, Callable[[int, int], str]] = {
    "unique": lambda number, _: f"t{number}",
    "none": lambda *_: "",
    "the same": lambda *_: "call_0",
    "from 0 in each turn": lambda _, place: f"call_{place}",
}
TURNS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=3), min_size=1, max_size=8)
"""The commands of each turn; the same one may run again and again."""


def write(turns: Sequence[Sequence[int]], ids: str) -> list[list[JsonObject]]:
    """Return the messages of each turn, in the format of OpenAI Chat or Ollama. Each result is another one."""
    written = []
    number = 0
    for turn in turns:
        calls, results = [], []
        for place, command in enumerate(turn):
            arguments = {"command": command}
            call_id = IDS[ids](number, place)
            if call_id:
                function = {"name": "Bash", "arguments": json.dumps(arguments)}
                calls.append({"id": call_id, "type": "function", "function": function})
                named = {"tool_call_id": call_id}
            else:
                calls.append({"function": {"name": "Bash", "arguments": arguments}})
                named = {"tool_name": "Bash"}
            results.append({"role": "tool", **named, "content": f"result {number}"})
            number += 1
        written.append([{"role": "assistant", "content": "", "tool_calls": calls}, *results])
    return written


@given(st.data(), TURNS, st.sampled_from(sorted(IDS)))
def test_no_result_is_that_of_another_call(
    data: st.DataObject, turns: list[list[int]], ids: str
) -> None:
    """Whichever turns the client drops, results it clears or leaves out, and however the last turn goes on."""
    written = write(turns, ids)
    kept = sorted(data.draw(st.sets(st.sampled_from(range(len(turns))), min_size=1)))
    is_last_new = kept[-1] == len(turns) - 1 and data.draw(st.booleans())
    whole = [message for place in kept for message in written[place][1:]]
    sent: list[JsonObject] = [{"role": "user", "content": "Go."}]
    for message in (message for place in kept for message in written[place]):
        if message["role"] != "tool":
            sent.append(message)
        elif is_last_new and message in written[-1][1:]:
            sent.append({**message, "content": ""})
        elif (
            content := data.draw(st.sampled_from([None, "", CLEARED, "left out", "as it is"]))
        ) != ("left out"):
            sent.append(message if content == "as it is" else {**message, "content": content})
    if not is_last_new:
        sent.append({"role": "assistant", "content": "Done."})
    with Tract.open() as tract:
        for turn in written[:-1] if is_last_new else written:
            tract.append_many([{"role": "user", "content": "Next."}, *turn])
        if is_last_new:  # its calls are recorded as the answer, its results are not yet
            tract.append_many([{"role": "user", "content": "Next."}, written[-1][0]])
        found = tract.hydrate(sent)
    results = [message for message in found.messages if message["role"] == "tool"]
    if is_last_new:
        count = len(written[-1]) - 1
        assert results[-count:] == [{**each, "content": ""} for each in written[-1][1:]]
        results = results[:-count]
    for message in results:
        text = message["content"]
        assert text in (None, "", CLEARED) or message in whole
    assert [each["content"] for each in results if each["content"] not in (None, "", CLEARED)] == [
        each["content"] for each in whole if each in results
    ]
    if ids == "unique":
        assert results == [each for each in whole if not is_last_new or each not in written[-1]]
        assert not set(found.refetch) - {
            each["tool_call_id"] for each in (written[-1][1:] if is_last_new else ())
        }


@given(st.lists(st.integers(0, 2), max_size=9), st.integers(0, 9), st.integers(0, 9))
def test_calls_that_the_history_lacks_are_matched_with_no_other(
    commands: list[int], start: int, lost: int
) -> None:
    """A client that drops nothing old: the calls of the history are the first of the request."""
    own, known = Calls[None](), Calls[None]()
    for command in commands:
        own.add_calls([Said("", "Bash", {"command": command})])
    for command in commands[: len(commands) - lost or None] if lost < len(commands) else ():
        known.add_calls([Said("", "Bash", {"command": command})])
    assert all(place == at for place, at in match(own, known).items())
    kept = Calls[None]()
    for command in commands[start:]:
        kept.add_calls([Said("", "Bash", {"command": command})])
    assert all(place + start == at for place, at in match(kept, own).items())


@pytest.mark.parametrize("ids", sorted(IDS))
def test_calls_that_differ_are_all_found(ids: str) -> None:
    written = write([[0], [1, 2], [3], [4]], ids)
    sent = [message for turn in written[1:] for message in turn]
    cleared = [{**each, "content": None} if each["role"] == "tool" else each for each in sent]
    end = {"role": "assistant", "content": "Done."}
    with Tract.open() as tract:
        tract.append_many([message for turn in written for message in turn])
        assert tract.hydrate([*cleared, end]).messages == [*sent, end]


@pytest.mark.parametrize(
    ("own", "stored", "is_same"),
    [
        ({"n": 1, "a": "x"}, {"a": "x", "n": 1.0}, True),
        ({"n": 1}, {"n": True}, False),
        ({"n": 1.5}, {"n": 1}, False),
        ({"n": None}, {}, False),
        ({"n": "1"}, {"n": 1}, False),
        ({"n": [1, 2]}, {"n": [2, 1]}, False),
    ],
)
def test_arguments_are_compared_as_values(
    own: JsonObject, stored: JsonObject, is_same: bool
) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": own}
    cleared = {"type": "tool_result", "tool_use_id": "t1", "content": CLEARED}
    sent = [{"role": "assistant", "content": [use]}, {"role": "user", "content": [cleared]}]
    with Tract.open() as tract:
        tract.assistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": stored}])
        tract.tool_result("t1", "Bash", "3 passed")
        found = tract.hydrate(sent)
        other = {**use, "input": stored, "name": "Read"}
        assert not tract.hydrate([{"role": "assistant", "content": [other]}, sent[1]]).restored
    assert (found.restored, found.refetch) == ((("t1",), ()) if is_same else ((), ("t1",)))


FAMILIES = [
    families.anthropic,
    families.chat,
    families.responses,
    families.bedrock,
    families.gemini,
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
@pytest.mark.parametrize("said", ["user", "model", "nobody"])
def test_a_result_that_the_client_dropped_comes_back(
    family: Callable[[str], list[JsonObject]], said: str
) -> None:
    """At its place, in the format in which it was recorded."""
    first, second = family("t1"), family("t2")
    between = spoken(family, "assistant", "Next.")
    whole = [*first, between, *second]
    end = {
        "user": spoken(family, "user", "Go on."),
        "model": spoken(family, "assistant", "Done."),
    }
    ends = [end[said]] if said in end else []
    with Tract.open() as tract:
        tract.append_many(whole)
        found = tract.hydrate([first[0], between, *second, *ends])
        assert (found.messages, found.restored) == ([*whole, *ends], ("t1",))
        found = tract.hydrate([*first, between, second[0], *ends])
    if said == "user" and family in (families.anthropic, families.bedrock, families.gemini):
        key = "parts" if family is families.gemini else "content"
        both = {"role": "user", key: [*second[1][key], *ends[0][key]]}
        assert found.messages == [*first, between, second[0], both]
    else:
        assert found.messages == [*whole, *ends]
    assert (found.restored, found.refetch) == (("t2",), ())


def spoken(family: Callable[[str], list[JsonObject]], role: str, text: str) -> JsonObject:
    if family is families.gemini:
        return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}
    if family is families.bedrock:
        return {"role": role, "content": [{"text": text}]}
    if family is families.anthropic:
        return {"role": role, "content": [{"type": "text", "text": text}]}
    return {"role": role, "content": text}


@given(st.data(), st.sampled_from(FAMILIES), st.integers(1, 5))
def test_results_of_parallel_calls_come_back_in_the_order_of_the_calls(
    data: st.DataObject, family: Callable[[str], list[JsonObject]], count: int
) -> None:
    talks = [family(f"t{number}") for number in range(count)]
    dropped = data.draw(st.sets(st.sampled_from(range(count))))

    def joined(numbers: Sequence[int]) -> list[JsonObject]:
        """All calls, then these results."""
        calls, results = [talk[0] for talk in talks], [talks[number][1] for number in numbers]
        if family is families.responses:
            return [*calls, *results]
        if family is families.chat:
            entries = [entry for each in calls for entry in each["tool_calls"]]
            return [{**calls[0], "tool_calls": entries}, *results]
        key = "parts" if family is families.gemini else "content"
        said = {**calls[0], key: [part for each in calls for part in each[key]]}
        parts = [part for each in results for part in each[key]]
        return [said, *([{"role": "user", key: parts}] if parts else [])]

    whole = joined(range(count))
    end = spoken(family, "assistant", "Done.")
    with Tract.open() as tract:
        tract.append_many(whole)
        found = tract.hydrate([*joined(sorted(set(range(count)) - dropped)), end])
    assert found.messages == [*whole, end]
    assert found.restored == tuple(f"t{number}" for number in sorted(dropped))


def test_a_result_recorded_in_another_format_is_not_put_into_a_request() -> None:
    with Tract.open() as tract:
        tract.append_many(families.chat("t1"))
        use, _ = families.anthropic("t1")
        use["content"][0]["name"] = "chat"
        found = tract.hydrate([use])
    assert (found.messages, found.restored, found.refetch) == ([use], (), ("t1",))


def test_calls_that_the_client_does_not_answer_lack_nothing() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}}
    sent = [{"role": "assistant", "content": [search]}]
    with Tract.open() as tract:
        assert tract.hydrate(sent).refetch == ()


def test_results_without_ids_and_names_belong_to_the_calls_in_their_order() -> None:
    calls = [{"function": {"name": name, "arguments": {}}} for name in ("Read", "Bash")]
    said = {"role": "assistant", "content": "", "tool_calls": calls}
    results = [{"role": "tool", "content": text} for text in ("a file", "3 passed")]
    end = {"role": "assistant", "content": "Done."}
    with Tract.open() as tract:
        tract.append_many([said, *results])
        (turn,) = tract.find_tool_turns()
        assert [tract.get_content(each) for each in turn.results] == ["a file", "3 passed"]
        sent = [said, results[0], {**results[1], "content": CLEARED}, end]
        assert tract.hydrate(sent).messages == [said, *results, end]
