"""The destinations of requests: how their calls and results are written, and what they refuse.

A destination is a provider, a gateway or a family of models. Its record is a file in ``_data/destinations``, with the
source of each rule. A record with a ``base`` has the fields of that record, except for its own ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple

from toolcarry._data import destination_names, read_destination
from toolcarry._input.objects import JsonObject
from toolcarry.types.destinations import Destination as OwnDestination


class IdAt(NamedTuple):
    """The place of an id: the names of the member that may hold it (none: the part itself), and its key."""

    holders: tuple[str, ...]
    key: str


class IdRule(NamedTuple):
    """The rule for ids, or for names. One may be empty if ``at_least`` is 0."""

    at_least: int = 0
    at_most: int = 0
    """The most characters; 0 means any number."""
    is_word: bool = False
    """True if an id consists of ASCII letters, digits and ``marks``."""
    marks: str = ""
    begins_as_word: bool = False
    """True if the first character is a letter or ``_``."""

    def takes_id(self, call_id: str) -> bool:
        """Return true if an id, or a name, is allowed.

        >>> IdRule(at_least=1, is_word=True, marks="_").takes_id("call_1"), IdRule(at_most=2).takes_id("abc")
        (True, False)
        """
        is_word = re.fullmatch(f"[A-Za-z0-9{re.escape(self.marks)}]*", call_id) is not None
        has_room = not self.at_most or len(call_id) <= self.at_most
        is_begun = not self.begins_as_word or re.match("[A-Za-z_]", call_id) is not None
        is_allowed = has_room and is_begun and (is_word or not self.is_word)
        return len(call_id) >= self.at_least and is_allowed


class Failure(NamedTuple):
    """The mark of a result that failed."""

    key: str
    value: str = ""
    """Empty means true."""


class ArgumentsAt(NamedTuple):
    """The place of a call's arguments, and their form."""

    key: str
    form: Literal["object", "text"]
    """An object, or the JSON text of one."""
    holders: tuple[str, ...] = ()
    """The names of the member that may hold them; empty for the call itself."""
    types: tuple[str, ...] = ()
    """The types of the calls that have arguments of this form; empty for all."""
    is_optional: bool = False
    """True if a call may be without arguments."""


class ItemIds(NamedTuple):
    """The ids of items, which the provider's server gave them."""

    at_most: int = 0
    """The most characters; 0 means any number."""
    starts: Mapping[str, str] = {}
    """The letters with which an id begins, by the type of its item."""

    def takes_id(self, item_id: str, kind: str) -> bool:
        """Return true if an item of this type may have an id."""
        has_room = not self.at_most or len(item_id) <= self.at_most
        return has_room and item_id.startswith(self.starts.get(kind, ""))


