"""``Conversation``: one way in for lists, bytes, texts and files, with one conversation or many."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.builders.producers import sample
from support.builders.session_stores import HELLO, NEW, OLD, STORES
from support.rows import for_each

ASKED = {"role": "user", "content": "What is here?"}
CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
TALK: list[dict[str, Any]] = [ASKED, {"role": "assistant", "content": [CALL]}, {"role": "user", "content": [RESULT]}]  # fmt: skip
REQUEST = {"model": "m", "messages": TALK}


def lines(*items: Any) -> str:
    return "\n".join(map(json.dumps, items))


def test_every_form_is_the_same_conversation(api: ModuleType, tmp_path: Path) -> None:
    written = json.dumps(REQUEST)
    path = tmp_path / "request.json"
    path.write_text(written)
    forms = (TALK, tuple(TALK), written, f"\ufeff {written}", written.encode(), bytearray(written.encode()), path)  # fmt: skip
    for form in (*forms, *map(api.Conversation.of, forms)):
        assert api.carry(form).text == api.carry(TALK).text
        assert api.dialogue(form) == api.dialogue(TALK)
        assert len(api.extract_tool_blocks(form)) == 1
        assert [each.fate for each in api.carry(form, explain=True).fates] == ["shown"]
        assert api.count_message_tokens(form) == api.count_message_tokens(TALK)
        assert api.resolve(form, "t1") == "a.py"
        assert api.convert(form, to="openai").messages == api.convert(TALK, to="openai").messages
        assert api.Conversation.of(form).messages == TALK


def test_every_form_in_rust(rust: ModuleType) -> None:
    written = json.dumps(TALK)
    for form in (written, written.encode(), rust.Conversation.of(written)):
        assert rust.inspect(form, tokens=True) == rust.inspect(written.encode(), tokens=True)
        assert rust.recount(form).messages == rust.recount(TALK).messages
        assert rust.check(form) == rust.check(TALK)
        assert rust.context_usage(form, limit=1_000).used == rust.context_usage(TALK, limit=1_000).used  # fmt: skip


@for_each(
    ("source", "count"),
    [
        (TALK, 1),
        ([TALK, TALK], 2),
        ([REQUEST, REQUEST, REQUEST], 3),
        (json.dumps([REQUEST, REQUEST]), 2),
        (json.dumps([TALK, TALK]), 2),
        (json.dumps(TALK), 1),
        (json.dumps(REQUEST, indent=2), 1),
        (lines(REQUEST, REQUEST), 2),
        (lines(REQUEST, REQUEST) + "\n\n", 2),
        (lines(REQUEST), 1),
        (lines(*TALK), 1),
        ("[]", 1),
        ("[[", 1),
        ('[{"messages": []}, {', 1),
        (b"", 1),
    ],
    ids=str,
)
def test_a_source_holds_one_or_many(api: ModuleType, source: Any, count: int) -> None:
    found = list(api.Conversation.read(source))
    assert len(found) == count
    if "messages" in str(source) or isinstance(source, list):
        for each in found[: count if count > 1 else 0]:
            assert api.carry(each).text == api.carry(TALK).text


def test_a_store_yields_all_conversations(api: ModuleType, tmp_path: Path) -> None:
    for name, make in STORES.items():
        path = tmp_path / f"{name}.db"
        make(path)
        found = list(api.Conversation.read(path))
        newest = api.Conversation.of(path)
        assert found[0].given == newest.given
        assert found[0].remarks == ()
        assert any(f"{NEW}, the newest of {len(found)}" in remark for remark in newest.remarks)
        (one,) = api.Conversation.read(Path(f"{path}#{OLD}"))
        assert HELLO in api.dialogue(one)
        assert one.given in [each.given for each in found[1:]]


def test_a_session_is_not_a_request(api: ModuleType) -> None:
    for given in (TALK, json.dumps(REQUEST), "[]", b"7"):
        assert not api.Conversation.of(given).is_session
    for given in (lines(*TALK), sample("pi"), json.dumps(sample("vscode"))):
        assert api.Conversation.of(given).is_session


def test_a_name_is_no_conversation(api: ModuleType) -> None:
    with pytest.raises(api.InputError, match=r"a text must be JSON or JSONL, not 'session.jsonl'; pass a file as a pathlib.Path"):  # fmt: skip
        api.carry("session.jsonl")
    with pytest.raises(api.InputError, match="not a valid path"):
        api.carry(Path("a\0b"))
    with pytest.raises(FileNotFoundError):
        api.carry(Path("no/such/file.jsonl"))


def test_an_empty_file_is_an_error(api: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(" \n")
    for job in (api.Conversation.of, lambda given: list(api.Conversation.read(given))):
        with pytest.raises(api.InputError, match="is empty"):
            job(path)


def test_an_error_names_the_message(api: ModuleType) -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(api.InputError) as caught:
        api.carry([ASKED, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": deep}]}])  # fmt: skip
    assert caught.value.position == 1
