"""The identity of a model request: its tenant, its conversation, and the backend that it goes to.

A host passes its own function, or an ``Identification``, which reads the headers and fields that clients send. A client's
statements about its conversation count only within its tenant, so no client can reach another tenant's conversations.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import orjson

from toolcarry._input.json import loads
from toolcarry.errors import InputError
from toolcarry.switch.request_fields import RequestFields, read_fields
from toolcarry.tool_cache import Style

__all__ = [
    "Identification",
    "Identify",
    "ModelRequest",
    "RequestIdentity",
    "RequestView",
    "conversation_of",
    "digest",
    "guessed",
    "opening",
]

NOT_THE_MODEL: Final = frozenset(("user", "system", "developer"))


STYLE_OF_PATH: Final[tuple[tuple[str, Style], ...]] = (
    ("/messages", "anthropic"),
    ("/messages/count_tokens", "anthropic"),
    ("/chat/completions", "openai"),
    ("/responses", "responses"),
    ("/responses/input_tokens", "responses"),
    ("/api/chat", "ollama"),
    ("/converse", "bedrock"),
    ("/converse-stream", "bedrock"),
)
"""The tool style of requests, by the end of their path."""


class RequestView:
    """The parts of a request that identify it: ``path``, ``headers`` by lower-case names, the unchanged ``body``, and the
    ASGI ``scope``, to which the host's own middleware may have added something.

    >>> view = RequestView("/v1/messages", {"session-id": "s1"}, b'{"model": "m", "messages": []}')
    >>> view.headers.get("session-id"), view.fields.model
    ('s1', 'm')
    """

    def __init__(
        self,
        path: str,
        headers: Mapping[str, str],
        body: bytes,
        scope: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = path
        self.headers = headers
        self.body = body
        self.scope: Mapping[str, Any] = {} if scope is None else scope

    @property
    def style(self) -> Style | None:
        """The tool style of requests to the path; ``None`` if unknown.

        >>> RequestView("/openai/v1/chat/completions", {}, b"").style
        'openai'
        """
        path = self.path.rstrip("/")
        return next((style for end, style in STYLE_OF_PATH if path.endswith(end)), None)

    @cached_property
    def fields(self) -> RequestFields:
        """The identity in the body; empty if the body can't be read."""
        return read_fields(self.body)


def opening(fields: RequestFields) -> str:
    """A hash of the messages before the model's first one; empty if there are none.

    It stays the same while a conversation grows. Changes that clients often make are ignored: cache marks, and whether a
    text is written as a string or as a part.

    >>> said = b'{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."}]}'
    >>> opening(read_fields(said)) == opening(read_fields(b'{"input": "hi"}'))
    True
    """
    state = hashlib.sha256(b"toolcarry opening 1")
    is_empty = True
    try:
        for message in first_messages(fields.messages):
            text = dump(message)
            state.update(len(text).to_bytes(8, "big"))
            state.update(text)
            is_empty = False
    except (InputError, UnicodeError, RecursionError):
        return ""
    return "" if is_empty else state.hexdigest()


