"""The reference implementation, in Python: the kernels that ``toolcarry._core`` matches."""

from toolcarry._pure.carry import (
    carry,
    deduplicate_tools,
    explain,
    extract_tool_blocks,
    format_tool_context,
    survey,
)
from toolcarry._pure.shell import has_side_effects
from toolcarry._pure.truncate import truncate

__all__ = [
    "carry",
    "deduplicate_tools",
    "explain",
    "extract_tool_blocks",
    "format_tool_context",
    "has_side_effects",
    "survey",
    "truncate",
]
