"""Schemas of tools as a provider takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcarry._input.objects import as_list, as_object

__all__ = ["without_root_members"]


def without_root_members(schema: Mapping[str, Any], refused: Sequence[str]) -> Mapping[str, Any]:
    """Return a schema without the members at its root that a provider refuses; the schema itself if it has none of them.

    The properties of the schemas in them become optional ones of the root, so that the model still knows of them, as in a
    repair.

    >>> without_root_members({"anyOf": [{"properties": {"url": {"type": "string"}}}]}, ["anyOf"])
    {'type': 'object', 'properties': {'url': {'type': 'string'}}}
    """
    if not any(key in schema for key in refused):
        return schema
    schemas = [schema, *(each for key in refused for each in as_list(schema.get(key)) or ())]
    properties: dict[str, Any] = {}
    for each in schemas:
        own = as_object((as_object(each) or {}).get("properties")) or {}
        properties = {**own, **properties}
    kept = {key: value for key, value in schema.items() if key not in refused}
    return {**kept, "type": "object", "properties": properties}
