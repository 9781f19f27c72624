"""The retrieval loop: the proxy itself answers a model that asks for a result which a projection left out.

    client -> proxy    request, from which the projection left results out
    proxy  -> model    the same with the tools read_tool_result and search_tool_results
    model  -> proxy    calls read_tool_result and nothing else: held back
    proxy  -> model    the same with that call and the whole result
    model  -> proxy    an answer for the client: passed on

The tools are offered where a result was left out, and not if the client has a tool of the same name. If the policy has
a limit on one result, they are offered in every request with tools: tools that come later would change the beginning of
the request, and the provider's prompt cache would lose all of it. An answer
that asks for a kept result and also calls another tool is passed on unchanged, and so is an answer that can't be read.
After a failure here, the request is forwarded unchanged.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cachetools import LRUCache
from starlette.types import ASGIApp, Receive, Scope, Send

from toolcarry._input.json import dump, loads
from toolcarry._input.raw_json import write_array, write_object, written_items, written_members
from toolcarry._util.workers import LARGE, in_worker, in_worker_if
from toolcarry.api.projection import (
    RETRIEVAL,
    SEARCH,
    Style,
    read_tool_result,
    retrieval_tool,
    search_tool,
)
from toolcarry.config.tables import History
from toolcarry.errors import InputError, ToolcarryError
from toolcarry.integrations.asgi import SENT, SentRequest, requested, with_length
from toolcarry.integrations.identity import RequestView
from toolcarry.integrations.proxy.held_answer import Asked, AskedTurn, HeldAnswer
from toolcarry.integrations.response import Replay
from toolcarry.metrics import BYTES_PER_TOKEN
from toolcarry.redact.logs import get_logger

if TYPE_CHECKING:
    from toolcarry.tract import Tract
    from toolcarry.tract.store.database import Database

__all__ = ["KeptResults", "Retrieval"]

logger = get_logger("toolcarry.serve")

MARK: Final = b"; whole: "
"""The start of a marker's reference, in the bytes of a body."""
MOST_TRACTS: Final = 64
"""The maximum number of conversations whose word index is kept."""
MOST_WAIT: Final = 1.0
"""The maximum time in seconds that a request waits for other users of the store."""
LISTS: Final = {"responses": "input"}


class KeptResults:
    """Finds results of conversations: in the client's own request, else in the history."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._tracts: LRUCache[tuple[str, str], Tract] = LRUCache(MOST_TRACTS)
        self._database: Database | None = None
        self._lock = threading.Lock()

    @property
    def can_search(self) -> bool:
        """True if there is a history, in which results can be found by their words."""
        return bool(self._history.target)

    def answer(self, sent: SentRequest, call: Asked) -> str:
        """Return the answer to a call. Raises ``ToolcarryError`` if there is none."""
        if call.name == SEARCH:
            tract = self._tract(sent)
            if tract is None:
                raise InputError("there is no history to search")
            return tract.answer_search(call.arguments)
        try:
            return read_tool_result(sent.body, call.arguments)
        except InputError:
            tract = self._tract(sent)
            if tract is None:
                raise
            return tract.read_tool_result(call.arguments)

    def _tract(self, sent: SentRequest) -> Tract | None:
        """Return the history of a request's conversation; ``None`` if there is none."""
        identity = sent.identity
        if not self._history.target or identity is None or not identity.conversation:
            return None
        from toolcarry.tract import Tract  # noqa: PLC0415 - imports apsw
        from toolcarry.tract.store import open_database  # noqa: PLC0415 - imports apsw
        from toolcarry.tract.store.log import Log  # noqa: PLC0415 - imports apsw
        from toolcarry.tract.store.validate import check_name  # noqa: PLC0415 - imports apsw

        with self._lock:
            key = (identity.tenant, identity.conversation)
            found = self._tracts.get(key)
            if found is None:
                if self._database is None:  # one for all tenants, of which each has its own log
                    self._database = open_database(
                        self._history.target,
                        busy_timeout=min(self._history.busy_timeout, MOST_WAIT),
                    )
                for name, value in zip(("tenant", "conversation"), key, strict=True):
                    check_name(name, value)
                log = Log(self._database, *key)
                found = Tract(log, summarizer=None, on_truncated_write="warn")
                self._tracts[key] = found
            return found

    def close(self) -> None:
        """Close the store, if it was opened."""
        with self._lock:
            self._tracts.clear()
            database, self._database = self._database, None
        if database is not None:
            database.close()


