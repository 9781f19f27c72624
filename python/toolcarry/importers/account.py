"""The account of an import: it finds texts in a producer's files that are in no message and would be lost silently.

An importer reads the members that it knows. If a producer renames one, or adds one, nothing of it is in the imported
messages. So each text of the input is looked for in them. One that is missing must stand in a part or a record that is
known to say nothing (``SILENT`` of its importer), or in a member that is known to hold something else (``ASIDE``, and the
members of all producers in ``_data/asides.json``); otherwise its message is reported as unread.

A text has words: white space, or letters of a script that is written without it. Ids, types, names, times and paths look
all the same, whatever member holds them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_list, as_object

__all__ = ["Account", "Balance", "texts_of"]

_TABLE: Final = read_table("asides")
MEMBERS: Final = frozenset(_TABLE["members"])
"""The members that hold no part of a conversation, whoever writes them."""
KINDS: Final = tuple(_TABLE["kinds"])
"""The members that name the kind of a part or a record."""
MARKS: Final = tuple(_TABLE["marks"])
"""The members that are true in a part that the client wrote."""
PLAIN: Final = (int, float)
UNSPACED: Final = re.compile("[\u0e00-\u0fff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""A letter of a script without spaces between words."""


def has_words(text: str) -> bool:
    """Return true if a text has words, as a name or an id has not.

    >>> has_words("Go on."), has_words("工具结果"), has_words("call_1")
    (True, True, False)
    """
    if " " in text or "\n" in text:
        return True
    return not text.isascii() and UNSPACED.search(text) is not None


def texts_of(value: object) -> Iterator[str]:
    """Yield each text with words in a value, at any depth."""
    rest = [value]
    while rest:
        value = rest.pop()
        if type(value) is str:
            if has_words(value):
                yield value
        elif type(value) is dict:
            rest.extend(value.values())
        elif value is not None and not isinstance(value, PLAIN):
            held = as_object(value)
            rest += as_list(value) or () if held is None else held.values()


class Balance(NamedTuple):
    """The result of an account."""

    missing: dict[int, JsonObject]
    """The object with the first missing text of an item, by the item's position."""
    asides: Counter[str]
    """The records, parts and members that are no part of the conversation, by the names of their kinds, or their own."""


class Account:
    """The texts that were read, by their hashes, so that a large file need not stay in memory."""

    def __init__(self) -> None:
        self._read: set[int] = set()

    def add(self, read: object) -> None:
        """Add the texts of something that was read."""
        self._read.update(hash(text.strip()) for text in texts_of(read))

    def balance(
        self,
        items: Iterable[tuple[int, Any]],
        silent: Container[int],
        producers: Sequence[object],
    ) -> Balance:
        """Look for the texts of each item of these producers. The records at the positions ``silent`` say nothing."""
        missing: dict[int, JsonObject] = {}
        asides = Asides(producers, self._read)
        for position, item in items:
            if position in silent:
                asides.note(kind_of(as_object(item) or {}) or "record", item)
                continue
            for holder, text in asides.texts(item):
                if hash(text.strip()) not in self._read:
                    missing.setdefault(position, holder)
        return Balance(missing, asides.found)


class Asides:
    """The records, parts and members in which producers keep what is no part of a conversation."""

    def __init__(self, producers: Sequence[object], read: Container[int]) -> None:
        self._read = read
        self.found: Counter[str] = Counter()
        listed = [
            frozenset(chain.from_iterable(getattr(each, name, ()) for each in producers))
            for name in ("SILENT", "ASIDE")
        ]
        self._kinds, self._members = listed[0], listed[1] | MEMBERS

    def note(self, name: str, value: object) -> None:
        """Count what stands aside, if it holds a text that was not read."""
        if any(hash(text.strip()) not in self._read for text in texts_of(value)):
            self.found[name] += 1

    def texts(self, item: object) -> Iterator[tuple[JsonObject, str]]:
        """Yield each text with words that does not stand aside, with the object that holds it."""
        rest: list[tuple[JsonObject, Any]] = [({}, item)]
        while rest:
            holder, value = rest.pop()
            if type(value) is str:
                if has_words(value):
                    yield holder, value
                continue
            if value is None or isinstance(value, PLAIN):
                continue
            held = value if type(value) is dict else as_object(value)
            if held is None:
                rest += [(holder, each) for each in as_list(value) or ()]
                continue
            kind = next((mark for mark in MARKS if held.get(mark) is True), "")
            kind = kind or kind_of(held, self._kinds)
            if kind:
                self.note(kind, held)
                continue
            for name, each in held.items():
                if name in self._members:
                    self.note(name, each)
                else:
                    rest.append((held, each))


def kind_of(held: JsonObject, kinds: Container[str] | None = None) -> str:
    """Return the kind of a part or a record, if it is one of these; empty for anything else."""
    for key in KINDS:
        kind = held.get(key)
        if type(kind) is str and (kinds is None or kind in kinds):
            return kind
    return ""
