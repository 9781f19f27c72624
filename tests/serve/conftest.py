"""The proxy on a socket, fake providers as its upstreams, and real client libraries that call it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from support.providers.fakes import AnthropicFake, Fake, OllamaFake, OpenAIFake, serving
from support.sdk import sdk
from support.servers.addresses import Address

from toolcarry.config import Config, Serve, Upstream
from toolcarry.integrations.proxy import Proxy, create_app

KEY = "test-key"

Start = Callable[..., Address]

SHAPES = {AnthropicFake: "anthropic", OpenAIFake: "openai", OllamaFake: "ollama"}


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect to this machine directly, whatever proxies the environment names."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Serve ASGI applications for as long as the test runs; the URL of each. All of them end at once."""
    served: list[AbstractContextManager[str]] = []

    def start(app: Any, **options: Any) -> str:
        served.append(serving(app, **options))
        return served[-1].__enter__()

    yield start
    if served:
        with ThreadPoolExecutor(len(served)) as pool:
            list(pool.map(lambda one: one.__exit__(None, None, None), served))


@pytest.fixture
def start(serve: Callable[..., str]) -> Start:
    """Start a proxy with these upstreams; its URLs. A fake is served first; a string is the URL of one that is.

    With a ``config`` it has the middleware of those settings, which goes by ``clock``, else none.
    """

    def start(
        upstreams: dict[str, Fake | str],
        *,
        models: dict[str, tuple[str, ...]] | None = None,
        shape: str = "anthropic",
        upstream_options: dict[str, Any] | None = None,
        app_options: dict[str, Any] | None = None,
        config: Config | None = None,
        clock: Callable[[], float] = time.monotonic,
        **options: Any,
    ) -> Address:
        made = [
            Upstream(
                name=name,
                url=found if isinstance(found, str) else serve(found),
                shape=shape if isinstance(found, str) else SHAPES[type(found)],  # type: ignore[arg-type]
                models=(models or {}).get(name, ()),
                **(upstream_options or {}),
            )
            for name, found in upstreams.items()
        ]
        settings = Serve(upstreams=tuple(made), **options)
        if config is None:
            app = create_app(settings, **(app_options or {}))
        else:
            app = Proxy(replace(config, serve=settings), clock=clock).app
        return Address(serve(app, lifespan="on"), serve(app.state.control))

    return start


@pytest.fixture
def clients() -> Iterator[Callable[[str, str], Any]]:
    """Make the SDK client of a provider for a URL; it is closed after the test."""
    with ExitStack() as stack:

        def client(provider: str, url: str, **options: Any) -> Any:
            made: Any
            module = sdk(provider)
            if provider == "anthropic":
                made = module.Anthropic(base_url=url, api_key=KEY, max_retries=0, **options)
            elif provider == "openai":
                made = module.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0, **options)
            else:
                made = module.Client(host=url, **options)
            stack.callback(made.close)
            return made

        yield client


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    with httpx.Client(timeout=30) as client:
        yield client


@pytest.fixture
def echo(serve: Callable[..., str], start: Start) -> Start:
    """Return the URL of a proxy in front of an application that is mounted below a path."""

    def make(app: Any, path: str = "", **options: Any) -> str:
        return start({"a": f"{serve(app)}{path}"}, **options)

    return make
