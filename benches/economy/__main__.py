"""The bill of sessions under each price model and policy, against doing nothing.

    python benches/economy SESSIONS... [--window 200000] [--frame 10000] [--prices claude,gpt-5] [--only project]
    python benches/economy --smoke                        examples/session.jsonl: that it runs

SESSIONS are session files of agents, folders of them, or workloads such as W66. Each session is replayed request by request, at its times
where it has some: the policy makes what is sent, and the provider's cache is simulated (``cache_bill.py``). ``--frame`` is the
tokens of the system prompt and tools, which no policy changes.

A row has the tokens sent, the share that was read from the cache, and the cost of the input as a share of doing nothing
(least, median and most over sessions). "Above" is the number of sessions whose cost was above that of doing nothing after any
request, with the greatest share that it reached; "break-even" is the request after which it never was again (median and
most of these sessions; ``-`` in place of one that ended above).
"Needed" is the share of the text that later calls quote from results alone that was in what had been sent
(``needed_text.py``): over all sessions, and the least of a session that needs at least 20 words or lines.
Each body that is sent is checked for what its provider would refuse and the unchanged one would not have been.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from cache_bill import Bill, Pieces
from needed_text import Texts, held, needs_of
from request_policies import WINDOW, Policy, policies
from session_requests import Messages, RecordedSession, sessions_in

from toolcarry import check
from toolcarry.types import PriceModel, price_models

sys.path.insert(0, str(Path(__file__).parents[1] / "compare"))
from paired import print_origin, print_table

EXAMPLE = Path(__file__).parents[2] / "examples" / "session.jsonl"
PRICES = ("none", "claude", "claude-1h", "claude-5.5", "gpt-5", "gpt-4.1", "gemini", "deepseek")
SLACK = 1e-6
LEAST_NEEDED = 20
"""The words and lines that a session needs for a share of its own."""


@dataclass
class Costs:
    """A session's cumulative costs under a price model: doing nothing, and with a policy."""

    without: list[float] = field(default_factory=list)
    with_policy: list[float] = field(default_factory=list)
    read: int = 0
    sent: int = 0
    needed: int = 0
    held: int = 0

    @property
    def ratio(self) -> float:
        """The cost at the end, as a share of doing nothing."""
        return self.with_policy[-1] / self.without[-1]

    @property
    def worst(self) -> float:
        """The greatest share that the cost reached after any request."""
        return max(own / other for own, other in zip(self.with_policy, self.without, strict=True))

    @property
    def is_above(self) -> bool:
        """True if the cost was above doing nothing after any request."""
        return self.worst > 1 + SLACK

    @property
    def break_even(self) -> int | None:
        """The request after which the cost was never above doing nothing again; None if it ended above."""
        pairs = zip(self.with_policy, self.without, strict=True)
        above = [
            number for number, (own, other) in enumerate(pairs, 1) if own > other * (1 + SLACK)
        ]
        return None if above and above[-1] == len(self.without) else max(above, default=0) + 1


def replay(session: RecordedSession, policy: Policy, prices: Iterable[PriceModel], pieces: Pieces, texts: Texts) -> dict[str, Costs]:  # fmt: skip
    """Return the costs of a session with a policy, by price model."""
    needed = needs_of(session, texts)
    lines = {price.name: Costs() for price in prices}
    pairs = {price.name: (Bill(price, price.least_of()), Bill(price, price.least_of())) for price in prices}  # fmt: skip
    for (_, clock), needs, (given, sent) in zip(session.requests, needed, policy(session), strict=True):  # fmt: skip
        assert_valid(given, sent, session.name)
        is_held = held(needs, sent, texts)
        plain, changed = pieces.of(given), pieces.of(sent)
        for name, line in lines.items():
            one, other = (bill.charge(each, clock) for bill, each in zip(pairs[name], (plain, changed), strict=True))  # fmt: skip
            line.without.append(one.units + (line.without[-1] if line.without else 0))
            line.with_policy.append(other.units + (line.with_policy[-1] if line.with_policy else 0))
            line.read, line.sent = line.read + other.read, line.sent + other.total
            line.needed, line.held = line.needed + len(needs), line.held + is_held
    return lines


