"""The texts that a context must contain for a block: a second, naive reading of blocks."""

import json
from typing import Any

from support.oracles.formats import told_of

from toolcarry.model.content import result_text
from toolcarry.model.text.sanitize import clean


def change(given: dict[str, Any]) -> str | None:
    """Return the change that an edit's input describes, cleaned."""

    def said(edit: dict[str, Any], *names: str) -> str | None:
        return next((edit[name] for name in names if isinstance(edit.get(name), str)), None)

    def signed(text: str | None, sign: str) -> str:
        lines = clean(text or "").removesuffix("\n").split("\n")
        return "".join(f"{sign}{line}\n" for line in lines) if text else ""

    def replaced(edit: dict[str, Any]) -> str:
        new = said(edit, "new_string", "new_str", "insert_text")
        return signed(said(edit, "old_string", "old_str"), "-") + signed(new, "+")

    if isinstance(given.get("edits"), list):
        changes = "".join(replaced(edit) for edit in given["edits"] if isinstance(edit, dict))
        if changes:
            return changes
    if said(given, "old_string", "old_str", "new_string", "new_str", "insert_text") is not None:
        return replaced(given) or None
    return said(given, "diff", "patch", "content", "file_text", "contents", "new_source")


def texts_of(block: Any) -> list[str]:
    """Return the texts that a context must contain for a block, in order."""
    kind, _, value = (block.dedup_key or "other:").partition(":")
    value = value.partition(" @ {")[0]  # without the place
    found: list[str] = []
    if kind == "command" and (len(value) > 200 or "\n" in value.strip("\n")):
        found.append(value.strip("\n"))
    changed = change(input_of(block)) if kind == "edit" else None
    if changed is not None:
        found.append(changed)
    if block.tool_result is not None and (changed is None or block.is_error):
        found.append(result_text(content_of(block)))
    return [clean(text) for text in found]


def input_of(block: Any) -> dict[str, Any]:
    source = block.tool_use.get("function", block.tool_use)
    shaped, _ = told_of(block.tool_use)
    given = shaped[0].value if shaped else source.get("input", source.get("arguments"))
    return json.loads(given) if isinstance(given, str) else given or {}


def content_of(block: Any) -> Any:
    _, shaped = told_of(block.tool_result)
    return shaped[0].value if shaped else block.tool_result.get("content")


def as_fenced(text: str) -> str:
    """The content of a code block for ``text``: with a final newline, and never empty."""
    text = text or "(no output)"
    return text if text.endswith("\n") else f"{text}\n"
