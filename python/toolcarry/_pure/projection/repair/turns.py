"""Providers whose results are parts of user turns: Anthropic, Bedrock and Gemini.

Consecutive messages of one side are one turn. The results for a turn's calls are the first parts of the user's next
turn, each once. Inside a result a provider may refuse blank texts, failures without content, and media; some refuse
text after calls, so that a turn of the model has to end with its calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.context.fence import NO_OUTPUT
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.edits import (
    Changed,
    Draft,
    Members,
    NewValue,
    Parts,
    Path,
    at,
)
from toolcarry._pure.projection.repair.destinations import Destination
from toolcarry._pure.projection.repair.ends import is_last_turn_over, user_ends
from toolcarry._pure.projection.repair.message_parts import (
    REQUEST_MODEL_ROLES,
    MessageDraft,
    MessageDrafts,
    Side,
    has_words_or_media,
    is_blank,
    parts_of,
    paths_of,
    value_of,
)
from toolcarry._pure.projection.repair.pairs import Pairs
from toolcarry._pure.projection.repair.report import Mends
from toolcarry._pure.projection.repair.state import Repair


def runs_of(repair: Repair) -> list[tuple[Side, list[int]]]:
    """Return the runs of consecutive messages of one side. If the model speaks after its calls, that is a new turn.

    A message with calls is the model's, whatever its role. Messages that a repair leaves alone are runs of their own.
    """
    edited, destination, calls = repair.edited, repair.destination, repair.pairs.calls
    runs: list[tuple[Side, list[int]]] = []
    is_behind_calls = False
    for position, message in enumerate(edited.messages):
        if edited.is_gone((position,)):
            continue
        paths = paths_of(edited.messages, position, destination.key)
        has_calls = any(path in calls for path in paths)
        is_guarded = position in edited.guard
        side: Side = "model" if has_calls else side_of(message, destination)
        if is_guarded:
            side = "other"
        elif position in edited.users:
            side = "user"
        is_next = (
            side == "model"
            and is_behind_calls
            and (not has_calls or paths[0] not in calls or ends_with_text(repair, paths))
        )
        is_border = bool(runs) and (runs[-1][1][-1] in edited.guard) is not is_guarded
        if not runs or runs[-1][0] != side or is_next or is_border:
            runs.append((side, []))
        is_behind_calls = has_calls
        runs[-1][1].append(position)
    return runs


def side_of(message: JsonObject, destination: Destination) -> Side:
    """Return the speaker of a message without calls."""
    role = text_or_empty(message.get("role"))
    if role in REQUEST_MODEL_ROLES:
        return "model"
    return "user" if role in destination.answering else "other"


def ends_with_text(repair: Repair, paths: Sequence[Path]) -> bool:
    """Return true if a text follows the calls of a message, or an answer of a server tool follows one.

    Some providers refuse that.
    """
    is_behind = has_text = False
    for path in paths if repair.destination.ends_in_calls else ():
        part = as_object(at(repair.edited.messages, path)) or {}
        kind = text_or_empty(part.get("type"))
        if path in repair.pairs.calls:
            is_behind, has_text = True, False
        elif is_behind and kind.endswith("_tool_result"):
            return True
        has_text = has_text or (is_behind and kind == "text" and not is_blank(part))
    return has_text


FAILED: str = read_table("texts")["failed"]
"""The text of a failure without content."""


def clean_result(repair: Repair, path: Path) -> list[Draft]:
    """Reduce a result to the parts that its provider accepts, and return those that have to follow it."""
    edited, destination, pairs, _, mends, _ = repair
    if not destination.refuses_blank or len(path) == 1 or edited.is_gone(path):
        return []
    part = as_object(at(edited.messages, path)) or {}
    holder, held = destination.result_id.holder(part), destination.result_id.id_holder(part)
    place: Path = (*path, holder, "content") if holder else (*path, "content")
    given = parts_of(edited, path, place, held.get("content"))
    if given is None:
        return []
    is_failure = destination.is_failure(held)
    stay: list[Draft] = []
    beside: list[Draft] = []
    for item in given:
        own = value_of(item, edited.messages)
        if is_failure and destination.fails_in_words and is_shown(own):
            beside.append(item)
        elif not is_blank(own):
            stay.append(item)
    position, call_id = int(path[0]), pairs.owners[path].entry.call_id
    if len(stay) + len(beside) < len(given):
        mends.add("empty_text", position)
    if beside:
        mends.add("moved_media", position, call_id)
    if not stay and (is_failure or destination.refuses_empty):
        kind, text = ("empty_failure", FAILED) if is_failure else ("empty_result", NO_OUTPUT)
        mends.add(kind, position, call_id)
        mends.texts[pairs.owners[path].entry.order] = text
        stay.append(NewValue(destination.text(text)))
    elif len(stay) == len(given):
        return []
    is_list = as_list(held.get("content")) is not None
    new: Members = {"content": Parts(place if is_list else None, stay)}
    edited.edit(path, {holder: Changed(place[:-1], new)} if holder else new)
    return beside


def part_calls(repair: Repair) -> None:
    """Remove the result from a part that is a call as well."""
    edited, destination, pairs, _, mends, _ = repair
    for path, block in pairs.calls.items() if destination.can_be_call_and_result else ():
        part = as_object(at(edited.messages, path)) or {}
        if destination.is_result(part):
            edited.edit(path, dict.fromkeys(destination.result_id.holders))
            mends.add("orphan_result", int(path[0]), block.entry.call_id)


def is_shown(part: JsonObject) -> bool:
    """Return true if a part is of a kind that is not text."""
    return text_or_empty(part.get("type")) not in ("", "text")


def report_unpaired(message_drafts: MessageDrafts, pairs: Pairs, mends: Mends) -> None:
    """Report calls that were not answered before their turn was over, and answers to no call.

    A turn that waits for the client's results is not over, and neither is the last one.
    """
    if not pairs.alone:
        return
    callers = {path[0] for path in pairs.calls}
    over = [
        position
        for turn in message_drafts.ended_turns()
        if callers.isdisjoint(turn)
        for position in turn
    ]
    end = over[-1] if over else -1
    for block, _ in pairs.alone:
        if block.is_dropped:
            continue
        position, result_position = block.entry.position, block.entry.result_position
        if block.entry.call is None and block.result_path not in mends.left_out:
            mends.open_kinds.add(f"server_tool_result in message {result_position}")
        elif block.entry.call is not None and position <= end:
            mends.open_kinds.add(f"server_tool_use in message {position}")


class Turns:
    """The turns of a conversation, repaired one after the other."""

    def __init__(self, repair: Repair) -> None:
        self._repair = repair
        self._material, self._destination, self._pairs, _, self._mends, _ = repair
        self._messages = repair.edited.messages
        self._calls = repair.pairs.calls
        self._results = repair.pairs.owners
        self._drafts = MessageDrafts(repair.edited, repair.destination.key)
        self._beside: dict[Path, list[Draft]] = {}
        """The parts that have to follow the results, by the path of the result that contained them."""

    def repaired(self) -> list[Draft]:
        """Return the messages as the provider accepts them."""
        for path in self._results:
            if beside := clean_result(self._repair, path):
                self._beside[path] = beside
        self._leave_out_messages()
        part_calls(self._repair)
        open_calls: list[Block] = []
        runs = runs_of(self._repair)
        if self._destination.server_pairs:
            self._leave_out_unpaired(runs)
        for side, positions in runs:
            if side != "user":
                self._close(open_calls)
                open_calls = []
            if positions[0] in self._material.guard:
                self._keep(positions)
            elif side == "model":
                open_calls = self._add_model(positions)
            else:
                self._add_answers(side, positions, open_calls)
                open_calls = []
        self._close(open_calls)
        if not user_ends(self._repair):
            self._end_with_words()
        if not self._destination.server_pairs:
            report_unpaired(self._drafts, self._pairs, self._mends)
        if self._destination.merges:
            for position in self._drafts.merge():
                self._mends.add("merged_message", position)
        return self._drafts.drafts()

    def _end_with_words(self) -> None:
        """Remove what may not end the model's last message. If the user had the last word, it will not be the last."""
        for position in self._drafts.drop_trailing_thoughts():
            self._mends.add("trailing_thought", position)
        for position in (
            self._drafts.drop_trailing_space() if self._destination.refuses_blank else ()
        ):
            self._mends.add("trailing_space", position)

    def _leave_out_unpaired(self, runs: Sequence[tuple[Side, list[int]]]) -> None:
        """Remove calls of server tools that were not answered before their turn was over, and answers to no call.

        A turn that waits for the client's results is not over, and neither is the last one, unless a user message will
        be put after it.
        """
        callers = {path[0] for path in self._calls}
        past = runs if self._pairs.alone and is_last_turn_over(self._repair) else runs[:-1]
        turns = [positions for side, positions in past if side == "model"]
        end = max((turn[-1] for turn in turns if callers.isdisjoint(turn)), default=-1)
        for block, path in self._pairs.alone:
            entry = block.entry
            is_waiting = entry.call is not None and entry.position > end
            if path is None or is_waiting or any(map(self._material.is_gone, (path, path[:1]))):
                continue
            self._material.take_out(path)
            if entry.call is None:
                self._repair.report_stray(path, entry.call_id)
            else:
                self._mends.add("server_call", entry.position, entry.call_id)
                self._mends.gone_calls.add(entry.order)

    def _leave_out_messages(self) -> None:
        """Remove results without call that are messages of their own, such as Chat's in another provider's request."""
        for block in self._material.blocks if self._pairs.orphan_ids else ():
            path = block.result_path
            stays = path in self._pairs.others
            if block.entry.call is None and path is not None and len(path) == 1 and not stays:
                self._material.take_out(path)
                self._repair.report_stray(path, block.entry.call_id)

    def _close(self, open_calls: list[Block]) -> None:
        """Answer calls that no user turn follows."""
        if open_calls:
            self._drafts.add(MessageDraft(None, "user", self._results_of(open_calls, [])))

    def _keep(self, positions: list[int]) -> None:
        """Add messages that stay, with their parts. They are no side's, so that nothing is joined to them."""
        for position in positions:
            is_list = as_list(self._messages[position].get(self._destination.key)) is not None
            stay = [path for path in self._paths(position) if not self._material.is_gone(path)]
            items = list(map(self._material.draft, stay)) if is_list else None
            self._drafts.add(MessageDraft(position, "other", items))

    def _add_model(self, positions: list[int]) -> list[Block]:
        """Add a turn of the model, and return its calls."""
        found: list[Block] = []
        for position in positions:
            for path in self._paths(position):
                block = self._calls.get(path)
                if block is not None:
                    found.append(block)
            stay = self._stay(position)
            misplaced = {path: None for path in stay or () if self._is_result(path)}
            for path in misplaced:
                self._report_foreign(path)
            if misplaced:
                stay = [path for path in stay or () if path not in misplaced]
            if stay and ends_with_text(self._repair, stay):
                stay = self._calls_last(position, stay)
            self._add(position, "model", stay)
            if self._messages[position].get("role") not in REQUEST_MODEL_ROLES:
                self._material.edit((position,), {"role": NewValue(self._destination.model)})
                self._mends.add("renamed_role", position, found[-1].entry.call_id)
        return found

    def _calls_last(self, position: int, stay: list[Path]) -> list[Path]:
        """Move the calls of a message to its end, and return its parts.

        So an answer of a server tool stays before the text about it.
        """
        calls = [path for path in stay if path in self._calls]
        for path in calls:
            self._mends.add("moved_call", position, self._calls[path].entry.call_id)
        return [path for path in stay if path not in self._calls] + calls

    def _add_answers(self, side: Side, positions: list[int], open_calls: list[Block]) -> None:
        """Add a turn that is not the model's: its results first, each once, without those that belong elsewhere."""
        wanted = {block.entry.order for block in open_calls}
        stay = {position: self._stay(position) for position in positions}
        flat = [path for position in positions for path in stay[position] or [(position,)]]
        own = [path for path in flat if self._belongs(path, wanted)]
        foreign = [
            path for path in flat if self._is_result(path) and not self._belongs(path, wanted)
        ]
        is_whole = len(own) == len(open_calls) and self._beside.keys().isdisjoint(own)
        is_first = flat[: len(own)] == own and not self._is_scattered(own)
        if is_whole and is_first and not foreign:
            for position in positions:
                self._add(position, side, stay[position])
            return
        for path in foreign:
            self._report_foreign(path)
        if not is_first:
            first = self._results[own[0]]
            self._mends.add("moved_result", int(own[0][0]), first.entry.call_id)
        taken = {*own, *foreign}
        first_parts = self._results_of(open_calls, own)
        for number, position in enumerate(positions):
            rest = stay[position]
            items = None if rest is None else [path for path in rest if path not in taken]
            self._add(position, side, items, before=first_parts if not number else [])

    def _is_scattered(self, results: list[Path]) -> bool:
        """Return true if results are in several messages, but have to be in one."""
        return self._destination.answers_at_once and len({path[0] for path in results}) > 1

    def _results_of(self, open_calls: list[Block], own: list[Path]) -> list[Draft]:
        """Return a result for each call, in the order of the calls, since results without ids are paired by order.

        A result may come from this turn or another, or be new. Parts that may not stay in a result follow the results.
        """
        there = set(own)
        drafts: list[Draft] = []
        beside: list[Draft] = []
        for block in open_calls:
            path = self._pairs.result_of(block)
            if path is None:
                drafts += self._repair.answer(block)
                continue
            drafts.append(self._material.draft(path))
            beside += self._beside.get(path, ())
            if path not in there:
                self._mends.add("moved_result", block.entry.result_position, block.entry.call_id)
        return drafts + beside

    def _belongs(self, path: Path, wanted: set[int]) -> bool:
        block = self._results.get(path)
        return block is not None and block.entry.order in wanted

    def _is_result(self, path: Path) -> bool:
        if path in self._pairs.strays:
            return True
        part = self._part(path)
        if part is None:
            return False
        if self._destination.is_result(part):
            return path not in self._pairs.others and path not in self._calls
        # If an answer of a server tool answers a call to the client, others would answer it the next time.
        return bool(self._pairs.strays) and self._pairs.is_misplaced(path, part)

    def _report_foreign(self, path: Path) -> None:
        """Report a result that is removed here. A result that is moved is reported at its new place."""
        if path not in self._results:
            part = self._part(path) or {}
            self._repair.report_stray(path, self._destination.result_id.text(part))

    def _part(self, path: Path) -> Any:
        if len(path) == 1:
            return None
        return as_object(at(self._messages, path))

    def _paths(self, position: int) -> list[Path]:
        return paths_of(self._messages, position, self._destination.key)

    def _stay(self, position: int) -> list[Path] | None:
        """Return the parts of a message that are not blank; ``None`` if it has no list of parts."""
        if as_list(self._messages[position].get(self._destination.key)) is None:
            return None
        stay: list[Path] = []
        for path in self._paths(position):
            if self._material.is_gone(path):
                continue
            if self._is_blank(path):
                self._mends.add("empty_text", position)
            else:
                stay.append(path)
        return stay

    def _is_blank(self, path: Path) -> bool:
        """Return true if a part is a blank text that the provider refuses."""
        part = self._part(path)
        return self._destination.refuses_blank and part is not None and is_blank(part)

    def _add(
        self,
        position: int,
        side: Side,
        stay: list[Path] | None,
        *,
        before: Sequence[Draft] = (),
    ) -> None:
        """Add a message with the parts that stay, and ``before`` in front of them."""
        if stay is None:
            self._add_plain(position, side, before)
            return
        items = [*before, *map(self._material.draft, stay)]
        if items:
            self._drafts.add(MessageDraft(position, side, items))
        else:
            self._mends.add("empty_message", position)

    def _add_plain(self, position: int, side: Side, first: Sequence[Draft]) -> None:
        """Add a message whose content is text. If it has no content, the results become a message before it."""
        if first and self._destination.key not in self._messages[position]:
            self._drafts.add(MessageDraft(None, "user", [*first]))
            first = ()
        content = self._messages[position].get(self._destination.key)
        has_no_word = not isinstance(content, str) or not content.strip()
        is_last = side == "model" and position == len(self._messages) - 1
        is_last_word = is_last and not has_words_or_media(
            self._messages[position], self._destination.key
        )
        if first:
            text = [] if has_no_word else [NewValue(self._destination.text(content))]
            self._drafts.add(MessageDraft(position, side, [*first, *text]))
        elif has_no_word and self._destination.refuses_blank and not is_last_word:
            self._mends.add("empty_message", position)
        else:
            self._drafts.add(MessageDraft(position, side, None))
