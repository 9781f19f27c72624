"""LiteLLM's own proxy, as a process, with the handler among its callbacks: the experiment through it.

What it needs besides the library can't be installed with the newest SDKs: ``just long`` runs this in an environment of its
own.
"""

from __future__ import annotations

import hashlib
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

if None in map(importlib.util.find_spec, ("litellm", "apscheduler")):
    pytest.skip("LiteLLM's proxy is not installed here", allow_module_level=True)

import anthropic
import httpx
import openai
from support.clocks import wait_until
from support.providers.fakes import (
    AnthropicFake,
    Asked,
    OpenAIFake,
    ScriptedTurn,
    content_of,
    reads_then_quotes,
    serving,
)
from support.providers.fakes.script import strings
from support.providers.sdk_turns import SAY, result

from toolcarry.tract import CommitInfo, Tract

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
max_result_chars = "none"

[history]
target = "{target}"
canonical_mode = "on"
"""


@contextmanager
def litellm_proxy(folder: Path, urls: dict[str, str]) -> Iterator[str]:
    """The proxy's URL, once it answers."""
    (folder / "config.yaml").write_text(CONFIG.format(**urls))
    (folder / "keys.py").write_text(KEYS)
    (folder / "toolcarry.toml").write_text(SETTINGS.format(target=folder / "history.db"))
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
            wait_until(lambda: answers(alive, process), seconds=300, what="LiteLLM to answer")
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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("litellm")


@pytest.fixture(scope="module")
def url(fakes: dict[str, Any], folder: Path) -> Iterator[str]:
    with ExitStack() as stack:
        urls = {name: stack.enter_context(serving(fake)) for name, fake in fakes.items()}
        yield stack.enter_context(litellm_proxy(folder, urls))
        log = (folder / "log").read_text()
        assert "/toolcarry/" not in log, log[-5_000:]  # in no traceback


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


@pytest.mark.timeout(600)
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


@pytest.mark.timeout(600)
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


@pytest.mark.timeout(600)
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


# LiteLLM's hash of a key (hash_token in litellm/types/proxy/auth/user_api_key_auth.py of BerriAI/litellm), which is the tenant.
TENANT = hashlib.sha256(b"sk-user-1").hexdigest()


def recorded(folder: Path, talk: str) -> list[CommitInfo]:
    """Return the commits of a conversation in the history, oldest first."""
    path = folder / "history.db"
    if not path.exists():
        return []
    with Tract.open(path, tenant=TENANT, conversation=talk, read_only=True) as tract:
        return list(reversed(tract.log()))


def text_of(folder: Path, commit: CommitInfo) -> str:
    with Tract.open(
        folder / "history.db", tenant=TENANT, conversation=commit.conversation, read_only=True
    ) as tract:
        return tract.get_content(commit)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", ["anthropic", "chat", "responses"])
def test_a_tool_loop_is_recorded_once_and_restored(
    url: str, fakes: dict[str, Any], folder: Path, api: str, stream: bool
) -> None:
    say, talk = SAY[api], f"recorded-{api}-{stream}"
    family, model = ("anthropic", "claude") if api == "anthropic" else ("openai", "gpt")
    fake = fakes[f"{family}_one"]
    fake.say(reads_then_quotes(PATH, 100))
    with client(api, url, "sk-user-1", talk) as made:
        messages = [{"role": "user", "content": f"Quote line 100 of {PATH}."}]
        _, calls, sent = say(made, messages, stream=stream, model=f"{model}-one")
        messages += [*sent, result(api, calls[0], FILE)]
        text, _, sent = say(made, messages, stream=stream, model=f"{model}-one")
        messages[-1] = result(api, calls[0], "[Old tool result content cleared]")
        messages += [*sent, {"role": "user", "content": "Again."}]
        again, _, _ = say(made, messages, stream=stream, model=f"{model}-one")
    assert (text, again) == (LINES[99], LINES[99])
    assert FILE in texts(fake)
    wait_until(lambda: len(messages_in(folder, talk)) >= 6, what="the last answer to be recorded")
    found = messages_in(folder, talk)
    assert [each.kind.name for each in found] == [
        *("MESSAGE", "CALL", "RESULT", "MESSAGE", "MESSAGE", "MESSAGE")
    ]
    assert [text_of(folder, each) for each in found[2:]] == [FILE, text, "Again.", text]
    assert all("incomplete" not in each.metadata for each in found)


def messages_in(folder: Path, talk: str) -> list[CommitInfo]:
    return [each for each in recorded(folder, talk) if each.kind.name != "RECORD"]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("api", ["anthropic", "chat"])
def test_a_client_that_leaves_is_recorded_as_far_as_it_read(
    url: str, fakes: dict[str, Any], folder: Path, api: str
) -> None:
    long, talk = "One two three four five six seven eight nine ten.", f"left-{api}"
    family, model = ("anthropic", "claude") if api == "anthropic" else ("openai", "gpt")
    fake = fakes[f"{family}_one"]
    fake.say([ScriptedTurn(long)])
    held = fake.hold(5)
    given: dict[str, Any] = {"messages": [{"role": "user", "content": "Count."}]}
    with client(api, url, "sk-user-1", talk) as made:
        create = made.messages.create if api == "anthropic" else made.chat.completions.create
        given |= {"max_tokens": 100} if api == "anthropic" else {}
        with create(model=f"{model}-one", stream=True, **given) as events:
            next(iter(events))
            assert held.is_held.wait(30)
    wait_until(lambda: recorded(folder, talk), what="the abort to be recorded")
    held.may_go.set()
    asked, *answers = recorded(folder, talk)
    assert text_of(folder, asked) == "Count."
    for answer in answers:
        assert answer.metadata["incomplete"] is True
        assert long.startswith(text_of(folder, answer))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("api", ["anthropic", "chat", "responses"])
def test_a_refused_request_is_recorded_when_it_is_answered(
    url: str, fakes: dict[str, Any], folder: Path, api: str
) -> None:
    say, talk = SAY[api], f"refused-{api}"
    family, model = ("anthropic", "claude") if api == "anthropic" else ("openai", "gpt")
    fake = fakes[f"{family}_one"]
    fake.say([ScriptedTurn("Hello.")])
    fake.fail(1, 400)
    messages = [{"role": "user", "content": "Hi."}]
    with client(api, url, "sk-user-1", talk) as made:
        with pytest.raises((anthropic.APIStatusError, openai.APIStatusError)):
            say(made, messages, stream=False, model=f"{model}-one")
        assert recorded(folder, talk) == []
        say(made, messages, stream=False, model=f"{model}-one")
    wait_until(lambda: len(messages_in(folder, talk)) == 2, what="the answer to be recorded")
    assert [each.role for each in messages_in(folder, talk)] == ["user", "assistant"]
