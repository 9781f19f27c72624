"""A peer and its jobs, which the scripts of this folder fill in."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Last, so that no name of this project hides a peer's module.
sys.path.append(str(Path(__file__).resolve().parents[1]))
sys.path.append(str(Path(__file__).resolve().parents[2] / "data"))
sys.path.append(str(Path(__file__).resolve().parents[3] / "tests"))

from workload import Message, generate

from toolcarry import ProjectPolicy, count_tokens

SIZE = 66
QUARTER = count_tokens(generate(SIZE)) // 4
"""The budget of those that trim: a quarter of the tokens that the conversation has."""

Policies = Callable[[Sequence[Message]], ProjectPolicy]


@dataclass(frozen=True)
class Pair:
    """A peer's job, and the policy under which ``project`` does the nearest one (``None``: there is none)."""

    job: str
    run: Callable[[Any], Any]
    policy: Policies | None = None


@dataclass(frozen=True)
class Peer:
    """A package, the provider in whose messages both are asked, and the way into the peer's own objects and back.

    A ``run`` without policy is given the provider's messages; that is how the way itself is timed.
    """

    name: str
    package: str
    provider: str
    to_wire: Callable[[list[Message]], list[Message]]
    pairs: Sequence[Pair]
    to_own: Callable[[list[Message]], Any] = lambda messages: messages
    from_own: Callable[[Any], list[Message]] = lambda output: output
