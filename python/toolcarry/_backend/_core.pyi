# The kernels in Rust, under the names of `toolcarry.fallback.kernels`, which is their reference.
# The types are those of `_backend.kernels`, with the importers in front; without them, a kernel returns `None` for what only
# an importer can read.

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolcarry._input.body_spans import BodySpans
from toolcarry.errors import InputError
from toolcarry.model.dedupe.rules import Rules
from toolcarry.model.session_lines import LinePart
from toolcarry.types.outcomes import (
    BodyOutcome,
    CarryOutcome,
    ImportedOutcome,
    ProjectOutcome,
    WalkedBlock,
)
from toolcarry.types.policy import CarryPolicy, ProjectPolicy
from toolcarry.types.results import Inspection, Recounted
from toolcarry.types.unread import Unread
from toolcarry.types.values import (
    CallFacts,
    CutSide,
    Decisions,
    EncodingName,
    ToolBlock,
)

def are_plain(messages: list[Any] | tuple[Any, ...]) -> bool: ...
def carry(given: Sequence[Any] | bytes, summary: str, policy: CarryPolicy) -> CarryOutcome: ...
def carry_files(
    paths: Sequence[Path], summary: str, policy: CarryPolicy, threads: int
) -> list[CarryOutcome | InputError | OSError]: ...
def count_texts(texts: list[str], encoding: EncodingName) -> list[int]: ...
def count_tokens(text: str, encoding: EncodingName) -> int: ...
def deduplicate_tools(blocks: Sequence[ToolBlock], rules: Rules) -> list[ToolBlock]: ...
def dialogue(given: Sequence[Any] | bytes) -> str: ...
def explain(messages: Sequence[Any], summary: str, policy: CarryPolicy) -> list[WalkedBlock]: ...
def extract_tool_blocks(given: Sequence[Any] | bytes) -> list[ToolBlock]: ...
def format_tool_context(blocks: Sequence[ToolBlock], summary: str, policy: CarryPolicy) -> str: ...
def has_cut_word(text: str) -> bool: ...
def has_many_values(data: bytes) -> bool: ...
def has_side_effects(command: str) -> bool: ...
def inspect(given: Sequence[Any] | bytes) -> Inspection: ...
def message_tokens(given: Sequence[Any] | bytes, encoding: EncodingName) -> list[int]: ...
def project(
    messages: Sequence[Any],
    policy: ProjectPolicy,
    previous: Decisions | None,
    known: Sequence[CallFacts] | None = None,
) -> ProjectOutcome: ...
def project_body(body: bytes, policy: ProjectPolicy, previous: Decisions | None) -> BodyOutcome: ...
def project_imported(
    messages: Sequence[Any],
    members: Mapping[str, Any] | None,
    sizes: list[int],
    policy: ProjectPolicy,
    previous: Decisions | None,
    known: Sequence[CallFacts] | None,
    is_foreign: bool,
) -> ImportedOutcome: ...
def read_lines(lines: list[bytes]) -> list[list[LinePart] | None]: ...
def recount(
    given: Sequence[Any] | bytes,
    records: Sequence[Mapping[str, Any]],
    turn_id: str,
    max_result_length: int,
    total: int | None,
    encoding: EncodingName | None,
) -> Recounted: ...
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
def unread(body: bytes) -> Unread: ...
