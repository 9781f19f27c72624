"""Results whose content has a type that the provider refuses: they are written as it asks, and nothing is lost."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.oracles.repairs import mends_of_messages
from support.rows import for_each
from support.strategies.texts import json_values

from toolcarry import ProjectPolicy
from toolcarry._input.json import compact_json
from toolcarry.model.destinations import DESTINATIONS
from toolcarry.model.result_slot import text_of

JsonObject = dict[str, Any]
values = json_values.filter(lambda value: str(1 << 70) not in str(value))
"""Any JSON value without integers beyond 64 bits, which Python's reader of bytes makes floats."""
REPAIR = ProjectPolicy(repair=True)
MCP = {"content": [{"type": "text", "text": "2 rows"}], "isError": True}
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


def chat(content: Any) -> JsonObject:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {
        "messages": [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": content},
        ]
    }


def anthropic(content: Any) -> JsonObject:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    return {
        "messages": [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    }


def responses(content: Any) -> JsonObject:
    return {
        "input": [
            {"role": "user", "content": "Go."},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": content},
        ]
    }


def bedrock(content: Any) -> JsonObject:
    call = {"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}
    result = {"toolResult": {"toolUseId": "t1", "content": content, "status": "success"}}
    return {
        "messages": [
            {"role": "user", "content": [{"text": "Go."}]},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]
    }


def gemini(content: Any) -> JsonObject:
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "Go."}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "f", "response": content}}],
            },
        ]
    }


SHAPES = {each.__name__: each for each in (chat, anthropic, responses, bedrock, gemini)}


def content_of(shape: str, messages: list[JsonObject]) -> Any:
    """Return the content of the result, which is in the third message."""
    last = messages[2]
    part = (last.get("content") or last.get("parts") or [last])[0]
    place = {
        "chat": lambda: last["content"],
        "anthropic": lambda: part["content"],
        "responses": lambda: last["output"],
        "bedrock": lambda: part["toolResult"]["content"],
        "gemini": lambda: part["functionResponse"]["response"],
    }
    return place[shape]()


def repaired(
    api: ModuleType, shape: str, content: Any, policy: ProjectPolicy = REPAIR
) -> tuple[Any, list[str]]:
    """Repair objects and bytes, see that they agree and that a second repair changes nothing.

    Return the new content, and the kinds of the corrections.
    """
    body = SHAPES[shape](content)
    ((key, messages),) = body.items()
    found = api.project(messages, policy=policy)
    projected = api.project_body(json.dumps(body).encode(), policy=policy)
    assert json.loads(projected.body)[key] == found.messages
    assert mends_of_messages(projected) == list(found.report.mends)
    again = api.project(found.messages, policy=policy)
    assert (again.messages, again.report.mends) == (found.messages, ())
    return content_of(shape, found.messages), [mend.kind for mend in found.report.mends]


@for_each("shape", ["chat", "anthropic", "responses"])
@for_each(
    ("content", "sent"),
    [
        ({"rows": [1, 2.5, None], "ü": "ä"}, '{"rows":[1,2.5,null],"ü":"ä"}'),
        (7, "7"),
        (True, "true"),
        (MCP, '{"content":[{"type":"text","text":"2 rows"}],"isError":true}'),
        ([{"id": 1}, {"id": 2}], '[{"id":1},{"id":2}]'),
        ([1, "a"], '[1,"a"]'),
        ([None], "[null]"),
        (["a.py", "b.py"], "a.py\nb.py"),
    ],
)
def test_values_become_text(api: ModuleType, shape: str, content: Any, sent: str) -> None:
    assert repaired(api, shape, content) == (sent, ["mended_content"])


@pytest.mark.parametrize("shape", ["anthropic", "responses"])
def test_a_part_that_is_alone_becomes_a_list(api: ModuleType, shape: str) -> None:
    assert repaired(api, shape, IMAGE) == ([IMAGE], ["mended_content"])


@pytest.mark.parametrize(
    ("content", "sent"),
    [
        ("done", [{"text": "done"}]),
        ({"rows": 2}, [{"json": {"rows": 2}}]),
        ([{"json": [1, 2]}, {"text": "x"}], [{"text": "[1,2]"}, {"text": "x"}]),
        ([{"json": "x"}, "y", 5], [{"text": "x"}, {"text": "y"}, {"text": "5"}]),
        ([{"json": None}], [{"text": "null"}]),
    ],
)
def test_values_become_blocks_of_bedrock(api: ModuleType, content: Any, sent: Any) -> None:
    assert repaired(api, "bedrock", content) == (sent, ["mended_content"])


