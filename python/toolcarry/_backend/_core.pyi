# The kernels in Rust, under the names of `toolcarry.fallback.kernels`, which is their reference.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolcarry._input.body_spans import BodySpans
from toolcarry.errors import InputError
from toolcarry.model.dedupe.rules import Rules
from toolcarry.model.session_lines import LinePart
from toolcarry.types.policy import CarryPolicy, ProjectPolicy
from toolcarry.types.results import Inspection
from toolcarry.types.unread import Unread
from toolcarry.types.values import (
    CallFacts,
    CarriedBytes,
    CutSide,
    Decisions,
    EncodingName,
    ProjectReport,
    RecountReport,
    Report,
    TextMessage,
    ToolBlock,
)

__all__ = [
    "are_plain",
    "carry",
    "carry_body",
    "carry_files",
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
    "has_many_values",
    "has_side_effects",
    "inspect",
    "inspect_body",
    "message_tokens",
    "message_tokens_body",
    "project",
    "project_body",
    "project_imported",
    "read_lines",
    "recount",
    "recount_body",
    "resize_token_memo",
    "split_body",
    "truncate",
    "truncate_tokens",
    "unread_body",
]

def are_plain(messages: list[Any] | tuple[Any, ...]) -> bool: ...
def carry(messages: Sequence[Any], summary: str, policy: CarryPolicy) -> tuple[str, Report]: ...
def carry_body(body: bytes, summary: str, policy: CarryPolicy) -> CarriedBytes: ...
def carry_files(
    paths: Sequence[Path], summary: str, policy: CarryPolicy, threads: int
) -> list[CarriedBytes | InputError | OSError]: ...
def count_texts(texts: list[str], encoding: EncodingName) -> list[int]: ...
def count_tokens(text: str, encoding: EncodingName) -> int: ...
def deduplicate_tools(blocks: Sequence[ToolBlock], rules: Rules) -> list[ToolBlock]: ...
def dialogue(messages: Sequence[Any]) -> str: ...
def dialogue_body(body: bytes) -> str: ...
def explain(
    messages: Sequence[Any], summary: str, policy: CarryPolicy
) -> list[tuple[int, str, str]]: ...
def extract_tool_blocks(messages: Sequence[Any]) -> list[ToolBlock]: ...
def extract_tool_blocks_body(body: bytes) -> list[ToolBlock]: ...
def format_tool_context(blocks: Sequence[ToolBlock], summary: str, policy: CarryPolicy) -> str: ...
def has_cut_word(text: str) -> bool: ...
def has_many_values(data: bytes) -> bool: ...
def has_side_effects(command: str) -> bool: ...
def inspect(messages: Sequence[Any]) -> Inspection: ...
def inspect_body(body: bytes) -> Inspection: ...
def message_tokens(messages: Sequence[Any], encoding: EncodingName) -> list[int]: ...
def message_tokens_body(body: bytes, encoding: EncodingName) -> list[int]: ...
def project(
    messages: Sequence[Any],
    policy: ProjectPolicy,
    previous: Decisions | None,
    known: Sequence[CallFacts] | None = None,
) -> tuple[list[Any] | None, ProjectReport, Decisions]: ...
def project_body(
    body: bytes, policy: ProjectPolicy, previous: Decisions | None
) -> tuple[bytes | None, ProjectReport, Decisions | None]: ...
def project_imported(
    messages: Sequence[Any],
    members: Mapping[str, Any],
    sizes: list[int],
    policy: ProjectPolicy,
    previous: Decisions | None,
    known: Sequence[CallFacts] | None,
    is_foreign: bool,
) -> tuple[list[Any] | None, list[int | None], dict[str, Any], ProjectReport, Decisions]: ...
def read_lines(lines: list[bytes]) -> list[list[LinePart] | None]: ...
def recount(
    messages: Sequence[Any],
    records: Sequence[Mapping[str, Any]],
    turn_id: str,
    max_result_length: int,
    total: int | None,
    encoding: EncodingName | None,
) -> tuple[list[TextMessage], RecountReport]: ...
def recount_body(
    body: bytes,
    turn_id: str,
    max_result_length: int,
    total: int | None,
    encoding: EncodingName | None,
) -> tuple[list[TextMessage], RecountReport]: ...
def resize_token_memo(size: int) -> None: ...
def split_body(body: bytes) -> BodySpans | None: ...
def truncate(
    text: str,
    limit: int,
    *,
    keep: CutSide,
    marker: str,
) -> str: ...
def truncate_tokens(
    text: str, limit: int, *, keep: CutSide, marker: str, encoding: EncodingName
) -> str: ...
def unread_body(body: bytes) -> Unread: ...
