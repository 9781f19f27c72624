"""The calls that the client answers, each with the result that the provider takes for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from toolcarry._input.objects import Wire, as_list, as_object, text_or_empty
from toolcarry._pure.formats import read_listed_call, read_result
from toolcarry._pure.projection.blocks import Block
from toolcarry._pure.projection.edits import Path
from toolcarry._pure.projection.repair.providers import Dialect
from toolcarry._pure.projection.result_slot import Paths

SEARCHED = "tool_search_call"
"""The call of Responses whose result is a list of tools: of one that a client did not make, none is made up, since an empty
one would be believed, too."""

FOUND = "tool_search_output"
"""Its result, which answers no other call."""


class Pairs:
    """Calls and results by where they stand, in their order."""

    def __init__(self, messages: Sequence[Any], blocks: Sequence[Block], dialect: Dialect) -> None:
        self.calls: dict[Path, Block] = {}
        self.owners: dict[Path, Block] = {}
        """The blocks by the paths of their results."""
        self.others: set[Path] = set()
        """Where results stand of calls that the client does not answer: they stay."""
        self.strays: set[Path] = set()
        """Where results stand of the client's calls that are of a kind which answers none of them."""
        self.orphan_ids: set[str] = set()
        """Of results without call."""
        self.foreign_ids: set[str] = set()
        """Of such calls."""
        self.is_searching = False
        """Whether a search that the client was to make has found nothing yet."""
        self.lone: set[int] = set()
        """The positions of messages of Chat's in whose content a call stands that is none of their calls."""
        self.alone: list[Block] = []
        """Calls of the provider's own that it did not answer, where these stand in turns, and its answers without a call."""
        self._results: dict[int, Path] = {}
        self._doubles: dict[int, dict[Any, int]] = {}
        self._names: dict[int, str] = {}
        paths = Paths(messages)
        for block in blocks:
            call = block.entry.call
            if call is None:
                self.orphan_ids.add(block.entry.call_id)
                result = block.entry.result
                if dialect.form == "turns" and result is not None and not dialect.is_result(result):
                    self.alone.append(block)
                continue
            path = paths.next_of(block.entry.position, call)
            if dialect.form == "chat" and path is not None:
                path = self._among_calls(messages, path, block)
            if path is None or not dialect.is_call(call):
                self.foreign_ids.add(block.entry.call_id)
                self.is_searching = self.is_searching or is_open_search(block, dialect)
                self.lone.update([block.entry.position] if dialect.form == "chat" else [])
                if block.result_path is not None and may_answer(block, dialect):
                    self.others.add(block.result_path)
                elif dialect.form == "turns":
                    self.alone.append(block)
                continue
            known = self.calls.get(path)
            if known is not None and self.result_of(known) is not None:
                # Given in both ways without an id, it is one call, and its first result is the one.
                self.strays.update([block.result_path] if block.result_path is not None else [])
                continue
            self.calls[path] = block
            result = block.entry.result
            if result is None or block.result_path is None:
                continue
            if dialect.may_be_both and dialect.is_call(result):
                continue
            if not dialect.is_result(result) and not is_old_answer(
                result, block.result_path, dialect
            ):
                self.strays.add(block.result_path)
                continue
            if dialect.form != "items" or is_of_kind(call.get("type"), result.get("type")):
                self.owners[block.result_path] = block
                self._results[block.entry.order] = block.result_path
        self.ids = {block.entry.call_id for block in self.calls.values()}

    def _among_calls(self, messages: Sequence[Any], path: Path, block: Block) -> Path | None:
        """Where a call stands in ``tool_calls``, also one that was found in the content, where it is given in both ways.

        Of such a one, the tool is noted as it says there.
        """
        if path[1:2] != ("content",):
            return path if path[1:2] == ("tool_calls",) else None
        position = int(path[0])
        if position not in self._doubles:
            self._doubles[position] = given_twice(messages[position])
        index = self._doubles[position].get(path[2])
        if index is None:
            return None
        call = (as_list(messages[position].get("tool_calls")) or ())[index]
        self._names[block.entry.order] = read_listed_call(as_object(call) or {}).name
        return (position, "tool_calls", index)

    def name_of(self, block: Block) -> str:
        """The tool of a call, as the call says that stays where it was given in both ways."""
        return self._names.get(block.entry.order, block.entry.tool_name)

    def has_result(self, path: Path) -> bool:
        """Whether the result at a path belongs to a call."""
        return path in self.owners or path in self.others

    def is_misplaced(self, path: Path, part: Wire) -> bool:
        """Whether a part of the model's message names a call of the client's, or none, as if it answered that."""
        if not text_or_empty(part.get("type")).endswith("tool_result") or path in self.others:
            return False
        call_id = read_result(part).call_id
        return not call_id or call_id in self.ids

    def result_of(self, block: Block) -> Path | None:
        """Where the result of a call stands."""
        return self._results.get(block.entry.order)


def given_twice(message: Wire) -> dict[Any, int]:
    """The calls that stand in the content and in ``tool_calls``: their places there, by those in the content.

    They have the same id. Those without one are the same in their order: of two such lists, results could be either's.
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


def is_open_search(block: Block, dialect: Dialect) -> bool:
    """Whether a call is a search for tools that the client makes, and that it did not answer."""
    call, result = block.entry.call or {}, block.entry.result or {}
    is_search = dialect.form == "items" and call.get("type") == SEARCHED
    is_clients = is_search and call.get("execution") == "client" and not block.is_dropped
    return is_clients and result.get("type") != FOUND


def may_answer(block: Block, dialect: Dialect) -> bool:
    """Whether the result of a call that the client does not answer is no stray one.

    It is one where it is of the client's kind, but for an item that has an id: there, the client answers other calls, too.
    """
    result = block.entry.result
    if result is None or not dialect.is_result(result):
        return True
    return dialect.form == "items" and bool(read_result(result).call_id)


def is_old_answer(result: Wire, path: Path, dialect: Dialect) -> bool:
    """Whether a result of Chat's is a message as those were answered by that came before ``tool_calls``."""
    return dialect.form == "chat" and len(path) == 1 and result.get("role") == "function"


def is_of_kind(call: object, result: object) -> bool:
    """Whether an item of Responses answers calls of a type."""
    is_function = call == "local_shell_call" and result == "function_call_output"
    return result == f"{call}_output" or is_function