@pytest.mark.parametrize("content", ["done", ["a"], [], 5, "", False])
def test_a_response_of_gemini_becomes_an_object(api: ModuleType, content: Any) -> None:
    assert repaired(api, "gemini", content) == ({"result": content}, ["mended_content"])


@pytest.mark.parametrize(
    ("shape", "content"),
    [
        ("chat", "done"),
        ("chat", [{"type": "text", "text": "done"}]),
        ("anthropic", [{"type": "text", "text": "done"}, IMAGE]),
        ("anthropic", [{"type": "tool_reference", "tool_name": "f"}]),
        ("responses", [{"type": "input_text", "text": "done"}]),
        ("bedrock", [{"json": {}}, {"text": "x"}, {"cachePoint": {"type": "default"}}]),
        ("gemini", {}),
    ],
)
def test_what_the_provider_accepts_is_unchanged(api: ModuleType, shape: str, content: Any) -> None:
    assert repaired(api, shape, content) == (content, [])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shortened_value_is_in_the_form_of_its_provider(api: ModuleType, shape: str) -> None:
    words = "word " * 400
    policy = ProjectPolicy(repair=True, max_result_chars=200)
    for content in (words, [words, words], {"a": words}, [[words]], [{"a": words}]):
        sent, _ = repaired(api, shape, content, policy)
        if shape == "gemini":
            assert isinstance(sent, dict)
        elif shape == "bedrock":
            assert [set(block) <= {"text", "json"} for block in sent] == [True]
        else:
            assert isinstance(sent, str)
        assert len(json.dumps(sent)) < 400


@pytest.mark.parametrize("shape", SHAPES)
@given(content=values)
def test_any_value_is_repaired_once(api: ModuleType, shape: str, content: Any) -> None:
    repaired(api, shape, content)


URLS = (
    "data:image/png;base64,iVBORw0KGgo=",
    "data:image/png;base64,iVBORw0KGgo=" + "&" * 200,
    "data:im;base64,age/gi&&&" + '"x\\' * 40,
    "data:application/pdf;base64," + "aGk" * 60,
)
leaves = st.one_of(
    st.sampled_from(URLS),
    st.sampled_from(["word ", '"x" ', "ü\n", "{}"]).flatmap(
        lambda word: st.integers(1, 60).map(lambda count: word * count)
    ),
    st.integers(-9, 9),
    st.none(),
)
KEYS = (
    "a",
    "text",
    "json",
    "content",
    "result",
    "data",
    "url",
    "image",
    "image_url",
    "document",
    "source",
    "inlineData",
    "mimeType",
    "bytes",
    "format",
    "functionResponse",
    "searchResult",
    "structuredContent",
    "isError",
    "cache_control",
)
odd_values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=6,
)
"""Values whose members look like media, parts and answers, without a type that says so."""


