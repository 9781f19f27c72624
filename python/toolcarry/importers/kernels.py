"""The kernels of a backend, with the importers in front of those that read messages.

A request of a known format costs one more call in Python. The importing modules are loaded on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from toolcarry._input.objects import JsonObject
from toolcarry.errors import InputError, NeedsImport
from toolcarry.types.policy import Policy
from toolcarry.types.values import (
    Decisions,
    EncodingName,
    Inspection,
    ProjectReport,
    RecountReport,
    Report,
    TextMessage,
    ToolBlock,
)

if TYPE_CHECKING:
    from types import ModuleType

    from toolcarry._pure.context import Rules
    from toolcarry._pure.history.session_lines import LinePart
    from toolcarry._pure.kernels import CarriedBytes
    from toolcarry._pure.projection.blocks import CallFacts
    from toolcarry._pure.projection.bytes import ProjectedBytes
    from toolcarry.importers.messages import Import

__all__ = ["ImportingKernels"]

M = TypeVar("M", Sequence[Any], bytes)


def new_import(kept: str = "") -> Import:
    """Return an import for messages that belong together."""
    from toolcarry.importers.messages import Import

    return Import(kept)


def import_all(messages: M, given: Import) -> M:
    """Return the messages, or the body, in a form that both backends read."""
    if isinstance(messages, bytes):
        from toolcarry.importers.bodies import import_body

        return import_body(messages, given)
    return given.messages(messages)


class ImportingKernels:
    """The kernels, with an import where one is needed, under the names of ``toolcarry._pure.kernels``."""

    def __init__(self, kernels: ModuleType) -> None:
        self._kernels: Any = kernels
        own = vars(type(self))
        vars(self).update({name: each for name, each in vars(kernels).items() if name not in own})

    def carry(self, messages: Sequence[Any], summary: str, policy: Policy) -> tuple[str, Report]:
        try:
            return self._kernels.carry(messages, summary, policy)
        except NeedsImport:
            importing = new_import()
            text, report = self._kernels.carry(import_all(messages, importing), summary, policy)
            return text, replace(report, unread=importing.own(report.unread))

    def carry_body(self, body: bytes, summary: str, policy: Policy) -> CarriedBytes:
        try:
            return self._kernels.carry_body(body, summary, policy)
        except NeedsImport:
            importing = new_import()
            given = import_all(body, importing)
            text, report = self._kernels.carry_body(given, summary, policy)
            return text, replace(report, unread=importing.own(report.unread))

    def carry_files(
        self, paths: Sequence[Path], summary: str, policy: Policy, threads: int
    ) -> list[CarriedBytes | InputError | OSError]:
        found = self._kernels.carry_files(paths, summary, policy, threads)
        return [
            self._carry_file(path, each, summary, policy) if isinstance(each, NeedsImport) else each
            for path, each in zip(paths, found, strict=True)
        ]

    def _carry_file(
        self, path: Path, asked: NeedsImport, summary: str, policy: Policy
    ) -> CarriedBytes | InputError | OSError:
        from toolcarry._input.archive import read_file

        try:
            body = read_file(path) if asked.body is None else asked.body
            return self.carry_body(body, summary, policy)
        except (InputError, OSError) as error:
            return error

    def dialogue(self, messages: Sequence[Any]) -> str:
        try:
            return self._kernels.dialogue(messages)
        except NeedsImport:
            given = import_all(messages, new_import())
            return self._kernels.dialogue(given)

    def dialogue_body(self, body: bytes) -> str:
        try:
            return self._kernels.dialogue_body(body)
        except NeedsImport:
            given = import_all(body, new_import())
            return self._kernels.dialogue_body(given)

    def explain(
        self, messages: Sequence[Any], summary: str, policy: Policy
    ) -> list[tuple[int, str, str]]:
        try:
            return self._kernels.explain(messages, summary, policy)
        except NeedsImport:
            given = import_all(messages, new_import())
            return self._kernels.explain(given, summary, policy)

    def extract_tool_blocks(self, messages: Sequence[Any]) -> list[ToolBlock]:
        try:
            return self._kernels.extract_tool_blocks(messages)
        except NeedsImport:
            given = new_import()
            return given.restored(self._kernels.extract_tool_blocks(given.messages(messages)))

    def extract_tool_blocks_body(self, body: bytes) -> list[ToolBlock]:
        try:
            return self._kernels.extract_tool_blocks_body(body)
        except NeedsImport:
            from toolcarry._input.document import open_body

            return self.extract_tool_blocks(list(open_body(body).messages))

    def deduplicate_tools(self, blocks: Sequence[ToolBlock], rules: Rules) -> list[ToolBlock]:
        try:
            return self._kernels.deduplicate_tools(blocks, rules)
        except NeedsImport:
            given = new_import()
            return given.restored(self._kernels.deduplicate_tools(given.blocks(blocks), rules))

    def format_tool_context(self, blocks: Sequence[ToolBlock], summary: str, policy: Policy) -> str:
        try:
            return self._kernels.format_tool_context(blocks, summary, policy)
        except NeedsImport:
            return self._kernels.format_tool_context(new_import().blocks(blocks), summary, policy)

    def inspect(self, messages: Sequence[Any]) -> Inspection:
        try:
            return self._kernels.inspect(messages)
        except NeedsImport:
            from toolcarry.importers.jobs import format_of

            importing = new_import()
            survey = self._kernels.inspect(importing.messages(messages))
            unread = importing.own(survey.unread)
            return replace(survey, shape=format_of(messages), unread=unread)

    def inspect_body(self, body: bytes) -> Inspection:
        try:
            return self._kernels.inspect_body(body)
        except NeedsImport:
            from toolcarry._input.document import open_body
            from toolcarry.importers.jobs import format_of

            importing = new_import()
            survey = self._kernels.inspect_body(import_all(body, importing))
            shape = format_of(open_body(body).messages)
            return replace(survey, shape=shape, unread=importing.own(survey.unread))

    def message_tokens(self, messages: Sequence[Any], encoding: EncodingName) -> list[int]:
        try:
            return self._kernels.message_tokens(messages, encoding)
        except NeedsImport:
            given = import_all(messages, new_import())
            return self._kernels.message_tokens(given, encoding)

    def message_tokens_body(self, body: bytes, encoding: EncodingName) -> list[int]:
        try:
            return self._kernels.message_tokens_body(body, encoding)
        except NeedsImport:
            given = import_all(body, new_import())
            return self._kernels.message_tokens_body(given, encoding)

    def project(
        self,
        messages: Sequence[Any],
        policy: Policy,
        previous: Decisions | None,
        known: Sequence[CallFacts] | None = None,
    ) -> tuple[list[Any] | None, ProjectReport, Decisions]:
        try:
            return self._kernels.project(messages, policy, previous, known)
        except NeedsImport:
            from toolcarry.importers.projection import project

            return project(messages, policy, previous, known)

    def project_body(
        self, body: bytes, policy: Policy, previous: Decisions | None
    ) -> ProjectedBytes:
        try:
            return self._kernels.project_body(body, policy, previous)
        except NeedsImport:
            from toolcarry.importers.projection import project_body

            return project_body(body, policy, previous)

    def read_lines(self, lines: list[bytes]) -> list[list[LinePart] | None]:
        try:
            return self._kernels.read_lines(lines)
        except NeedsImport:
            from toolcarry.importers.parts import read_line

            return [read_line(self._kernels.read_lines, line) for line in lines]

    def recount(
        self,
        messages: Sequence[Any],
        records: Sequence[JsonObject],
        turn_id: str,
        max_result_length: int,
        total: int | None,
        encoding: EncodingName | None,
    ) -> tuple[list[TextMessage], RecountReport]:
        try:
            return self._kernels.recount(
                messages, records, turn_id, max_result_length, total, encoding
            )
        except NeedsImport:
            importing = new_import(turn_id)
            given = import_all(messages, importing)
            found, report = self._kernels.recount(
                given, records, turn_id, max_result_length, total, encoding
            )
            return found, replace(report, unread=importing.own(report.unread))

    def recount_body(
        self,
        body: bytes,
        turn_id: str,
        max_result_length: int,
        total: int | None,
        encoding: EncodingName | None,
    ) -> tuple[list[TextMessage], RecountReport]:
        try:
            return self._kernels.recount_body(body, turn_id, max_result_length, total, encoding)
        except NeedsImport:
            importing = new_import(turn_id)
            given = import_all(body, importing)
            found, report = self._kernels.recount_body(
                given, turn_id, max_result_length, total, encoding
            )
            return found, replace(report, unread=importing.own(report.unread))
