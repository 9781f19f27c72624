"""The history: compared with the raw driver of equal durability, and with the peer ``tract-ai``; and over long conversations.

    python benches/compare/history.py                         SQLite, and PostgreSQL where its programs are installed
    python benches/compare/history.py --postgres URL          an empty database of a server that runs
    python benches/compare/history.py --large                 a million commits as well
    python benches/compare/history.py --peer PYTHON           the interpreter of an environment with the peer
    python benches/compare/history.py --smoke                 little of each, two rounds: that it runs

What was written is read back and asserted equal, before and after anything is timed. benches/README.md says what the
columns mean.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from history_stores import PeerProcess, Raw, RawPostgres, RawSqlite
from paired import Job, Rounds, duration, print_origin, print_table

from toolcarry import count_tokens
from toolcarry.tract import Tract
from toolcarry.tract.importing import BATCH
from toolcarry.tract.store.types import CommitInfo

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
import history as data
from support.servers.postgres import PostgresServer, find_binaries

WRITE_HEADER = ("store", "job", "raw", "tract", "token counts", "rate / raw rate", "aim")
WRITERS_HEADER = ("store", "one writer", "eight writers", "rate of eight / one", "aim")
READ_HEADER = ("job", "commits", "time", "for each commit", "for a tenth of them", "aim")
PEER_HEADER = ("job", "tract-ai", "toolcarry", "times")
APPEND_AIM, BATCH_AIM, IMPORT_AIM, WRITERS_AIM = 0.7, 0.4, 0.6, 2.0
WRITERS = 8
TURNS_AIM, COMPILE_AIM, CONTENT_AIM = 0.050, 0.100, 0.0001
"""Seconds; the first two for 10,000 commits."""
FEWEST = 10_000
PEER_COMMITS = 1_600
LOOKED_UP = 500


def check(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise SystemExit(f"{what}: what was read is not what was written")


# Writing


def measure_appends(raw: Raw, tract: Tract, rounds: int, count: int) -> list[str]:
    """Tool results of 4 KB, one by one, each new to the job; none is made while time is taken."""
    names = ("raw", "tract", "tokens")
    batches = {name: batches_of(data.results(), count, rounds + 1) for name in names}
    taken: dict[str, list[str]] = {name: [] for name in names}

    def take(name: str) -> list[str]:
        batch = next(batches[name])
        taken[name] += batch
        return batch

    def by_driver() -> None:
        for text in take("raw"):
            raw.insert(text.encode())

    def by_tract() -> None:
        for text in take("tract"):
            tract.tool_result("toolu_1", "Bash", text)

    def equal() -> None:
        commits = tract.find_tool_results()
        check(raw.name, [tract.get_content(commit) for commit in commits], taken["tract"])
        check(raw.name, [row.decode() for row in raw.read()], taken["raw"])

    def count_all() -> list[int]:
        return [count_tokens(text) for text in take("tokens")]

    by_driver(), by_tract(), count_all(), equal()
    measured = {"raw": by_driver, "tract": by_tract, "tokens": count_all}
    found = Rounds(measured, rounds, is_once=True)
    equal()
    shown = f"{count} results of 4 KB, one by one"
    return write_row(raw.name, shown, found, count, APPEND_AIM)


def batches_of(texts: Iterator[str], size: int, count: int) -> Iterator[list[str]]:
    return iter([list(islice(texts, size)) for _ in range(count)])


def measure_batches(raw: Raw, tract: Tract, rounds: int, count: int) -> list[str]:
    """Messages with a tool result of 4 KB, as many in one transaction."""
    batches = {name: batches_of(data.results(), count, rounds + 1) for name in ("raw", "tract")}
    opened = tract.in_conversation("batches")
    number = itertools.count()
    firsts: list[CommitInfo] = []

    def message(text: str) -> dict[str, object]:
        block = {"type": "tool_result", "tool_use_id": f"toolu_{next(number)}", "content": text}
        return {"role": "user", "content": [block]}

    given = iter([list(map(message, batch)) for batch in batches["tract"]])

    def by_driver() -> None:
        raw.insert_many([text.encode() for text in next(batches["raw"])])

    def by_tract() -> None:
        firsts.append(opened.append_many(next(given))[0])

    by_driver(), by_tract()
    found = Rounds({"raw": by_driver, "tract": by_tract}, rounds, is_once=True)
    texts = [batch[0] for batch in batches_of(data.results(), count, rounds + 1)]
    check(raw.name, [opened.get_content(commit) for commit in firsts], texts)
    check(raw.name, len(opened.log()), count * (rounds + 1))
    return write_row(raw.name, f"messages of 4 KB, {count} at once", found, count, BATCH_AIM)


def measure_writers(tract: Tract, rounds: int, count: int) -> list[str]:
    """Tool results of 4 KB by one thread, and by eight, each in a conversation of its own."""
    opened = [tract.in_conversation(f"writer {number}") for number in range(WRITERS)]
    size = count * WRITERS
    texts = {name: batches_of(data.results(), size, rounds + 1) for name in ("one", "eight")}

    def write(writer: Tract, batch: list[str]) -> None:
        for text in batch:
            writer.tool_result("toolu_1", "Bash", text)

    def by_one() -> None:
        write(opened[0], next(texts["one"]))

    def by_eight() -> None:
        batch = next(texts["eight"])
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(write, opened, [batch[start::WRITERS] for start in range(WRITERS)]))

    by_one(), by_eight()
    found = Rounds({"one": by_one, "eight": by_eight}, rounds, is_once=True)
    check("writers", sum(len(each.log()) for each in opened), 2 * size * (rounds + 1))
    rate = found.ratio("one", "eight")
    times = [duration(found.median(name) / size) for name in ("one", "eight")]
    return [
        "SQLite", *times, f"{rate:.2f}", reached(f"{WRITERS_AIM}", rate >= WRITERS_AIM),
    ]  # fmt: skip


def measure_imports(raw: Raw, tract: Tract, folder: Path, rounds: int, lines: int) -> list[str]:
    """Sessions of lines of 4 KB, each new to the store."""
    paths = [folder / f"{number}.jsonl" for number in range(rounds + 1)]
    for number, path in enumerate(paths):
        path.write_bytes(data.session(lines, number))
    raw_paths, tract_paths = iter(paths), iter(paths)
    rows_before = len(raw.read())

    def by_driver() -> None:
        found = next(raw_paths).read_bytes().splitlines(keepends=True)
        for start in range(0, len(found), BATCH):
            raw.insert_many(found[start : start + BATCH])

    def by_tract() -> None:
        path = next(tract_paths)
        tract.in_conversation(path.name).import_transcript(path)

    def equal(path: Path) -> None:
        exported = b"".join(tract.in_conversation(path.name).export())
        check(raw.name, exported, path.read_bytes())

    by_driver(), by_tract(), equal(paths[0])
    check(raw.name, b"".join(raw.read()[rows_before:]), paths[0].read_bytes())
    found = Rounds({"raw": by_driver, "tract": by_tract}, rounds, is_once=True)
    for path in paths:
        equal(path)
    shown = f"a session of {lines:,} lines of 4 KB"
    return write_row(raw.name, shown, found, lines, IMPORT_AIM)


def write_row(store: str, shown: str, found: Rounds, count: int, aim: float) -> list[str]:
    times = [duration(found.median(name) / count) for name in ("raw", "tract")]
    tokens = duration(found.median("tokens") / count) if "tokens" in found else "-"
    rate = found.ratio("raw", "tract")
    return [store, shown, *times, tokens, f"{rate:.2f}", reached(f"{aim}", rate >= aim)]


def reached(aim: str, is_reached: bool) -> str:
    return f"{aim}: {'reached' if is_reached else 'missed'}"


@contextmanager
def stores(folder: Path, url: str | None) -> Iterator[list[tuple[Raw, Tract]]]:
    """A table of the raw driver's, and a history, on each database there is."""
    server = None
    if url is None and (binaries := find_binaries()) is not None:
        server = PostgresServer(binaries, is_durable=True)
        url = server.url()
    opened: list[tuple[Raw, Tract]] = [
        (RawSqlite(folder / "raw.db"), Tract.open(folder / "history.db"))
    ]
    if url is None:
        print("PostgreSQL: skipped, its programs are not installed, and no --postgres was given\n")
    else:
        opened.append((RawPostgres(url), Tract.open(url)))
    try:
        yield opened
    finally:
        for raw, tract in opened:
            raw.close()
            tract.close()
        if server is not None:
            server.close()


