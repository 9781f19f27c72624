"""The sentences that describe a correction: as a problem for ``check``, as a change for reports."""

from typing import Final

from toolcarry._data import read_table

__all__ = ["MENDS", "PROBLEMS"]

_KINDS: Final[dict[str, dict[str, str]]] = read_table("rules")["mends"]
MENDS: Final[dict[str, str]] = {kind: told["mend"] for kind, told in _KINDS.items()}
"""For each kind of correction, the change that was made."""
PROBLEMS: Final[dict[str, str]] = {
    **{kind: told["problem"] for kind, told in _KINDS.items()},
    "not_repaired": "this could not be checked, or no rule corrects it",
}
"""For each kind of correction, the problem that it solves."""
