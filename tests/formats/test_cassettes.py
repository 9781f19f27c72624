"""Recorded traffic: the last request with its answer is the conversation, if all requests belong to one."""

import base64
import gzip
import json
import time
from types import ModuleType
from typing import Any

import pytest
from support.builders.producers import ANSWER, ASKED, NAME, SAID, exchange, sample
from support.oracles.format_checks import ASSISTANT, USER, JsonObject, as_lines, blocks, turns
from support.rows import for_each

from toolcarry import InputError
from toolcarry._input.sources import check_content

LAST = "It is shut."


def packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode())).decode()


def as_betamax(found: JsonObject) -> JsonObject:
    request, response = dict(found["request"]), dict(found["response"])
    request["body"] = {"encoding": "utf-8", "string": request["body"]}
    response["body"] = {"encoding": "utf-8", "base64_string": packed(response["body"]["string"])}
    return {"request": request, "response": response, "recorded_at": "2026-01-01T00:00:00"}


def as_har(found: JsonObject) -> JsonObject:
    sent = {"mimeType": "application/json", "text": found["request"]["body"]}
    held = {"mimeType": "application/json", "text": base64.b64encode(found["response"]["body"]["string"].encode()).decode(), "encoding": "base64"}  # fmt: skip
    return {"request": {"method": "POST", "postData": sent}, "response": {"status": 200, "content": held}, "time": 7}  # fmt: skip


def as_parsed(found: JsonObject) -> JsonObject:
    return {
        "request": {"parsed_body": json.loads(found["request"]["body"])},
        "response": {"parsed_body": json.loads(found["response"]["body"]["string"])},
    }


def as_decoded(found: JsonObject) -> JsonObject:
    """Both bodies as ``content``: one decoded, one in base64."""
    answer = base64.b64encode(found["response"]["body"]["string"].encode()).decode()
    return {
        "request": {"method": "POST", "url": "u", "content": json.loads(found["request"]["body"])},
        "response": {"status_code": 200, "content": {"data": answer, "encoding": "base64", "size": len(answer)}},
    }  # fmt: skip


def as_segments(found: JsonObject) -> JsonObject:
    """As google-genai records it for its replays."""
    return {
        "request": {"method": "post", "url": "u", "body_segments": [json.loads(found["request"]["body"])]},
        "response": {"status_code": 200, "body_segments": [json.loads(found["response"]["body"]["string"])], "byte_segments": []},
    }  # fmt: skip


def as_json(found: JsonObject) -> JsonObject:
    return {
        "request": {"body": None, "json": json.loads(found["request"]["body"])},
        "response": {"json": json.loads(found["response"]["body"]["string"])},
    }


FORMS = {"parsed": as_parsed, "decoded": as_decoded, "segments": as_segments, "json": as_json}


def recorded(form: str) -> JsonObject:
    (cassette,) = sample("cassette")
    found = cassette["interactions"]
    if form == "betamax":
        return {"http_interactions": list(map(as_betamax, found)), "recorded_with": "betamax/0.9.0"}
    if form == "har":
        return {"log": {"version": "1.2", "creator": {}, "entries": list(map(as_har, found))}}
    return {"interactions": list(map(FORMS[form], found)) if form in FORMS else found}


@pytest.mark.parametrize("form", ["vcr", "betamax", "har", *FORMS])
def test_forms_of_a_cassette(api: ModuleType, rust: ModuleType, form: str) -> None:
    body = json.dumps(recorded(form)).encode()
    survey = rust.inspect(body)
    assert (survey.shape, survey.calls, survey.results) == ("cassette", 2, 2)
    assert not survey.unread
    assert api.dialogue(body) == turns((USER, ASKED), (ASSISTANT, SAID), (ASSISTANT, LAST))


def test_a_stream_is_an_answer(api: ModuleType, rust: ModuleType) -> None:
    call = {"index": 0, "id": "c1", "function": {"name": NAME, "arguments": "{}"}}
    events = [{"content": SAID}, {"tool_calls": [call]}, {}]
    stream = "".join(f"data: {json.dumps({'choices': [{'delta': each}]})}\n\n" for each in events)
    sent = {"messages": [{"role": "user", "content": ASKED}], "stream": True}
    items = [{"interactions": [exchange(sent, stream + "data: [DONE]\n\n")]}]
    assert rust.inspect(items).orphan_calls == 1
    assert api.dialogue(items) == turns((USER, ASKED), (ASSISTANT, SAID))


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_requests_go_on_from_a_stored_answer(api: ModuleType, key: str) -> None:
    call = {"type": "function_call", "call_id": "c1", "name": NAME, "arguments": "{}"}
    seen = {"type": "function_call_output", "call_id": "c1", "output": ANSWER}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": LAST}]}  # fmt: skip
    first = {"input": ASKED, **({key: {"id": "r1"}} if key == "conversation" else {})}
    items = [{"interactions": [
        exchange(first, {"id": "r1", "object": "response", "output": [call]}),
        exchange({"input": [seen], key: "r1"}, {"id": "r2", "object": "response", "output": [said]}),
    ]}]  # fmt: skip
    (block,) = blocks(api, items)
    assert block.tool_result is not None
    assert api.dialogue(items) == turns((USER, ASKED), (ASSISTANT, LAST))


