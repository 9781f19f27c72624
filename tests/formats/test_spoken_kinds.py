"""Parts of messages that hold spoken text in a wrapper: compactions, citations, guardrails; and what users attach."""

import json
from types import ModuleType
from typing import Any

from support.builders.wire import assistant, user
from support.rows import for_each

PNG = {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}
QUOTE = {"type": "char_location", "cited_text": "grass", "document_index": 0}


def cited(*texts: str) -> dict[str, Any]:
    content = [{"text": text} for text in texts]
    return {"citationsContent": {"content": content, "citations": [{"title": "Atlas"}]}}


SPOKEN: list[tuple[Any, str]] = [
    ({"type": "text", "text": "Grass is green.", "citations": [QUOTE]}, "Grass is green."),
    ({"type": "output_text", "text": "See [1].", "annotations": [{"url": "x"}]}, "See [1]."),
    ({"type": "compaction", "content": "We moved the port."}, "We moved the port."),
    ({"type": "compaction", "content": "Moved.", "encrypted_content": "e"}, "Moved."),
    (cited("Bergen is in the west."), "Bergen is in the west."),
    (cited("One.", "Two."), "One.\nTwo."),
    ({"guardContent": {"text": {"text": "My bank?", "qualifiers": ["query"]}}}, "My bank?"),
]
SILENT: list[Any] = [
    {"type": "compaction", "content": None},
    {"type": "compaction", "encrypted_content": "e"},
    {"type": "compaction", "content": [7]},
    {"citationsContent": {"content": [], "citations": []}},
    {"citationsContent": {"content": [{"text": 7}, 8]}},
    {"citationsContent": "x"},
    {"guardContent": {"text": "x"}},
    {"type": "odd", "citationsContent": {"content": [{"text": "x"}]}},
    {**cited("x"), "thought": True},
]
ATTACHED: list[tuple[Any, str]] = [
    ({"type": "image", "source": PNG}, "[image: image/png, 5 bytes]"),
    ({"type": "document", "source": {"type": "text", "data": "The key is 5."}}, "The key is 5."),
    (
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "a"}]}},
        "a",
    ),
    (
        {"type": "search_result", "title": "T", "source": "s", "content": [{"type": "text", "text": "b"}]},
        "[search_result: T, s]\nb",
    ),
    (
        {"searchResult": {"title": "T", "source": "s", "content": [{"text": "b"}]}},
        "[search_result: T, s]\nb",
    ),
    ({"guardContent": {"image": {"format": "png", "source": {"bytes": "aGVsbG8="}}}}, "[image: png, 5 bytes]"),
    ({"document": {"format": "txt", "name": "n", "source": {"text": "notes"}}}, "notes"),
    ({"type": "video_url", "video_url": {"url": "https://a/b.mp4"}}, "[video: https://a/b.mp4]"),
    ({"type": "refusal", "refusal": "I can't."}, "I can't."),
]  # fmt: skip


def both_inputs(messages: list[Any]) -> tuple[list[Any], bytes]:
    return messages, json.dumps({"messages": messages}).encode()


@for_each(("part", "text"), SPOKEN + ATTACHED)
def test_dialogue_and_recount_read_it(
    api: ModuleType, rust: ModuleType, part: Any, text: str
) -> None:
    messages = [user({"type": "text", "text": "First."}, part), assistant(part)]
    for given in both_inputs(messages):
        assert api.dialogue(given) == (
            f"[USER]\nFirst.\n{text}\n[/USER]\n\n[ASSISTANT]\n{text}\n[/ASSISTANT]"
        )
    told = [message["content"] for message in rust.recount(messages).messages]
    assert told == [f"First.\n{text}", text]


@for_each("part", SILENT)
def test_a_wrapper_without_text_says_nothing(api: ModuleType, part: Any) -> None:
    messages = [user({"type": "text", "text": "First."}), assistant(part)]
    for given in both_inputs(messages):
        assert api.dialogue(given) == "[USER]\nFirst.\n[/USER]"


def test_calls_results_and_thoughts_stay_out_of_the_dialogue(api: ModuleType) -> None:
    messages = [
        assistant(
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {}},
        ),
        user({"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "image", "source": PNG}]}),
    ]  # fmt: skip
    for given in both_inputs(messages):
        assert api.dialogue(given) == ""
    thought = {"role": "model", "parts": [{"inlineData": PNG, "thought": True}, {"text": "Seen."}]}
    assert api.dialogue([thought]) == "[ASSISTANT]\nSeen.\n[/ASSISTANT]"


def test_grounding_of_a_gemini_answer_is_not_its_text(api: ModuleType) -> None:
    grounded = {"groundingChunks": [{"web": {"uri": "https://a", "title": "A"}}]}
    message = {"role": "model", "parts": [{"text": "Rain."}], "groundingMetadata": grounded}
    assert api.dialogue([message]) == "[ASSISTANT]\nRain.\n[/ASSISTANT]"
