"""Requirements of Gemini and Bedrock alone: signatures, names on results, untyped blocks, document names."""

import doctest
import json
from typing import Any

import pytest
from support.builders.sources_providers import (
    ANTHROPIC,
    BEDROCK,
    GEMINI,
    OLLAMA,
    asked,
    chat_call,
    function_call,
    output,
    responded,
    result,
    said,
    text,
    tool_result,
    tool_use,
    use,
)
from support.builders.wire import assistant, user
from support.oracles.conversions import kinds
from support.providers.validity import problems

from toolcarry import convert
from toolcarry.api.convert import adapt
from toolcarry.api.convert.adapt import UNSIGNED
from toolcarry.types import Loss

JsonObject = dict[str, Any]
PNG = "iVBORw0KGgoAAAANSUhEUg=="
SCHEMA = {"json": {"type": "object"}}
ASK = said("user", "Go.")


def pdf(title: str) -> JsonObject:
    source = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0xLjQK"}
    return {"type": "document", "source": source, "title": title}


def test_the_examples_are_true() -> None:
    assert doctest.testmod(adapt).failed == 0


@pytest.mark.rust
def test_a_whole_request_of_each() -> None:
    body = json.dumps({"system": "Be kind.", "messages": ANTHROPIC[:3]}).encode()
    first = {"id": "t1", "name": "read", "args": {"path": "a.py"}}
    second = {"id": "t2", "name": "bash", "args": {"command": "ls"}}
    assert convert(body, to="gemini").to_dict() == {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Fix it."}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {"functionCall": first, "thoughtSignature": UNSIGNED},
                    {"functionCall": second},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "t1", **answer("read", output="print(1)\n")}},
                    {"functionResponse": {"id": "t2", **answer("bash", error="ls: no such file")}},
                ],
            },
        ],
    }
    results = [tool_result("t1", "print(1)\n"), tool_result("t2", "ls: no such file", "error")]
    del results[0]["toolResult"]["status"]
    tools = [{"toolSpec": {"name": name, "inputSchema": SCHEMA}} for name in ("read", "bash")]
    assert convert(body, to="bedrock").to_dict() == {
        "system": [{"text": "Be kind."}],
        "messages": [*BEDROCK[:2], user(*results)],
        "toolConfig": {"tools": tools},
    }
    for request in (convert(body, to="gemini"), convert(body, to="bedrock")):
        again = convert(json.dumps(request.to_dict()).encode(), to="anthropic")
        assert again.to_dict() == json.loads(body)


def answer(name: str, **response: str) -> JsonObject:
    return {"name": name, "response": response}


@pytest.mark.parametrize("to", ["gemini", "bedrock"])
@pytest.mark.parametrize("source", [ANTHROPIC, OLLAMA, GEMINI, BEDROCK])
def test_providers_take_it(source: list[JsonObject], to: Any) -> None:
    assert problems(to, convert(source, to=to).messages) == []


def test_other_models_calls_say_that_they_have_no_signature() -> None:
    converted = convert(OLLAMA, to="gemini")
    signed = [
        part.get("thoughtSignature")
        for content in converted.messages
        for part in content["parts"]
        if "functionCall" in part
    ]
    assert signed == [UNSIGNED, None, UNSIGNED]
    assert converted.losses == (Loss(None, "unsigned", "2 turns"),)
    assert convert(converted.messages, to="gemini").losses == ()
    assert "thinking" not in kinds(convert(converted.messages, to="openai"))


def test_signatures_stay_with_google_and_are_losses_elsewhere() -> None:
    call = {
        **chat_call("t1", "f", {}),
        "extra_content": {"google": {"thought_signature": "c2ln"}},
    }
    messages = [
        ASK,
        said("assistant", None, tool_calls=[call]),
        said("tool", "x", tool_call_id="t1"),
    ]
    part = convert(messages, to="gemini").messages[1]["parts"][0]
    assert part == {
        "functionCall": {"id": "t1", "name": "f", "args": {}},
        "thoughtSignature": "c2ln",
    }
    snake = {"function_call": {"name": "f", "args": {}}, "thought_signature": "c2ln"}
    contents = [
        {"role": "model", "parts": [{"text": "y", "thoughtSignature": "c2ln"}, snake]},
        {"role": "user", "parts": [responded("f", {"output": "x"})]},
    ]
    assert convert(contents, to="gemini").losses == ()
    told = convert(contents, to="openai").losses
    assert [loss.detail for loss in told if loss.kind == "thinking"] == [
        "the signature of a text",
        "the signature of f",
    ]


