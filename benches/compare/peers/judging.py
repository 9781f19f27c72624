"""Judge a peer's output: its size, and its validity for the provider by ``tests/support/providers/validity``."""

from __future__ import annotations

from peer import SIZE, Pair, Peer, Policies
from support.providers.validity import problems
from tables import Row
from workload import SEED, Message, generate

from toolcarry import count_tokens, project

CONVERSATIONS = 20
"""Where a budget cuts is chance: that one output is valid says little."""


def judge(row: Row, peer: Peer, pair: Pair, policy: Policies) -> None:
    """Fill in what is left of W66, and in how many conversations like it (of other seeds) the peer's output is valid."""
    for place in range(CONVERSATIONS):
        wire = peer.to_wire(generate(SIZE, SEED + place))
        ours = project(wire, policy=policy(wire)).messages
        if problems(peer.provider, wire) or problems(peer.provider, ours):
            raise SystemExit(f"{pair.job}: the input, or what toolcarry makes of it, is not valid")
        own = peer.to_own(wire)
        before = repr(own)
        theirs = peer.from_own(pair.run(own))
        row.is_input_changed |= repr(own) != before
        found = problems(peer.provider, theirs) if theirs else ["no message is left"]
        row.valid += not found
        row.judged += 1
        row.problem = row.problem or "".join(found[:1])
        if place == 0:
            row.given, row.left, row.our_left = size(wire), size(theirs), size(ours)


def size(messages: list[Message]) -> tuple[int, int]:
    return len(messages), count_tokens(messages)
