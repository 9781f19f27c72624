"""The handler for LiteLLM's proxy: ``callbacks: toolcarry.integrations.litellm.handler`` in its configuration.

It puts the pipeline in front of every model, with the settings of ``toolcarry.toml``. The tenant is the virtual key, the
conversation is LiteLLM's session, and the backend is the requested model group. If LiteLLM falls back to another group,
its answer does not count as one of the requested group. Requests and answers are recorded in the canonical history, if the
settings say so.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import orjson
from cachetools import TTLCache
from litellm.integrations.custom_logger import CustomLogger

from toolcarry._util.workers import in_worker
from toolcarry.config import load_config
from toolcarry.integrations.answer_names import event_with_names, rename_in
from toolcarry.integrations.build import pipeline_from, recorder_from
from toolcarry.integrations.identity import ModelRequest, RequestIdentity, guessed
from toolcarry.integrations.pipeline import Processed, RequestPipeline
from toolcarry.integrations.response import END
from toolcarry.redact.logs import get_logger
from toolcarry.switch.request_fields import read_fields
from toolcarry.tool_cache import Style

__all__ = ["ToolCarryHandler", "handler"]

logger = get_logger("toolcarry.integrations")

ROUTES: Final[dict[str, tuple[str, Style]]] = {
    "completion": ("messages", "openai"),
    "acompletion": ("messages", "openai"),
    "anthropic_messages": ("messages", "anthropic"),
    "responses": ("input", "responses"),
    "aresponses": ("input", "responses"),
}
"""The kinds of calls that hold a conversation, with the member that holds it and the style of their tools."""
OURS: Final = (
    "model",
    "metadata",
    "thinking",
    "context_management",
    "system",
    "tools",
    "tool_choice",
    "instructions",
)
"""The members that the pipeline reads in addition to the messages, and in which it may remove what a backend
refuses."""
MASTER_KEY: Final = "litellm_proxy_master_key"
"""The key hash of requests with the master key, which belong to no tenant."""


class ToolCarryHandler(CustomLogger):  # type: ignore[misc]  # it has no types if LiteLLM is not installed
    """Puts a pipeline in front of LiteLLM's models. By default it is built from the configuration at the first request.

    ``is_single_user`` treats all requests with the master key as one tenant. With ``guess_conversation`` a conversation
    without a session is identified by its beginning. It makes no request fail.
    """

    def __init__(
        self,
        pipeline: RequestPipeline | None = None,
        *,
        is_single_user: bool = False,
        guess_conversation: bool = True,
    ) -> None:
        super().__init__()
        self._pipeline = pipeline
        self._is_single_user = is_single_user
        self._guesses = guess_conversation
        self._asked: TTLCache[str, Processed] = TTLCache(16_384, 3_600.0)

    @property
    def pipeline(self) -> RequestPipeline:
        """Return the pipeline. Raises ``ConfigError`` if the configuration is not valid, and ``StoreError`` if its store can't
        be opened.
        """
        if self._pipeline is None:
            config = load_config()
            self._pipeline = pipeline_from(config, recorder=recorder_from(config))
            self._is_single_user = bool(config.sessions.single_user)
            self._guesses = config.sessions.guess_conversation
        return self._pipeline

    # The names of the parameters are LiteLLM's, which calls by them.

    async def async_pre_call_hook(
        self,
        user_api_key_dict: Any,
        cache: Any,  # noqa: ARG002
        data: dict[str, Any],
        call_type: str,
    ) -> dict[str, Any]:
        """Process a request, and change ``data`` in place."""
        if call_type not in ROUTES:
            return data
        key, style = ROUTES[call_type]
        if not isinstance(data.get(key), list):
            return data
        try:
            await self._process(user_api_key_dict, data, key, style)
        except Exception as error:  # noqa: BLE001 - logged; the pipeline counts its own
            logger.warning("a request is passed on unchanged: %s", type(error).__name__)
        return data

    async def async_post_call_success_hook(
        self,
        data: dict[str, Any],
        user_api_key_dict: Any,  # noqa: ARG002
        response: Any,
    ) -> Any:
        """Record an answer that was not streamed."""
        done = self._taken(data)
        if done is not None:
            response = named(response, done)
            with self._recorded(done):
                await in_worker(self._add, done, response)
            await self._answered(done, response)
        return response

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: Any,  # noqa: ARG002
        response: Any,
        request_data: dict[str, Any],
    ) -> AsyncGenerator[Any, None]:
        """Pass on a stream as it arrives, and record it, as far as the client took it."""
        done = self._taken(request_data)
        with self._recorded(done):
            async for item in response:
                event = item if done is None else named(item, done)
                self._add(done, event, is_event=True)
                yield event
        if done is not None:
            await self._answered(done, response)

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,  # noqa: ARG002
        user_api_key_dict: Any,  # noqa: ARG002
        traceback_str: str | None = None,  # noqa: ARG002
    ) -> None:
        """Forget a request that failed: nothing of it is recorded, since the client sends it again."""
        self._taken(request_data)

    async def _process(self, user: Any, data: dict[str, Any], key: str, style: Style) -> None:
        asked = {name: data[name] for name in (*OURS, key) if data.get(name) is not None}
        body = await in_worker(orjson.dumps, asked, dumped)
        pipeline = self.pipeline  # which knows the settings
        identity, fields = self._whose(user, data), None
        if identity is not None and not identity.conversation and self._guesses:
            fields = await in_worker(read_fields, body)
            identity = guessed(identity, fields)
        request = ModelRequest(body, identity, fields, style)
        done = await pipeline.process(request)
        if done.body is not body:
            new = await in_worker(orjson.loads, done.body)
            before = await in_worker(orjson.loads, body)
            data.update({name: new[name] for name in new if new[name] != before.get(name)})
            for name in asked.keys() - new.keys():
                del data[name]
        if done.is_to_be_told or done.names:
            self._asked[str(data.get("litellm_call_id"))] = done

    def _taken(self, data: Mapping[str, Any]) -> Processed | None:
        """Return the request that LiteLLM has an answer to, once."""
        return self._asked.pop(str(data.get("litellm_call_id")), None)

    async def _answered(self, done: Processed, response: Any) -> None:
        if not fell_back(response):
            await self.pipeline.answered(done)

    @contextmanager
    def _recorded(self, done: Processed | None) -> Iterator[None]:
        """Have what arrives of an answer written at its end, also if it is broken off."""
        exchange = None if done is None else done.exchange
        if exchange is not None:
            exchange.start(200)
        try:
            yield
        finally:
            if exchange is not None:
                exchange.write()

    def _add(self, done: Processed | None, item: Any, *, is_event: bool = False) -> None:
        """Keep an answer, or an event of one, in the form in which a client gets it."""
        if done is None or done.exchange is None:
            return
        try:
            written = written_answer(item, is_event=is_event)
            done.exchange.add(written)
            if END.search(b"\n" + written) is not None:
                done.exchange.end()  # the client's next request may come before the end of the stream
        except Exception as error:  # noqa: BLE001 - counted and logged
            self.pipeline.fail_open("history", error)

    def _whose(self, user: Any, data: Mapping[str, Any]) -> RequestIdentity | None:
        """Return the identity of a request: the tenant by its key, and the conversation by its session."""
        token = getattr(user, "token", None) or getattr(user, "api_key", None)
        tenant = "" if token is None or token == MASTER_KEY else str(token)
        if not tenant and self._is_single_user:
            tenant = "single-user"
        if not tenant:
            return None
        session = data.get("litellm_session_id")
        conversation = session if isinstance(session, str) else ""
        model = str(data.get("model"))
        return RequestIdentity(tenant, conversation, model, client=client_of(data))


def client_of(data: Mapping[str, Any]) -> str:
    """Return the client's name for itself."""
    headers = (data.get("proxy_server_request") or {}).get("headers") or {}
    return str(headers.get("user-agent", ""))


