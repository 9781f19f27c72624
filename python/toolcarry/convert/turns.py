"""Messages of any shape to turns: who says what, in order, with each call's results at the call.

The active branch alone is taken. What an assistant says up to the next result is one turn, however many records or
items it was written in, so that parallel calls stay together; a user's messages stay apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from toolcarry._input.objects import Wire, text_or_empty
from toolcarry._pure.formats.message import Said
from toolcarry._pure.formats.responses import ON_SERVER
from toolcarry._pure.pairing.block import Entry
from toolcarry._pure.session import Places
from toolcarry.convert.fields import Fields
from toolcarry.convert.losses import Losses
from toolcarry.convert.own import ON_GEMINI, is_own_message
from toolcarry.convert.pairs import Pairs
from toolcarry.convert.parts import Family, Item, Part, Role, Text, Turn
from toolcarry.convert.said import (
    after_content,
    before_content,
    content_of,
    describe,
    holder_of,
    is_said_elsewhere,
    read_part,
    role_of,
)
from toolcarry.importing.read import read_message


def read_turns(messages: Sequence[Any], family: Family, losses: Losses) -> list[Turn]:
    """The turns of a conversation; what ran on the server of ``family`` stays there, as it is."""
    fields = Fields(family)
    places = Places(messages)
    left: Counter[str] = Counter()
    active: list[tuple[int, Wire, Said]] = []
    results: dict[int, int] = {}
    for position in range(len(messages) - 1, -1, -1):
        placed = places.place(messages[position], position)
        if placed is None:
            fields.note_passed(messages[position])
            continue
        message, scope, is_active = placed
        said = Said()
        read_message(message, message.get("role"), said)
        results.update((id(result.wire), position) for result in said.results)
        if is_active:
            active.append((position, message, said))
        else:
            left["side_chain" if scope else "other_branch"] += 1
    reader = Reader(Pairs(messages, results), family, losses)
    for position, message, said in reversed(active):
        if reader.read(position, message, said) or message.get("role") is not None:
            fields.note(messages[position], message)
        else:
            fields.note_passed(messages[position])
    reader.pairs.tell_what_is_left(left, losses)
    fields.tell(losses)
    return [Turn(role, tuple(parts)) for role, parts in reader.turns]


class Reader:
    """The turns so far."""

    def __init__(self, pairs: Pairs, family: Family, losses: Losses) -> None:
        self.turns: list[tuple[Role, list[Part]]] = []
        self.pairs = pairs
        self._family = family
        self._losses = losses
        self._is_open = False
        """Whether what the same side says next belongs to the last turn."""
        self._message_id = ""
        """Of the last message that names itself: Claude Code splits one over several records."""
        self._position = 0
        self._results: dict[int, Wire] = {}
        """The results that stand in the message at hand, by identity."""
        self._kept: set[int] = set()
        """Those of them that stay where they are."""

    def read(self, position: int, message: Wire, said: Said) -> bool:
        """Take in one message; whether it says anything. Within it, calls come before results, as for pairing."""
        self._begin(position, message, said)
        calls = {id(entry.call): entry for entry in self.pairs.calls_at(position)}
        orphans = self.pairs.orphans_at(position)
        is_result = id(message) in self._results or id(holder_of(message)) in self._results
        has_calls = bool(calls)
        has_said = bool(calls or orphans or self._results)
        if not has_calls:
            self._add_all("tool", orphans)
        if has_calls or not is_result:
            has_said = self._read_content(message, calls) or has_said
        for entry in calls.values():
            self._add_call(entry)
        if has_calls:
            self._add_all("tool", orphans)
        self._is_open = self._is_open and self._kept.issuperset(self._results)
        return has_said

    def _begin(self, position: int, message: Wire, said: Said) -> None:
        """See what a message holds, and whether it goes on with the last turn."""
        message_id = text_or_empty(message.get("id"))
        is_same = message_id != "" and message_id == self._message_id
        is_assistant = bool(self.turns) and self.turns[-1][0] == "assistant"
        self._is_open = is_assistant and (self._is_open or is_same)
        self._message_id = message_id or self._message_id
        self._position = position
        self._results = {id(result.wire): result.wire for result in said.results}
        self._kept = set()

    def _read_content(self, message: Wire, calls: dict[int, Entry]) -> bool:
        """Take in what is said, with the calls and results that stand in it; calls taken leave ``calls``."""
        role = role_of(message)
        before = self._size()
        if role is not None and is_own_message(holder_of(message), self._family):
            self._add(role, Item(self._position, self._family, holder_of(message)))
            return True
        self._add_all("assistant", before_content(message, self._position))
        for item in content_of(message):
            if id(item) in calls:
                self._add_call(calls.pop(id(item)))
            elif id(item) in self._kept:
                self._keep(self._results[id(item)])
            elif id(item) in self._results:
                self._is_open = False
            else:
                self._add_item(role, item)
        self._add_all(role or "user", after_content(message, self._position))
        return self._size() != before

    def _size(self) -> tuple[int, int]:
        return len(self.turns), len(self.turns[-1][1]) if self.turns else 0

    def _add_item(self, role: Role | None, item: object) -> None:
        """Add a part that is no call and no result."""
        part = read_part(item, self._position)
        if isinstance(part, Text) and part.text == "":
            return
        if isinstance(item, dict) and "cachePoint" in item:  # Bedrock
            if self._family == "bedrock" and role is not None:
                self._add(role, Item(self._position, "bedrock", item))
                return
            self._losses.add(self._position, "cache_control", "")
            return
        if part is not None and role is not None:
            self._add(role, part)
        elif part is not None or not is_said_elsewhere(item):
            who = "" if role else ", of a speaker whom nobody knows"
            self._losses.add(self._position, "unknown", f"{describe(item)}{who}")

    def _add_call(self, entry: Entry) -> None:
        if self._stays(entry):
            self._kept.add(id(entry.result))
            self._keep(entry.call or {})
        else:
            self._add("assistant", self.pairs.call_of(entry))

    def _stays(self, entry: Entry) -> bool:
        """Whether a call ran on the target's own server, and stands in one message with its only result."""
        call, result = entry.call, entry.result
        if call is None or result is None or id(result) not in self._results:
            return False
        if len(self.pairs.results_of(entry)) > 1:
            return False
        kind, answer = text_or_empty(call.get("type")), text_or_empty(result.get("type"))
        if self._family == "responses":
            return kind in ON_SERVER
        if self._family == "gemini":
            return any(key in call for key in ON_GEMINI)
        is_server_call = kind in ("server_tool_use", "mcp_tool_use")
        return self._family == "anthropic" and is_server_call and answer.endswith("_tool_result")

    def _keep(self, wire: Wire) -> None:
        self._add("assistant", Item(self._position, self._family, wire))

    def _add_all(self, role: Role, parts: Iterable[Part]) -> None:
        for part in parts:
            self._add(role, part)

    def _add(self, role: Role, part: Part) -> None:
        """Add a part to the last turn where it goes on, else to a new one."""
        last = self.turns[-1] if self.turns else None
        is_orphan = role == "tool" and last is not None and last[0] == "tool"
        if last is not None and last[0] == role and (self._is_open or is_orphan):
            last[1].append(part)
        else:
            self.turns.append((role, [part]))
        self._is_open = True
