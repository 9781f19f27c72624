"""`keep_images`: the newest images stay, and lines take the place of older ones, in results and in messages."""

import base64
import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.wire import bash
from support.oracles.repairs import ASK

from toolcarry import ProjectPolicy, project_body

HEAD = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x09\0\0\0\x09"


def data(number: int) -> str:
    return base64.b64encode(HEAD + bytes(number)).decode()


def line(number: int) -> str:
    return f"[image: image/png, {len(HEAD) + number:,} bytes]"


def anthropic(number: int) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": data(number)}
    return {"type": "image", "source": source}


def url(number: int) -> str:
    return f"data:image/png;base64,{data(number)}"


def kept(
    api: ModuleType, messages: list[Any], count: int, key: str = "messages", **options: Any
) -> tuple[list[Any], list[tuple[int, str, str]]]:
    """Return the messages with their newest images, by objects and by bytes alike, and the older ones of the report."""
    policy = ProjectPolicy(keep_images=count, **options)
    before = json.loads(json.dumps(messages))
    found = api.project(messages, policy=policy)
    assert messages == before
    by_bytes = api.project_body(json.dumps({key: messages}).encode(), policy=policy)
    assert json.loads(by_bytes.body)[key] == found.messages
    assert by_bytes.report.older_images == found.report.older_images
    assert api.project(found.messages, policy=policy).messages == found.messages
    told = [(each.position, each.reference, each.line) for each in found.report.older_images]
    return list(found.messages), told


SHOTS = [
    ASK,
    *bash("one", [{"type": "text", "text": "First."}, anthropic(1)], "t1"),
    {"role": "user", "content": [anthropic(2), {"type": "text", "text": "Like this."}]},
    *bash("two", [anthropic(3), anthropic(4)], "t2"),
]


@pytest.mark.parametrize("repair", [False, True])
def test_the_newest_images_stay(api: ModuleType, repair: bool) -> None:
    assert kept(api, SHOTS, 4, repair=repair) == (SHOTS, [])
    found, told = kept(api, SHOTS, 1, repair=repair)
    assert told == [(2, "t1", line(1)), (3, "", line(2)), (5, "t2", line(3))]
    text = {"type": "text", "text": line(1)}
    assert found[2]["content"][0]["content"] == [{"type": "text", "text": "First."}, text]
    assert found[3]["content"][0] == {"type": "text", "text": line(2)}
    assert found[5]["content"][0]["content"] == [
        {"type": "text", "text": line(3)},
        anthropic(4),
    ]
    assert [found[n] for n in (0, 1, 4)] == [SHOTS[n] for n in (0, 1, 4)]
    assert "image/png;" not in json.dumps(kept(api, SHOTS, 0, repair=repair)[0])


def test_a_mark_for_the_cache_stays(api: ModuleType) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    messages = [{"role": "user", "content": [{**anthropic(1), **mark}, anthropic(2)]}]
    found, _ = kept(api, messages, 1)
    assert found[0]["content"][0] == {"type": "text", "text": line(1), **mark}


def test_results_that_never_change_keep_theirs(api: ModuleType) -> None:
    """Their images count as newest ones, so fewer of the others stay."""
    found, told = kept(api, SHOTS, 1, keep_last_results=1)
    assert [position for position, *_ in told] == [2, 3]
    assert found[5] == SHOTS[5]
    assert kept(api, SHOTS, 1, exclude_tools=["Bash"])[1] == [(3, "", line(2))]


def test_a_cleared_result_has_no_image(api: ModuleType) -> None:
    messages = [ASK, *bash("x", [anthropic(1)], "t1"), *bash("x", [anthropic(2)], "t2")]
    _, told = kept(api, messages, 1, clear_at_least_tokens=0)
    assert told == []


