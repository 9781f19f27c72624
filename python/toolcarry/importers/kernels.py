"""The kernels of a backend, with the importers in front of those that read messages.

A kernel decides as it reads: it returns its outcome, or ``None`` if it meets a message that only an importer can read.
This is the only place that knows of the latter. A request of a known format costs one more call in Python. The importing modules are loaded on first use: they
load much of the model, and take several times as long as all of `import toolcarry`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from toolcarry.errors import InputError
from toolcarry.types.outcomes import BodyOutcome, CarryOutcome, ProjectOutcome
from toolcarry.types.policy import CarryPolicy, ProjectPolicy
from toolcarry.types.values import CallFacts, Decisions

if TYPE_CHECKING:
    from types import ModuleType

    from toolcarry.model.session_lines import LinePart

__all__ = ["ImportingKernels"]

JOBS: Final = (
    "carry",
    "deduplicate_tools",
    "dialogue",
    "explain",
    "extract_tool_blocks",
    "format_tool_context",
    "inspect",
    "message_tokens",
    "recount",
    "unread",
)
"""The kernels whose first argument is a conversation, or blocks."""


class ImportingKernels:
    """The kernels, with an import where one is needed, under the names of ``toolcarry.fallback.kernels``."""

    def __init__(self, kernels: ModuleType) -> None:
        self._kernels: Any = kernels
        own = vars(type(self))
        vars(self).update({name: each for name, each in vars(kernels).items() if name not in own})
        vars(self).update({name: importing(name, getattr(kernels, name)) for name in JOBS})

    def carry_files(
        self, paths: Sequence[Path], summary: str, policy: CarryPolicy, threads: int
    ) -> list[CarryOutcome | InputError | OSError]:
        from toolcarry._input.sources import is_plain  # noqa: PLC0415 - loaded on first use

        are_plain = list(map(is_plain, paths))
        plain = [path for path, is_here in zip(paths, are_plain, strict=True) if is_here]
        carried = iter(self._kernels.carry_files(plain, summary, policy, threads))
        found = [next(carried) if is_here else None for is_here in are_plain]
        return [
            self._carry_file(path, summary, policy) if each is None else each
            for path, each in zip(paths, found, strict=True)
        ]

    def _carry_file(
        self, path: Path, summary: str, policy: CarryPolicy
    ) -> CarryOutcome | InputError | OSError:
        from toolcarry._input.sources import read_source  # noqa: PLC0415 - loaded on first use

        try:
            body, remarks = read_source(path)
            found: CarryOutcome = vars(self)["carry"](body, summary, policy)
            return replace(found, report=replace(found.report, remarks=remarks))
        except (InputError, OSError) as error:
            return error

    def project(
        self,
        messages: Sequence[Any],
        policy: ProjectPolicy,
        previous: Decisions | None,
        known: Sequence[CallFacts] | None = None,
    ) -> ProjectOutcome:
        found = self._kernels.project(messages, policy, previous, known)
        if found is not None:
            return found
        from toolcarry.importers.projection import project  # noqa: PLC0415 - loaded on first use

        outcome = project(self._kernels.project_imported, messages, policy, previous, known)
        return ProjectOutcome(outcome.messages, outcome.report, outcome.decisions)

    def project_body(
        self, body: bytes, policy: ProjectPolicy, previous: Decisions | None
    ) -> BodyOutcome:
        found = self._kernels.project_body(body, policy, previous)
        if found is not None:
            return found
        from toolcarry.importers.projection import project_body  # noqa: PLC0415 - loaded on first use

        return project_body(self._kernels.project_imported, body, policy, previous)

    def read_lines(self, lines: list[bytes]) -> list[list[LinePart] | None]:
        found = self._kernels.read_lines(lines)
        if found is not None:
            return found
        from toolcarry.importers.parts import read_line  # noqa: PLC0415 - loaded on first use

        return [
            read_line(self._kernels.read_lines, self._kernels.count_tokens, line) for line in lines
        ]


def importing(job: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that is called again, with what the importers read, if it returns ``None``."""

    def run(given: Any, *settings: Any) -> Any:
        found = kernel(given, *settings)
        if found is not None:
            return found
        from toolcarry.importers.jobs import run_imported  # noqa: PLC0415 - loaded on first use

        return run_imported(job, kernel, given, settings)

    return run
