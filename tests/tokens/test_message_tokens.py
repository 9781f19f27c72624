"""Token counts of messages, checked with tiktoken on texts extracted by hand, and the memo of counts."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.builders.families import ANSWER, ARGUMENTS, FAMILIES
from support.builders.wire import assistant, bash, join, result, user
from support.rows import for_each
from support.transcripts import TRANSCRIPTS

from toolcarry import ConfigError, InputError
from toolcarry.api.survey import survey_context
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.message_pieces import MEDIA_TOKENS
from toolcarry.types.values import ENCODINGS, EncodingName

BASE64 = "iVBORw0KGgo" * 20_000
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": BASE64}}
WORDS = "The quick brown fox jumps over the lazy dog, 漢字 and 🙂 and so on. "
USE = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
COMPACT = json.dumps(ARGUMENTS, separators=(",", ":"))


def tokens(text: str, encoding: EncodingName = "o200k_base") -> int:
    return count_tokens(text, encoding)


@pytest.fixture(autouse=True)
def fresh_memo(backend: ModuleType) -> Iterator[None]:
    backend.resize_token_memo(0)
    backend.resize_token_memo(1 << 20)
    yield
    backend.resize_token_memo(16 << 20)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_texts_names_arguments_and_results(api: ModuleType, encoding: EncodingName) -> None:
    messages = [
        {"role": "system", "content": "Be brief."},
        user({"type": "text", "text": "Look at"}, {"type": "text", "text": "all of it."}),
        assistant({"type": "thinking", "thinking": "Hm. " * 99}, USE),
        user(result("t1", "a.py\nb.py"), {"type": "text", "text": "Go on."}),
    ]
    wanted = [
        tokens("Be brief.", encoding),
        tokens("Look at\nall of it.", encoding),
        sum(tokens(text, encoding) for text in ("Hm. " * 99, "Bash", '{"command":"ls"}')),
        tokens("a.py\nb.py", encoding) + tokens("Go on.", encoding),
    ]
    assert api.count_message_tokens(messages, encoding=encoding) == wanted
    assert api.count_tokens(messages, encoding=encoding) == sum(wanted)
    body = json.dumps({"model": "m", "messages": messages}).encode()
    assert api.count_message_tokens(body, encoding=encoding) == wanted
    lines = "\n".join(map(json.dumps, messages)).encode() + b"\n\nno json\n"
    assert api.count_message_tokens(lines, encoding=encoding) == wanted


@for_each("family", FAMILIES)
def test_every_family_counts_its_call_and_its_result_once(api: ModuleType, family: str) -> None:
    messages = FAMILIES[family]("t1")
    name = api.extract_tool_blocks(messages)[0].tool_name
    found = api.count_tokens(messages)
    shown = (tokens(COMPACT), tokens(json.dumps(ARGUMENTS)))
    answers = (tokens(ANSWER), tokens(json.dumps({"output": ANSWER}, separators=(",", ":"))))
    assert found in {tokens(name) + call + answer for call in shown for answer in answers}, found


THOUGHT = "Let me think about it."


@for_each(
    "message",
    [
        assistant({"type": "thinking", "thinking": THOUGHT, "signature": "c2ln"}),
        {"role": "assistant", "content": "", "reasoning_content": THOUGHT},
        {"role": "model", "parts": [{"text": THOUGHT, "thought": True}]},
        {
            "role": "assistant",
            "content": [{"reasoningContent": {"reasoningText": {"text": THOUGHT}}}],
        },
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": THOUGHT}]},
    ],
    ids=["anthropic", "chat", "gemini", "bedrock", "responses"],
)
def test_thinking_counts_in_every_format(api: ModuleType, message: Any) -> None:
    assert api.count_tokens([{"role": "user", "content": "Go"}, message]) == tokens("Go") + tokens(
        THOUGHT
    )


def test_media_count_a_constant_and_never_their_base64(api: ModuleType) -> None:
    line = tokens("[image: image/png, 165,000 bytes]")
    in_result = [user(result("t1", [{"type": "text", "text": "Here:"}, IMAGE]))]
    said = [user({"type": "text", "text": "Look"}, IMAGE, IMAGE)]
    assert api.count_tokens(in_result) == tokens("Here:\n") + line + MEDIA_TOKENS
    assert api.count_tokens(said) == tokens("Look") + 2 * MEDIA_TOKENS
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}}
    assert api.count_tokens([user(url)]) == MEDIA_TOKENS
    blob = {"inlineData": {"mimeType": "image/png", "data": BASE64}}
    assert api.count_tokens([{"role": "user", "parts": [blob, {"text": "Look"}]}]) == (
        tokens("Look") + MEDIA_TOKENS
    )
    text = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}
    assert api.count_tokens([user(result("t1", [text]))]) == tokens("x")


def test_media_count_at_any_depth(api: ModuleType) -> None:
    blob = {"inlineData": {"mimeType": "image/png", "data": BASE64}}
    answer = {"name": "shot", "response": {"ok": True}, "parts": [blob]}
    gemini = [{"role": "user", "parts": [{"functionResponse": answer}]}]
    listed = {"content": [{"type": "text", "text": "Here:"}, IMAGE], "isError": False}
    bedrock = {"image": {"format": "png", "source": {"bytes": BASE64}}}
    for message in (*gemini, user(result("t1", [listed])), user(result("t1", [bedrock]))):
        assert MEDIA_TOKENS < api.count_tokens([message]) < MEDIA_TOKENS + 40


def test_an_answer_that_speaks_of_media_holds_none(api: ModuleType) -> None:
    answers = (
        {"files": [{"type": "image", "name": "a.png"}, {"type": "video", "name": "b.mp4"}]},
        {"image": {"width": 3, "height": 4}},
        {"document": {"title": "Notes"}, "audio": {"volume": 3}},
    )
    for answer in answers:
        written = json.dumps(answer, separators=(",", ":"))
        messages = [user(result("t1", [answer]))]
        assert api.count_tokens(messages) == tokens(written)
        assert api.count_tokens(json.dumps(messages).encode()) == tokens(written)


def test_a_text_is_no_conversation(api: ModuleType) -> None:
    assert api.count_tokens("[]") == tokens("[]")
    assert api.count_message_tokens([]) == []
    with pytest.raises(InputError, match="message 1 is not an object, but int"):
        api.count_tokens([user("x"), 7])
    with pytest.raises(InputError, match="byte"):
        api.count_tokens(b'{"messages": [')
    with pytest.raises(ConfigError, match="encoding: 'p50k' is not allowed"):
        api.count_tokens([], encoding="p50k")


def test_a_request_on_a_separate_line(api: ModuleType) -> None:
    request = json.dumps({"messages": [user("one"), assistant({"type": "text", "text": "two"})]})
    assert api.count_message_tokens(f"{request}\nbad\n".encode()) == [1, 1]


def test_leftovers_of_a_session_count_nothing(api: ModuleType) -> None:
    def record(uuid: str, parent: str | None, text: str) -> dict[str, Any]:
        return {"uuid": uuid, "parentUuid": parent, "message": {"role": "user", "content": text}}

    records = [record("a", None, "first"), record("b", "a", "left"), record("c", "a", "first")]
    assert api.count_message_tokens(records) == [1, 0, 1]


@for_each("family", [each for each in FAMILIES if len(FAMILIES[each]("t1")) > 1])
def test_results_of_parallel_calls_count_wherever_they_are(
    api: ModuleType, rust: ModuleType, family: str
) -> None:
    """Claude Code writes each of them on a branch of its own, next to the one that goes on."""
    said = {"role": "user", "content": "Go"}
    first, *answers = FAMILIES[family]("t1")
    line = [said, first, *FAMILIES[family]("t2")]
    records = [
        {"uuid": str(at), "parentUuid": str(at - 1) if at else None, "message": message}
        for at, message in enumerate(line)
    ]
    apart = {"uuid": "apart", "parentUuid": "1", "message": answers[-1]}
    left = {"uuid": "left", "parentUuid": "0", "message": FAMILIES[family]("t3")[-1]}
    records[2:2] = [apart, left]
    wanted = sum(api.count_message_tokens([*line, answers[-1]]))
    found = api.count_message_tokens(records)
    assert sum(found) == wanted
    assert found[2] > 0 == found[3]
    assert api.count_message_tokens(json.dumps(records).encode()) == found
    assert survey_context("\n".join(map(json.dumps, records)).encode()).tokens == wanted


def test_a_growing_conversation_has_the_same_counts(api: ModuleType) -> None:
    messages: list[Any] = []
    for turn in range(30):
        messages += bash(f"echo {turn}", f"{turn}: {WORDS * turn}", f"t{turn}")
        api.resize_token_memo(1 << 20)
        known = api.count_message_tokens(messages)
        assert api.count_message_tokens(json.dumps(messages).encode()) == known
        api.resize_token_memo(0)
        assert api.count_message_tokens(messages) == known


def test_a_memo_of_a_few_counts_forgets_the_oldest(api: ModuleType) -> None:
    api.resize_token_memo(1_000)
    texts = [f"{number} {WORDS}" for number in range(50)]
    messages = [user(text) for text in texts]
    for _ in range(3):
        assert api.count_message_tokens(messages) == list(map(tokens, texts))


def test_texts_with_equal_bytes_are_distinguished(api: ModuleType) -> None:
    """UTF-8 read as Latin-1, and what is an escape in JSON and a text elsewhere."""
    text = "é漢\n🙂 " * 20
    alike = [text, text.encode().decode("latin-1"), json.dumps(text)[1:-1]]
    wanted = [tokens(each) for each in alike]
    messages = [user(each) for each in alike]
    for spelled in (
        messages,
        json.dumps(messages).encode(),
        json.dumps(messages, ensure_ascii=False).encode(),
    ):
        assert api.count_message_tokens(spelled) == wanted
    assert api.count_message_tokens(messages, encoding="cl100k_base") == [
        tokens(each, "cl100k_base") for each in alike
    ]


def test_threads_share_the_memo(api: ModuleType) -> None:
    messages = join(*[bash(f"run {n}", f"{n} {WORDS * 9}", f"t{n}") for n in range(40)])
    wanted, found = api.count_message_tokens(messages), []

    def work() -> None:
        for size in (0, 3_000, 1 << 20):
            api.resize_token_memo(size)
            found.append(api.count_message_tokens(messages))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [wanted] * 24


@pytest.mark.parametrize("size", [-1, 1.5, None, True])
def test_a_memo_has_a_size(api: ModuleType, size: Any) -> None:
    with pytest.raises(ConfigError, match=r"size: .* is not allowed; allowed: an integer >= 0"):
        api.resize_token_memo(size)


def plain_count(message: dict[str, Any]) -> int:
    """The tokens of a message of OpenAI Chat, taken out by hand."""
    content = message.get("content") or ""
    texts = [content] if isinstance(content, str) else [part["text"] for part in content]
    for call in message.get("tool_calls") or ():
        texts += [call["function"]["name"], call["function"]["arguments"]]
    return sum(map(tokens, texts))


@pytest.mark.parametrize(
    "path", sorted(TRANSCRIPTS.glob("openai_chat/*.json"))[:12], ids=lambda path: path.name
)
def test_real_conversations(api: ModuleType, path: Path) -> None:
    data = json.loads(path.read_bytes())
    messages = data["messages"] if isinstance(data, dict) else data
    assert api.count_message_tokens(messages) == list(map(plain_count, messages))
    response = data.get("response") if isinstance(data, dict) else None
    answers = [choice["message"] for choice in response["choices"]] if response else []
    counts = list(map(plain_count, [*messages, *answers]))
    assert api.count_message_tokens(path.read_bytes()) == counts


# Estimates


@for_each(
    ("model", "encoding"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-5-codex", "o200k_base"),
        ("ft:gpt-4o:acme::1", "o200k_base"),
        ("o3", "o200k_base"),
        ("azure/gpt-4.1-nano", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo-0125", "cl100k_base"),
    ],
)
def test_the_vocabulary_of_a_known_model(
    api: ModuleType, model: str, encoding: EncodingName
) -> None:
    found = api.estimate_tokens(WORDS, model=model)
    assert (found.value, found.exact) == (tokens(WORDS, encoding), True)
    assert (found.encoding, found.factor) == (encoding, 1.0)


@for_each(
    ("model", "factor"),
    [
        ("claude-opus-4-1", 1.25),
        ("bedrock/eu.anthropic.claude-3-haiku", 1.25),
        ("models/gemini-2.5-pro", 1.1),
        ("ollama/llama3:8b", 1.1),
        ("somebody/something", 1.0),
    ],
)
def test_an_estimate_says_that_it_is_one(api: ModuleType, model: str, factor: float) -> None:
    found = api.estimate_tokens([user(WORDS)], model=model)
    assert not found.exact
    assert found.factor == factor
    assert tokens(WORDS) * factor <= found.value < tokens(WORDS) * factor + 1


def test_a_factor_can_be_set(api: ModuleType) -> None:
    assert api.estimate_tokens("one two", model="claude", factor=2).value == 4
    assert api.estimate_tokens("one two", model="gpt-4o", factor=2) == api.estimate_tokens(
        "one two", model="gpt-4o", factor=2.0
    )
    assert not api.estimate_tokens("one two", model="gpt-4o", factor=2).exact
    for factor in (0, -1, "2", float("nan"), True):
        with pytest.raises(ConfigError, match=r"factor: .* is not allowed; allowed: a number > 0"):
            api.estimate_tokens("x", model="claude", factor=factor)
    with pytest.raises(ConfigError, match="model: 7 is not allowed"):
        api.estimate_tokens("x", model=7)
