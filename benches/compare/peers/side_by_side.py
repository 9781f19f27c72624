"""Run a peer's job and toolcarry's nearest one in turns, and judge both outputs."""

from __future__ import annotations

import argparse
import gc
import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from importlib.metadata import version

from judging import judge
from paired import Job, repetitions_of, time_once
from peer import SIZE, Pair, Peer
from tables import Row, print_rows
from unseen import with_other_texts

from toolcarry import project
from toolcarry._backend import backend


def jobs_of(peer: Peer, pair: Pair, number: int) -> list[Job]:
    """The peer's job and ours on one conversation; a number makes the same conversation with other texts."""
    wire = peer.to_wire(with_other_texts(SIZE, number))
    if pair.policy is None:
        return [partial(pair.run, wire)]
    ours = partial(project, wire, policy=pair.policy(wire))
    return [partial(pair.run, peer.to_own(wire)), ours]


def seconds_of(jobs: Sequence[Job], *, is_last_first: bool) -> list[tuple[float, float]]:
    """For each job, what it takes with a conversation that is new to the process, and then with the same one again."""
    found = {}
    gc.collect()
    gc.disable()
    for place in range(len(jobs))[:: -1 if is_last_first else 1]:
        new = time_once(jobs[place])
        found[place] = (new, time_once(jobs[place], repetitions_of(jobs[place])))
    gc.enable()
    return [found[place] for place in range(len(jobs))]


def medians(found: Sequence[tuple[float, float]]) -> tuple[float, float]:
    new, known = zip(*found, strict=True)
    return statistics.median(new), statistics.median(known)


def measured(peer: Peer, pair: Pair, numbers: Sequence[int]) -> Row:
    """Return the row of a pair, from this many conversations that no other pair gets.

    The first of them is not counted: what is imported and loaded once has no part in the times.
    """
    rounds = [
        seconds_of(jobs_of(peer, pair, number), is_last_first=bool(number % 2))
        for number in numbers
    ][1:]
    row = Row(peer.name, version(peer.package), backend(), pair.job)
    row.seconds = medians([found[0] for found in rounds])
    known = [found[0][1] for found in rounds]
    row.range = (min(known), max(known))
    if pair.policy is not None:
        row.our_seconds = medians([found[1] for found in rounds])
        row.ratios = medians([(one[0] / two[0], one[1] / two[1]) for one, two in rounds])
        judge(row, peer, pair, pair.policy)
    return row


def main(peer: Peer) -> None:
    parser = argparse.ArgumentParser(description=f"{peer.name} next to toolcarry's project")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true", help="rows for the driver, not a table")
    given = parser.parse_args()
    count = given.rounds + 1
    rows = [
        measured(peer, pair, range(place * count, (place + 1) * count))
        for place, pair in enumerate(peer.pairs)
    ]
    if given.json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        print_rows(rows)
