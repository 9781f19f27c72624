"""The parts of a block in a context: its heading, the call in the heading, the change of an edit, and the texts."""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object
from toolcarry.fallback.context.fence import Source
from toolcarry.model.content import result_text
from toolcarry.model.dedupe import WHOLE_FILE_KEYS
from toolcarry.model.dedupe.rules import bare_name
from toolcarry.model.pairing.block import Entry
from toolcarry.model.titles import LONGEST_TITLE, section_of
from toolcarry.types.values import CutSide, KeepText

_LANGUAGES: Final[dict[str, str]] = read_table("languages")["extensions"]
LONGEST_EXTENSION = 8


def language_of(path: str) -> str:
    """Return the language for ``path``; empty if its extension is unknown."""
    end = path[-LONGEST_EXTENSION - 1 :]
    _, dot, extension = end.rpartition(".")
    return _LANGUAGES.get(extension, "") if dot else ""


_TABLE = read_table("tool_arguments")
OLD_KEYS: tuple[str, ...] = tuple(_TABLE["old_keys"])
NEW_KEYS: tuple[str, ...] = tuple(_TABLE["new_keys"])
DIFF_KEYS: tuple[str, ...] = tuple(_TABLE["diff_keys"])
WRITTEN_KEYS: tuple[str, ...] = (*WHOLE_FILE_KEYS, _TABLE["source_key"])


def change_of(given: JsonObject) -> tuple[str, str] | None:
    """Return the change of an edit as a ``diff``, with ``-`` and ``+``, or the whole text of a write (no language)."""
    edits = as_list(given.get("edits"))
    if edits is not None:
        parts = [replaced(edit) for edit in map(as_object, edits) if edit is not None]
        if any(parts):
            return "".join(parts), "diff"
    if first_text(given, OLD_KEYS) is not None or first_text(given, NEW_KEYS) is not None:
        change = replaced(given)
        return (change, "diff") if change else None
    diff = first_text(given, DIFF_KEYS)
    if diff is not None:
        return diff, "diff"
    whole = first_text(given, WRITTEN_KEYS)
    return None if whole is None else (whole, "")


def replaced(edit: JsonObject) -> str:
    """Return the old lines with ``-``, then the new ones with ``+``."""
    old = first_text(edit, OLD_KEYS) or ""
    new = first_text(edit, NEW_KEYS) or ""
    return _prefixed(old, "-") + _prefixed(new, "+")


def _prefixed(text: str, sign: str) -> str:
    if not text:
        return ""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.removesuffix("\n").replace("\n", "\n" + sign)
    return f"{sign}{lines}\n"


def first_text(given: JsonObject, names: tuple[str, ...]) -> str | None:
    for name in names:
        value = given.get(name)
        if isinstance(value, str):
            return value
    return None


def with_count(notes: str, count: str) -> str:
    """Return the notes with a count in first place."""
    if not count:
        return notes
    return f" ({count}; {notes[2:]}" if notes else f" ({count})"


def count_note(entry: Entry, earlier: int, is_open: bool) -> str:
    """Return ``latest of 4 runs`` or ``3 edits, last shown``; with a ``+`` if older blocks were not read."""
    if not earlier:
        return ""
    number = f"{earlier + 1}{'+' if is_open else ''}"
    return f"{number} edits, last shown" if entry.kind == "edit" else f"latest of {number} runs"


def reference_of(entry: Entry, *, references: bool) -> str:
    """Return the id that the markers of a block name; empty if they name none."""
    return entry.call_id if references else ""


def sources(entry: Entry, keep: KeepText, *, references: bool) -> list[Source]:
    """Return the texts of a block: the command if its heading can't hold it, the change, the output.

    Their markers name the call if ``references`` is true.
    """
    found: list[Source] = []
    reference = reference_of(entry, references=references)
    side: CutSide = "head" if keep == "auto" else keep
    section = section_of(entry)
    if section == "commands":
        command = entry.value or ""
        if len(command) > LONGEST_TITLE or "\n" in command.strip("\n"):
            found.append(Source(command.strip("\n"), "sh", side, reference, True))
        side = "ends" if keep == "auto" else keep
    elif section == "changes" and entry.call is not None:
        change = change_of(entry.given)
        if change is not None:
            text, language = change
            found.append(Source(text, language or language_of(entry.value or ""), side, reference))
            if entry.result is not None and not entry.is_error:
                return found
    if entry.result is not None:
        language = language_of(entry.value or "") if section == "files" else ""
        text = result_text(entry.content)
        found.append(
            Source(
                text,
                language,
                side,
                reference,
                content=entry.content,
                printed_by=printed_by(entry),
            )
        )
    return found


def printed_by(entry: Entry) -> str | None:
    """Return the command that printed a result, or the name of its tool; ``None`` for a file, whose lines matter alike."""
    if entry.kind in ("read", "edit"):
        return None
    return (entry.value or "") if entry.kind == "command" else bare_name(entry.tool_name)