@pytest.mark.parametrize("shape", SHAPES)
@given(content=odd_values, limit=st.integers(60, 300))
def test_a_repaired_value_is_measured_as_it_is_sent(
    api: ModuleType, shape: str, content: Any, limit: int
) -> None:
    """Found by fuzzing: a limit measured the line of a data URL, and the repair sent its JSON, which the second cut."""
    policy = ProjectPolicy(repair=True, max_result_chars=limit)
    repaired(api, shape, content, policy)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("three", "three"),
        ({"rows": [1, 2]}, '{"rows":[1,2]}'),
        (3, "3"),
        (None, "null"),
    ],
    ids=str,
)
@pytest.mark.parametrize("others", [[], [{"type": "text", "text": "two"}]], ids=["alone", "mixed"])
def test_items_without_a_type_next_to_an_image_of_chat(
    api: ModuleType, item: object, text: str, others: list[Any]
) -> None:
    """The image moves, and what stays says what kind it is, so that a second repair changes nothing."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "t1", "content": [image, item, *others]},
    ]
    policy = ProjectPolicy(repair=True)
    once = api.project(messages, policy=policy)
    assert once.messages[2]["content"] == [{"type": "text", "text": text}, *others]
    assert [mend.kind for mend in once.report.mends] == ["mended_content", "moved_media"]
    twice = api.project(once.messages, policy=policy)
    assert (twice.messages, twice.report.mends) == (once.messages, ())


TEXT_TYPES = {"chat": "text", "anthropic": "text", "responses": "input_text"}
IMAGES = {
    "chat": {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    "anthropic": IMAGE,
    "responses": {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    "bedrock": {"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}},
}
FORMATS = {
    "chat": "openai-chat",
    "anthropic": "anthropic",
    "responses": "openai-responses",
    "bedrock": "bedrock",
}
MARK = {"cache_control": {"type": "ephemeral"}}


def text_part(shape: str, text: str) -> JsonObject:
    return {"text": text} if shape == "bedrock" else {"type": TEXT_TYPES[shape], "text": text}


@for_each("shape", TEXT_TYPES)
@for_each(
    ("item", "sent"),
    [
        ("three", {"text": "three"}),
        ({"text": "three"}, {"text": "three"}),
        ({"text": "three", **MARK}, {"text": "three", **MARK}),
        ({"text": "three", "lines": 3}, {"text": '{"text":"three","lines":3}'}),
        ({"id": 1, **MARK}, {"text": '{"id":1,"cache_control":{"type":"ephemeral"}}'}),
        ({"type": 5, "text": "three"}, {"text": "three"}),
        (["a", "b"], {"text": '["a","b"]'}),
        (3, {"text": "3"}),
        (None, {"text": "null"}),
    ],
    ids=str,
)
def test_an_item_without_a_type_becomes_a_part(
    api: ModuleType, shape: str, item: Any, sent: JsonObject
) -> None:
    """An item of a list that has parts: "Missing required parameter: 'messages[3].content[0].type'"."""
    part = text_part(shape, "one")
    found = repaired(api, shape, [part, item])
    mends = ["mended_content"]
    if shape == "responses" and "cache_control" in sent:  # which it does not know
        sent, mends = {"text": sent["text"]}, [*mends, "refused_member"]
    assert found == ([part, {"type": TEXT_TYPES[shape], **sent}], mends)


def untyped_items() -> st.SearchStrategy[Any]:
    """Draw what tools put into a list of parts as it is."""
    words = st.sampled_from(["a.py", "word " * 30, '"x" ' * 40, "ü\n" * 30, URLS[0], " "])
    texts = st.fixed_dictionaries(
        {"text": words},
        optional={"cache_control": st.just(MARK["cache_control"]), "lines": st.just(3)},
    )
    return st.one_of(words, texts, odd_values)


@st.composite
def mixed_lists(draw: st.DrawFn, shape: str) -> list[Any]:
    """Draw a list of parts, and of items that are none."""
    typed = st.one_of(
        st.sampled_from(["Two rows.", "word " * 40, "ü " * 50]).map(
            lambda text: text_part(shape, text)
        ),
        st.just(IMAGES[shape]),
    )
    parts = draw(st.lists(typed, min_size=1, max_size=3))
    return draw(st.permutations([*parts, *draw(st.lists(untyped_items(), min_size=1, max_size=3))]))


def is_part(shape: str, item: Any) -> bool:
    if shape != "bedrock":
        return isinstance(item, dict) and isinstance(item.get("type"), str) and item["type"] != ""
    return isinstance(item, dict) and isinstance(item.get("json", {}), dict)


@pytest.mark.parametrize("shape", [*TEXT_TYPES, "bedrock"])
@given(data=st.data(), limit=st.one_of(st.none(), st.integers(60, 400)))
def test_mixed_lists_become_parts(
    api: ModuleType, shape: str, data: st.DataObject, limit: int | None
) -> None:
    """Each item is a part afterwards, nothing is lost, and a second repair changes nothing, also of a list that is cut."""
    content = data.draw(mixed_lists(shape))
    names = [name for name, each in DESTINATIONS.items() if each.shape == FORMATS[shape]]
    destination = data.draw(st.sampled_from(names))
    policy = ProjectPolicy(repair=True, max_result_chars=limit, destination=destination)
    sent, mends = repaired(api, shape, content, policy)
    if isinstance(sent, list):
        assert [item for item in sent if not is_part(shape, item)] == []
    if limit is None:
        assert ("mended_content" in mends) is not all(is_part(shape, item) for item in content)
        texts = (
            sent if isinstance(sent, str) else "\n".join([str(item.get("text")) for item in sent])
        )
        for item in content:
            own = "" if is_part(shape, item) else text_of(item) or said_of(shape, item)
            assert not own.strip() or own in texts


def said_of(shape: str, item: Any) -> str:
    """Return the text that holds an item without a type."""
    value = (
        item["json"] if shape == "bedrock" and isinstance(item, dict) and len(item) == 1 else item
    )
    if isinstance(value, dict) and shape == "bedrock":
        return ""
    return value if isinstance(value, str) else compact_json(value)
