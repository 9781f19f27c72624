"""Readers for producers whose formats no request path meets, in front of both backends.

Each file of this folder but ``base`` is one, and has a line in the list below; ``toolcarry.importers`` writes what they
read as messages that both backends read. How to add one: ``docs/how-to/add-an-importer.md``.
"""

from typing import Final

from toolcarry.importers.producers import atif, langchain, openhands, opentelemetry, swe_agent
from toolcarry.importers.producers.base import Importer

IMPORTERS: Final[tuple[Importer, ...]] = (opentelemetry, langchain, openhands, atif, swe_agent)
"""All importers, in the order in which they are tried."""
