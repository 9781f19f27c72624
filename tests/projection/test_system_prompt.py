"""System messages at the beginning of a request: they move to its system prompt, where the destination has one."""

import json
from types import ModuleType
from typing import Any

import pytest
from support.builders import wire
from support.oracles.destinations import RECORDS
from support.rows import for_each

from toolcarry import ProjectPolicy

NOTE, MORE, OWN = "Be brief.", "Be kind.", "You are a cook."
MARK = {"cache_control": {"type": "ephemeral"}}
TURNS = {name: each for name, each in RECORDS.items() if each.form == "turns"}


def part(name: str, text: str) -> dict[str, Any]:
    return {"type": "text", "text": text} if RECORDS[name].has_types else {"text": text}


def request(name: str, *roles: tuple[str, Any], **frame: Any) -> dict[str, Any]:
    """Return a request with messages of these roles and contents: a text, or parts."""
    key = RECORDS[name].key
    messages = [
        {
            "role": role,
            key: [part(name, given)] if key == "parts" and isinstance(given, str) else given,
        }
        for role, given in roles
    ]
    return {**frame, "contents" if key == "parts" else "messages": messages}


def talk(name: str) -> list[tuple[str, Any]]:
    return [
        ("user", [part(name, "Go.")]),
        (RECORDS[name].model, [part(name, "Yes.")]),
        ("user", [part(name, "And?")]),
    ]


def repaired(api: ModuleType, body: dict[str, Any], destination: str | None) -> tuple[Any, Any]:
    """Repair a body, see that a second repair changes nothing, and return the new body and the report."""
    policy = ProjectPolicy(repair=True, destination=destination)
    found = api.project_body(json.dumps(body).encode(), policy=policy)
    again = api.project_body(found.body, policy=policy)
    assert (again.body, again.report.mends) == (found.body, ())
    return json.loads(found.body), found.report


def prompt_in(name: str, body: dict[str, Any]) -> list[Any]:
    """Return the parts of the system prompt of a request."""
    held = body["systemInstruction"]["parts"] if RECORDS[name].key == "parts" else body["system"]
    assert isinstance(held, list)
    return held


@for_each("is_parts", [True, False])
@for_each("role", ["system", "developer"])
@for_each("name", TURNS)
def test_the_first_messages_move(api: ModuleType, name: str, role: str, is_parts: bool) -> None:
    first: list[tuple[str, Any]] = [
        (role, [part(name, text)] if is_parts else text) for text in (NOTE, MORE)
    ]
    given = request(name, *first, *talk(name))
    key = "contents" if "contents" in given else "messages"
    made, report = repaired(api, given, name)
    assert prompt_in(name, made) == [part(name, NOTE), part(name, MORE)]
    assert made[key] == given[key][2:]
    place = "systemInstruction" if key == "contents" else "system"
    mends = [(mend.kind, mend.position, mend.detail) for mend in report.mends]
    assert mends == [("system_message", 0, place), ("system_message", 1, place)]


@pytest.mark.parametrize("name", TURNS)
def test_they_come_after_the_prompt_that_is_there(api: ModuleType, name: str) -> None:
    parts = [part(name, OWN)]
    owns = [parts] if RECORDS[name].key != "parts" else [{"role": "user", "parts": parts}]
    owns += [OWN] if name != "bedrock" else []
    for own in owns:
        key = "systemInstruction" if RECORDS[name].key == "parts" else "system"
        made, _ = repaired(api, request(name, ("system", NOTE), *talk(name), **{key: own}), name)
        assert prompt_in(name, made) == [part(name, OWN), part(name, NOTE)]
        assert not isinstance(own, dict) or made[key]["role"] == "user"


@pytest.mark.parametrize(
    ("frame", "path"),
    [
        ({}, ["systemInstruction"]),
        ({"system_instruction": {"parts": []}}, ["system_instruction"]),
        ({"config": {"temperature": 0}}, ["config", "systemInstruction"]),
        ({"config": {"system_instruction": ""}}, ["config", "system_instruction"]),
        ({"config": None}, ["systemInstruction"]),
    ],
)
def test_the_places_of_gemini(api: ModuleType, frame: dict[str, Any], path: list[str]) -> None:
    made, report = repaired(
        api, request("gemini", ("system", NOTE), *talk("gemini"), **frame), "gemini"
    )
    assert report.mends[0].detail == ".".join(path)
    for key in path:
        made = made[key]
    assert made == {"parts": [{"text": NOTE}]}


