"""The choice between the two implementations, made once, here. The importers stand in front of either.

``TOOLCARRY_BACKEND`` is ``auto`` (Rust where the extension is installed), ``rust`` or ``python``.
Only an extension that is not there falls back to Python: one that is there and broken raises.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from toolcarry.errors import ConfigError
from toolcarry.importing.kernels import ImportingKernels

if TYPE_CHECKING:
    from toolcarry._pure import kernels

__all__ = ["backend", "kernels"]

NAME = os.environ.get("TOOLCARRY_BACKEND", "auto")

if NAME not in ("auto", "rust", "python"):
    raise ConfigError(
        f"TOOLCARRY_BACKEND: {NAME!r} is not allowed; allowed: 'auto', 'rust', 'python'"
    )

if not TYPE_CHECKING:
    if NAME == "python":
        from toolcarry._pure import kernels as chosen
    else:
        try:
            import toolcarry._core as chosen
        except ModuleNotFoundError as error:
            if NAME == "rust" or error.name != "toolcarry._core":
                raise
            from toolcarry._pure import kernels as chosen
    kernels = ImportingKernels(chosen)


def backend() -> Literal["rust", "python"]:
    """The name of the implementation in use.

    >>> backend() in ("rust", "python")
    True
    """
    return "rust" if kernels.__name__ == "toolcarry._core" else "python"
