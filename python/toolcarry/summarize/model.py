"""Summarizers that wrap a callable, or a model that LiteLLM can reach."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Awaitable, Callable
from typing import Any, Final

from toolcarry.errors import ConfigError
from toolcarry.summarize.protocol import Coroutine, coroutine_of
from toolcarry.types.values import check_limit

__all__ = ["CallableSummarizer", "LiteLLMSummarizer"]

TIMEOUT: Final = 60.0
"""Seconds after which LiteLLM gives up by itself, so that an abandoned thread ends."""


class CallableSummarizer:
    """A summarizer from any function of text and instructions, sync or async.

    ``name``, or else the function's name, becomes its ``model``, which is recorded with each summary.

    >>> shorten = CallableSummarizer(lambda text, instructions: text[:4], name="first-4")
    >>> shorten("3 passed in 0.1 s", "Be brief."), shorten.model
    ('3 pa', 'first-4')
    """

    def __init__(
        self, function: Callable[[str, str], str | Awaitable[str]], *, name: str = ""
    ) -> None:
        if not callable(function):
            raise ConfigError(f"function: {function!r} is not allowed; allowed: a callable")
        self._function = function
        self.model = name or getattr(function, "__qualname__", type(function).__name__)

    @property
    def acall(self) -> Coroutine | None:
        """The function if it is a coroutine function, else ``None``."""
        return coroutine_of(self._function)

    def __call__(self, text: str, instructions: str, /) -> str | Awaitable[str]:
        """Return the result of the function."""
        return self._function(text, instructions)


class LiteLLMSummarizer:
    """A summarizer that calls a model through LiteLLM. Needs the extra ``litellm``; the first call imports it.

    ``max_tokens`` limits the answer; ``options`` are passed to ``litellm.completion`` (``api_key``, ``api_base``,
    ``temperature``). By default LiteLLM does not retry, since ``Summaries`` does, and gives up after 60 seconds. Raises
    ``ConfigError`` if the extra is missing. A call raises LiteLLM's errors.

        Summaries(LiteLLMSummarizer("anthropic/claude-haiku-4-5", temperature=0))
    """

    def __init__(self, model: str, *, max_tokens: int = 1_500, **options: Any) -> None:
        if not isinstance(model, str) or not model:
            raise ConfigError(f"model: {model!r} is not allowed; allowed: the name of a model")
        check_limit("max_tokens", max_tokens)
        if importlib.util.find_spec("litellm") is None:
            raise ConfigError(
                "summarizer: needs litellm, which is not installed; pip install 'toolcarry[litellm]'"
            )
        self.model = model
        self._options = {
            "max_tokens": max_tokens,
            "num_retries": 0,
            "max_retries": 0,
            "timeout": TIMEOUT,
            **options,
        }

    def __call__(self, text: str, instructions: str, /) -> str:
        """Return the model's answer."""
        return content_of(litellm().completion(**self._request(text, instructions)))

    async def acall(self, text: str, instructions: str, /) -> str:
        """Await the model's answer."""
        return content_of(await litellm().acompletion(**self._request(text, instructions)))

    def _request(self, text: str, instructions: str) -> dict[str, Any]:
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": text},
        ]
        return {**self._options, "model": self.model, "messages": messages}


def litellm() -> Any:
    """Import LiteLLM, which takes seconds, and stop it from printing to stdout when a call fails."""
    package: Any = importlib.import_module("litellm")
    package.suppress_debug_info = True
    return package


def content_of(response: Any) -> str:
    """Return the text of an answer; empty if it has no text, as when reasoning used up all tokens."""
    content = response.choices[0].message.content
    return content if isinstance(content, str) else ""
