"""From references and placeholders back to what the tools gave."""

from typing import Any

import pytest
from talks import call, work

from toolcarry import InputError, Policy
from toolcarry.tract import Tract


def tool(call_id: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def test_a_marker_leads_to_the_original(tract: Tract) -> None:
    call(tract, ("t1", "Bash"))
    original = tract.tool_result("t1", "Bash", "word " * 500)
    tract.tool_result("t1", "Bash", "words " * 300, edit=original.commit_hash)
    marker = tract.compile(policy=Policy(max_tool_result_chars=100))[-1]["content"]
    assert "whole: t1]" in marker
    assert tract.resolve("t1") == "word " * 500
    assert tract.read_tool_result({"ref": "t1", "limit": 4}).startswith(
        "word\n[toolcarry: characters"
    )
    with pytest.raises(InputError, match="no tool result is called 't2'"):
        tract.resolve("t2")


def test_an_id_that_repeats(tract: Tract) -> None:
    for number in range(3):
        call(tract, ("t", "Bash"))
        tract.tool_result("t", "Bash", str(number) * 300)
    shown = tract.compile(policy=Policy(max_tool_result_chars=100))
    marks = [
        message["content"].partition("whole: ")[2].partition("]")[0] for message in shown[1::2]
    ]
    assert marks == ["t", "t#2", "t#3"]
    assert [tract.resolve(ref)[0] for ref in ("t", "t#2", "t#3")] == ["0", "1", "2"]


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
    assert (found.restored, found.refetch) == ((), ("t1", "t2"))


def test_results_of_one_id_are_put_back_in_their_order(tract: Tract) -> None:
    for text in ("one", "two"):
        call(tract, ("t", "Bash"))
        tract.tool_result("t", "Bash", text)
    found = tract.hydrate([tool("t", "one"), tool("t", ""), tool("t", "")])
    assert [message["content"] for message in found.messages] == ["one", "two", ""]
    assert found.refetch == ("t",)


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
