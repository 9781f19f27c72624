"""The requests that a client sent in a session: what the conversation held each time that the model was asked."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from toolcarry import InputError, convert
from toolcarry.api.conversation import Conversation

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import generate

Messages = list[Any]

SUFFIXES = (".jsonl", ".json", ".traj")
LEAST_REQUESTS = 3
"""A conversation with fewer requests says nothing about a cache."""
STEP = 10.0
"""The seconds between two requests of a session that says no times."""


@dataclass(frozen=True)
class RecordedSession:
    """A conversation in Anthropic's format, and its requests: the number of messages and the time of each."""

    name: str
    messages: Messages
    requests: tuple[tuple[int, float], ...]
    has_times: bool


def sessions_in(place: Path) -> Iterator[RecordedSession]:
    """Yield the sessions of a folder, a file, or a workload such as ``W66``."""
    if re.fullmatch(r"W\d+", place.name):
        messages = generate(int(place.name[1:]))
        found = session_of(place.name, messages, {})
        yield from [] if found is None else [found]
        return
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if path.is_file() and path.suffix in SUFFIXES:
            yield from sessions_of(path)


def sessions_of(path: Path) -> Iterator[RecordedSession]:
    """Yield the conversations of a file that have enough requests with calls."""
    times = times_in(path)
    try:
        for number, conversation in enumerate(Conversation.read(path), 1):
            messages = list(convert(conversation, to="anthropic").messages)
            found = session_of(f"{path.stem[:24]}#{number}", messages, times)
            if found is not None:
                yield found
    except InputError:
        return


def session_of(name: str, messages: Messages, times: dict[str, float]) -> RecordedSession | None:
    """Return the session of a conversation in Anthropic's format."""
    ends = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
    ends = [place for place in ends if place and messages[place - 1]["role"] == "user"]
    if len(ends) < LEAST_REQUESTS or not any(ids_in(messages[place]) for place in ends):
        return None
    requests: list[tuple[int, float]] = []
    clock = 0.0
    for place in ends:
        known = [times[each] for each in ids_in(messages[place - 1]) if each in times]
        later = [times[each] for each in ids_in(messages[place]) if each in times]
        clock = max([clock + (0 if times else STEP), *known, *([] if known else later)])
        requests.append((place, clock))
    return RecordedSession(name, messages, tuple(requests), bool(times))


def ids_in(message: Any) -> list[str]:
    """Return the ids of calls and of results in a message."""
    parts = message["content"] if isinstance(message["content"], list) else []
    return [
        str(part[key]) for part in parts for key in ("id", "tool_use_id") if isinstance(part.get(key), str)
    ]  # fmt: skip


def times_in(path: Path) -> dict[str, float]:
    """Return the seconds at which the calls and the results of a session file were written, by their ids."""
    found: dict[str, float] = {}
    if path.suffix != ".jsonl":
        return found
    for line in path.read_bytes().split(b"\n"):
        try:
            record = json.loads(line)
            moment = datetime.fromisoformat(record["timestamp"]).timestamp()
            message = record["message"]
            parts = message["content"]
        except (ValueError, KeyError, TypeError):
            continue
        if isinstance(parts, list):
            for each in ids_in({"content": [part for part in parts if isinstance(part, dict)]}):
                found[each] = moment
    return found
