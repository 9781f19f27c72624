"""A conversation written and read, on every kind of store."""

import hashlib
import stat
from pathlib import Path
from typing import Any

import pytest
from support.builders.talks import call

from toolcarry import InputError, convert
from toolcarry.errors import ConfigError, StoreError, UnknownCommitError
from toolcarry.tract import Kind, Tract

CALLS = [{"id": "t1", "name": "Bash", "arguments": {"command": "pytest"}}]


def talk(tract: Tract) -> list[str]:
    """A short conversation; the hashes of its commits."""
    commits = [
        tract.system("Be brief."),
        tract.user("Run the tests."),
        tract.assistant("I will.", tool_calls=CALLS),
        tract.tool_result("t1", "Bash", "3 passed"),
        tract.assistant("They pass."),
    ]
    return [commit.commit_hash for commit in commits]


def test_written_commits_are_read(tract: Tract) -> None:
    hashes = talk(tract)
    log = tract.log()
    assert [commit.commit_hash for commit in reversed(log)] == hashes
    assert [commit.sequence for commit in log] == [5, 4, 3, 2, 1]
    assert [commit.parent_hash for commit in log] == [*hashes[-2::-1], None]
    assert [tract.get_content(commit) for commit in hashes] == [
        "Be brief.", "Run the tests.", "I will.", "3 passed", "They pass.",
    ]  # fmt: skip
    assert tract.get_commit(hashes[3]).metadata == {
        "tool_call_id": "t1",
        "name": "Bash",
        "is_error": False,
    }
    assert tract.get_commit(hashes[2]).metadata == {"tool_calls": CALLS}
    assert tract.get_commit(hashes[3][:8]) == tract.get_commit(hashes[3])
    assert tract.log(2) == log[:2]
    assert tract.log(0) == []


def test_it_is_there_when_opened_again(durable_target: str) -> None:
    with Tract.open(durable_target) as tract:
        hashes = talk(tract)
    with Tract.open(durable_target) as tract:
        assert [commit.commit_hash for commit in reversed(tract.log())] == hashes
        assert tract.user("Thanks.").sequence == 6
        assert tract.verify().is_whole


def test_the_same_conversation_has_the_same_hashes(target: str, tmp_path: Path) -> None:
    with Tract.open(target) as one, Tract.open(tmp_path / "other.db") as other:
        assert talk(one) == talk(other)
        assert talk(one.in_conversation("second")) == talk(other.in_conversation("third"))


def test_a_hash_is_as_documented() -> None:
    """Written out once, so that the canonical bytes can't change unnoticed."""

    def join(tag: bytes, *parts: bytes) -> bytes:
        return tag + b"".join(len(part).to_bytes(8, "big") + part for part in parts)

    with Tract.open() as tract:
        first = tract.user("hi")
        second = tract.tool_result("t1", "Bash", "3 passed")
    content = hashlib.sha256(b"toolcarry content 1\nhi").digest()
    assert first.content_hash == content.hex()
    wanted = hashlib.sha256(join(b"toolcarry commit 1\n", b"", b"user", content, b"{}"))
    assert first.commit_hash == wanted.hexdigest()
    content = hashlib.sha256(b"toolcarry content 1\n3 passed").digest()
    metadata = b'{"is_error":false,"name":"Bash","tool_call_id":"t1"}'
    wanted = hashlib.sha256(
        join(b"toolcarry commit 1\n", bytes.fromhex(first.commit_hash), b"tool", content, metadata)
    )
    assert second.commit_hash == wanted.hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\0b",
        "\ud800",
        "\udfff\ud800",
        "\x1b[31mred\x1b[0m",
        "naïve \U0001f600",
        "x" * 5_000,
        "\r\n\t",
    ],
)
def test_every_text_comes_back_as_it_was(tract: Tract, text: str) -> None:
    user, result = tract.user(text), tract.tool_result("t\0", "B\ud800", text)
    assert tract.get_content(user) == tract.get_content(result) == text
    assert result.tool_call_id == "t\0"
    assert result.name == "B\ud800"
    assert tract.find_tool_results("B\ud800") == [result]
    assert tract.verify().is_whole