class Retrieval:
    """Puts the loop in front of an application that forwards requests, after the middleware.

    At most ``rounds`` answers are held back for one request; then a note tells the model that there are no more.
    ``counts`` has the number of ``answered`` and ``failed`` calls, of ``passed_on`` answers that ask for a kept
    result but are for the client, of the ``definition_tokens`` of the tools in all requests, and of the ``round_tokens``
    of all further requests. ``is_from_start`` says whether requests with tools get the tools before a result was left
    out.
    """

    def __init__(
        self,
        app: ASGIApp,
        kept: KeptResults,
        rounds: int,
        counts: Counter[str],
        is_from_start: Callable[[], bool],
    ) -> None:
        self._app = app
        self._kept = kept
        self._rounds = rounds
        self._counts = counts
        self._is_from_start = is_from_start

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = scope.get(SENT)
        style = style_of(scope["path"]) if sent is not None else None
        if sent is None or style is None:
            return await self._app(scope, receive, send)
        first = await receive()
        body = first.get("body", b"")
        is_whole = first["type"] == "http.request" and not first.get("more_body")
        if not is_whole or not (MARK in body or self._is_from_start()):
            return await self._app(scope, Replay([first], receive), send)
        offered = await in_worker_if(len(body) >= LARGE, self._offered, body, style)
        if offered is None:
            return await self._app(scope, Replay([first], receive), send)
        self._counts["definition_tokens"] += (len(offered[0]) - len(body)) // BYTES_PER_TOKEN
        body, names = offered
        earlier: HeldAnswer | None = None
        for number in range(self._rounds + 1):
            is_begun = earlier is not None and earlier.is_begun
            answer = HeldAnswer(style, names, send, is_begun=is_begun)
            await self._app(with_body(scope, body), Replay([requested(body)], receive), answer.send)
            if answer.is_released:
                return None
            if earlier is not None and not answer.may_replace:
                self._counts["passed_on"] += 1
                return await earlier.release()  # a refused round must not fail the request
            turn = answer.turn()
            if turn is None or number == self._rounds:
                self._counts["passed_on"] += turn is not None
                return await answer.release()
            is_last = number + 1 == self._rounds
            results = [await self._result(sent, call, is_last=is_last) for call in turn.calls]
            body = await in_worker_if(len(body) >= LARGE, with_turn, body, style, turn, results)
            self._counts["round_tokens"] += len(body) // BYTES_PER_TOKEN
            earlier = answer
        return None

    def _offered(self, body: bytes, style: Style) -> tuple[bytes, frozenset[str]] | None:
        """Return the body with the tools, and their names; ``None`` if the client has them, or it can't be read."""
        tools = [retrieval_tool(style), *([search_tool(style)] if self._kept.can_search else ())]
        try:
            members = written_members(body)
            own = loads(members["tools"]) if "tools" in members else []
            choice = loads(members["tool_choice"]) if "tool_choice" in members else None
            names = {(tool.get("function") or tool).get("name") for tool in own}
        except (InputError, AttributeError, TypeError):
            return None
        if not own and MARK not in body:
            return None
        is_forced = choice not in (None, "auto") and choice != {"type": "auto"}
        if is_forced or "functions" in members or not names.isdisjoint((RETRIEVAL, SEARCH)):
            return None
        items = written_items(members["tools"]) if own else []
        members["tools"] = write_array([*items, *map(dump, tools)])
        return write_object(members), frozenset(
            (tool.get("function") or tool)["name"] for tool in tools
        )

    async def _result(self, sent: SentRequest, call: Asked, *, is_last: bool) -> tuple[str, bool]:
        """Return the text of an answer, and true if it is a failure."""
        try:
            text = await in_worker(self._kept.answer, sent, call)
        except ToolcarryError as error:
            self._counts["failed"] += 1
            logger.warning("a call of %s was not answered: %s", call.name, type(error).__name__)
            return f"[toolcarry: {error}]", True
        self._counts["answered"] += 1
        note = "\n[toolcarry: no more results are read for this request]" if is_last else ""
        return text + note, False


def style_of(path: str) -> Style | None:
    """Return the tool style of requests that a model answers; ``None`` for other paths, such as the one that counts
    tokens.

    >>> style_of("/v1/messages"), style_of("/v1/messages/count_tokens"), style_of("/v1/models")
    ('anthropic', None, None)
    """
    found = RequestView(path, {}, b"").style
    is_count = path.rstrip("/").endswith("tokens")
    return None if is_count else next((style for style in RESULTS if style == found), None)


def with_body(scope: Scope, body: bytes) -> Scope:
    """Return the scope of a request with this body, whose answer is not compressed."""
    kept = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
    return {**scope, "headers": with_length(kept, len(body))}


def with_turn(
    body: bytes, style: Style, turn: AskedTurn, results: Sequence[tuple[str, bool]]
) -> bytes:
    """Return a request with the model's turn and the answers to its calls appended; everything else is copied."""
    members = written_members(body)
    key = LISTS.get(style, "messages")
    given = members[key]
    if given[:1] == b'"':  # the only user message of a request to Responses
        given = write_array([dump({"role": "user", "content": loads(given)})])
    added = [*turn.messages, *RESULTS[style](turn.calls, results)]
    return write_object({**members, key: write_array([*written_items(given), *map(dump, added)])})


def anthropic_results(
    calls: Sequence[Asked], results: Sequence[tuple[str, bool]]
) -> list[dict[str, Any]]:
    blocks = [
        {
            "type": "tool_result",
            "tool_use_id": call.call_id,
            "content": text,
            **({"is_error": True} if is_error else {}),
        }
        for call, (text, is_error) in zip(calls, results, strict=True)
    ]
    return [{"role": "user", "content": blocks}]


def chat_results(
    calls: Sequence[Asked], results: Sequence[tuple[str, bool]]
) -> list[dict[str, Any]]:
    return [
        {"role": "tool", "tool_call_id": call.call_id, "content": text}
        for call, (text, _) in zip(calls, results, strict=True)
    ]


def responses_results(
    calls: Sequence[Asked], results: Sequence[tuple[str, bool]]
) -> list[dict[str, Any]]:
    return [
        {"type": "function_call_output", "call_id": call.call_id, "output": text}
        for call, (text, _) in zip(calls, results, strict=True)
    ]


def ollama_results(
    calls: Sequence[Asked], results: Sequence[tuple[str, bool]]
) -> list[dict[str, Any]]:
    return [
        {"role": "tool", "tool_name": call.name, "content": text}
        for call, (text, _) in zip(calls, results, strict=True)
    ]


RESULTS: Final[
    Mapping[Style, Callable[[Sequence[Asked], Sequence[tuple[str, bool]]], list[dict[str, Any]]]]
] = {
    "anthropic": anthropic_results,
    "openai": chat_results,
    "responses": responses_results,
    "ollama": ollama_results,
}
