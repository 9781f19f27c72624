"""One bit that flips in a file with pages of every kind: each read returns the right whole, or raises."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.builders.stores import NAMES, PAGE_KINDS, flips, page_kinds, write_store
from support.examples import IS_LONG

from toolcarry.errors import StoreDamagedError, StoreError
from toolcarry.tract import Tract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(36_000 if IS_LONG else 120)]
COMMITS = 10_000 if IS_LONG else 60
FLIPS = 1_000 if IS_LONG else 6

Read = Callable[[Tract], Any]
READS: dict[str, Read] = {
    "log": lambda tract: tract.log(),
    "last": lambda tract: tract.log(3),
    "compile": lambda tract: tract.compile(),
    "export": lambda tract: list(tract.export()),
    "results": lambda tract: tract.find_tool_results(),
    "turns": lambda tract: tract.find_tool_turns(),
    "stats": lambda tract: tract.stats(),
    "resolve": lambda tract: tract.resolve("t3"),
}


def read_all(tract: Tract, hashes: dict[str, list[str]]) -> dict[tuple[str, str], Any]:
    """Return what each read returns; ``None`` for one that says that the store is damaged."""
    found: dict[tuple[str, str], Any] = {}
    for name in NAMES:
        talk = tract.in_conversation(name)
        for key, read in READS.items():
            found[name, key] = outcome(talk, read)
        for commit in (hashes[name][0], hashes[name][-1], hashes[name][len(hashes[name]) // 2]):
            found[name, commit] = outcome(
                talk, lambda talk, commit=commit: talk.get_content(commit)
            )  # type: ignore[misc]
    found["", "conversations"] = outcome(tract, lambda tract: tract.conversations())
    return found


def outcome(tract: Tract, read: Read) -> Any:
    try:
        return read(tract)
    except StoreDamagedError:
        return None


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, list[str]], Any]:
    path = tmp_path_factory.mktemp("flips") / "history.db"
    hashes = write_store(path, COMMITS)
    with Tract.open(path) as tract:
        return path.read_bytes(), hashes, read_all(tract, hashes)


def test_the_store_has_pages_of_every_kind(
    store: tuple[bytes, dict[str, list[str]], Any],
) -> None:
    kinds = page_kinds(store[0])
    assert [kind for kind in PAGE_KINDS[:-1] if len(kinds[kind]) < 2] == []
    assert None not in store[2].values()


@pytest.mark.parametrize("kind", PAGE_KINDS)
def test_a_read_returns_the_whole_or_raises(
    store: tuple[bytes, dict[str, list[str]], Any], tmp_path: Path, kind: str
) -> None:
    data, hashes, right = store
    path = tmp_path / "flipped.db"
    for bit, changed in flips(data, kind, FLIPS):
        for suffix in ("", "-wal", "-shm", "-head"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(changed)
        try:
            tract = Tract.open(path)
        except StoreError:
            continue
        with tract:
            found = read_all(tract, hashes)
            wrong = [key for key, value in found.items() if value not in (None, right[key])]
            assert wrong == [], f"bit {bit}"
            talk = tract.in_conversation("default")
            before = found["default", "log"]
            try:
                commit = talk.user("more")
            except StoreError:
                continue
            assert commit.sequence == len(hashes["default"]) + 1, f"bit {bit}"
            if before is not None:
                assert talk.log() == [commit, *before], f"bit {bit}"
