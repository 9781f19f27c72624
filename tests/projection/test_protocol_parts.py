"""Parts of the Model Context Protocol between those of Gemini, which has no types of parts.

https://modelcontextprotocol.io/specification/2025-06-18/schema#contentblock
"""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders.faults import png

from toolcarry import ProjectPolicy, check

PNG, WAV, PDF = png(1, 1), "UklGRiQAAABXQVZF", "JVBERi0xLjQK"
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/jpeg"}
SOUND = {"type": "audio", "data": WAV, "mimeType": "audio/x-wav"}
NOTE = {"type": "resource", "resource": {"uri": "a.md", "mimeType": "text/plain", "text": "a"}}
PAPER = {"type": "resource", "resource": {"uri": "a", "mimeType": "application/pdf", "blob": PDF}}
LINK = {"type": "resource_link", "uri": "https://example.org/a.png", "mimeType": "image/png"}
BROKEN = {"type": "image", "data": "[redacted]", "mimeType": "image/png"}
FILM = {"type": "resource", "resource": {"uri": "a", "mimeType": "video/mp4", "blob": "AAAAIGZ0"}}
ASK = {"text": "Go."}
CALL = {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]}


def inline(kind: str, data: str) -> Any:
    return {"inlineData": {"mimeType": kind, "data": data}}


def sent(api: ModuleType, contents: list[Any], destination: str) -> tuple[list[Any], list[str]]:
    policy = ProjectPolicy(repair=True, destination=destination)
    body = json.dumps({"contents": contents}).encode()
    once = api.project_body(body, policy=policy)
    assert once.report.not_repaired == ""
    assert api.project_body(once.body, policy=policy).body == once.body
    assert check(once.body, destination=destination) == ()
    found = json.loads(once.body)["contents"]
    assert api.project(contents, policy=policy).messages == found
    return found, [mend.kind for mend in once.report.mends]


@pytest.mark.parametrize("destination", ["gemini", "vertex-gemini"])
@pytest.mark.parametrize(
    ("part", "becomes"),
    [
        (IMAGE, inline("image/png", PNG)),
        (SOUND, inline("audio/wav", WAV)),
        (PAPER, inline("application/pdf", PDF)),
        (NOTE, {"text": "a"}),
        (LINK, {"text": "[resource_link: https://example.org/a.png]"}),
        (BROKEN, {"text": "[image: image/png, 7 bytes]"}),
        (FILM, {"text": "[resource: a]"}),
    ],
)
def test_a_part_of_a_message(api: ModuleType, destination: str, part: Any, becomes: Any) -> None:
    for parts in ([ASK, part], [part]):
        found, kinds = sent(api, [{"role": "user", "parts": parts}], destination)
        assert found[0]["parts"] == [becomes if each is part else each for each in parts]
        assert kinds == ["foreign_part"]


def answer(parts: list[Any], **response: Any) -> Any:
    held = {"name": "look", "response": response, "parts": parts}
    return {"role": "user", "parts": [{"functionResponse": held}]}


@pytest.mark.parametrize("destination", ["gemini", "vertex-gemini"])
def test_a_part_next_to_an_answer(api: ModuleType, destination: str) -> None:
    """There, bytes and files are taken alone: a text goes into the answer."""
    contents = [
        {"role": "user", "parts": [ASK]},
        CALL,
        answer([IMAGE, NOTE, SOUND, PAPER, {"type": "text", "text": "b"}], output="seen"),
    ]
    found, kinds = sent(api, contents, destination)
    held = found[2]["parts"][0]["functionResponse"]
    assert held["parts"] == [inline("image/png", PNG), inline("application/pdf", PDF)]
    assert held["response"] == {"output": "seen", "parts": "a\n[audio: audio/x-wav, 12 bytes]\nb"}
    assert kinds == ["foreign_part"] * 5


def test_broken_bytes_next_to_an_answer(api: ModuleType) -> None:
    contents = [
        {"role": "user", "parts": [ASK]},
        CALL,
        answer([inline("image/png", "[redacted]")], output="seen"),
    ]
    found, kinds = sent(api, contents, "gemini")
    line = "[image: image/png, 7 bytes]"
    assert found[2] == {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "look", "response": {"output": "seen", "parts": line}}}
        ],
    }
    assert kinds == ["unreadable_media"]


def test_a_part_in_an_answer_stays(api: ModuleType) -> None:
    """An answer is any object."""
    contents = [
        {"role": "user", "parts": [ASK]},
        CALL,
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "look", "response": {"content": [IMAGE]}}}],
        },
    ]
    assert sent(api, contents, "gemini") == (contents, [])


def test_parts_with_types_are_of_another_format(api: ModuleType) -> None:
    """Those of a user interface, for one."""
    messages = [{"role": "user", "parts": [{"type": "text", "text": "Go."}, IMAGE]}]
    policy = ProjectPolicy(repair=True, destination="gemini")
    found = api.project(messages, policy=policy)
    assert found.messages == messages
    assert found.report.not_repaired == "unread in message 0"