@pytest.mark.parametrize(
    "value", [10**25, -(2**63) - 1, 0.1, 1e300, None, True, "\ud800", [1, {"a": []}], "é", {}]
)
def test_free_metadata_comes_back_as_it_was(tract: Tract, value: object) -> None:
    commit = tract.user("hi", metadata={"free": value})
    assert commit.metadata == {"free": value}
    assert tract.get_commit(commit.commit_hash) == commit


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"free": float("nan")}, "metadata: "),
        ({"free": object()}, "metadata: "),
        ({1: 2}, "metadata: the key 1 is not a string"),
        ({"edit": "x"}, "metadata: the key 'edit' is reserved for toolcarry"),
        ([], "metadata must be an object, not list"),
    ],
)
def test_metadata_that_is_refused(tract: Tract, metadata: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tract.user("hi", metadata=metadata)  # type: ignore[arg-type]
    nested: object = 1
    for _ in range(200):
        nested = [nested]
    with pytest.raises(InputError, match="nested deeper than 128"):
        tract.user("hi", metadata={"free": nested})
    assert tract.log() == []


def test_other_values_than_text_are_refused(tract: Tract) -> None:
    for write in (
        lambda: tract.user(b"hi"),  # type: ignore[arg-type]
        lambda: tract.tool_result("t1", "Bash", None),  # type: ignore[arg-type]
        lambda: tract.tool_result(1, "Bash", ""),  # type: ignore[arg-type]
        lambda: tract.assistant("", tool_calls=[{"id": "t1"}]),
        lambda: tract.assistant("", tool_calls=["Bash"]),
        lambda: tract.tool_result("t1", "Bash", "", edit=5),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError):
            write()
    assert tract.log() == []


@pytest.mark.parametrize("given", [5, None, b"0" * 64])
def test_invalid_hashes_are_refused(tract: Tract, given: object) -> None:
    for read in (tract.get_commit, tract.get_content, tract.get_source, tract.history_of):
        with pytest.raises(InputError, match="commit must be a string, not"):
            read(given)


@pytest.mark.parametrize("messages", [None, 5])
def test_invalid_messages_are_refused(tract: Tract, messages: object) -> None:
    for take in (tract.append_many, tract.hydrate):
        with pytest.raises(InputError, match="messages must be a list of objects, not"):
            take(messages)


@pytest.mark.parametrize("key", ["conversation", "tenant"])
@pytest.mark.parametrize("name", ["a\0b", "\ud800", 1])
def test_names_that_no_store_can_hold(key: str, name: object) -> None:
    with pytest.raises(ConfigError, match=key):
        Tract.open(**{key: name})  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["", "abc", "zz" * 32, "0" * 64, "0" * 65, "' OR 1=1 --"])
def test_an_unknown_hash(tract: Tract, given: str) -> None:
    talk(tract)
    with pytest.raises(UnknownCommitError, match="has no such commit") as caught:
        tract.get_commit(given)
    assert caught.value.commit_hash == given


def test_an_edit_keeps_the_metadata(tract: Tract) -> None:
    talk(tract)
    first = tract.tool_result("t9", "Grep", "long " * 100, is_error=True)
    second = tract.tool_result("", "", "short", edit=first.commit_hash)
    third = tract.tool_result("t9", "Grep", "shorter", edit=second.commit_hash)
    assert second.edits == third.edits == first.commit_hash
    assert third.kind is Kind.EDIT
    assert (third.role, third.tool_call_id, third.name, third.is_error) == (
        "tool",
        "t9",
        "Grep",
        True,
    )
    for commit in (first, second, third):
        assert tract.history_of(commit.commit_hash) == [first, second, third]
    assert tract.get_content(first) == "long " * 100
    assert tract.find_tool_results("Grep") == [third]


def test_an_edit_of_another_commit(tract: Tract) -> None:
    hashes = talk(tract)
    with pytest.raises(InputError, match="is not a tool result, but user"):
        tract.tool_result("t1", "Bash", "x", edit=hashes[1])
    with pytest.raises(UnknownCommitError):
        tract.tool_result("t1", "Bash", "x", edit="0" * 64)
    assert len(tract.log()) == len(hashes)