PARTS: dict[str, tuple[str, Any, Any]] = {
    "chat": (
        "messages",
        lambda n: [{"type": "image_url", "image_url": {"url": url(n)}}],
        lambda n: [{"type": "text", "text": line(n)}],
    ),
    "responses": (
        "input",
        lambda n: [{"type": "input_image", "image_url": url(n)}],
        lambda n: [{"type": "input_text", "text": line(n)}],
    ),
    "bedrock": (
        "messages",
        lambda n: [{"image": {"format": "png", "source": {"bytes": data(n)}}}],
        lambda n: [{"text": line(n).replace("image/png", "png")}],
    ),
    "elsewhere": (
        "messages",
        lambda n: [{"type": "image", "source": {"type": "url", "url": f"https://a.org/{n}.png"}}],
        lambda n: [{"type": "text", "text": f"[image: https://a.org/{n}.png]"}],
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_each_provider(api: ModuleType, name: str) -> None:
    key, image, text = PARTS[name]
    messages = [{"role": "user", "content": image(number)} for number in (1, 2, 3)]
    found, told = kept(api, messages, 2, key)
    assert found == [{"role": "user", "content": text(1)}, *messages[1:]]
    assert [position for position, *_ in told] == [0]


def test_results_of_responses(api: ModuleType) -> None:
    def shot(number: int) -> list[Any]:
        ids = {"call_id": f"c{number}"}
        image = {"type": "input_image", "image_url": url(number)}
        call = {"type": "function_call", **ids, "name": "look", "arguments": "{}"}
        return [call, {"type": "function_call_output", **ids, "output": [image]}]

    messages = [ASK, *shot(1), *shot(2)]
    found, told = kept(api, messages, 1, "input")
    assert found[2]["output"] == [{"type": "input_text", "text": line(1)}]
    assert told == [(2, "c1", line(1))]
    assert found[4] == messages[4]


def test_gemini(api: ModuleType) -> None:
    def inline(number: int) -> dict[str, Any]:
        return {"inlineData": {"mimeType": "image/png", "data": data(number)}}

    def shot(number: int) -> list[Any]:
        call = {"functionCall": {"name": "look", "args": {"n": number}}}
        answer = {"name": "look", "response": {"output": "Seen."}, "parts": [inline(number)]}
        return [
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [{"functionResponse": answer}]},
        ]

    asked = {"role": "user", "parts": [{"text": "Look."}, inline(7)]}
    file = {"fileData": {"mimeType": "image/png", "fileUri": "https://a.org/1"}}
    messages = [asked, *shot(1), *shot(2), {"role": "user", "parts": [file]}]
    found, told = kept(api, messages, 2, "contents")
    assert [position for position, *_ in told] == [0, 2]
    assert found[0]["parts"][1] == {"text": line(7)}
    assert found[2]["parts"][0]["functionResponse"] == {
        "name": "look",
        "response": {"output": "Seen.", "older_images": line(1)},
    }
    assert found[4:] == messages[4:]
    assert kept(api, messages, 0, "contents")[0][5]["parts"] == [
        {"text": "[image: https://a.org/1]"}
    ]


def test_ollama(api: ModuleType) -> None:
    messages = [
        {"role": "user", "content": "Look.", "images": [data(1), data(2)]},
        {"role": "assistant", "content": "Yes."},
        {"role": "user", "content": "", "images": [data(3)]},
    ]
    found, told = kept(api, messages, 2)
    assert found[0] == {"role": "user", "content": f"Look.\n{line(1)}", "images": [data(2)]}
    assert found[1:] == messages[1:]
    assert told == [(0, "", line(1))]
    found, _ = kept(api, messages, 0)
    assert found[0] == {"role": "user", "content": f"Look.\n{line(1)}\n{line(2)}"}
    assert found[2] == {"role": "user", "content": line(3)}


def test_a_limit_on_the_request_counts_what_is_left(api: ModuleType) -> None:
    """The images alone are over the limit, so that without them no result is cleared."""
    shots = [bash(f"look {n}", [anthropic(n)], f"t{n}") for n in range(8)]
    messages = [ASK, *(message for shot in shots for message in shot)]
    found = api.project(messages, policy=ProjectPolicy(keep_images=1, max_request_tokens=4_000))
    assert found.report.tokens_before > 4_000 > found.report.tokens_after
    assert found.report.replacements == ()
    assert len(found.report.older_images) == 7


def test_the_cache_breaks_where_an_image_goes(api: ModuleType) -> None:
    policy = ProjectPolicy(keep_images=2)
    shots = [bash(f"look {n}", [anthropic(3_000)], f"t{n}") for n in range(4)]
    messages = [ASK]
    previous = None
    breaks = []
    for shot in shots:
        messages = [*messages, *shot]
        body = json.dumps({"messages": messages}).encode()
        now = project_body(body, policy=policy, previous=previous)
        previous = now.decisions
        breaks.append(now.report.cache_break_tokens > 0)
    assert breaks == [False, False, True, True]


def test_an_image_that_cannot_be_read(api: ModuleType) -> None:
    """A repair corrects what is kept, and what goes is no longer corrected."""
    broken = {"type": "image", "source": {**anthropic(1)["source"], "data": "aGk="}}
    messages = [{"role": "user", "content": [broken, anthropic(2), broken]}]
    found = api.project(messages, policy=ProjectPolicy(repair=True, keep_images=2))
    assert [mend.kind for mend in found.report.mends] == ["unreadable_media"]
    assert len(found.report.older_images) == 1
    assert [part["type"] for part in found.messages[0]["content"]] == ["text", "image", "text"]
