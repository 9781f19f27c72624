"""Readers for producers whose formats occur in no request. They run before both backends.

Each file of this folder except ``base`` is an importer, and is in the list below. ``toolcarry.importers`` writes what
they read as messages that both backends read. ``docs/how-to/add-an-importer.md`` says how to add one.
"""

from typing import Final

from toolcarry.importers.producers import atif, langchain, openhands, opentelemetry, swe_agent
from toolcarry.importers.producers.base import Importer

IMPORTERS: Final[tuple[Importer, ...]] = (opentelemetry, langchain, openhands, atif, swe_agent)
"""All importers, in the order in which they are tried."""