def assert_valid(given: Messages, sent: Messages, name: str) -> None:
    """Fail if a provider would refuse what is sent, for a reason that the unchanged request does not have."""
    if sent is not given and sent != given:
        new = {problem.kind for problem in check(sent)} - {problem.kind for problem in check(given)}
        assert not new, (name, new)


def row(policy: str, lines: list[Costs]) -> tuple[str, ...]:
    """Return the cells of a policy under a price model."""
    ratios = [line.ratio for line in lines]
    above = [line for line in lines if line.is_above]
    evens = [line.break_even for line in above]
    ends = (
        sorted(len(above[0].without) + 1 if each is None else each for each in evens)
        if above
        else []
    )
    shown = (
        "" if not above else f"{statistics.median(ends):.0f} / {'-' if None in evens else ends[-1]}"
    )
    return (
        policy,
        f"{sum(line.sent for line in lines):,}",
        f"{100 * sum(line.read for line in lines) / max(sum(line.sent for line in lines), 1):.1f} %",
        share_held(lines),
        f"{min(ratios):.2f} / {statistics.median(ratios):.2f} / {max(ratios):.2f}",
        f"{len(above)} of {len(lines)}" + (f", {max(line.worst for line in above):.2f}" if above else ""),
        shown,
    )  # fmt: skip


def share_held(lines: list[Costs]) -> str:
    """Return the share of the needed text that was sent, and the least of a session that needs some."""
    needed = sum(line.needed for line in lines)
    if not needed:
        return ""
    least = [line.held / line.needed for line in lines if line.needed >= LEAST_NEEDED]
    shares = [sum(line.held for line in lines) / needed, *([min(least)] if least else [])]
    return " / ".join(f"{100 * share:.1f} %" for share in shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("places", nargs="*", type=Path, metavar="SESSIONS")
    parser.add_argument("--window", type=int, default=WINDOW, help="the tokens of the window (%(default)s)")  # fmt: skip
    parser.add_argument("--frame", type=int, default=10_000, help="the tokens of the system prompt and tools (%(default)s)")  # fmt: skip
    parser.add_argument("--prices", default=",".join(PRICES), help="names of price models (%(default)s), or all")  # fmt: skip
    parser.add_argument("--only", default="", help="policies whose names hold this text")
    parser.add_argument("--least", type=int, default=0, help="sessions with at least as many requests")  # fmt: skip
    parser.add_argument("--smoke", action="store_true", help="one small session")
    asked = parser.parse_args()
    places = [EXAMPLE] if asked.smoke else asked.places
    known = price_models()
    prices = list(known.values()) if asked.prices == "all" else [known[name] for name in asked.prices.split(",")]  # fmt: skip
    print_origin()
    sessions = [each for place in places for each in sessions_in(place)]
    sessions = [each for each in sessions if len(each.requests) >= asked.least]
    counts = [len(each.requests) for each in sessions]
    print(f"{len(sessions)} sessions, {sum(each.has_times for each in sessions)} with times, {min(counts)} to {max(counts)} requests (median {statistics.median(counts):.0f})\n")  # fmt: skip
    found: dict[str, dict[str, list[Costs]]] = {}
    for name, make in policies(asked.window, asked.frame).items():
        if asked.only not in name:
            continue
        try:
            policy = make()
        except ImportError as error:
            print(f"{name}: not installed: {error.name}", file=sys.stderr)
            continue
        for session in sessions:
            texts = Texts()
            for price, line in replay(session, policy, prices, Pieces(asked.frame), texts).items():
                found.setdefault(price, {}).setdefault(name, []).append(line)
    for price, rows in found.items():
        model = known[price]
        print(f"\n`{price}`: write {model.cache_write:g}, read {model.cache_read:g}, {model.matching}\n")  # fmt: skip
        heads = (
            "policy",
            "tokens sent",
            "read",
            "needed",
            "cost: least / median / most",
            "above",
            "break-even",
        )
        print_table(heads, [row(name, lines) for name, lines in rows.items()])


if __name__ == "__main__":
    main()
