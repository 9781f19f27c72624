"""From references and placeholders back to what the tools gave."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders.talks import call, work
from support.oracles.conversions import TARGETS

from toolcarry import InputError, ProjectPolicy
from toolcarry.tract import CommitInfo, Tract


def tool(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


@pytest.mark.rust
def test_a_marker_leads_to_the_original(tract: Tract) -> None:
    call(tract, ("t1", "Bash"))
    original = tract.tool_result("t1", "Bash", "word " * 500)
    tract.tool_result("t1", "Bash", "words " * 300, edit=original.commit_hash)
    marker = tract.compile(policy=ProjectPolicy(max_result_chars=100))[-1]["content"]
    assert "whole: t1]" in marker
    assert tract.resolve("t1") == "word " * 500
    assert tract.read_tool_result({"ref": "t1", "limit": 4}).startswith(
        "word\n[toolcarry: characters"
    )
    with pytest.raises(InputError, match="no tool result has the reference 't2'"):
        tract.resolve("t2")


@pytest.mark.rust
def test_an_id_that_repeats(tract: Tract) -> None:
    for number in range(3):
        call(tract, ("t", "Bash"))
        tract.tool_result("t", "Bash", str(number) * 300)
    shown = tract.compile(policy=ProjectPolicy(max_result_chars=100))
    marks = [
        message["content"].partition("whole: ")[2].partition("]")[0] for message in shown[1::2]
    ]
    assert marks == ["t", "t#2", "t#3"]
    assert [tract.resolve(ref)[0] for ref in ("t", "t#2", "t#3")] == ["0", "1", "2"]


def runs(tract: Tract, count: int, call_id: str = "t") -> list[CommitInfo]:
    """Runs that all have one id, whose results begin with their number; the commits of the results."""
    results = []
    for number in range(count):
        tract.user(f"Run {number}.")
        call(tract, (call_id, "Bash"))
        results.append(tract.tool_result(call_id, "Bash", f"{number} {'word ' * 100}"))
    return results


def marks(messages: list[dict[str, Any]]) -> list[str]:
    """The references of the results that are cut in messages, of any shape."""
    return re.findall(r"characters; whole: (\S+?)\]", json.dumps(messages))


SHORT = ProjectPolicy(max_result_chars=120)


@pytest.mark.rust
@pytest.mark.parametrize("style", TARGETS)
@pytest.mark.parametrize("call_id", ["t", "", "call 1;"])
def test_a_reference_holds_whatever_is_left_out_later(
    tract: Tract, style: Any, call_id: str
) -> None:
    results = runs(tract, 6, call_id)
    seen = marks(tract.compile(style=style, policy=SHORT))
    assert [tract.resolve(ref)[0] for ref in seen] == list("012345")
    for first, last, left in ((0, 1, "2345"), (3, 3, "245")):
        done = tract.compress(
            commits=[results[number].commit_hash for number in range(first, last + 1)],
            content="Short.",
        )
        assert done.commit is not None
        shown = tract.compile(style=style, policy=SHORT)
        assert marks(shown) == [seen[int(number)] for number in left]
        assert [tract.resolve(ref)[0] for ref in seen] == list("012345")


@pytest.mark.rust
@given(st.data())
def test_references_resolve_to_their_results(data: st.DataObject) -> None:
    """Ids may repeat, and results may be compacted, dropped or edited in between."""
    ids = data.draw(st.lists(st.sampled_from(["a", "b", "", "a#2", "["]), min_size=1, max_size=8))
    style = data.draw(st.sampled_from(TARGETS))
    with Tract.open() as tract:
        results = []
        for number, call_id in enumerate(ids):
            call(tract, (call_id, "Bash"))
            text = f"{number} word " * 100
            is_error = data.draw(st.booleans())
            results.append(tract.tool_result(call_id, "Bash", text, is_error=is_error))
        for _ in range(2):
            covered = data.draw(st.lists(st.sampled_from(results)))
            tract.compress(commits=[each.commit_hash for each in covered], content="Short.")
        if data.draw(st.booleans()):
            tract.drop_failed_tool_turns()
        for message in tract.compile(style=style, policy=SHORT):
            for ref in marks([message]):
                start = re.search(r"\d word", json.dumps(message))
                assert start is not None
                assert tract.resolve(ref).startswith(start[0])


@pytest.mark.rust
def test_a_result_that_another_call_takes_where_some_are_left_out(tract: Tract) -> None:
    """A result without an id answers the open call, which a compaction may change."""
    call(tract, ("b", "Bash"))
    covered = [call(tract, ("c", "Bash")), tract.tool_result("c", "Bash", "0 " + "word " * 100)]
    call(tract, ("b", "Bash"))
    tract.tool_result("b", "Bash", "1 " + "word " * 100)
    covered.append(tract.tool_result("a", "Bash", "2 " + "word " * 100))
    tract.tool_result("", "Bash", "3 " + "word " * 100)
    before = marks(tract.compile(policy=SHORT))
    assert [tract.resolve(ref)[0] for ref in before] == list("0123")
    tract.compress(commits=[commit.commit_hash for commit in covered], content="Short.")
    after = marks(tract.compile(policy=SHORT))
    assert after == [before[1], before[3]]


def test_dropped_results_are_found_by_id(tract: Tract) -> None:
    call(tract, ("t1", "Bash"))
    tract.tool_result("t1", "Bash", "denied", is_error=True)
    runs(tract, 1, "t2")
    assert tract.drop_failed_tool_turns().commit is not None
    assert tract.resolve("t1") == "denied"
    tract.compress(content="Short.")
    assert tract.resolve("t2").startswith("0 word")


@pytest.mark.rust
def test_the_references_of_an_imported_session(tract: Tract, tmp_path: Path) -> None:
    """Ids repeat across the records; part of one record is compacted, and another record is edited."""
    records: list[dict[str, Any]] = []
    for number in range(4):
        use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": str(number)}}
        text = f"{number} {'word ' * 100}"
        result = {"type": "tool_result", "tool_use_id": "t", "content": text}
        records.append({"role": "assistant", "content": [use]})
        records.append({"role": "user", "content": [result, {"type": "text", "text": "More."}]})
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    tract.import_transcript(path)
    results = tract.find_tool_results()
    tract.tool_result("t", "Bash", "3 words " * 60, edit=results[3].commit_hash)
    for style in TARGETS:
        shown = marks(tract.compile(style=style, policy=SHORT))
        assert [tract.resolve(ref)[0] for ref in shown] == list("0123")
    tract.compress(commits=[results[1].commit_hash], content="Short.")
    for style in TARGETS:
        shown = marks(tract.compile(style=style, policy=SHORT))
        assert [tract.resolve(ref)[:6] for ref in shown] == ["0 word", "2 word", "3 word"]


def test_the_references_of_a_compaction(tract: Tract) -> None:
    commits = work(tract)
    done = tract.compress(content="Short.", preserve=[commits[-1].commit_hash])
    assert done.commit is not None
    for number, covered in enumerate(done.commit.metadata["tools"]):
        assert tract.resolve(covered["ref"]) == f"line {number} of it\n" * 50
    whole = tract.resolve(done.commit.commit_hash[:16])
    assert whole.startswith("[USER]\nFind the fault.\n[/USER]")
    assert "line 2 of it\n" * 49 in whole


@pytest.mark.parametrize(
    "placeholder",
    [
        None,
        "",
        "[Old tool result content cleared]",
        "[toolcarry: superseded by call t2; whole: t1]",
        "wor... [truncated]",
        [{"type": "text", "text": "[Request interrupted by user]"}],
    ],
)
def test_placeholders_give_way(tract: Tract, placeholder: object) -> None:
    tract.tool_result("t1", "Bash", "words")
    asked = {"role": "user", "content": "Go on."}
    found = tract.hydrate(
        [asked, tool("t1", placeholder), tool("t9", placeholder), tool("t8", "fine")]
    )
    assert found.messages == [
        asked,
        tool("t1", "words"),
        tool("t9", placeholder),
        tool("t8", "fine"),
    ]
    assert (found.restored, found.refetch) == (("t1",), ("t9",))


def test_a_placeholder_is_no_better_than_another(tract: Tract) -> None:
    tract.tool_result("t1", "Bash", "wor... [truncated]")
    tract.tool_result("t2", "Bash", "")
    found = tract.hydrate([tool("t1", None), tool("t2", "")])
    assert (found.restored, found.refetch) == (
        (),
        ("t1",),
    )  # Bash printed nothing, and that is whole


def test_results_of_one_id_are_put_back_where_their_calls_differ(tract: Tract) -> None:
    for text in ("one", "two"):
        use = {"id": "t", "name": "Bash", "arguments": {"command": f"echo {text}"}}
        tract.assistant("", tool_calls=[use])
        tract.tool_result("t", "Bash", text)
    tract.assistant("Done.")
    whole = tract.compile()
    cleared = [{**each, "content": ""} if each["role"] == "tool" else each for each in whole]
    assert tract.hydrate(cleared).messages == whole
    found = tract.hydrate([tool("t", "one"), tool("t", ""), tool("t", "")])
    assert [message["content"] for message in found.messages] == ["one", "", ""]
    assert found.refetch == ("t", "t")


@pytest.mark.rust
def test_a_client_that_forgot_the_beginning_gets_no_other_result(tract: Tract) -> None:
    """Of equal calls with one id, nothing says which one it is: a marker counts the calls that its request had."""
    runs(tract, 3)
    *_, said, last = tract.compile(policy=ProjectPolicy(max_result_chars=60))
    assert "whole: t#3]" in last["content"]
    for shown in (
        last,
        tool("t", "[Old tool result content cleared]"),
        tool("t9", last["content"]),
    ):
        for sent in ([shown], [said, shown]):
            found = tract.hydrate(sent)
            assert (found.messages, found.restored) == (sent, ())
            assert shown["tool_call_id"] in found.refetch


def test_a_part_of_a_message_is_put_back(tract: Tract) -> None:
    tract.tool_result("t1", "Bash", "words")
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    message = {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": "",
                "cache_control": {"type": "ephemeral"},
            },
            {"type": "tool_result", "tool_use_id": "t2", "content": [image]},
        ],
    }
    (found,) = tract.hydrate([message]).messages
    assert found["content"][0] == {**message["content"][0], "content": "words"}  # type: ignore[dict-item,index]
    assert found["content"][1] == message["content"][1]