# Reading


def fill(tract: Tract, commits: int) -> None:
    drafts = data.turns(commits)
    while batch := list(islice(drafts, 10_000)):
        tract._log.append(batch)


def measure_reading(tract: Tract, sizes: list[int], rounds: int) -> list[list[str]]:
    """The jobs on whole conversations, as rows of the table."""
    seconds: dict[tuple[str, int], float] = {}
    for size in sizes:
        opened = tract.in_conversation(f"turns {size}")
        fill(opened, size)
        written = [(draft.role, draft.content.decode()) for draft in data.turns(size)]
        check("compile", [(each["role"], each["content"]) for each in opened.compile()], written)
        turns = opened.find_tool_turns()
        check("turns", [turn.call.sequence for turn in turns], list(range(2, size, 4)))
        check("results", {len(turn.results) for turn in turns}, {1})
        hashes = [turn.result_hashes[0] for turn in turns[:: max(1, size // 4 // LOOKED_UP)]]
        del written, turns
        jobs = reading_jobs(opened, hashes)
        found = Rounds(jobs, rounds if size <= FEWEST * 10 else min(rounds, 3))
        for name in jobs:
            seconds[name, size] = found.median(name) / (len(hashes) if name == "get_content" else 1)
    aims = {"find_tool_turns": TURNS_AIM, "compile": COMPILE_AIM, "get_content": CONTENT_AIM}
    return [
        [f"`{name}`", *read_row(name, size, seconds, aim)]
        for name, aim in aims.items()
        for size in sizes
    ]


def reading_jobs(opened: Tract, hashes: list[str]) -> dict[str, Job]:
    return {
        "find_tool_turns": opened.find_tool_turns,
        "compile": opened.compile,
        "get_content": lambda: [opened.get_content(found) for found in hashes],
    }


def read_row(
    name: str, size: int, seconds: dict[tuple[str, int], float], aim: float
) -> tuple[str, ...]:
    took = seconds[name, size]
    is_one = name == "get_content"
    each = "-" if is_one else duration(took / size)
    before = seconds.get((name, size // 10))
    growth = "-" if before is None else f"{took / before:.1f}"
    told = "-"
    if is_one or size == FEWEST:
        told = reached(f"< {duration(aim)}", took < aim)
    return f"{size:,}", duration(took), each, growth, told


# The peer


def measure_peer(python: str, folder: Path, rounds: int, count: int) -> list[list[str]]:
    """The peer and ours, in turns; both in a file, each with the settings that it has by itself."""
    with (
        PeerProcess(python, folder) as peer,
        closing(Tract.open(folder / "beside.db")) as tract,
    ):
        commits = count * PEER_COMMITS // 100
        fill(tract.in_conversation("turns"), commits)
        peer.ask("fill", list(data.plain(commits)))
        ours = tract.in_conversation("turns")
        check("turns of both", (peer.ask("turns"), peer.ask("compile")), (commits // 4, commits))
        check("ours", (len(ours.find_tool_turns()), len(ours.compile())), (commits // 4, commits))
        texts = data.results()
        peer_texts = data.results()

        def append() -> None:
            for text in islice(texts, count):
                tract.tool_result("toolu_1", "Bash", text)

        def append_peer() -> None:
            peer.ask("append", list(islice(peer_texts, count)))

        append(), append_peer()
        check("content of both", peer.ask("newest"), tract.get_content(tract.log(1)[0]))
        pairs: dict[str, tuple[Callable[[], Any], Callable[[], Any], int]] = {
            "a tool result of 4 KB": (append_peer, append, count),
            f"the turns of {commits:,} commits": (lambda: peer.ask("turns"), ours.find_tool_turns, 1),
            f"`compile` of {commits:,} messages": (lambda: peer.ask("compile"), ours.compile, 1),
        }  # fmt: skip
        rows = []
        for name, (theirs, own, each) in pairs.items():
            found = Rounds({"peer": theirs, "own": own}, rounds)
            times = [duration(found.median(job) / each) for job in ("peer", "own")]
            rows.append([name, *times, f"{found.ratio('peer', 'own'):.1f}"])
        print(f"The peer: tract-ai {peer.ask('version')}\n")
    return rows


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="the history, timed in pairs")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument(
        "--postgres", metavar="URL", help="an empty database, instead of a server of our own"
    )
    parser.add_argument(
        "--peer", metavar="PYTHON", help="the interpreter of an environment with tract-ai"
    )
    parser.add_argument("--large", action="store_true", help="a million commits as well")
    parser.add_argument("--smoke", action="store_true", help="little of each, two rounds")
    options = parser.parse_args()  # fmt: skip
    options.sizes = [FEWEST, 10 * FEWEST, *([100 * FEWEST] if options.large else [])]
    options.count, options.lines = 100, 3_000
    if options.smoke:
        options.rounds, options.sizes, options.count, options.lines = 2, [100, 1_000], 10, 600
    return options


def main() -> int:
    options = read_options()
    print_origin()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = []
        with stores(folder, options.postgres) as opened:
            for raw, tract in opened:
                rows.append(measure_appends(raw, tract, options.rounds, options.count))
                rows.append(measure_batches(raw, tract, options.rounds, options.count))
                rows.append(measure_imports(raw, tract, folder, options.rounds, options.lines))
            print_table(WRITE_HEADER, rows)
            writers = measure_writers(opened[0][1], options.rounds, options.count // 2)
            print_table(WRITERS_HEADER, [writers])
            print_table(READ_HEADER, measure_reading(opened[0][1], options.sizes, options.rounds))
        if options.peer is None:
            print("the peer: skipped, no --peer was given")
            return 0
        rows = measure_peer(options.peer, folder, options.rounds, options.count)
        print_table(PEER_HEADER, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
