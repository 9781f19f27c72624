"""Input: every function takes a conversation in any form, and makes a ``Conversation`` from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

from toolcarry._input.document import (
    decode_messages,
    each_conversation,
    holds_conversations,
    open_body,
    take,
)
from toolcarry._input.json import dump
from toolcarry._input.objects import Body, Messages, as_list, located
from toolcarry._input.sources import check_content, ids_in, read_source
from toolcarry.errors import InputError

__all__ = ["Conversation", "Given"]

P = ParamSpec("P")
T = TypeVar("T")


class Conversation:
    """The messages of one conversation, in the form that every function of this package takes.

    Instead of a ``Conversation``, a function also takes any source that ``read`` accepts, if the source holds a single
    conversation.
    """

    __slots__ = ("given", "remarks")

    given: list[Any] | tuple[Any, ...] | bytes
    """The messages, or the bytes of a document or of JSONL that holds them."""
    remarks: tuple[str, ...]
    """Notes on how the file was read, such as outputs that were found in other files."""

    def __init__(
        self, given: list[Any] | tuple[Any, ...] | bytes, remarks: tuple[str, ...] = ()
    ) -> None:
        self.given = given
        self.remarks = remarks

    @classmethod
    def read(cls, source: Given) -> Iterator[Conversation]:
        """Yield the conversations in a source: usually one, but many in an export or a data set.

        ``source`` is one of: a list of messages in any known format, or of conversations; bytes or text with a request
        body, a JSON array or JSONL; or a ``Path``. A path may lead to a file, compressed or not, to a folder of events,
        or to an agent's SQLite store, whose newest conversation comes first; ``Path("STORE#ID")`` is one of its
        conversations. If Claude Code keeps full outputs in files in the session's own folder, they replace their
        previews. Raises ``OSError`` if a file can't be read, and ``InputError`` if the source holds no conversation.

        >>> [found] = Conversation.read('[{"role": "user", "content": "Hi."}]')
        >>> found.messages
        [{'role': 'user', 'content': 'Hi.'}]
        >>> len(list(Conversation.read(b'{"messages": []}\\n{"messages": []}')))
        2
        """
        if isinstance(source, PathLike):
            path = checked(source)
            for each in [Path(f"{path}#{name}") for name in ids_in(path)] or [path]:
                loaded = read_source(each)
                for body in each_conversation(check_content(loaded.body)):
                    yield cls(body, loaded.remarks)
        elif isinstance(source, (list, tuple)) and holds_conversations(source):
            for item in source:
                yield cls(take(item if as_list(item) is not None else dump(item)))
        else:
            found = cls.of(source)
            if isinstance(found.given, bytes):
                yield from map(cls, each_conversation(found.given))
            else:
                yield found

    @classmethod
    def of(cls, source: Given) -> Conversation:
        """Return the only conversation in a source. Running a job on it raises ``InputError`` if there are several, or
        none.

        For a store with several conversations this is the newest, as ``remarks`` notes.

        >>> Conversation.of([{"role": "user", "content": "Hi."}]).is_session
        False
        """
        if isinstance(source, Conversation):
            return source
        if isinstance(source, str):
            return cls(in_bytes(source))
        if isinstance(source, PathLike):
            loaded = read_source(checked(source))
            return cls(check_content(loaded.body), loaded.remarks)
        return cls(take(source))

    @property
    def messages(self) -> list[Any]:
        """All messages, decoded; a line of JSONL that is not a JSON object becomes an empty message."""
        given = self.given
        return decode_messages(given)[0] if isinstance(given, bytes) else list(given)

    @property
    def is_session(self) -> bool:
        """True for the lines of a session file, and for what an importer reads; false for a request to a provider."""
        from toolcarry.importers.messages import recognise  # noqa: PLC0415 - slow to load

        if not isinstance(self.given, bytes):
            return recognise(self.given) is not None
        try:
            opened = open_body(self.given)
        except InputError:
            return False
        return opened.lines is not None or recognise(opened.messages) is not None

    def run(
        self, kernel: Callable[Concatenate[Any, P], T], *settings: P.args, **more: P.kwargs
    ) -> T:
        """Run a kernel on the conversation and return its result. An ``InputError`` gets the position of its
        message."""
        try:
            return kernel(self.given, *settings, **more)
        except InputError as error:
            raise located(error, self.given) from None


Given: TypeAlias = Messages | Body | str | PathLike[str] | Conversation
"""A conversation in any form. A string is its content, never the name of a file."""


def checked(path: PathLike[str]) -> Path:
    """Return a path. Raises ``InputError`` for one with a NUL, which names no file."""
    found = Path(path)
    if "\0" in str(found):
        raise InputError(f"not a valid path: {str(found)!r:.200}")
    return found


def in_bytes(text: str) -> bytes:
    """Return a text as bytes. Raises ``InputError`` for one that is neither JSON nor JSONL, such as a file's name."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
        raise InputError(
            f"a text must be JSON or JSONL, not {text!r:.80}; pass a file as a pathlib.Path"
        )
    return text.encode("utf-8", "surrogatepass")
