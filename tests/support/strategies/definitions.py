"""Generated definitions of tools."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st
from support.builders.definition_styles import (
    WRITERS,
    DraftTool,
    Json,
    write_gemini_in_capitals,
)

# What definitions say

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.:-]{0,30}", fullmatch=True) | st.text(
    st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8
).filter(str.strip)
tool_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,30}", fullmatch=True)
"""Names that every style accepts."""
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
broken_texts = st.text(st.characters(), max_size=10)
"""With halves of surrogate pairs, which JSON can write."""
json_values = st.recursive(
    st.none() | st.booleans() | numbers | texts | broken_texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
"""Any JSON."""

Pair = tuple[Json, Json]
"""A schema as JSON Schema has it, and as Gemini has it."""


@st.composite
def leaves(draw: Any) -> Pair:
    kind = draw(st.sampled_from(("string", "integer", "number", "boolean")))
    beside = draw(st.fixed_dictionaries({}, optional={"title": texts, "description": texts}))
    written = {}
    if kind == "string":
        limits = {"minLength": st.integers(0, 9), "maxLength": st.integers(10, 99)}
        beside |= draw(
            st.fixed_dictionaries({}, optional={"enum": st.lists(texts, min_size=1, max_size=3)})
        )
        counts = draw(st.fixed_dictionaries({}, optional=limits))
        beside |= counts
        if draw(st.booleans()):  # int64 is a string in the JSON of Google's APIs
            written = {name: str(count) for name, count in counts.items()}
    return with_null(draw, {"type": kind, **beside}, {"type": kind.upper(), **beside, **written})


def with_null(draw: Any, plain: Json, capitals: Json) -> Pair:
    if not draw(st.booleans()):
        return plain, capitals
    return {**plain, "type": [plain["type"], "null"]}, {**capitals, "nullable": True}


@st.composite
def inner_nodes(draw: Any, inner: st.SearchStrategy[Pair]) -> Pair:
    kind = draw(st.sampled_from(("object", "array", "anyOf")))
    if kind == "array":
        plain, capitals = draw(inner)
        return with_null(
            draw, {"type": "array", "items": plain}, {"type": "ARRAY", "items": capitals}
        )
    if kind == "anyOf":
        pairs = draw(st.lists(inner, min_size=1, max_size=3))
        return {"anyOf": [plain for plain, _ in pairs]}, {"anyOf": [own for _, own in pairs]}
    return with_null(draw, *draw(objects(inner)))


@st.composite
def objects(draw: Any, inner: st.SearchStrategy[Pair]) -> Pair:
    """Some arguments are called as the words of schemas are."""
    called = st.sampled_from(("path", "type", "nullable", "items", "properties", "TYPE")) | names
    pairs = draw(st.dictionaries(called, inner, max_size=4))
    required = {"required": sorted(pairs)} if draw(st.booleans()) else {}
    order = {"propertyOrdering": sorted(pairs)} if draw(st.booleans()) else {}
    plain = {name: plain for name, (plain, _) in pairs.items()}
    capitals = {name: own for name, (_, own) in pairs.items()}
    return (
        {"type": "object", "properties": plain, **required},
        {"type": "OBJECT", "properties": capitals, **required, **order},
    )


schemas = objects(st.recursive(leaves(), inner_nodes, max_leaves=6))


@st.composite
def sayings(draw: Any) -> DraftTool:
    plain, capitals = draw(st.just((None, None)) | schemas)
    description = draw(st.none() | texts)
    return DraftTool(
        draw(tool_names), description, plain, capitals, draw(st.none() | st.booleans())
    )


def several(min_size: int = 0, max_size: int = 5) -> st.SearchStrategy[list[DraftTool]]:
    """Draw several definitions, each with a different name."""
    return st.lists(
        sayings(), min_size=min_size, max_size=max_size, unique_by=lambda said: said.name
    )


# What one provider alone knows

open_schema = {"type": "object", "additionalProperties": True}
ONLY_HERE: dict[str, dict[str, st.SearchStrategy[Json]]] = {
    "openai": {},
    "responses": {"defer_loading": st.booleans()},
    "ollama": {},
    "anthropic": {
        "type": st.just("custom"),
        "cache_control": st.sampled_from(
            ({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"})
        ),
        "defer_loading": st.booleans(),
        "eager_input_streaming": st.booleans(),
        "allowed_callers": st.just(["code_execution_20250825"]),
        "input_examples": st.lists(st.dictionaries(names, json_values, max_size=2), max_size=2),
    },
    "gemini": {
        "behavior": st.sampled_from(("BLOCKING", "NON_BLOCKING")),
        "response": st.just({"type": "STRING", "nullable": True}),
        "responseJsonSchema": st.just(open_schema),
    },
    "mcp": {
        "title": texts,
        "outputSchema": st.just(open_schema),
        "annotations": st.fixed_dictionaries(
            {}, optional={"title": texts, "readOnlyHint": st.booleans()}
        ),
        "icons": st.just([{"src": "https://example.com/a.png", "sizes": ["48x48"]}]),
        "execution": st.just({"taskSupport": "optional"}),
        "_meta": st.dictionaries(names, json_values, max_size=2),
    },
    "bedrock": {},
}

SERVER_TOOLS: dict[str, tuple[Json, ...]] = {
    "openai": (
        {"type": "custom", "custom": {"name": "code_exec", "format": {"type": "text"}}},
        {"type": "of next year", "of_next_year": {}},
    ),
    "responses": (
        {"type": "file_search", "vector_store_ids": ["vs_1"], "max_num_results": 20},
        {"type": "web_search", "search_context_size": "medium", "user_location": None},
        {"type": "code_interpreter", "container": {"type": "auto"}},
        {"type": "mcp", "server_label": "deepwiki", "server_url": "https://example.com/mcp"},
        {
            "type": "custom",
            "name": "sql",
            "format": {"type": "grammar", "syntax": "lark", "definition": "start: /a/"},
        },
        {"type": "image_generation"},
    ),
    "ollama": ({"type": "of next year"},),
    "anthropic": (
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 5},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
        {"type": "mcp_toolset", "mcp_server_name": "files"},
        {"type": "of_next_year_20300101", "name": "new"},
    ),
    "gemini": (
        {"googleSearch": {}},
        {"codeExecution": {}},
        {"urlContext": {}},
        {"googleMaps": {"enableWidget": True}},
        {"fileSearch": {"fileSearchStoreNames": ["fileSearchStores/a"]}},
    ),
    "mcp": (),
    "bedrock": ({"cachePoint": {"type": "default"}}, {"systemTool": {"name": "nova_grounding"}}),
}
"""Members that only their own provider understands."""


@st.composite
def in_full(draw: Any, said: DraftTool, style: str) -> dict[str, Json]:
    """Draw a definition with optional members of its style and with members that nobody knows yet."""
    has_capitals = style == "gemini" and draw(st.booleans())
    made = write_gemini_in_capitals(said) if has_capitals else WRITERS[style](said)
    known = draw(st.fixed_dictionaries({}, optional=ONLY_HERE[style]))
    unknown = draw(st.just({}) | st.just({"of_next_year": {"a": [1, None]}}))
    if "function" in made:
        made["function"] |= unknown
    made = {**made, **known, **unknown}
    shuffled = draw(st.permutations(list(made.items())))
    return dict(shuffled)


@st.composite
def requests(draw: Any, style: str, said: list[DraftTool]) -> list[dict[str, Json]]:
    """Draw the tools of a request in a style, including tools of the provider."""
    made = [draw(in_full(each, style)) for each in said]
    own = [copy.deepcopy(tool) for tool in SERVER_TOOLS[style] if draw(st.integers(0, 3)) == 0]
    if style != "gemini":
        places = [draw(st.integers(0, len(made))) for _ in own]
        for place, tool in zip(places, own, strict=True):
            made.insert(place, tool)
        return made
    tools: list[dict[str, Json]] = []
    while made:
        end = draw(st.integers(1, len(made)))
        key = draw(st.sampled_from(("functionDeclarations", "function_declarations")))
        tools.append({key: made[:end]})
        made = made[end:]
    for tool in own:  # as separate tools, or in the object of the functions
        if tools and draw(st.booleans()):
            tools[-1] |= tool
        else:
            tools.append(tool)
    return tools