def test_conversations_and_tenants_are_apart(durable_target: str) -> None:
    with (
        Tract.open(durable_target, tenant="a") as one,
        Tract.open(durable_target, tenant="b") as two,
    ):
        found = talk(one)
        other = one.in_conversation("other")
        for reader in (other, two):
            assert reader.log() == []
            with pytest.raises(UnknownCommitError):
                reader.get_content(found[3])
        for commit in one.log():
            with pytest.raises(UnknownCommitError, match="has no such commit"):
                two.get_content(commit)
            with pytest.raises(UnknownCommitError, match="has no such commit"):
                two.get_source(commit)
        assert one.conversations() == ["default"]
        assert two.conversations() == []


def test_a_closed_store_says_so(target: str) -> None:
    tract = Tract.open(target)
    tract.close()
    tract.close()
    with pytest.raises(StoreError, match="is closed"):
        tract.user("hi")


def test_a_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    with Tract.open(tmp_path / "history.db") as tract:
        talk(tract)
        for path in tmp_path.iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_edit_may_change_the_mark_of_a_failure(tract: Tract) -> None:
    call(tract, ("t1", "Bash"))
    first = tract.tool_result("t1", "Bash", "it ran")
    failed = tract.tool_result("t1", "Bash", "it failed", is_error=True, edit=first.commit_hash)
    kept = tract.tool_result("t1", "Bash", "failed", edit=failed.commit_hash)
    assert (first.is_error, failed.is_error, kept.is_error) == (False, True, True)
    assert tract.compile(style="anthropic")[-1]["content"][0]["is_error"] is True
    dropped = tract.drop_failed_tool_turns()
    assert len(dropped.covered) == 2
    tract.uncompress(str(dropped.commit and dropped.commit.commit_hash))
    healed = tract.tool_result("t1", "Bash", "ok", is_error=False, edit=first.commit_hash)
    assert healed.is_error is False
    assert "is_error" not in tract.compile(style="anthropic")[-1]["content"][0]
    assert tract.drop_failed_tool_turns().covered == ()


@pytest.mark.parametrize("style", ["anthropic", "bedrock", "gemini"])
@pytest.mark.parametrize("is_error", [True, False])
def test_an_edit_marks_an_imported_result(tract: Tract, style: str, is_error: bool) -> None:
    own: list[dict[str, Any]] = [
        {"role": "user", "content": "Run it."},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "long", "is_error": not is_error}
        ]},
    ]  # fmt: skip
    tract.append_many(convert(own, to=style).messages)
    (result,) = tract.find_tool_results()
    tract.tool_result("", "", "short", is_error=is_error, edit=result.commit_hash)
    block = tract.compile(style="anthropic")[-1]["content"][0]
    assert (block["content"], block.get("is_error", False)) == ("short", is_error)


@pytest.mark.parametrize(("call_id", "name"), [("t2", "Bash"), ("t1", "Read"), ("t2", "")])
def test_an_edit_of_another_call_is_refused(tract: Tract, call_id: str, name: str) -> None:
    first = tract.tool_result("t1", "Bash", "3 passed")
    with pytest.raises(InputError, match=r"differs from that of the edited result"):
        tract.tool_result(call_id, name, "x", edit=first.commit_hash)
    assert tract.log() == [first]


@pytest.mark.parametrize("text", ["not json{", '{"a": 1', "[1, 2]", '"x"', "{}}", "ls -la", "null"])
def test_arguments_that_are_no_object_come_back_as_given(tract: Tract, text: str) -> None:
    tract.assistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": text}])
    wire = {"id": "t2", "type": "function", "function": {"name": "Bash", "arguments": text}}
    tract.append_many([{"role": "assistant", "content": None, "tool_calls": [wire]}])
    found = [
        each["function"]["arguments"]
        for message in tract.compile()
        for each in message["tool_calls"]
    ]
    assert found == [text, text]
    given = [each["arguments"] for each in tract.compile(style="responses")]
    assert given == [text, text]
