"""What stands alone of a provider's own calls and answers: it is told, since what came of it only the provider knows."""

from __future__ import annotations

from toolcarry._pure.projection.repair.message_parts import Sheets
from toolcarry._pure.projection.repair.pairs import Pairs
from toolcarry._pure.projection.repair.report import Mends


def tell_alone(sheets: Sheets, pairs: Pairs, mends: Mends) -> None:
    """Tell of calls that were not answered before their turn was over, and of answers to no call.

    A turn goes on that waits for the client's results, and so does the last.
    """
    if not pairs.alone:
        return
    callers = {path[0] for path in pairs.calls}
    over = [
        position for turn in sheets.past_turns() if callers.isdisjoint(turn) for position in turn
    ]
    end = over[-1] if over else -1
    for block in pairs.alone:
        position, result_position = block.entry.position, block.entry.result_position
        if block.entry.call is None and block.result_path not in mends.left_out:
            mends.open_kinds.add(f"server_tool_result in message {result_position}")
        elif block.entry.call is not None and position <= end:
            mends.open_kinds.add(f"server_tool_use in message {position}")
