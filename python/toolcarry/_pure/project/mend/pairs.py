"""The calls that the client answers, each with the result that the provider takes for it."""

from __future__ import annotations

from collections.abc import Sequence

from toolcarry._pure.project.blocks import Block
from toolcarry._pure.project.drafts import Path
from toolcarry._pure.project.mend.dialects import Dialect


class Pairs:
    """Calls and results by where they stand, in their order."""

    def __init__(self, blocks: Sequence[Block], dialect: Dialect) -> None:
        self.calls: dict[Path, Block] = {}
        self.owners: dict[Path, Block] = {}
        """The blocks by the paths of their results."""
        self._results: dict[int, Path] = {}
        for block in blocks:
            call, path = block.entry.call, block.call_path
            if call is None or path is None or not dialect.is_call(call):
                continue
            if dialect.form == "chat" and path[1:2] != ("tool_calls",):
                continue
            self.calls[path] = block
            result = block.entry.result
            if result is None or block.result_path is None or not dialect.is_result(result):
                continue
            if dialect.form != "items" or is_of_kind(call.get("type"), result.get("type")):
                self.owners[block.result_path] = block
                self._results[block.entry.order] = block.result_path
        self.ids = {block.entry.call_id for block in self.calls.values()}

    def result_of(self, block: Block) -> Path | None:
        """Where the result of a call stands."""
        return self._results.get(block.entry.order)


def is_of_kind(call: object, result: object) -> bool:
    """Whether an item of Responses answers calls of a type."""
    is_function = call == "local_shell_call" and result == "function_call_output"
    return result == f"{call}_output" or is_function
