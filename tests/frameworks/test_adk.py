"""Google's Agent Development Kit keeps the talk in a session."""

from __future__ import annotations

import asyncio
import base64
import json
from types import ModuleType
from typing import Any

import pytest
from support.framework_talk import ASKED, DONE, PIXEL, SAID, TURNS, answered, check

pytest.importorskip("google.adk", reason="google-adk is not installed; `just frameworks` installs it")  # fmt: skip


def talk() -> list[Any]:
    from google.adk.events import Event
    from google.genai.types import Blob, Content, FunctionCall, FunctionResponse, Part

    found: list[Any] = []

    def add(author: str, role: str, parts: list[Any]) -> None:
        found.append(Event(invocation_id=f"i{turn}", author=author, content=Content(role=role, parts=parts)))  # fmt: skip

    turn = 0
    for asked, calls in TURNS:
        if asked is not None:
            turn += 1
            image = Part(inline_data=Blob(data=base64.b64decode(PIXEL), mime_type="image/png"))
            add("user", "user", [Part(text=asked), *([] if asked == ASKED else [image])])
        said = [Part(text="Hm.", thought=True), Part(text=SAID)] if asked == ASKED else []
        add("painter", "model", [*said, *(Part(function_call=FunctionCall(id=call.call_id, name=call.name, args=call.arguments)) for call in calls)])  # fmt: skip
        add("painter", "user", [
            Part(function_response=FunctionResponse(id=call.call_id, name=call.name, response={"error" if call.has_failed else "result": text}))
            for call, text in answered(calls)
        ])  # fmt: skip
    add("painter", "model", [Part(text=DONE)])
    return found


def test_a_session(api: ModuleType) -> None:
    from google.adk.sessions import InMemorySessionService

    async def write() -> Any:
        service = InMemorySessionService()
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        for event in talk():
            await service.append_event(session, event)
        return await service.get_session(app_name="a", user_id="u", session_id="s")

    session = asyncio.run(write())
    for by_alias in (True, False):
        kind = "camelCase" if by_alias else "snake_case"
        dumped = session.model_dump_json(by_alias=by_alias).encode()
        check(api, "google-adk", f"Session.model_dump_json, {kind}", dumped, "google-adk")
        short = session.model_dump_json(by_alias=by_alias, exclude_none=True).encode()
        check(api, "google-adk", f"the same without nulls, {kind}", short, "google-adk")
        lines = "\n".join(event.model_dump_json(by_alias=by_alias) for event in session.events)
        check(api, "google-adk", f"Event.model_dump_json, lines, {kind}", lines.encode(), "google-adk")  # fmt: skip
    dumped = json.dumps(session.model_dump(mode="json")).encode()
    check(api, "google-adk", "Session.model_dump, json", dumped, "google-adk")
    check(api, "google-adk", "Event objects", session.events, "google-adk")
