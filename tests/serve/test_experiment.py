"""The experiment: a conversation moves from one backend to another and back, and loses nothing of a file that was read.

A reads a file of 244 lines. After ``POST /switch`` B is asked to quote it, and quotes from what reached it: the whole
file, to the byte, in a valid request. Then the same with A again, for which the context is made a second time.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.providers.fakes import (
    AnthropicFake,
    Asked,
    Fake,
    OllamaFake,
    OpenAIFake,
    content_of,
    reads_then_quotes,
)
from support.providers.fakes.script import strings
from support.providers.sdk_turns import PROVIDERS, SAY, result

from toolcarry.config import parse_config

pytestmark = pytest.mark.sdk

CONFIG = parse_config("""
[thinking.summarize]
max_result_chars = "none"
[sessions]
single_user = true
""")
FAKES = {"anthropic": AnthropicFake, "openai": OpenAIFake, "ollama": OllamaFake}
PATH = "/src/table.py"
ODD = [
    "\tx = '\\n' # caf\u00e9 \u4e2d\u6587 \U0001f980",
    "```",
    "# a heading",
    "<!-- ",
    "</tag>",
    "",
    '"\\u00e9"',
]
FILE = "".join(
    f"{number:03} {ODD[number % len(ODD)]}\n" if number % 3 else f"{ODD[number % len(ODD)]}\n"
    for number in range(1, 245)
)
LINES = FILE.splitlines()
OPENS = "[CONTEXT FROM PREVIOUS SESSION]"


def carried(fake: Fake) -> str:
    """The one text with a context in the newest request that reached a provider."""
    found = [text for text in texts(fake) if OPENS in text]
    assert len(found) == 1
    assert found[0].count(OPENS) == 1  # it is made again, never put into another context
    return found[0]


def texts(fake: Fake) -> Iterator[str]:
    request = fake.recorded[-1].json
    return strings(request.get("messages") or request["input"])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("api", list(SAY))
def test_a_file_goes_along(start, clients, http, api, stream):
    assert len(LINES) == 244
    provider, say = PROVIDERS[api], SAY[api]
    one = FAKES[provider](reads_then_quotes(PATH, 100, thinking="The file must be read."))
    two = FAKES[provider](reads_then_quotes(PATH, 137))
    url = start({"a": one, "b": two}, config=CONFIG)
    named = {"x-session-id": "talk", "x-toolcarry-conversation": "talk"}
    headers = {"headers": named} if provider == "ollama" else {"default_headers": named}
    client = clients(provider, url, **headers)
    options = {}
    if api == "anthropic":
        options["thinking"] = {"type": "enabled", "budget_tokens": 1_024}

    messages = [{"role": "user", "content": f"Quote line 100 of {PATH}."}]
    _, calls, sent = say(client, messages, stream=stream, **options)
    messages += [*sent, result(api, calls[0], FILE)]
    text, _, sent = say(client, messages, stream=stream, **options)
    assert text == LINES[99]

    # A has answered; the client continues with the whole conversation and does not know of the switch.
    http.post(f"{url.control}/switch", json={"upstream": "b"}).raise_for_status()
    messages += [*sent, {"role": "user", "content": "And line 137?"}]
    text, calls, sent = say(client, messages, stream=stream, **options)
    assert (text, calls) == (LINES[136], [])
    context = carried(two)
    assert content_of(Asked({}, [], [context]), PATH) == FILE.removesuffix("\n")
    assert context.endswith("And line 137?")

    # The context stays the same while B answers.
    messages += [*sent, {"role": "user", "content": "And again?"}]
    text, _, sent = say(client, messages, stream=stream, **options)
    assert (text, carried(two)) == (LINES[136], context)

    one.say(reads_then_quotes(PATH, 244))
    http.post(f"{url.control}/switch", json={"upstream": "a"}).raise_for_status()
    messages += [*sent, {"role": "user", "content": "And the last line?"}]
    text, calls, _ = say(client, messages, stream=stream, **options)
    assert (text, calls) == (LINES[243], [])
    assert content_of(Asked({}, [], [carried(one)]), PATH) == FILE.removesuffix("\n")

    assert (one.refusals, two.refusals) == ([], [])
    assert (len(one.recorded), len(two.recorded)) == (3, 2)
