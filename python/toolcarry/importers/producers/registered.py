"""The importers of other packages, which register them as entry points of the group ``toolcarry.importers``.

An entry point names a module with the members of a ``ConversationImporter``. If a module can't be loaded, or lacks a
member, it is ignored; this is logged and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from toolcarry import metrics
from toolcarry.importers.producers.base import About, ConversationImporter, Signs
from toolcarry.redact import get_logger

__all__ = ["GROUP", "registered"]

GROUP: Final = "toolcarry.importers"
LOG: Final = get_logger("toolcarry.importers")
FUNCTIONS: Final = ("claims", "read", "call", "result")
FACTS: Final = {"NAME": str, "ABOUT": About, "SIGNS": Signs}


def registered() -> Iterator[ConversationImporter]:
    """Yield the importers that installed packages register, by the names of their entry points."""
    for each in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        try:
            yield load(each)
        except Exception as error:  # noqa: BLE001 - another package's module may raise anything
            metrics.count("importers_left_out")
            LOG.warning("importer %s (%s) is ignored: %s", each.name, each.value, error)


def load(entry: EntryPoint) -> ConversationImporter:
    """Return the importer of an entry point. Raises whatever its module raises, and ``TypeError`` for one without a member."""
    importer: ConversationImporter = entry.load()
    for name, kind in FACTS.items():
        if not isinstance(getattr(importer, name, None), kind):
            raise TypeError(f"{name} must be a {kind.__name__}")
    missing = [name for name in FUNCTIONS if not callable(getattr(importer, name, None))]
    if missing:
        raise TypeError(f"has no function {', '.join(missing)}")
    if not all(sign.isascii() for sign in (*importer.SIGNS.keys, *importer.SIGNS.types)):
        raise TypeError("SIGNS must be ASCII")
    return importer