@pytest.mark.parametrize("name", TURNS)
def test_what_does_not_move(api: ModuleType, name: str) -> None:
    """A later message, one that is not text, a request of nothing else, and a prompt that is none."""
    image = (
        {"type": "image", "source": {"type": "url", "url": "https://e.org/a.png"}}
        if RECORDS[name].has_types
        else {"image": {}}
    )
    place = "systemInstruction" if RECORDS[name].key == "parts" else "system"
    for given in (
        request(name, *talk(name), ("system", [part(name, NOTE)])),
        request(name, ("system", [part(name, NOTE), image]), *talk(name)),
        request(name, ("system", [part(name, NOTE)])),
        request(name, ("system", [part(name, NOTE)]), *talk(name), **{place: 5}),
    ):
        made, report = repaired(api, given, name)
        assert made.get(place) == given.get(place)
        assert all(mend.detail == "" for mend in report.mends if mend.kind == "system_message")
        roles = [message["role"] for message in made.get("contents", made.get("messages"))]
        assert ("system" in roles) is not RECORDS[name].refuses_system


@pytest.mark.parametrize("name", TURNS)
def test_a_list_of_messages_has_no_prompt(api: ModuleType, name: str) -> None:
    given = request(name, ("system", [part(name, NOTE)]), *talk(name))
    messages = given.get("contents", given.get("messages"))
    found = api.project(messages, policy=ProjectPolicy(repair=True, destination=name))
    refuses = RECORDS[name].refuses_system
    roles = [message["role"] for message in found.messages]
    assert roles[0] == ("user" if refuses else "system")
    assert [mend.detail for mend in found.report.mends if mend.kind == "system_message"] == [
        ""
    ] * refuses


def test_marks_for_the_cache_move_along(api: ModuleType) -> None:
    """They count in the order of the prefix, and the first ones go."""
    marked = [{"type": "text", "text": f"{number}", **MARK} for number in range(6)]
    bare = [{"text": "6", **MARK}]
    given = {
        "system": marked[:2],
        "messages": [
            {"role": "system", "content": [*marked[2:4], *bare]},
            wire.user(*marked[4:]),
            *wire.bash("ls"),
        ],
    }
    made, report = repaired(api, given, None)
    prompt = [(each["text"], each["type"], "cache_control" in each) for each in made["system"]]
    assert prompt == [
        ("0", "text", False),
        ("1", "text", False),
        ("2", "text", False),
        ("3", "text", True),
        ("6", "text", True),
    ]
    assert all("cache_control" in each for each in made["messages"][0]["content"])
    assert [mend.kind for mend in report.mends].count("cache_mark") == 3


def test_a_request_that_may_be_chats(api: ModuleType) -> None:
    """Words of the assistant in parts: without calls, or a prompt, or a destination, nothing moves."""
    given = request("anthropic", ("system", NOTE), *talk("anthropic"), model="claude-sonnet-4-5")
    made, _ = repaired(api, given, None)
    assert "system" not in made
    given["messages"] += [*wire.bash("ls")]
    made, _ = repaired(api, given, None)
    assert made["system"] == [part("anthropic", NOTE)]


def test_the_prompt_is_counted(api: ModuleType) -> None:
    """Messages that move need their room as before."""
    given = request("anthropic", ("system", "word " * 300), *talk("anthropic"))
    given["messages"] += [
        message for number in range(9) for message in wire.bash("ls", "a line\n" * 40, f"t{number}")
    ]
    policy = ProjectPolicy(repair=True, max_request_tokens=700)
    found = api.project_body(json.dumps(given).encode(), policy=policy)
    assert 300 < found.report.tokens_after <= 700
    assert found.report.replacements


def test_a_message_that_is_the_first_one_after_the_repair(api: ModuleType) -> None:
    """The message before it was left out."""
    given = request(
        "anthropic", ("assistant", []), ("system", NOTE), ("developer", [{"text": MORE}])
    )
    given["messages"] += wire.bash("ls")
    made, report = repaired(api, given, None)
    assert made["system"] == [part("anthropic", NOTE), part("anthropic", MORE)]
    assert made["messages"] == given["messages"][3:]
    places = [mend.position for mend in report.mends if mend.kind == "system_message"]
    assert places == [1, 2]
