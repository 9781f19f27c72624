"""The canonical history: every message of a conversation, stored permanently and in full.

Start with ``Tract.open``.
"""

from toolcarry.summarize.prompts import CONVERSATION_SUMMARIZE_SYSTEM, TOOL_SUMMARIZE_SYSTEM
from toolcarry.tract.pending import PendingToolResult
from toolcarry.tract.store.types import (
    Archived,
    Backfilled,
    CommitInfo,
    CompressResult,
    Damage,
    Hydrated,
    ImportResult,
    Kind,
    LegacyResult,
    Salvage,
    Stats,
    ToolMatch,
    ToolTurn,
    VerifyResult,
)
from toolcarry.tract.tract import Tract, hydrate

__all__ = [
    "CONVERSATION_SUMMARIZE_SYSTEM",
    "TOOL_SUMMARIZE_SYSTEM",
    "Archived",
    "Backfilled",
    "CommitInfo",
    "CompressResult",
    "Damage",
    "Hydrated",
    "ImportResult",
    "Kind",
    "LegacyResult",
    "PendingToolResult",
    "Salvage",
    "Stats",
    "ToolMatch",
    "ToolTurn",
    "Tract",
    "VerifyResult",
    "hydrate",
]
