"""The reference of all settings, made from their declarations: a page in Markdown, and a JSON Schema of the settings file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, inspect
from msgspec import json as msgspec_json

from toolcarry.config.schema import allowed, item_of, root, struct_of
from toolcarry.config.table import HoldsPolicy
from toolcarry.config.tables import Config
from toolcarry.types.fields import Field, entries
from toolcarry.types.policy import (
    CarryPolicy,
    ProjectPolicy,
    ResultPolicy,
)
from toolcarry.types.values import Rule

__all__ = ["settings_page", "settings_schema"]

HEAD: Final = """# Settings

`toolcarry config reference` prints this page, and `toolcarry config schema` prints a JSON Schema for editors.

One field of a policy has the same name everywhere:

| where | as |
|---|---|
| code | a keyword: `project(messages, max_result_tokens=1_000)` |
| command line | an option: `--max-result-tokens 1k` |
| `toolcarry.toml` | a key: `max_result_tokens = 1000` in `[projection]` |
| environment | a variable: `TOOLCARRY_PROJECTION_MAX_RESULT_TOKENS=1000` |

Keys in arrays of tables have no variable.
`NO_LIMIT` in code, and `none` elsewhere, turn off a default limit.
A limit in tokens may be a share of the model's window, such as `80%`.
"""


def settings_page() -> str:
    """Return the page docs/reference/settings.md.

    >>> settings_page().splitlines()[0]
    '# Settings'
    """
    parts = [
        HEAD,
        "## The policy of `carry`\n\n" + policy_table(CarryPolicy, ResultPolicy),
        "## The policy of `project`\n\n" + policy_table(ProjectPolicy, ResultPolicy),
        "## Both policies\n\n" + policy_table(ResultPolicy),
        "## A rule\n\n" + rule_table(),
        "## The settings file",
        *file_tables(),
    ]
    return "\n".join(f"{part.rstrip()}\n" for part in parts)


def policy_table(kind: type[ResultPolicy], without: type[ResultPolicy] | None = None) -> str:
    """Return the table of a policy's fields, without those that mean the same in another policy."""
    shared = {field.name: field.doc for field in without.declared} if without else {}
    rows = [
        (field.name, f"`{spelled(field.hint)}`", default_of(field), field.doc)
        for field in kind.declared
        if shared.get(field.name) != field.doc
    ]
    return table(("field", "type", "default", "meaning"), rows)


def default_of(field: Field) -> str:
    """Return a default as the table shows it."""
    return "the built-in rules" if field.name == "rules" else shown(field.default)


def spelled(hint: Any) -> str:
    """Return a type with its aliases resolved, and with the values of a ``Literal`` in its place.

    >>> from typing import Literal
    >>> spelled(Literal["auto", "off"] | tuple[str, ...] | None)
    '"auto" | "off" | tuple[str, ...] | None'
    """
    if hint is Ellipsis or hint is type(None):
        return "..." if hint is Ellipsis else "None"
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " | ".join(map(json.dumps, parts))
    if origin in (Union, UnionType):
        return " | ".join(map(spelled, parts))
    name = str(getattr(origin or hint, "__name__", hint))
    return f"{name}[{', '.join(map(spelled, parts))}]" if parts else name


def rule_table() -> str:
    """Return the table of a rule's fields."""
    docs = dict(entries(Rule.__doc__))
    fields = Rule.__dataclass_fields__
    rows = [
        (name, "required" if name == "tools" else shown(each.default), docs[name])
        for name, each in fields.items()
    ]
    return table(("field", "default", "meaning"), rows)


KEY_TITLES: Final = ("key", "default", "meaning")


def file_tables() -> Iterator[str]:
    """Yield a section for each table of the settings file: its keys, their defaults and their meaning."""
    for struct in structs():
        docs = dict(entries(struct.cls.__doc__))
        intro = " ".join((struct.cls.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")
        own = [field for field in struct.fields if field.name in docs]
        rows = [
            (
                field.name,
                "required" if field.required else shown(field.default),
                f"{docs[field.name]} Allowed: {allowed(field.type)}.",
            )
            for field in own
        ]
        more = ""
        if issubclass(struct.cls, HoldsPolicy):
            keyed = ", ".join(f"`{name}`" for name in struct.cls.policy_keys)
            more = f"\nAnd the fields of a `{struct.cls.policy_kind.__name__}`: {keyed}.\n"
        yield f"### {intro.partition(':')[0]}\n\n{sentence(intro)}\n\n{table(KEY_TITLES, rows)}{more}"


def sentence(intro: str) -> str:
    """Return the purpose of a table as a sentence."""
    text = intro.partition(": ")[2].partition(". ")[0].rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def structs(kind: inspect.Type | None = None) -> Iterator[inspect.StructType]:
    """Yield every table with keys of its own, and the items of arrays of tables."""
    struct = struct_of(kind or root())
    if struct is None:
        return
    if kind is not None and entries(struct.cls.__doc__):
        yield struct
    for field in struct.fields:
        item = item_of(field.type)
        yield from structs(item if item is not None and struct_of(item) else field.type)


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, of rows that begin with a name and end with its meaning."""
    lines = [row(titles), "|---" * len(titles) + "|"]
    for name, *others, doc in rows:
        text = doc.replace("``", "`")
        lines.append(row([f"`{name}`", *others, f"{text[:1].upper()}{text[1:]}"]))
    return "\n".join(lines) + "\n"


PIPE: Final = r"\|"
"""The character that would end a cell of a table, escaped for Markdown."""


def row(cells: Sequence[str]) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(each.replace('|', PIPE) for each in cells)} |"


def shown(value: object) -> str:
    """Return a default in the form of JSON; nothing if a key has none.

    >>> shown(True), shown(()), shown(None)
    ('`true`', '`[]`', '')
    """
    return "" if value in (None, NODEFAULT) else f"`{json.dumps(value)}`"


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``toolcarry.toml``, with the meaning of each key.

    >>> settings_schema()["$defs"]["Serve"]["properties"]["port"]["maximum"]
    65535
    """
    schema = msgspec_json.schema(Config)
    docs = {struct.cls.__name__: key_docs(struct) for struct in structs()}
    for name, found in schema["$defs"].items():
        found["description"] = " ".join(found.get("description", "").split("\n\n")[0].split())
        for key, each in found["properties"].items():
            if key in docs.get(name, {}):
                each["description"] = docs[name][key]
            if "$ref" in each:
                each.pop("default", None)
            for part in (each, *each.get("anyOf", ())):
                if "pattern" in part:
                    part["pattern"] = part["pattern"].replace(r"\A", "^").replace(r"\Z", "$")
    return schema


def key_docs(struct: inspect.StructType) -> dict[str, str]:
    """Return the meaning of each key of a table."""
    fields = struct.cls.policy_kind.declared if issubclass(struct.cls, HoldsPolicy) else ()
    found = {field.name: field.doc for field in fields} | dict(entries(struct.cls.__doc__))
    return {name: text.replace("``", "") for name, text in found.items()}