class Destination(NamedTuple):
    """The form of one provider's requests, and what it refuses."""

    name: str
    """The name of its record."""
    shape: str
    """The name of the record without a base: the format of its messages."""

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
    """The results for calls without one, by the type of the call; false if none can be made up."""
    call_name: IdAt
    """The place of a call's tool."""
    arguments: ArgumentsAt
    answering: tuple[str, ...] = ()
    """The roles of the messages whose parts may be results; empty for a message without role."""
    result_name: IdAt | None = None
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
    refuses_system: bool = False
    """True if a system message is refused: the system prompt has a place of its own."""
    refuses_developer: bool = False
    """True if a message with the role ``developer`` is refused, and one with the role ``system`` is not."""
    system_begins: bool = False
    """True if a system message after another one is refused, except for those at the beginning."""
    signed_thoughts: bool = False
    """True if a thought without a signature is refused."""
    signed_calls: bool = False
    """True if the first call of a message of the open turn is refused without a signature."""
    server_pairs: bool = False
    """True if a call of a server's tool without its result is refused, and the other way round."""
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
    models: tuple[str, ...] = ()
    """Parts of the names of the models that have these rules instead of those of their shape."""
    has_telling_ids: bool = False
    """True if a request has these rules if all of its calls have ids of this form."""
    tool_name: IdRule = IdRule()
    typed_calls: bool = False
    """True if a call without a type is refused. Its type is the name of the member that holds it."""
    user_speaks: bool = False
    """True if a conversation in which the user has no message is refused."""
    user_ends: bool = False
    """True if a conversation that ends with the model is refused."""
    model_follows_results: bool = False
    """True if a user message directly after a result is refused."""
    refuses_media: bool = False
    """True if a result may hold nothing but texts."""
    refused_members: tuple[str, ...] = ()
    """The members that a message may not have."""
    cache_marks: int = 0
    """The most marks for the prompt cache; 0 means any number."""
    item_ids: ItemIds = ItemIds()
    needs_summary: bool = False
    """True if reasoning without a summary is refused."""
    texts_by_role: bool = False
    """True if the type of a text depends on who said it."""
    refused_marks: tuple[tuple[str, ...], ...] = ()
    """The places in the frame where a part that is a mark for the prompt cache is refused."""
    shared_members: tuple[str, ...] = ()
    """The members that each message of the model has to have if one of them has it."""
    name_paths: tuple[tuple[str, ...], ...] = ()
    """The places of tools' names in the frame; ``*`` stands for each item of a list."""
    mark_paths: tuple[tuple[str, ...], ...] = ()
    """The places of the parts of the frame that may have a mark for the prompt cache, in the order of the prefix."""
    system_paths: tuple[tuple[str, ...], ...] = ()
    """The places of the system prompt in the frame. One that is there is taken, else the first one whose holder is."""
    thinking: tuple[str, ...] = ()
    """The place of the setting by which the model thinks, if an open turn then has to begin with a thought."""
    thinking_edits: tuple[str, ...] = ()
    """The place of the edits of the context, some of which need that setting."""
    needs_definitions: tuple[str, ...] = ()
    """The place of the definitions, if a request with calls needs some."""
    definition: Mapping[str, Any] = {}
    """The template of a definition that is made up."""

    @property
    def has_types(self) -> bool:
        """True if the parts of messages say what kind they are."""
        return "type" in self.template

    def refusal(self, shape: str) -> str:
        """Say that the destination does not take a format."""
        return f"{shape}: {self.name} takes {self.shape}"


def _place_of(given: Mapping[str, Any]) -> IdAt:
    return IdAt(tuple(given.get("holders", ())), given["key"])


def _frozen(value: Any) -> Any:
    """Return lists as tuples."""
    return tuple(map(_frozen, value)) if type(value) is list else value


def _destination_of(given: Mapping[str, Any]) -> Destination:
    """Return the destination of a record."""
    own: dict[str, Any] = {name: _frozen(value) for name, value in given.items() if name != "base"}
    for name in {"call_id", "result_id", "result_name", "call_name"} & own.keys():
        own[name] = _place_of(own[name])
    for name in {"id", "tool_name"} & own.keys():
        own[name] = IdRule(**own[name])
    arguments = {**own["arguments"]}
    lists = {name: tuple(arguments.get(name, ())) for name in ("holders", "types")}
    own["arguments"] = ArgumentsAt(**{**arguments, **lists})
    if "item_ids" in own:
        own["item_ids"] = ItemIds(**own["item_ids"])
    if "failure" in own:
        own["failure"] = Failure(**own["failure"])
    return Destination(template=own.pop("text"), **own)


DESTINATIONS: Final = {
    name: _destination_of(read_destination(name)) for name in destination_names()
}
"""The destinations by their names."""


@lru_cache(maxsize=256)
def _own(given: OwnDestination) -> Destination:
    return _destination_of({**read_destination(given.base), **given.rules, "name": given.name})


def wanted_destination(wanted: str | OwnDestination) -> Destination:
    """Return the destination of a policy."""
    return DESTINATIONS[wanted] if isinstance(wanted, str) else _own(wanted)