def first_messages(messages: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Return the messages before the model's first one, without members that are ignored."""
    for message in messages:
        if not isinstance(message, dict):
            return
        role = message.get("role", "" if "type" in message else "user")
        if not isinstance(role, str) or role not in NOT_THE_MODEL:
            return
        yield without_cache_marks(message)


def without_cache_marks(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message without cache marks."""
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if isinstance(content, list):
        content = [
            {key: value for key, value in part.items() if key != "cache_control"}
            for part in content
            if isinstance(part, dict) and "cachePoint" not in part
        ]
    return {"role": message.get("role", "user"), "content": content}


def dump(message: object) -> bytes:
    """Return a message as bytes that do not depend on the order of its members."""
    try:
        return orjson.dumps(message, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half of a surrogate pair, or an integer of many digits
        return json.dumps(message, sort_keys=True).encode()


@dataclass(frozen=True, slots=True)
class RequestIdentity:
    """The owner of a request. Without a tenant nothing about it is stored, and without a conversation only the tools of its
    ``client``, the program that sends it.

    ``is_side_request`` is true if it only asks something about the conversation, such as the number of its tokens: its
    success is not an answer of the backend. ``is_guessed`` is true if the conversation is identified by its beginning.
    """

    tenant: str
    conversation: str
    backend: str
    is_side_request: bool = False
    client: str = ""
    is_guessed: bool = False


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model: its ``body``, its owner, and the members that were read from the body.

    ``fields`` are the members that were already read from the body, if any; ``style`` is the style of its tools.
    ``asked_model`` is the model that the client named, if the body names another one: its tools are kept under that name.
    """

    body: bytes
    identity: RequestIdentity | None = None
    fields: RequestFields | None = None
    style: Style | None = None
    asked_model: str = ""


Identify: TypeAlias = Callable[[RequestView], RequestIdentity | None]
"""A function that returns the owner of a request, or ``None`` if the owner is unknown. Its errors are caught, and the
request is passed on."""

MOST_CHARS: Final = 200
"""The length of the longest id that is stored unchanged."""
MOST_PATH: Final = 2_000
"""The number of characters of a path that are read."""
KEY_HEADERS: Final = ("x-api-key", "api-key", "x-goog-api-key", "authorization")
CONVERSATION_HEADERS: Final = (
    "x-toolcarry-conversation",
    "x-claude-code-session-id",
    "x-litellm-session-id",
    "x-session-id",
    "thread-id",
    "thread_id",
    "conversation-id",
    "conversation_id",
    "session-id",
    "session_id",
)
VENDOR_HEADER: Final = re.compile(r"x-[a-z0-9-]+-session-id")
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
MODEL_IN_PATH: Final = re.compile(
    r"/models/([^/]+):[A-Za-z]+/?\Z|/model/(.+)/converse(?:-stream)?/?\Z"
)
FOR_OTHERS: Final = re.compile(
    r"forwarded|via|x-real-ip|x-client-ip|true-client-ip|cookie|(?:x-forwarded|x-envoy|cf)-.*|.*-(?:key|token|authorization)",
    re.DOTALL,
)
"""Headers of another proxy on this machine, which clients on other machines may use, and of keys in unknown headers."""
SIDE_PATH: Final = re.compile(
    r"(?:/messages/count_tokens|/responses/input_tokens|:countTokens)/?\Z"
)


@dataclass(frozen=True, slots=True)
class Identification:
    """Identifies a request by what clients send.

    ``tenant`` is the tenant of all requests. Without it, the tenant is the value of the header ``tenant_header``, or, if
    that is not set, a hash of the key that the client sends. Without a key it is ``keyless_tenant``, unless a header shows
    that someone else may be asking: a cookie, a key that is not known, or a header that another proxy adds. ``backend`` is the backend of all requests, or a function
    that returns it; without it, the backend is the value of the header ``backend_header``, or else the requested model.
    Headers are trusted: name one only if a gateway sets or removes it on every request.

    A conversation is identified by the id that the client sends in a header or in the body. Without an id, it is
    identified by its beginning and by the client's name, key and address, unless ``guess_conversation`` is false. The
    pipeline distinguishes conversations that begin alike as soon as they differ.

    >>> identify = Identification(tenant="me")
    >>> identify(RequestView("/v1/messages", {"x-session-id": "s1"}, b'{"model": "m", "messages": []}'))
    RequestIdentity(tenant='me', conversation='s1', backend='m', is_side_request=False, client='', is_guessed=False)
    """

    tenant: str = ""
    tenant_header: str = ""
    backend: str | Callable[[RequestView], str] = ""
    backend_header: str = ""
    guess_conversation: bool = True
    keyless_tenant: str = ""

    def __call__(self, request: RequestView) -> RequestIdentity | None:
        """Return the identity of a request; ``None`` without a tenant."""
        tenant = self.tenant or self._tenant(request)
        if not tenant:
            return None
        identity = RequestIdentity(
            tenant,
            conversation_of(request),
            self._backend(request),
            is_side_request(request.path),
            bounded(request.headers.get("user-agent")),
        )
        if identity.conversation or not self.guess_conversation:
            return identity
        return guessed(identity, request.fields, tenant_of(request), address_of(request))

    def _tenant(self, request: RequestView) -> str:
        if self.tenant_header:
            return bounded(request.headers.get(self.tenant_header.lower()))
        found = tenant_of(request)
        if found or any(FOR_OTHERS.fullmatch(name) for name in request.headers):
            return found
        return self.keyless_tenant

    def _backend(self, request: RequestView) -> str:
        if callable(self.backend):
            return self.backend(request)
        if self.backend:
            return self.backend
        if self.backend_header:
            named = bounded(request.headers.get(self.backend_header.lower()))
            if named:
                return named
        return backend_of(request)


def guessed(identity: RequestIdentity, fields: RequestFields, *client: str) -> RequestIdentity:
    """Return an identity whose conversation is identified by its beginning and its client; ``client`` adds to the latter.

    Return the same identity if the beginning of the conversation is unknown.

    >>> fields = read_fields(b'{"messages": [{"role": "user", "content": "hi"}]}')
    >>> guessed(RequestIdentity("me", "", "m"), fields).is_guessed
    True
    """
    start = opening(fields)
    if not start:
        return identity
    name = digest("guess", identity.client, *client, start)
    return replace(identity, conversation=name, is_guessed=True)


def digest(kind: str, *names: str) -> str:
    """Return a hash of names, the same in every process.

    >>> digest("guess", "ab", "c") == digest("guess", "a", "bc")
    False
    """
    text = json.dumps([kind, *names])
    return hashlib.sha256(b"toolcarry " + text.encode()).hexdigest()


def address_of(request: RequestView) -> str:
    """Return the address that a request comes from, without its port; empty if the host does not know it."""
    client = request.scope.get("client")
    return str(client[0]) if isinstance(client, (list, tuple)) and client else ""


def tenant_of(request: RequestView) -> str:
    """Return a hash of the key that the client sends; empty if it sends none.

    It is the same in every process, and for a key in ``x-api-key`` and in a bearer token.

    >>> by_header = tenant_of(RequestView("/", {"x-api-key": "k"}, b""))
    >>> by_header == tenant_of(RequestView("/", {"authorization": "Bearer k"}, b""))
    True
    """
    sent = (request.headers.get(name, "").strip() for name in KEY_HEADERS)
    key = next((key for key in sent if key), "")
    scheme, _, rest = key.partition(" ")
    if scheme.lower() == "bearer":
        key = rest.strip()
    if not key:
        return ""
    return hashlib.sha256(
        b"toolcarry tenant 1\0" + key.encode("utf-8", "surrogatepass")
    ).hexdigest()


def conversation_of(request: RequestView) -> str:
    """Return the id of the conversation that the client names; empty if it names none.

    >>> conversation_of(RequestView("/", {}, b'{"metadata": {"user_id": "user_1_account__session_s1"}}'))
    's1'
    """
    return next((found for named in named_by(request) if (found := bounded(named))), "")


def named_by(request: RequestView) -> Iterator[object]:
    """Yield the values that may name the conversation, the most certain first."""
    headers = request.headers
    for name in CONVERSATION_HEADERS:
        yield headers.get(name)
    yield next((headers[name] for name in headers if VENDOR_HEADER.fullmatch(name)), None)
    fields = request.fields
    held = fields.conversation
    yield held.get("id") if isinstance(held, dict) else held
    if isinstance(fields.metadata, dict):
        yield fields.metadata.get("session_id")
        yield session_in(fields.metadata.get("user_id"))
    key = fields.prompt_cache_key
    # Codex puts the conversation's UUID there; any other value may be shared by all conversations of an application.
    yield key if isinstance(key, str) and UUID.fullmatch(key) else None


def session_in(user_id: object) -> object:
    """Return the session that Claude Code writes into a request's ``metadata.user_id``: after a word, or in JSON.

    >>> session_in('{"device_id": "d", "session_id": "s1"}'), session_in("user_17")
    ('s1', None)
    """
    if not isinstance(user_id, str):
        return None
    if user_id.startswith("{"):
        try:
            return loads(user_id.encode()).get("session_id")
        except (InputError, UnicodeEncodeError):
            return None
    _, word, session = user_id.rpartition("_session_")
    return session if word else None


def backend_of(request: RequestView) -> str:
    """Return the requested model, by the path or the body; empty if there is none.

    >>> backend_of(RequestView("/v1beta/models/gemini-2.5-pro:generateContent", {}, b"{}"))
    'gemini-2.5-pro'
    """
    found = MODEL_IN_PATH.search(request.path[-MOST_PATH:])
    if found is not None:
        return bounded(unquote(found[1] or found[2]))
    return bounded(request.fields.model)


def is_side_request(path: str) -> bool:
    """True if a request only counts tokens.

    >>> is_side_request("/v1/messages/count_tokens"), is_side_request("/v1/messages")
    (True, False)
    """
    return SIDE_PATH.search(path) is not None


def bounded(named: object) -> str:
    """Return an id in its stored form: the hash of a long id or one that is not plain text; empty if it is not an id.

    >>> bounded(" s1 "), bounded("x" * 300)[:15], bounded(7)
    ('s1', 'sha256:0d4e2ca9', '')
    """
    if not isinstance(named, str):
        return ""
    name = named.strip()
    if len(name) <= MOST_CHARS and name.isascii() and name.isprintable():
        return name
    return f"sha256:{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()}"
