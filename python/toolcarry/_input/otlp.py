"""The attributes of OpenTelemetry spans: as an SDK writes them, or in a request of OTLP as JSON.

open-telemetry/opentelemetry-proto, opentelemetry/proto/common/v1/common.proto
"""

from __future__ import annotations

from collections.abc import Iterator

from toolcarry._input.objects import JsonObject, as_list, as_object, each_object

__all__ = ["spans_of"]


def spans_of(document: JsonObject) -> Iterator[JsonObject]:
    """Return the attributes of the spans in a document: a span, or a request of OTLP."""
    if "resourceSpans" not in document:
        yield attributes_of(document)
    for resource in each_object(document.get("resourceSpans")):
        for scope in each_object(resource.get("scopeSpans")):
            yield from map(attributes_of, each_object(scope.get("spans")))


def attributes_of(span: JsonObject) -> JsonObject:
    """Return the attributes of a span by their names; OTLP has a list of keys and values."""
    attributes = span.get("attributes")
    listed = as_list(attributes)
    if listed is None:
        return as_object(attributes) or {}
    return table_of(listed)


def table_of(pairs: object) -> JsonObject:
    """Return the pairs of a key and a value in OTLP as an object."""
    named = (pair for pair in each_object(pairs) if isinstance(pair.get("key"), str))
    return {pair["key"]: value_of(pair.get("value")) for pair in named}


def value_of(value: object) -> object:
    """Return a value of OTLP, which is in a member that names its type."""
    held = as_object(value) or {}
    array, table = as_object(held.get("arrayValue")), as_object(held.get("kvlistValue"))
    if array is not None:
        return [value_of(each) for each in as_list(array.get("values")) or ()]
    if table is not None:
        return table_of(table.get("values"))
    return next((each for key, each in held.items() if key.endswith("Value")), None)
