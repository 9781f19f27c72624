"""Paths are compared in a normal form that never makes two files equal."""

from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from support.builders.wire import edit, join, read, turn
from support.rows import for_each

from toolcarry.model.dedupe.paths import resolve

any_backend = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def key_of(api: ModuleType, path: str, directory: str = "", name: str = "Read") -> str:
    """The key of a call about a path, in a working directory."""
    given = {"file_path": path, **({"cwd": directory} if directory else {})}
    (block,) = api.extract_tool_blocks(turn(name, given))
    assert block.dedup_key is not None
    return str(block.dedup_key)


SAME = [
    ("./b.py", "b.py"),
    ("a/../b.py", "b.py"),
    ("a/./b.py", "a/b.py"),
    ("/w//b.py", "/w/b.py"),
    ("/w/a/../b.py", "/w/b.py"),
    ("/w/b/", "/w/b"),
    ("/../b", "/b"),
    ("/.", "/"),
    ("../a/../b", "../b"),
    ("a/..", "."),
    ("C:\\w\\b.py", "c:/w/b.py"),
    ("C:/w/", "c:\\w"),
    ("c:\\a\\..\\..\\b", "c:/b"),
    ("/日本/../b.py", "/b.py"),
    ("/w/é//b", "/w/é/b"),
]


@for_each(("one", "other"), SAME)
def test_two_spellings_of_one_file(api: ModuleType, one: str, other: str) -> None:
    assert key_of(api, one) == key_of(api, other)
    kept = api.deduplicate_tools(
        api.extract_tool_blocks(join(read(one, "1", "r1"), read(other, "2", "r2")))
    )
    assert [block.call_id for block in kept] == ["r2"]


DIFFERENT = [
    ("a.py", "A.py"),
    ("/w/a.py", "/W/a.py"),
    ("c:/w", "d:/w"),
    ("c:/w", "c:w"),
    ("c:/w", "/c/w"),
    ("a.py", "/a.py"),
    ("../a", "a"),
    ("~/a", "./~/a"),
    ("~x/../a", "a"),
    ("$HOME/../a", "a"),
    ("//host/a", "/host/a"),
    ("\\\\host\\a", "/host/a"),
    ("\\w\\a", "/w/a"),
    ("a\\b", "a/b"),
    ("/w/a\\..\\b", "/w/b"),
    ("s3://bucket//a", "s3://bucket/a"),
    ("s3://a/../b", "s3://b"),
    ("file:///w/a", "/w/a"),
    ("./s3://b", "s3://b"),
    ("./c:/w", "c:/w"),
    ("a:b/../c", "c"),
    ("/w/a.py ", "/w/a.py"),
    ("é", "e\u0301"),
    ("a/...", "a"),
]


@for_each(("one", "other"), DIFFERENT)
def test_paths_that_may_be_two_files_stay_two(api: ModuleType, one: str, other: str) -> None:
    assert key_of(api, one) != key_of(api, other)


@for_each(
    ("path", "directory", "key"),
    [
        ("b.py", "/w", "read:/w/b.py"),
        ("../b.py", "/w/a", "read:/w/b.py"),
        ("./b.py", "/w/./", "read:/w/b.py"),
        ("/b.py", "/w", "read:/b.py"),
        ("a\\b.py", "C:\\w", "read:c:/w/a/b.py"),
        ("a/b.py", "c:/w", "read:c:/w/a/b.py"),
        ("a\\b.py", "/w", 'read:a\\b.py @ {"directory":"/w"}'),
        ("b.py", "src", "read:src/b.py"),
        ("../b.py", "src", "read:b.py"),
        ("b.py", ".", "read:b.py"),
        ("b.py", "~/w", 'read:b.py @ {"directory":"~/w"}'),
        ("~/b.py", "/w", 'read:~/b.py @ {"directory":"/w"}'),
        ("s3://b/c", "/w", "read:s3://b/c"),
        ("//host/b", "/w", "read://host/b"),
        ("b.py", "//host/w", 'read:b.py @ {"directory":"//host/w"}'),
        ("日本.py", "/w", "read:/w/日本.py"),
    ],
)
def test_a_relative_path_is_in_its_directory(
    api: ModuleType, path: str, directory: str, key: str
) -> None:
    assert key_of(api, path, directory) == key


def test_an_edit_in_another_spelling_makes_a_read_stale(api: ModuleType, rust: ModuleType) -> None:
    messages = join(read("/w/a.py", "old", "r1"), edit("/w/./b/../a.py", "x", "y", "e1"))
    assert rust.inspect(messages).stale_reads == 1
    assert "### /w/a.py (edited after this read)\n" in api.carry(messages).text


def test_the_path_is_shown_as_written(api: ModuleType) -> None:
    assert "### ./a//b.py\n" in api.carry(read("./a//b.py", "text")).text


pieces = st.sampled_from(
    [
        *(
            "/",
            "//",
            "\\",
            ".",
            "..",
            "./",
            "../",
            "/..",
            "/./",
            "a",
            "b",
            "C:",
            "c:/",
            "d:\\",
            ":",
        ),
        *(
            "~",
            "~/",
            "$HOME",
            "%X%",
            "s3://",
            "file://",
            " ",
            "é",
            "日本",
            "\ud800",
            "]",
            "@ {",
            "}",
        ),
    ]
)
paths = st.lists(pieces, min_size=1, max_size=8).map("".join)
directories = paths | st.just("") | st.sampled_from(["/w", "/w/a", "c:/w", "src", "~/w"])


@given(path=paths)
@example(path="./~x")
@example(path="x/../s3://b")
def test_a_normal_path_is_its_own_normal_form(path: str) -> None:
    normal, _ = resolve(path, ())
    assert resolve(normal, ()) == (normal, ())


@given(
    path=paths, one=st.sampled_from(["/v", "/w/a", "c:/w"]), other=st.sampled_from(["/u", "d:/x"])
)
def test_a_path_of_two_directories_is_two_files_unless_it_is_whole(
    path: str, one: str, other: str
) -> None:
    found, again = resolve(path, (one,)), resolve(path, (other,))
    is_whole = resolve(path, ()) == found == again
    climbs_out = ".." in path.replace("\\", "/").split("/")
    assert is_whole or climbs_out or found != again


@settings(deadline=None)
@given(path=paths, directory=directories, name=st.sampled_from(["Read", "mcp__s__read_file"]))
def test_both_backends_have_the_same_keys(
    both: tuple[Any, Any], path: str, directory: str, name: str
) -> None:
    given = {"file_path": path, **({"cwd": directory} if directory else {})}
    keys = [backend.extract_tool_blocks(turn(name, given))[0].dedup_key for backend in both]
    assert keys[0] == keys[1]


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["/", "../", "./", "a/", "\\", "~", "a/../", ":", "C:\\"])
def test_time_is_linear(api: ModuleType, piece: str) -> None:
    long = piece * (500_000 // len(piece))
    assert key_of(api, long)
    assert key_of(api, "x/" + long, "/w")
