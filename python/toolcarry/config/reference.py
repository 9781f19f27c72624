"""The reference of all settings, made from their declarations: a page in Markdown, and a JSON Schema of the settings file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from msgspec import NODEFAULT, inspect
from msgspec import json as msgspec_json

from toolcarry.config.schema import KeyPath, allowed, dotted, item_of, root, struct_of
from toolcarry.config.tables import Config
from toolcarry.types.policy import (
    CarryPolicy,
    Field,
    ProjectPolicy,
    ResultPolicy,
    entries,
)
from toolcarry.types.values import Rule

__all__ = ["settings_page", "settings_schema"]

POLICIES: Final[dict[str, type[ResultPolicy]]] = {
    "thinking.summarize": CarryPolicy,
    "projection": ProjectPolicy,
}
"""The tables that hold the fields of a policy."""
HEAD: Final = """# Settings

`toolcarry config reference` prints this page, and `toolcarry config schema` a JSON Schema for editors.
A field of a policy has the same name as a keyword of `carry` or `project`, in code; as an option, with dashes for underlines; and as a key of `toolcarry.toml`.
Every key outside of arrays of tables is also an environment variable: `projection.repair` is `TOOLCARRY_PROJECTION_REPAIR`.

A limit is a number.
In code `NO_LIMIT` turns a default off, and elsewhere `none` does; the command line also takes `20k` and `1.5M`.
A limit in tokens may be a share of the model's window, such as `80%`.
"""


def settings_page() -> str:
    """Return the page docs/settings.md.

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
    """Return the table of a policy's fields, without those of another one."""
    shared = {field.name for field in without.declared} if without else set()
    rows = [
        (field.name, default_of(field), field.doc)
        for field in kind.declared
        if field.name not in shared
    ]
    return table("field", rows)


def default_of(field: Field) -> str:
    """Return a default as the table shows it."""
    return "the built-in rules" if field.name == "rules" else shown(field.default)


def rule_table() -> str:
    """Return the table of a rule's fields."""
    docs = dict(entries(Rule.__doc__))
    fields = Rule.__dataclass_fields__
    rows = [
        (name, "required" if name == "tools" else shown(each.default), docs[name])
        for name, each in fields.items()
    ]
    return table("field", rows)


def file_tables() -> Iterator[str]:
    """Yield a section for each table of the settings file, with its keys, their defaults, and what they mean."""
    for path, struct in structs():
        docs = dict(entries(struct.cls.__doc__))
        intro = " ".join((struct.cls.__doc__ or "").split("\n\n")[0].split()).replace("``", "`")
        own = [field for field in struct.fields if field.name in docs]
        rows = [
            (
                field.name,
                "required" if field.required else shown(default_in(struct, field)),
                f"{docs[field.name]} Allowed: {allowed(field.type)}.",
            )
            for field in own
        ]
        held = POLICIES.get(dotted(path))
        more = ""
        if held is not None:
            keyed = ", ".join(f"`{name}`" for name in getattr(struct.cls, "policy_keys", ()))
            more = f"\nAnd the fields of a `{held.__name__}`: {keyed}.\n"
        yield f"### {intro.partition(':')[0]}\n\n{sentence(intro)}\n\n{table('key', rows)}{more}"


def sentence(intro: str) -> str:
    """Return what a table is for, as a sentence."""
    text = intro.partition(": ")[2].partition(". ")[0].rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def default_in(struct: inspect.StructType, field: inspect.Field) -> Any:
    """Return the default of a key, after the checks of its table, which fill in some."""
    return (
        getattr(struct.cls(), field.name)
        if not any(each.required for each in struct.fields)
        else field.default
    )


def structs(
    kind: inspect.Type | None = None, path: KeyPath = ()
) -> Iterator[tuple[KeyPath, inspect.StructType]]:
    """Yield every table with keys of its own, and the items of arrays of tables."""
    struct = struct_of(kind or root())
    if struct is None:
        return
    if path and struct.cls.__doc__ and entries(struct.cls.__doc__):
        yield path, struct
    for field in struct.fields:
        item = item_of(field.type)
        yield from structs(
            item if item is not None and struct_of(item) else field.type, (*path, field.name)
        )


def table(first: str, rows: list[tuple[str, str, str]]) -> str:
    """Return a table in Markdown."""
    lines = [f"| {first} | default | meaning |", "|---|---|---|"]
    for name, default, doc in rows:
        text = doc.replace("``", "`").replace("|", "\\|")
        lines.append(f"| `{name}` | {default} | {text[:1].upper()}{text[1:]} |")
    return "\n".join(lines) + "\n"


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
    docs = {struct.cls.__name__: key_docs(path, struct) for path, struct in structs()}
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


def key_docs(path: KeyPath, struct: inspect.StructType) -> dict[str, str]:
    """Return the meaning of each key of a table."""
    held = POLICIES.get(dotted(path))
    fields = held.declared if held else ()
    found = {field.name: field.doc for field in fields} | dict(entries(struct.cls.__doc__))
    return {name: text.replace("``", "") for name, text in found.items()}
