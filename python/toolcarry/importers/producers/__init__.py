"""Readers for producers whose formats occur in no request. They run before both backends.

Each file of this folder except ``base`` and ``registered`` is an importer; other packages register theirs.
``toolcarry.importers`` writes what they read as messages that both backends read. ``docs/how-to/add-an-importer.md`` says
how to add one.
"""

from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules
from typing import Any, Final

from toolcarry.importers.producers.base import (
    ConversationImporter,
    FoldingImporter,
    Importer,
    Signs,
)
from toolcarry.importers.producers.registered import registered


def modules() -> Iterator[Any]:
    """Yield the files of this folder that are importers, by their names."""
    for each in iter_modules(__path__):
        if each.name not in ("base", "registered"):
            yield import_module(f"{__name__}.{each.name}")


OWN: Final = tuple(modules())
CONVERSATIONS: Final[tuple[ConversationImporter, ...]] = (
    *(each for each in OWN if hasattr(each, "claims")),
    *registered(),
)
"""The importers of whole conversations. Each claims only what no other one claims."""
FOLDING: Final[tuple[FoldingImporter, ...]] = tuple(each for each in OWN if hasattr(each, "folds"))
MESSAGES: Final[tuple[Importer, ...]] = tuple(each for each in OWN if not hasattr(each, "claims"))
"""The importers that recognise each message by itself."""
IMPORTERS: Final[tuple[Importer, ...]] = (*CONVERSATIONS, *MESSAGES)
"""All importers, in the order in which they are tried."""
SIGNS: Final = Signs(
    tuple(dict.fromkeys(chain.from_iterable(each.SIGNS.keys for each in IMPORTERS))),
    tuple(dict.fromkeys(chain.from_iterable(each.SIGNS.types for each in IMPORTERS))),
)
"""The signs of all importers."""