@pytest.mark.rust
def test_ids_where_the_order_does_not_pair() -> None:
    contents = [
        {"role": "model", "parts": [asked("f", {"n": 1}), asked("g", {"n": 2})]},
        {"role": "user", "parts": [responded("g", {"output": "two"})]},
    ]
    converted = convert(contents, to="gemini", repair=False)
    one, two = converted.messages[0]["parts"]
    assert (one["functionCall"]["id"], "id" in two["functionCall"]) == ("call_0", False)
    assert kinds(converted) == {"made_up_ids"}
    (mend,) = convert([{"role": "user", "parts": [{"text": "Go."}]}, *contents], to="gemini").mends
    assert (mend.kind, mend.call_id) == ("missing_result", "call_0")


def test_media_of_a_user() -> None:
    messages = [
        user(
            text("See."),
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "input_audio", "input_audio": {"data": "aGk=", "format": "wav"}},
        )
    ]
    (content,) = convert(messages, to="gemini").messages
    assert content["parts"][1:] == [
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}},
        {"inlineData": {"mimeType": "audio/wav", "data": "aGk="}},
    ]
    converted = convert(messages, to="bedrock")
    assert converted.messages[0]["content"] == [
        {"text": "See."},
        {"image": {"format": "png", "source": {"bytes": PNG}}},
        {"text": "[image: https://example.org/a.png]"},
        {"text": "[audio: wav, 2 bytes]"},
    ]
    assert kinds(converted) == {"media"}


def test_media_of_a_kind_that_bedrock_does_not_take() -> None:
    source = {"type": "base64", "media_type": "image/tiff", "data": "aGk="}
    converted = convert([user({"type": "image", "source": source})], to="bedrock")
    assert converted.messages == [user({"text": "[image: image/tiff, 2 bytes]"})]
    assert kinds(converted) == {"media"}


def test_documents_have_names_of_their_own_and_words_next_to_them() -> None:
    messages = [user(pdf("bill_2026  (a).pdf"), pdf("bill 2026 (a)"), pdf(""), pdf("_"))]
    (message,) = convert(messages, to="bedrock").messages
    names = [block["document"]["name"] for block in message["content"][:-1]]
    assert names == ["bill 2026 (a)", "bill 2026 (a) 2", "document", "document 2"]
    assert message["content"][-1] == {"text": ", ".join(names)}
    spoken = convert([user(pdf("Bill"), text("Read it."))], to="bedrock").messages
    assert [list(block) for block in spoken[0]["content"]] == [["document"], ["text"]]


def test_images_in_results() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    shot = result("t1", "") | {"content": [text("Here."), image]}
    messages = [ASK, assistant(use("t1", "shot", {})), user(shot)]
    bedrock = convert(messages, to="bedrock").messages
    assert bedrock[2]["content"][0]["toolResult"]["content"] == [
        {"text": "Here."},
        {"image": {"format": "png", "source": {"bytes": PNG}}},
    ]
    assert convert(bedrock, to="anthropic").messages == messages
    gemini = convert(messages, to="gemini")
    response = gemini.messages[2]["parts"][0]["functionResponse"]["response"]
    assert response == {"output": "Here.\n[image: image/png, 16 bytes]"}
    assert "moved_media" in kinds(gemini)
    assert gemini.messages[3]["parts"] == [
        {"text": "[from the result of shot t1]"},
        {"inlineData": {"mimeType": "image/png", "data": PNG}},
    ]


@pytest.mark.rust
def test_results_without_a_word() -> None:
    calls = [function_call("a", "f", {}), function_call("b", "f", {})]
    results = [output("a", ""), output("b", " \n")]
    (*_, message) = convert([ASK, *calls, *results], to="bedrock", repair=False).messages
    assert message == user(
        {"toolResult": {"toolUseId": "a", "content": []}},
        {"toolResult": {"toolUseId": "b", "content": []}},
    )
    (*_, message) = convert([ASK, *calls, *results], to="bedrock").messages
    told = [block["toolResult"]["content"] for block in message["content"]]
    assert told == [[{"text": "(no output)"}]] * 2
    failed = [ASK, assistant(use("t1", "f", {})), user(result("t1", " ", is_error=True))]
    (*_, message) = convert(failed, to="bedrock").messages
    assert message == user(tool_result("t1", "[Tool use failed: no output]", "error"))


def test_cache_points_are_losses_elsewhere() -> None:
    messages = [user({"text": "x"}, {"cachePoint": {"type": "default"}})]
    assert kinds(convert(messages, to="gemini")) == {"cache_control"}
    assert convert(messages, to="bedrock").messages == messages


def test_calls_that_ran_on_the_server_go_on_as_ordinary_ones_where_their_result_is_elsewhere() -> (
    None
):
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}
    apart = [{"role": "model", "parts": [code]}, {"role": "user", "parts": [ran]}]
    assert "server_tool" in kinds(convert(apart, to="gemini"))
    together = [{"role": "model", "parts": [code, ran]}]
    assert convert(together, to="gemini", repair=False).messages == together
    (call, _) = convert(together, to="bedrock", repair=False).messages
    assert call == assistant(
        tool_use("call_0", "code_execution", {"language": "PYTHON", "code": "1"})
    )
