"""Gemini's own schemas, which are those of OpenAPI with types in capitals, as JSON Schema."""

from __future__ import annotations

from typing import Any, Final

from toolcarry._input.objects import as_list, as_object

__all__ = ["as_json_schema"]

COUNTS: Final = frozenset(
    ("maxItems", "minItems", "maxLength", "minLength", "maxProperties", "minProperties")
)
"""What their JSON may write as text, as it does with all large integers."""


def as_json_schema(schema: Any) -> Any:
    """A schema as every provider reads it; what is no schema comes back as it is.

    >>> as_json_schema({"type": "OBJECT", "properties": {"path": {"type": "STRING", "nullable": True}}})
    {'type': 'object', 'properties': {'path': {'type': ['string', 'null']}}}
    """
    held = as_object(schema)
    if held is None:
        return schema
    made: dict[str, Any] = {}
    for key, value in held.items():
        named = as_object(value) if key == "properties" else None
        several = as_list(value) if key == "anyOf" else None
        if key == "type" and isinstance(value, str):
            made[key] = value.lower()
        elif named is not None:
            made[key] = {name: as_json_schema(inner) for name, inner in named.items()}
        elif several is not None:
            made[key] = [as_json_schema(inner) for inner in several]
        elif key == "items":
            made[key] = as_json_schema(value)
        elif key in COUNTS and isinstance(value, str) and value.isdecimal():
            made[key] = int(value)
        elif key not in ("nullable", "propertyOrdering"):
            made[key] = value
    if held.get("nullable") is True and isinstance(made.get("type"), str):
        made["type"] = [made["type"], "null"]
    return made
