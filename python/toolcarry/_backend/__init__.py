"""The only place that chooses between the two implementations. Both are wrapped by the importers.

``TOOLCARRY_BACKEND`` is ``auto`` (Rust if the extension is installed), ``rust`` or ``python``.
Only an absent extension falls back to Python: one that is present and broken raises.
Look up a kernel here at each call (``_backend.kernels.carry``), so that ``using`` can replace the
implementation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from toolcarry.errors import BackendError, ConfigError
from toolcarry.importers.kernels import ImportingKernels

if TYPE_CHECKING:
    from toolcarry._backend import _core as kernels
    from toolcarry.types.policy import CarryPolicy

__all__ = ["Name", "backend", "kernels", "require", "using"]

Name = Literal["rust", "python"]

MODULES: Final = {"rust": "toolcarry._backend._core", "python": "toolcarry.fallback.kernels"}
NAME: Final = os.environ.get("TOOLCARRY_BACKEND", "auto")


def load(name: str) -> ImportingKernels:
    """Return the kernels of an implementation, or of the one that ``auto`` chooses."""
    if name not in ("auto", *MODULES):
        raise ConfigError(
            f"TOOLCARRY_BACKEND: {name!r} is not allowed; allowed: 'auto', 'rust', 'python'"
        )
    try:
        found = ImportingKernels(import_module(MODULES.get(name, "toolcarry._backend._core")))
        return found if name == "python" else with_handover(found)
    except ModuleNotFoundError as error:
        if name != "auto" or error.name != "toolcarry._backend._core":
            raise
        return ImportingKernels(import_module(MODULES["python"]))


WITH_LAYOUT: Final = ("carry", "carry_files", "explain", "format_tool_context")
"""The kernels that write a context. Their third argument is the policy."""


@cache
def reference() -> ImportingKernels:
    """Return the kernels of Python."""
    return load("python")


def with_handover(kernels: ImportingKernels) -> ImportingKernels:
    """Return the kernels of Rust, which write sections, with those of Python for ``layout="handover"``."""
    for job in WITH_LAYOUT:
        setattr(kernels, job, by_layout(job, getattr(kernels, job)))
    return kernels


def by_layout(job: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel that leaves the layout that it does not know to the Python backend."""

    def run(given: Any, summary: str, policy: CarryPolicy, *more: Any) -> Any:
        if policy.layout == "sections":
            return kernel(given, summary, policy, *more)
        return getattr(reference(), job)(given, summary, policy, *more)

    return run


if not TYPE_CHECKING:
    kernels = load(NAME)


def backend() -> Name:
    """Return the name of the implementation in use.

    >>> backend() in ("rust", "python")
    True
    """
    return "rust" if kernels.__name__ == MODULES["rust"] else "python"


def require(job: str) -> None:
    """Raise ``BackendError`` if a job that exists in Rust alone can't run: for services, when they are built."""
    if backend() == "python":
        raise BackendError(job)


@contextmanager
def using(name: Name) -> Iterator[None]:
    """Use an implementation inside the ``with`` block, in all threads: for tests and measurements.

    >>> before = backend()
    >>> with using("python"):
    ...     backend()
    'python'
    >>> backend() == before
    True
    """
    before = kernels
    globals()["kernels"] = load(name)
    try:
        yield
    finally:
        globals()["kernels"] = before
