"""How providers write calls and results in requests, and what they refuse: ``_data/providers.json``.

The file says what the fields mean, and where each provider documents it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from toolcarry._data import read_table
from toolcarry._input.objects import Wire, as_object, text_or_empty

INTERRUPTED: Final[str] = read_table("texts")["interrupted"]
"""What stands for a result that never came. The readers know it for one that only stands for another."""


def fill(template: Any, given: Mapping[str, str]) -> Any:
    """Return JSON with what is given in the places of a template. A member ``{id?}`` is left out if the id is empty.

    >>> fill({"call_id": "{id?}", "type": "{type}_output"}, {"id?": "", "type": "shell_call"})
    {'type': 'shell_call_output'}
    """
    if isinstance(template, str):
        return template.format_map(given)
    if isinstance(template, list):
        return [fill(item, given) for item in template]
    if isinstance(template, dict):
        return {
            name: fill(member, given)
            for name, member in template.items()
            if member != "{id?}" or given["id?"]
        }
    return template


class IdAt(NamedTuple):
    """Where an id stands: the member that holds it, by the names that it may have (none: the part itself); its key."""

    holders: tuple[str, ...]
    key: str

    def holder(self, part: Wire) -> str:
        """The name of the member that holds it; empty for the part itself."""
        names = (name for name in self.holders if as_object(part.get(name)) is not None)
        return next(names, self.holders[0] if self.holders else "")

    def held(self, part: Wire) -> Wire:
        """What holds it."""
        return (as_object(part.get(self.holder(part))) or {}) if self.holders else part

    def text(self, part: Wire) -> str:
        """The id; empty where there is none."""
        return text_or_empty(self.held(part).get(self.key))


class IdRule(NamedTuple):
    """What an id may be: also nothing, where there need be none."""

    at_least: int = 0
    at_most: int = 0
    """0: any number."""
    is_word: bool = False
    """Whether it is made of ASCII letters, digits and ``marks``."""
    marks: str = ""

    def takes(self, call_id: str) -> bool:
        """Whether an id is allowed.

        >>> IdRule(at_least=1, is_word=True, marks="_").takes("call_1"), IdRule(at_most=2).takes("abc")
        (True, False)
        """
        is_word = re.fullmatch(f"[A-Za-z0-9{re.escape(self.marks)}]*", call_id) is not None
        has_room = not self.at_most or len(call_id) <= self.at_most
        return len(call_id) >= self.at_least and has_room and (is_word or not self.is_word)


class Failure(NamedTuple):
    """How a result says that it failed."""

    key: str
    value: str = ""
    """Empty: true."""


class Dialect(NamedTuple):
    """How one provider's requests are written."""

    form: Literal["turns", "chat", "items"]
    """Whether results are parts of the user's turn, messages of their own, or items."""
    key: str
    """Where the parts of a message stand."""
    model: str
    """The role of the messages that may call."""
    call_id: IdAt
    result_id: IdAt
    template: Wire
    """A text part."""
    results: Wire
    """What stands for a result that is missing, by the type of its call."""
    answering: tuple[str, ...] = ()
    """The roles of the messages whose parts may be results; empty for one that has none."""
    name: IdAt | None = None
    """Where a result says its tool's name, if that has to be the call's."""
    call_types: tuple[str, ...] = ()
    """The types of calls; empty where a holder tells them, or where all that stands there is a call."""
    result_types: tuple[str, ...] = ()
    """The types of results that are parts without a holder."""
    id: IdRule = IdRule()
    is_unique: bool = False
    """Whether an id may stand once only in all of the request; else once in a turn."""
    refuses_blank: bool = False
    """Whether a text part without a word is refused, and white space in which the model's last words end."""
    failure: Failure | None = None
    """One without content is refused."""
    fails_in_words: bool = False
    """Whether a failure may hold nothing but texts."""
    ends_in_calls: bool = False
    """Whether a text behind the calls of a turn is refused, and an answer of the provider's own behind one of them."""
    answers_at_once: bool = False
    """Whether the results of a turn have to stand in one message."""
    merges: bool = False
    """Whether messages of one role may not follow one another."""

    @property
    def may_be_both(self) -> bool:
        """Whether one part may hold a call and a result: where a member tells what a part is, and not its type."""
        return self.form == "turns" and bool(self.result_id.holders)

    def is_call(self, part: Wire) -> bool:
        """Whether a part, or an item, is a call that the client answers."""
        if self.call_id.holders:
            return any(holder in part for holder in self.call_id.holders)
        return not self.call_types or part.get("type") in self.call_types

    def is_result(self, part: Wire) -> bool:
        """Whether a part, a message or an item is a result."""
        if self.form == "chat":
            return part.get("role") == "tool"
        if self.form == "items":
            return text_or_empty(part.get("type")).endswith("_call_output")
        if self.result_id.holders:
            return any(holder in part for holder in self.result_id.holders)
        return part.get("type") in self.result_types

    def is_failure(self, held: Wire) -> bool:
        """Whether what holds a result says that it failed, so that one without content is refused."""
        if self.failure is None:
            return False
        own = held.get(self.failure.key)
        return own == self.failure.value if self.failure.value else own is True

    def make(self, call_id: str, name: str, call: Wire) -> Any:
        """A result for a call: of an id and a tool's name, and the call itself; ``None`` where none can be made."""
        kind = text_or_empty(call.get("type"))
        template = self.results.get(kind, self.results["*"])
        given = {"id": call_id, "id?": call_id, "name": name, "type": kind, "text": INTERRUPTED}
        return template and fill(template, given)

    def text(self, text: str) -> Any:
        """A text part."""
        return fill(self.template, {"text": text})


def dialect_of(given: dict[str, Any]) -> Dialect:
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
    name: dialect_of(given) for name, given in read_table("providers")["dialects"].items()
}
"""By the name that the readers give to a shape. What else is recognised is no request, and is never mended."""
