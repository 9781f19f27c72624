"""The output of ``prepare_parts`` for the metadata of one commit."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from toolcarry._pure.history.hashing import Draft


def dump_metadata(kernels: ModuleType, metadata: Mapping[str, Any]) -> bytes:
    """Metadata as canonical bytes."""
    parts, _, _ = kernels.prepare_parts([Draft("tool", 2, b"", metadata, 0)], "")
    found: bytes = parts[0].metadata
    return found


def fold(kernels: ModuleType, metadata: bytes, content: bytes) -> bytes:
    """Return canonical metadata as it is stored with a content."""
    _, stored, _ = kernels.prepare_parts([Draft("tool", 2, content, {}, 0, metadata)], "")
    found: bytes = stored[0]
    return found
