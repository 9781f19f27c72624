"""LiteLLM's own proxy, as a process, with the handler among its callbacks: the experiment through it.

Its SDKs can't be installed with the newest ones: ``just long`` runs this in an environment of its own.
"""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("litellm") is None:
    pytest.skip("LiteLLM is not installed here", allow_module_level=True)

import anthropic
import httpx
import openai
from support.clocks import wait_until
from support.providers.fakes import (
    AnthropicFake,
    Asked,
    OpenAIFake,
    content_of,
    reads_then_quotes,
    serving,
)
from support.providers.fakes.script import strings
from support.providers.sdk_turns import SAY, result

PATH = "/src/table.py"
FILE = "".join(f"{number:03} \tx = '\u00e9' # ```\n" for number in range(1, 245))
LINES = FILE.splitlines()
OPENS = "[CONTEXT FROM PREVIOUS SESSION]"
MASTER_KEY = "sk-of-nobody-else-a9c2"

CONFIG = """
model_list:
  - model_name: claude-one
    litellm_params: {{model: anthropic/claude-a, api_base: "{anthropic_one}", api_key: test-key}}
  - model_name: claude-two
    litellm_params: {{model: anthropic/claude-a, api_base: "{anthropic_two}", api_key: test-key}}
  - model_name: gpt-one
    litellm_params: {{model: openai/gpt-a, api_base: "{openai_one}/v1", api_key: test-key}}
  - model_name: gpt-two
    litellm_params: {{model: openai/gpt-a, api_base: "{openai_two}/v1", api_key: test-key}}
litellm_settings:
  callbacks: toolcarry.integrations.litellm.handler
  num_retries: 0
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
  custom_auth: keys.user_api_key_auth
"""
KEYS = """
from litellm.proxy._types import UserAPIKeyAuth

async def user_api_key_auth(request, api_key):
    return UserAPIKeyAuth(api_key=api_key, token=f"hash-of-{api_key}")
"""
SETTINGS = """
[thinking.summarize]
max_tool_result_chars = "none"
"""


@contextmanager
def litellm_proxy(folder: Path, urls: dict[str, str]) -> Iterator[str]:
    """The proxy's URL, once it answers."""
    (folder / "config.yaml").write_text(CONFIG.format(**urls))
    (folder / "keys.py").write_text(KEYS)
    (folder / "toolcarry.toml").write_text(SETTINGS)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "LITELLM_MASTER_KEY": MASTER_KEY,
        "NO_PROXY": "127.0.0.1,localhost",
        "TOOLCARRY_CONFIG": str(folder / "toolcarry.toml"),
    }
    command = [str(Path(sys.executable).parent / "litellm"), "--config", "config.yaml"]
    with (folder / "log").open("wb") as log, subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
    ) as process:  # fmt: skip
        try:
            url = f"http://127.0.0.1:{port}"
            alive = f"{url}/health/liveliness"
            wait_until(lambda: answers(alive, process), seconds=90, what="LiteLLM to answer")
            yield url
        finally:
            process.terminate()


def answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "LiteLLM ended"
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def fakes() -> dict[str, Any]:
    return {
        "anthropic_one": AnthropicFake([]), "anthropic_two": AnthropicFake([]),
        "openai_one": OpenAIFake([]), "openai_two": OpenAIFake([]),
    }  # fmt: skip


