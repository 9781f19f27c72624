"""The reference's kernels, under the names that ``toolcarry._core`` has for them."""

from toolcarry._pure.body import (
    carry_body,
    carry_files,
    dialogue_body,
    extract_tool_blocks_body,
    inspect_body,
    message_tokens_body,
    recount_body,
)
from toolcarry._pure.context import (
    carry,
    deduplicate_tools,
    explain,
    extract_tool_blocks,
    format_tool_context,
)
from toolcarry._pure.dedupe.shell import has_side_effects
from toolcarry._pure.dialogue import dialogue
from toolcarry._pure.history.hashing import (
    commits_of,
    has_cut_word,
    hash_contents,
    link_rows,
    prepare_parts,
    prove_rows,
)
from toolcarry._pure.history.metadata_delta import unfold
from toolcarry._pure.history.session_lines import read_lines
from toolcarry._pure.inspect import inspect
from toolcarry._pure.projection.bytes import project_body
from toolcarry._pure.projection.objects import project
from toolcarry._pure.text.truncate import truncate
from toolcarry._pure.text_history.job import recount
from toolcarry._pure.tokens import count_texts, count_tokens, resize_token_memo, truncate_tokens
from toolcarry._pure.tokens.messages import message_tokens

__all__ = [
    "carry",
    "carry_body",
    "carry_files",
    "commits_of",
    "count_texts",
    "count_tokens",
    "deduplicate_tools",
    "dialogue",
    "dialogue_body",
    "explain",
    "extract_tool_blocks",
    "extract_tool_blocks_body",
    "format_tool_context",
    "has_cut_word",
    "has_side_effects",
    "hash_contents",
    "inspect",
    "inspect_body",
    "link_rows",
    "message_tokens",
    "message_tokens_body",
    "prepare_parts",
    "project",
    "project_body",
    "prove_rows",
    "read_lines",
    "recount",
    "recount_body",
    "resize_token_memo",
    "truncate",
    "truncate_tokens",
    "unfold",
]
