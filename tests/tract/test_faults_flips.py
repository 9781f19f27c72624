"""One bit that flips in a file with pages of every kind: each read returns the right whole, or raises."""

import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.builders.stores import NAMES, PAGE_KINDS, flips, page_kinds, write_store
from support.examples import IS_LONG

from toolcarry.errors import StoreDamagedError, StoreError
from toolcarry.tract import Tract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(36_000 if IS_LONG else 120)]
STORES = {900: 1_000, 10_000: 50} if IS_LONG else {180: 6}
"""The flips in each kind of page, by the commits in the file, in three conversations of one length. The pages are small,
so the trees of 900 commits have interior pages on two and three levels.
"""
SEED = secrets.token_hex(4) if IS_LONG else "1"

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
LONGEST = ("compile", "resolve")
"""The reads that take most of the time: after each flip, one conversation is read by them."""


def read_all(
    tract: Tract, hashes: dict[str, list[str]], by_all: Sequence[str] = NAMES
) -> dict[tuple[str, str], Any]:
    """Return what each read returns, of these conversations by all; ``None`` for one that says that the store is damaged."""
    found: dict[tuple[str, str], Any] = {}
    for name in NAMES:
        talk = tract.in_conversation(name)
        for key, read in READS.items():
            if name in by_all or key not in LONGEST:
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


class Store(NamedTuple):
    """The bytes of a file, the hashes of its commits by conversation, what is read from it, and the number of flips."""

    data: bytes
    hashes: dict[str, list[str]]
    right: dict[tuple[str, str], Any]
    flips: int


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = tmp_path_factory.mktemp("flips") / "history.db"
    hashes = write_store(path, request.param // len(NAMES))
    with Tract.open(path) as tract:
        right = read_all(tract, hashes)
        return Store(path.read_bytes(), hashes, right, STORES[request.param])


def test_the_store_has_pages_of_every_kind(store: Store) -> None:
    kinds = page_kinds(store.data)
    assert [kind for kind in PAGE_KINDS[:-1] if len(kinds[kind]) < 2] == []
    assert None not in store.right.values()


@pytest.mark.parametrize("kind", PAGE_KINDS)
def test_a_read_returns_the_whole_or_raises(store: Store, tmp_path: Path, kind: str) -> None:
    data, hashes, right, count = store
    path = tmp_path / "flipped.db"
    for turn, (bit, changed) in enumerate(flips(data, kind, count, SEED)):
        for suffix in ("", "-wal", "-shm", "-head"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        path.write_bytes(changed)
        try:
            tract = Tract.open(path)
        except StoreError:
            continue
        with tract:
            found = read_all(tract, hashes, [NAMES[turn % len(NAMES)]])
            wrong = [key for key, value in found.items() if value not in (None, right[key])]
            assert wrong == [], f"bit {bit}, seed {SEED}"
            talk = tract.in_conversation("default")
            before = found["default", "log"]
            try:
                commit = talk.user("more")
            except StoreError:
                continue
            assert commit.sequence == len(hashes["default"]) + 1, f"bit {bit}, seed {SEED}"
            if before is None:
                continue
            try:  # a write follows the pointers of the page, so it may damage rows next to its own
                after = talk.log()
            except StoreError:
                continue
            assert after == [commit, *before], f"bit {bit}, seed {SEED}"
