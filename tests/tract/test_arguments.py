"""Invalid paths, texts and lists are refused with a message about the allowed values, and nothing is written."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from toolcarry.errors import ConfigError, InputError
from toolcarry.switch import HistorySessions
from toolcarry.tract import Tract

NOW = dt.datetime.now(dt.UTC)


@pytest.mark.parametrize("path", [None, 3, b"history.db", ["history.db"], "", "a\0b"])
def test_paths_that_are_invalid(memory: Callable[..., Tract], path: Any) -> None:
    tract = memory()
    for key, use in (
        ("target", Tract.open),
        ("target", HistorySessions),
        ("path", tract.import_transcript),
        ("path", tract.repair),
        ("target", lambda target: tract.archive(target, before=NOW)),
    ):
        with pytest.raises(ConfigError, match=f"^{key}: .* is not allowed; allowed: a "):
            use(path)


@pytest.mark.parametrize("value", [3, "extractive", ["a"]])
def test_objects_that_are_not_callable(memory: Callable[..., Tract], value: Any) -> None:
    allowed = r" is not allowed; allowed: a callable, None$"
    with pytest.raises(ConfigError, match=f"^summarizer: .*{allowed}"):
        Tract.open(summarizer=value)
    with pytest.raises(ConfigError, match=f"^progress: .*{allowed}"):
        memory().import_transcript("no/such/file.jsonl", progress=value)


@pytest.mark.parametrize("value", [3, b"text", ["text"], {"text": "text"}])
def test_texts_that_are_invalid(memory: Callable[..., Tract], value: Any) -> None:
    tract = memory(summarizer=lambda text, _: text[:4])
    tract.assistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": {}}])
    result = tract.tool_result("t1", "Bash", "3 passed in 0.1 s").commit_hash
    for key, use in (
        ("content", lambda: tract.compress(content=value)),
        ("instructions", lambda: tract.compress(instructions=value)),
        ("system_prompt", lambda: tract.compress(system_prompt=value)),
        ("instructions", lambda: tract.summarize_result(result, value)),
        ("commit", lambda: tract.compress(commits=[value])),
    ):
        with pytest.raises(
            InputError, match=f"^{key} must be a string, not {type(value).__name__}$"
        ):
            use()
    assert len(tract.log()) == 2


@pytest.mark.parametrize("value", [3, True, "hash", b"hash", {"hash": 1}])
def test_lists_that_are_invalid(memory: Callable[..., Tract], value: Any) -> None:
    tract = memory(summarizer=lambda text, _: text[:4])
    for key, use in (
        ("commits", lambda: tract.compress(commits=value, content="Short.")),
        ("preserve", lambda: tract.compress(preserve=value, content="Short.")),
        ("hashes", lambda: tract.compress_tool_calls(value)),
        ("tool_calls", lambda: tract.assistant("", tool_calls=value)),
    ):
        with pytest.raises(InputError, match=f"^{key} must be a list of .*, not "):
            use()
    assert tract.log() == []


def test_every_kind_of_list(memory: Callable[..., Tract]) -> None:
    tract = memory()
    hashes = [tract.user(text).commit_hash for text in ("One.", "Two.", "Three.")]
    done = tract.compress(commits=iter(hashes), preserve={hashes[0]}, content="Short.")
    assert (done.covered, done.preserved) == ((hashes[1], hashes[2]), (hashes[0],))
