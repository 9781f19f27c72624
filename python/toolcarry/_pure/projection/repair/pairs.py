"""The calls that the client answers, each with the result that the provider accepts for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object, text_or_empty
from toolcarry._pure.formats import read_listed_call, read_result
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.edits import Path
from toolcarry._pure.projection.repair.destinations import Destination
from toolcarry._pure.projection.request import EditedMessages
from toolcarry._pure.projection.result_slot import Paths

SEARCHING_CALL: Final[str] = read_table("responses")["searching_call"]
FOUND_TOOLS: Final[str] = read_table("responses")["found_tools"]


class Pairs:
    """Calls and results by their paths, in their order."""

    def __init__(self, edited: EditedMessages, destination: Destination) -> None:
        self.calls: dict[Path, Block] = {}
        self.owners: dict[Path, Block] = {}
        """The blocks by the paths of their results."""
        self.others: set[Path] = set()
        """The paths of the results of calls that the client does not answer: they stay."""
        self.strays: set[Path] = set()
        """The paths of results that were paired with a call to the client, but can't answer one."""
        self.orphan_ids: set[str] = set()
        """The ids of results without call."""
        self.foreign_ids: set[str] = set()
        """The ids of calls that the client does not answer."""
        self.is_searching = False
        """True if a search by the client has no result yet."""
        self.lone: set[int] = set()
        """The positions of Chat messages with a call in the content that is not in their ``tool_calls``."""
        self.alone: list[tuple[Block, Path | None]] = []
        """Unanswered calls of server tools in turns, and answers of such tools without a call, with their paths."""
        self._results: dict[int, Path] = {}
        self._doubles: dict[int, dict[Any, int]] = {}
        self._names: dict[int, str] = {}
        messages = edited.messages
        paths = Paths(messages)
        for block in edited.blocks:
            if edited.is_guarded(block):
                self.foreign_ids.add(block.entry.call_id)
                self.others.update([block.result_path] if block.result_path is not None else [])
                continue
            call = block.entry.call
            if call is None:
                self.orphan_ids.add(block.entry.call_id)
                result = block.entry.result
                if (
                    destination.form == "turns"
                    and result is not None
                    and not destination.is_result(result)
                ):
                    self.alone.append((block, block.result_path))
                continue
            path = paths.next_of(block.entry.position, call)
            if destination.form == "chat" and path is not None:
                path = self._among_calls(messages, path, block)
            if path is None or not destination.is_call(call):
                self.foreign_ids.add(block.entry.call_id)
                self.is_searching = self.is_searching or is_open_search(block, destination)
                self.lone.update([block.entry.position] if destination.form == "chat" else [])
                if block.result_path is not None and may_answer(block, destination):
                    self.others.add(block.result_path)
                elif destination.form == "turns":
                    self.alone.append((block, path))
                continue
            known = self.calls.get(path)
            if known is not None and self.result_of(known) is not None:
                # Given in both ways without an id, it is one call, and its first result counts.
                self.strays.update([block.result_path] if block.result_path is not None else [])
                continue
            self.calls[path] = block
            result = block.entry.result
            if result is None or block.result_path is None:
                continue
            if destination.can_be_call_and_result and destination.is_call(result):
                continue
            if not destination.is_result(result) and not is_old_answer(
                result, block.result_path, destination
            ):
                self.strays.add(block.result_path)
                continue
            if destination.form != "items" or is_of_kind(call.get("type"), result.get("type")):
                self.owners[block.result_path] = block
                self._results[block.entry.order] = block.result_path
        self.ids = {block.entry.call_id for block in self.calls.values()}

    def _among_calls(self, messages: Sequence[Any], path: Path, block: Block) -> Path | None:
        """Return the path of a call in ``tool_calls``, also if it was found in the content and is given in both ways.

        For such a call, the name of the tool in ``tool_calls`` is remembered.
        """
        if path[1:2] != ("content",):
            return path if path[1:2] == ("tool_calls",) else None
        position = int(path[0])
        if position not in self._doubles:
            self._doubles[position] = duplicate_calls(messages[position])
        index = self._doubles[position].get(path[2])
        if index is None:
            return None
        call = (as_list(messages[position].get("tool_calls")) or ())[index]
        self._names[block.entry.order] = read_listed_call(as_object(call) or {}).name
        return (position, "tool_calls", index)

    def name_of(self, block: Block) -> str:
        """Return the tool of a call, from ``tool_calls`` if it was given in both ways."""
        return self._names.get(block.entry.order, block.entry.tool_name)

    def rename(self, block: Block, name: str) -> None:
        """Give the tool of a call another name."""
        self._names[block.entry.order] = name

    def has_result(self, path: Path) -> bool:
        """Return true if the result at a path belongs to a call."""
        return path in self.owners or path in self.others

    def is_misplaced(self, path: Path, part: JsonObject) -> bool:
        """Return true if a part of an assistant message appears to answer a call to the client, or names no call."""
        if not text_or_empty(part.get("type")).endswith("tool_result") or path in self.others:
            return False
        call_id = read_result(part).call_id
        return not call_id or call_id in self.ids

    def result_of(self, block: Block) -> Path | None:
        """Return the path of a call's result."""
        return self._results.get(block.entry.order)


def duplicate_calls(message: JsonObject) -> dict[Any, int]:
    """Return the calls that are in the content and in ``tool_calls``: their index there, by that in the content.

    They have the same id. Calls without id are matched by their order, since a result could answer either of two lists.
    """
    places: dict[str, int] = {}
    nameless: list[int] = []
    for index, item in enumerate(as_list(message.get("tool_calls")) or ()):
        call_id = text_or_empty((as_object(item) or {}).get("id"))
        if call_id:
            places[call_id] = index
        else:
            nameless.append(index)
    found: dict[Any, int] = {}
    passed = 0
    for index, item in enumerate(as_list(message.get("content")) or ()):
        part = as_object(item) or {}
        call_id = text_or_empty(part.get("id"))
        if call_id in places:
            found[index] = places[call_id]
        elif not call_id and part.get("type") == "tool_use" and nameless:
            found[index] = nameless[min(passed, len(nameless) - 1)]
            passed += 1
    return found


def is_open_search(block: Block, destination: Destination) -> bool:
    """Return true if a call is a search for tools by the client that the client did not answer."""
    call, result = block.entry.call or {}, block.entry.result or {}
    is_search = destination.form == "items" and call.get("type") == SEARCHING_CALL
    is_clients = is_search and call.get("execution") == "client" and not block.is_dropped
    return is_clients and result.get("type") != FOUND_TOOLS


def may_answer(block: Block, destination: Destination) -> bool:
    """Return true if the result of a call that the client does not answer may stay.

    It may not if it has the form of a client's result, except for an item with an id: in Responses the client answers
    other calls, too.
    """
    result = block.entry.result
    if result is None or not destination.is_result(result):
        return True
    return destination.form == "items" and bool(read_result(result).call_id)


def is_old_answer(result: JsonObject, path: Path, destination: Destination) -> bool:
    """Return true if a Chat result has the role ``function``, which answered calls before ``tool_calls``."""
    return destination.form == "chat" and len(path) == 1 and result.get("role") == "function"


def is_of_kind(call: object, result: object) -> bool:
    """Return true if an item of Responses answers calls of a type."""
    is_function = call == "local_shell_call" and result == "function_call_output"
    return result == f"{call}_output" or is_function
