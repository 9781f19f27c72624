"""Settings of every kind, drawn from what the tables say of themselves."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec import inspect

from toolcarry.config.schema import alternatives, item_of, root, struct_of
from toolcarry.config.tables import ModelPrice

URLS = ("http://127.0.0.1:11434", "https://api.example.com/v1", "http://[::1]:80/a@b")
CHOSEN = {
    "url": st.sampled_from(URLS),
    "default": st.just(""),
    "redis_url": st.sampled_from(["", "redis://cache/0", "unix:///run/redis.sock"]),
    "target": st.sampled_from(["", "/var/lib/a b.db", "postgresql://carry@db/history", "é\n"]),
    "summarizer": st.sampled_from(["extractive", "none", "package.module:make.it"]),
    "control_listen": st.sampled_from(["", "localhost:0", "127.0.0.1:0", "[::1]:0"]),
    "preset": st.just("default"),
    "canonical_mode": st.just("off"),
    "destination": st.sampled_from(["mistral", "gemini"]),
    "prices": st.sampled_from(["none", "claude", "gpt-5"]),
    "destinations": st.dictionaries(
        st.sampled_from(["gateway", "a-b"]),
        st.fixed_dictionaries(
            {"base": st.sampled_from(["openai-chat", "mistral"])},
            optional={
                "cache_marks": st.integers(0, 9),
                "user_ends": st.booleans(),
                "refused_members": st.lists(st.sampled_from(["audio", "refusal"]), max_size=2),
                "id": st.fixed_dictionaries({"at_most": st.integers(9, 99)}),
            },
        ),
        max_size=2,
    ),
}
"""Values for settings that depend on another key or accept more than a pattern."""
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


def values(kind: inspect.Type, name: str = "") -> st.SearchStrategy[Any]:
    """Return values that TOML may have where the table expects this kind of value."""
    item = item_of(kind)
    if name in CHOSEN and (item is None or struct_of(item) is None):
        return CHOSEN[name]
    return st.one_of([values_of(each) for each in alternatives(kind)])


def values_of(kind: inspect.Type) -> st.SearchStrategy[Any]:
    if isinstance(kind, inspect.StructType):
        return table(kind)
    if isinstance(kind, inspect.BoolType):
        return st.booleans()
    if isinstance(kind, inspect.IntType):
        return st.integers(kind.ge, kind.le)
    if isinstance(kind, inspect.FloatType):
        low = kind.ge if kind.gt is None else kind.gt
        return st.floats(low, kind.le, exclude_min=kind.gt is not None)
    if isinstance(kind, inspect.LiteralType):
        return st.sampled_from(kind.values)
    if isinstance(kind, inspect.StrType) and kind.pattern:
        return st.from_regex(kind.pattern).filter(lambda text: text.isprintable() or "\n" in text)
    if isinstance(kind, inspect.StrType):
        return TEXT.filter(bool) if kind.min_length else TEXT
    assert isinstance(kind, inspect.VarTupleType)
    items, is_table = values(kind.item_type), struct_of(kind.item_type) is not None
    unique = (lambda item: item.get("name", item.get("model", repr(item)))) if is_table else None
    return st.lists(items, min_size=kind.min_length or 0, max_size=3, unique_by=unique)


def table(kind: inspect.StructType) -> st.SearchStrategy[dict[str, Any]]:
    fields = {field.name: (field.required, values(field.type, field.name)) for field in kind.fields}
    drawn = st.fixed_dictionaries(
        {name: value for name, (required, value) in fields.items() if required},
        optional={name: value for name, (required, value) in fields.items() if not required},
    )
    return drawn.map(priced if kind.cls is ModelPrice else one_of_two)


def priced(drawn: dict[str, Any]) -> dict[str, Any]:
    """Without a cache, no token has a price of its own; with one, a token that is read has."""
    if drawn.get("match") == "none":
        return {**drawn, "cache_write": 1.0, "cache_read": 1.0}
    return {"cache_read": 0.5, **drawn}


def one_of_two(drawn: dict[str, Any]) -> dict[str, Any]:
    """Of the two units of a total one may be given, and of the two places for tools; a share is of a window."""
    for tokens, chars in (
        ("max_tokens", "max_chars"),
        ("max_all_results_tokens", "max_all_results_chars"),
    ):
        if tokens in drawn:
            drawn.pop(chars, None)
    if any(name.startswith("max_") and str(value).endswith("%") for name, value in drawn.items()):
        drawn.setdefault("window_tokens", 1_000)
    if drawn.get("redis_url"):
        drawn.pop("path", None)
    return drawn


def all_settings() -> st.SearchStrategy[dict[str, Any]]:
    return values(root())