def fell_back(response: Any) -> bool:
    """True if the answer came from another model group than the requested one."""
    hidden = getattr(response, "_hidden_params", None) or {}
    headers = hidden.get("additional_headers") or {} if isinstance(hidden, dict) else {}
    return bool(headers.get("x-litellm-attempted-fallbacks"))


def written_answer(item: Any, *, is_event: bool) -> bytes:
    """Return the bytes of an answer, or of an event: those that it consists of, or those of an object.

    >>> written_answer({"choices": []}, is_event=True)
    b'data: {"choices":[]}\\n\\n'
    """
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        return item.encode()
    written = orjson.dumps(item, dumped)
    return b"data: %b\n\n" % written if is_event else written


def named(item: Any, done: Processed) -> Any:
    """Return an answer, or an event of one, with the client's names of tools."""
    if not done.names:
        return item
    if isinstance(item, (bytes, str)):
        data = item if isinstance(item, bytes) else item.encode()
        lines = [event_with_names(line, done.names) for line in data.split(b"\n")]
        made = b"\n".join(lines)
        return made if isinstance(item, bytes) else made.decode()
    rename_in(item, done.names)
    return item


def dumped(value: Any) -> Any:
    """Return an SDK object as a dict."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError
    return dump(exclude_none=True)


handler = ToolCarryHandler()