@pytest.fixture(scope="module")
def url(fakes: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("litellm")
    with ExitStack() as stack:
        urls = {name: stack.enter_context(serving(fake)) for name, fake in fakes.items()}
        yield stack.enter_context(litellm_proxy(folder, urls))
        log = (folder / "log").read_text()
        assert "Traceback" not in log, log[-5_000:]


@contextmanager
def client(api: str, url: str, key: str, talk: str) -> Iterator[Any]:
    named = {"default_headers": {"x-litellm-session-id": talk}, "max_retries": 0, "api_key": key}
    if api == "anthropic":
        with anthropic.Anthropic(base_url=url, **named) as made:
            yield made
    else:
        with openai.OpenAI(base_url=f"{url}/v1", **named) as made:
            yield made


def texts(fake: Any) -> list[str]:
    request = fake.recorded[-1].json
    return list(strings(request.get("messages") or request["input"]))


def carried(fake: Any) -> str:
    (found,) = [text for text in texts(fake) if OPENS in text]
    assert found.count(OPENS) == 1
    return found


@pytest.mark.timeout(180)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["anthropic", "chat", "responses"])
def test_a_file_goes_along(url: str, fakes: dict[str, Any], api: str, stream: bool) -> None:
    say = SAY[api]
    family, model = ("anthropic", "claude") if api == "anthropic" else ("openai", "gpt")
    one, two = fakes[f"{family}_one"], fakes[f"{family}_two"]
    one.say(reads_then_quotes(PATH, 100))
    two.say(reads_then_quotes(PATH, 137))
    with client(api, url, "sk-user-1", f"talk-{api}-{stream}") as made:
        messages = [{"role": "user", "content": f"Quote line 100 of {PATH}."}]
        _, calls, sent = say(made, messages, stream=stream, model=f"{model}-one")
        messages += [*sent, result(api, calls[0], FILE)]
        text, _, sent = say(made, messages, stream=stream, model=f"{model}-one")
        assert text == LINES[99]

        messages += [*sent, {"role": "user", "content": "And line 137?"}]
        text, calls, sent = say(made, messages, stream=stream, model=f"{model}-two")
        assert (text, calls) == (LINES[136], [])
        context = carried(two)
        assert content_of(Asked({}, [], [context]), PATH) == FILE.removesuffix("\n")

        messages += [*sent, {"role": "user", "content": "And again?"}]
        text, _, sent = say(made, messages, stream=stream, model=f"{model}-two")
        assert (text, carried(two)) == (LINES[136], context)

        one.say(reads_then_quotes(PATH, 244))
        messages += [*sent, {"role": "user", "content": "And the last line?"}]
        text, calls, _ = say(made, messages, stream=stream, model=f"{model}-one")
        assert (text, calls) == (LINES[243], [])
        assert content_of(Asked({}, [], [carried(one)]), PATH) == FILE.removesuffix("\n")


@pytest.mark.timeout(180)
def test_another_key_is_another_tenant(url: str, fakes: dict[str, Any]) -> None:
    """The same session id of another user is a new conversation, which no backend has answered yet."""
    fakes["openai_one"].say(reads_then_quotes(PATH, 1))
    fakes["openai_two"].say(reads_then_quotes(PATH, 1))
    messages: list[Any] = [{"role": "user", "content": "Read it."}]
    with client("chat", url, "sk-user-1", "shared") as made:
        _, calls, sent = SAY["chat"](made, messages, stream=False, model="gpt-one")
    messages += [*sent, result("chat", calls[0], FILE), {"role": "user", "content": "Line 1?"}]
    for key, is_carried in (("sk-user-2", False), ("sk-user-1", True)):
        with client("chat", url, key, "shared") as made:
            SAY["chat"](made, messages, stream=False, model="gpt-two")
        assert any(OPENS in text for text in texts(fakes["openai_two"])) is is_carried


@pytest.mark.timeout(180)
@pytest.mark.parametrize("api", ["anthropic", "chat", "responses"])
def test_tools_come_back_to_who_sent_them(url: str, fakes: dict[str, Any], api: str) -> None:
    say = SAY[api]
    family, model = ("anthropic", "claude") if api == "anthropic" else ("openai", "gpt")
    fake = fakes[f"{family}_one"]
    fake.say(reads_then_quotes(PATH, 100))
    with client(api, url, "sk-user-1", f"tools-{api}") as made:
        messages = [{"role": "user", "content": f"Quote line 100 of {PATH}."}]
        _, calls, sent = say(made, messages, stream=False, model=f"{model}-one")
        tools = fake.recorded[-1].json["tools"]
        messages += [*sent, result(api, calls[0], FILE)]
        text, _, _ = say(made, messages, stream=False, model=f"{model}-one", tools=[])
        assert text == LINES[99]
        assert fake.recorded[-1].json["tools"] == tools
    with client(api, url, "sk-user-2", f"tools-{api}") as made:
        say(made, messages, stream=False, model=f"{model}-one", tools=[])
        assert not fake.recorded[-1].json.get("tools")
