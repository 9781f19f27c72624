"""The rules of providers for calls and results in requests: ``_data/providers.json``.

The file says what the fields mean, and where each provider documents them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, as_object, text_or_empty

INTERRUPTED: Final[str] = read_table("texts")["interrupted"]
"""The text of a result that never came. Readers recognise it as a stand-in."""


def _fill(template: Any, given: Mapping[str, str]) -> Any:
    """Return JSON from a template with its placeholders filled. A member ``{id?}`` is left out if the id is empty.

    >>> _fill({"call_id": "{id?}", "type": "{type}_output"}, {"id?": "", "type": "shell_call"})
    {'type': 'shell_call_output'}
    """
    if isinstance(template, str):
        return template.format_map(given)
    if isinstance(template, list):
        return [_fill(item, given) for item in template]
    if isinstance(template, dict):
        return {
            name: _fill(member, given)
            for name, member in template.items()
            if member != "{id?}" or given["id?"]
        }
    return template


class IdAt(NamedTuple):
    """The place of an id: the names of the member that may hold it (none: the part itself), and its key."""

    holders: tuple[str, ...]
    key: str

    def holder(self, part: JsonObject) -> str:
        """Return the name of the member that holds the id; empty for the part itself."""
        names = (name for name in self.holders if as_object(part.get(name)) is not None)
        return next(names, self.holders[0] if self.holders else "")

    def id_holder(self, part: JsonObject) -> JsonObject:
        """Return the object that holds the id."""
        return (as_object(part.get(self.holder(part))) or {}) if self.holders else part

    def text(self, part: JsonObject) -> str:
        """Return the id; empty for a part without id."""
        return text_or_empty(self.id_holder(part).get(self.key))


class IdRule(NamedTuple):
    """The rule for ids. An id may be empty if ``at_least`` is 0."""

    at_least: int = 0
    at_most: int = 0
    """The most characters; 0 means any number."""
    is_word: bool = False
    """True if an id consists of ASCII letters, digits and ``marks``."""
    marks: str = ""

    def takes_id(self, call_id: str) -> bool:
        """Return true if an id is allowed.

        >>> IdRule(at_least=1, is_word=True, marks="_").takes_id("call_1"), IdRule(at_most=2).takes_id("abc")
        (True, False)
        """
        is_word = re.fullmatch(f"[A-Za-z0-9{re.escape(self.marks)}]*", call_id) is not None
        has_room = not self.at_most or len(call_id) <= self.at_most
        return len(call_id) >= self.at_least and has_room and (is_word or not self.is_word)


class Failure(NamedTuple):
    """The mark of a result that failed."""

    key: str
    value: str = ""
    """Empty means true."""


class Dialect(NamedTuple):
    """The form of one provider's requests."""

    form: Literal["turns", "chat", "items"]
    """Results are parts of user turns (``turns``), messages of their own (``chat``), or items (``items``)."""
    key: str
    """The member that holds the parts of a message."""
    model: str
    """The role of the messages that may call."""
    call_id: IdAt
    result_id: IdAt
    template: JsonObject
    """The template of a text part."""
    results: JsonObject
    """The results for calls without one, by the type of the call."""
    answering: tuple[str, ...] = ()
    """The roles of the messages whose parts may be results; empty for a message without role."""
    name: IdAt | None = None
    """The place of the tool's name in a result, if it has to be the call's."""
    call_types: tuple[str, ...] = ()
    """The types of calls; empty if a holder marks them, or if everything in that place is a call."""
    result_types: tuple[str, ...] = ()
    """The types of results that are parts without a holder."""
    id: IdRule = IdRule()
    is_unique: bool = False
    """True if an id must be unique in the whole request; otherwise, in its turn."""
    refuses_blank: bool = False
    """True if a text part of white space, and white space at the end of the last model text, are refused."""
    failure: Failure | None = None
    """The mark of a failure. One without content is refused."""
    refuses_empty: bool = False
    """True if any result without content is refused."""
    user_begins: bool = False
    """True if a conversation that begins with the model is refused."""
    fails_in_words: bool = False
    """True if a failure may hold nothing but texts."""
    ends_in_calls: bool = False
    """True if text after the calls of a turn, and an answer of a server tool after a call, are refused."""
    answers_at_once: bool = False
    """True if the results of a turn have to be in one message."""
    merges: bool = False
    """True if messages of one role may not follow one another."""

    @property
    def can_be_call_and_result(self) -> bool:
        """True if one part may hold a call and a result, since a member marks each of them, and not a type."""
        return self.form == "turns" and bool(self.result_id.holders)

    def is_call(self, part: JsonObject) -> bool:
        """Return true if a part, or an item, is a call that the client answers."""
        if self.call_id.holders:
            return any(holder in part for holder in self.call_id.holders)
        return not self.call_types or part.get("type") in self.call_types

    def is_result(self, part: JsonObject) -> bool:
        """Return true if a part, a message or an item is a result."""
        if self.form == "chat":
            return part.get("role") == "tool"
        if self.form == "items":
            return text_or_empty(part.get("type")).endswith("_call_output")
        if self.result_id.holders:
            return any(holder in part for holder in self.result_id.holders)
        return part.get("type") in self.result_types

    def is_failure(self, id_holder: JsonObject) -> bool:
        """Return true if the object that holds a result is marked as a failure, which is refused without content."""
        if self.failure is None:
            return False
        own = id_holder.get(self.failure.key)
        return own == self.failure.value if self.failure.value else own is True

    def make(self, call_id: str, name: str, call: JsonObject) -> Any:
        """Make a result for a call from an id, a tool's name, and the call; ``None`` if no result can be made up."""
        kind = text_or_empty(call.get("type"))
        template = self.results.get(kind, self.results["*"])
        given = {"id": call_id, "id?": call_id, "name": name, "type": kind, "text": INTERRUPTED}
        return template and _fill(template, given)

    def text(self, text: str) -> Any:
        """Return a text part."""
        return _fill(self.template, {"text": text})


def _dialect_of(given: dict[str, Any]) -> Dialect:
    """Return a dialect of the table."""
    own: dict[str, Any] = {
        name: tuple(value) if type(value) is list else value for name, value in given.items()
    }
    for name in {"call_id", "result_id", "name"} & own.keys():
        own[name] = IdAt(tuple(own[name].get("holders", ())), own[name]["key"])
    if "id" in own:
        own["id"] = IdRule(**own["id"])
    if "failure" in own:
        own["failure"] = Failure(**own["failure"])
    return Dialect(template=own.pop("text"), **own)


DIALECTS: Final = {
    name: _dialect_of(given) for name, given in read_table("providers")["dialects"].items()
}
"""The dialects, by the names of shapes. Messages of other shapes are not requests, and are never repaired."""