def test_a_request_to_another_provider_goes_on(rust: ModuleType) -> None:
    """Cache marks move, thoughts go, and another provider's messages have another form."""
    call = {"type": "function_call", "call_id": "c1", "name": NAME, "arguments": "{}"}
    thought = {"type": "reasoning", "id": "rs1", "summary": []}
    asked = {"role": "user", "content": ASKED}
    turn = {"role": "model", "parts": [{"functionCall": {"id": "c1", "name": NAME, "args": {}}}]}
    seen = {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": NAME, "response": {"output": ANSWER}}}]}  # fmt: skip
    items = [{"interactions": [
        exchange({"input": [asked, thought, call]}, {"error": {"message": "overloaded"}}),
        exchange({"contents": [{"role": "user", "parts": [{"text": ASKED}]}, turn, seen]}, {}),
    ]}]  # fmt: skip
    assert rust.inspect(items).results == 1


def test_several_conversations_are_refused(rust: ModuleType) -> None:
    (cassette,) = sample("cassette")
    other = exchange({"messages": [{"role": "user", "content": "Another question."}]}, {})
    cassette["interactions"].insert(1, other)
    with pytest.raises(InputError, match="contains 2 conversations"):
        rust.inspect([cassette])
    with pytest.raises(InputError, match="2 cassettes"):
        rust.inspect([*sample("cassette"), *sample("cassette")])


@for_each("side", ["request", "response"])
@for_each("text", ["AP/+", "H4sIAAAA", "not base64!"])
def test_a_body_that_cannot_be_read_is_reported(rust: ModuleType, side: str, text: str) -> None:
    cassette = recorded("vcr")
    cassette["interactions"].append({**cassette["interactions"][0], side: {"body": {"base64_string": text}}})  # fmt: skip
    survey = rust.inspect([cassette])
    assert (survey.calls, survey.results, survey.unread.count) == (2, 2, 1)
    assert set(survey.unread.first[0].keys) == {"request", "response"}


@for_each("side", ["request", "response"])
@for_each("held", ["text", {"model": "m"}, [{"model": "m"}]])
def test_a_body_in_an_unknown_member_is_reported(rust: ModuleType, side: str, held: Any) -> None:
    cassette = recorded("vcr")
    cassette["interactions"].append({**cassette["interactions"][0], side: {"blob": held, "headers": {}}})  # fmt: skip
    survey = rust.inspect([cassette])
    assert (survey.calls, survey.results, survey.unread.count) == (2, 2, 1)


@for_each("sent", ['{"inputText": "Count the hens."}', "", "not JSON"])
def test_a_cassette_without_a_conversation_is_unread(
    api: ModuleType, rust: ModuleType, sent: str
) -> None:
    item = exchange({}, {"completion": "Forty."})
    item["request"]["body"] = sent
    cassette = {"interactions": [item, item]}
    for given in ([cassette], json.dumps(cassette).encode()):
        assert rust.inspect(given).unread.count == 2
        assert api.carry(given).report.unread.count == 2


def test_the_segments_of_a_stream(api: ModuleType, rust: ModuleType) -> None:
    said = [{"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]} for text in ("I open ", "the door.")]  # fmt: skip
    sent = {"contents": [{"role": "user", "parts": [{"text": ASKED}]}]}
    items = [{"interactions": [{"request": {"body_segments": [sent]}, "response": {"body_segments": said}}]}]  # fmt: skip
    assert api.dialogue(items) == turns((USER, ASKED), (ASSISTANT, "I open the door."))
    assert not rust.inspect(items).unread


@for_each("sent", ["", "a=b", "[]", {"input": ["a", "b"], "model": "embed"}, {"query": ASKED}])  # fmt: skip
def test_other_requests_say_nothing(rust: ModuleType, sent: Any) -> None:
    cassette = recorded("vcr")
    other = exchange({}, "<html>")
    other["request"]["body"] = sent if isinstance(sent, str) else json.dumps(sent)
    cassette["interactions"].insert(0, other)
    survey = rust.inspect([cassette])
    assert (survey.calls, survey.results, survey.unread.count) == (2, 2, 0)


@pytest.mark.parametrize(
    "system",
    [
        {"system": "Be brief."},
        {"instructions": "Be brief."},
        {"systemInstruction": {"parts": [{"text": "Be brief."}]}},
    ],
)
def test_the_system_prompt_is_kept(api: ModuleType, system: JsonObject) -> None:
    sent = {**system, "messages": [{"role": "user", "content": ASKED}]}
    written = api.convert(as_lines([{"interactions": [exchange(sent, {})]}]), to="anthropic")
    assert "Be brief." in json.dumps(written.to_dict())


@pytest.mark.parametrize("start", ["interactions:\n- request:", "---\nhttp_interactions:\n- request:", "version: 1\ninteractions:\n"])  # fmt: skip
def test_a_cassette_in_yaml_is_named(start: str) -> None:
    with pytest.raises(InputError, match="YAML"):
        check_content(start.encode())


def test_bodies_that_unpack_to_gigabytes_are_reported(rust: ModuleType) -> None:
    """Each is refused, and all together take no more time than a few."""
    bomb = base64.b64encode(gzip.compress(b" " * (300 << 20), 6)).decode()
    cassette = recorded("vcr")
    cassette["interactions"] += [
        {**cassette["interactions"][0], "response": {"body": {"base64_string": bomb}}}
    ] * 40
    begun = time.monotonic()
    survey = rust.inspect([cassette])
    assert time.monotonic() - begun < 20
    assert (survey.calls, survey.results, survey.unread.count) == (2, 2, 40)
