"""Restore the tools of requests without any: look them up in the tool cache and insert them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypedDict

from toolcarry._input.json import dump
from toolcarry._input.raw_json import write_array, write_object, written_items, written_members
from toolcarry._util.workers import LARGE, in_worker
from toolcarry.errors import InputError
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.switch.request_fields import RequestFields
from toolcarry.tool_cache import Style, ToolCache

__all__ = ["give_tools"]

MARK_NAME: Final = "cache_control"
MARK: Final = b'"cache_control"'
# More than four are refused: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
MOST_MARKS: Final = 4
"""For a request to Anthropic, whose client chose the cache marks of a request without these tools."""


class Asked(TypedDict):
    """The arguments of ``ToolCache.resolve`` that describe the request."""

    messages: Sequence[Any]
    tool_choice: object
    scope: str
    style: Style


async def give_tools(cache: ToolCache, request: ModelRequest) -> bytes:
    """Return a body with the tools that its client sent before; the same object if it has tools, or none are known.

    Each tenant, client and conversation has its own tools. A request without identity, fields or style gets none. Raises
    ``InputError`` for a body that is not a request.
    """
    body, identity, fields, style = (
        request.body,
        request.identity,
        request.fields,
        request.style,
    )
    if identity is None or fields is None or style is None:
        return body
    if len(body) >= LARGE:
        return await in_worker(given_at_once, cache, request)
    model, tools = named_tools(request, fields)
    found = await cache.aresolve(model, tools, **asked(fields, identity, style))
    return with_tools(body, found.to_bytes(), style) if found.source == "cache" else body


def given_at_once(cache: ToolCache, request: ModelRequest) -> bytes:
    """Run ``give_tools`` on a request with identity, fields and style, in a thread that may wait for the store."""
    body, identity, fields, style = request.body, request.identity, request.fields, request.style
    if identity is None or fields is None or style is None:
        return body
    model, tools = named_tools(request, fields)
    found = cache.resolve(model, tools, **asked(fields, identity, style))
    return with_tools(body, found.to_bytes(), style) if found.source == "cache" else body


def named_tools(request: ModelRequest, fields: RequestFields) -> tuple[Any, bytes | None]:
    """Return the model of a request and its tools. Those of Bedrock are in ``toolConfig``, and the model in the path."""
    if request.style != "bedrock" or request.identity is None:
        return request.asked_model or fields.model, fields.tools
    return request.identity.backend, tool_config(written_members(request.body)).get("tools")


def tool_config(members: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the members of ``toolConfig``; none if it is missing, or no object."""
    with suppress(InputError):
        return written_members(members.get("toolConfig", b"{}"))
    return {}


def asked(fields: RequestFields, identity: RequestIdentity, style: Style) -> Asked:
    return {
        "messages": fields.messages,
        "tool_choice": fields.tool_choice,
        "scope": scope_of(identity),
        "style": style,
    }


def scope_of(identity: RequestIdentity) -> str:
    """Return a string that is unique for a tenant, a client and a conversation.

    A guessed conversation is ignored: its first request, which has the tools, may have another name than the later
    ones.
    """
    conversation = "" if identity.is_guessed else identity.conversation
    return dump([identity.tenant, identity.client, conversation]).decode()


def with_tools(body: bytes, tools: bytes, style: Style = "openai") -> bytes:
    """Return a request with these tools; the same object if it has ``functions``, the predecessor of ``tools``.

    Everything else is copied byte by byte.

    >>> with_tools(b'{"model": "m", "top_p": 1e-1, "tools": []}', b'[{"name":"f"}]')
    b'{"model":"m","top_p":1e-1,"tools":[{"name":"f"}]}'
    """
    members = written_members(body)
    if style == "bedrock":
        config = write_object({**tool_config(members), "tools": tools})
        return write_object({**members, "toolConfig": config})
    if "functions" in members:
        return body
    if MARK in tools:
        given = [written_members(tool) for tool in written_items(tools)]
        if body.count(MARK) + sum(MARK_NAME in tool for tool in given) > MOST_MARKS:
            for tool in given:
                tool.pop(MARK_NAME, None)
            tools = write_array([write_object(tool) for tool in given])
    return write_object({**members, "tools": tools})
