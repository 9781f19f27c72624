"""Conversations as the requests of another provider: ``convert``, with a list of its losses.

Messages of any format are read into turns (``read``), fitted to what the target can hold (``adapt``), and written in
its format (``anthropic``, ``openai``, ...). Order and pairs stay unchanged. Finally, the repair of ``project`` corrects
everything that the destination would reject.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, cast, get_args

from msgspec.structs import replace

from toolcarry import _backend
from toolcarry._input.json import dump, loads
from toolcarry.api.conversation import Conversation, Given
from toolcarry.api.convert.losses import KINDS, Losses
from toolcarry.api.projection import project_body
from toolcarry.errors import BackendError, InputError
from toolcarry.types.destinations import Destination
from toolcarry.types.policy import NO_LIMIT, ProjectPolicy
from toolcarry.types.results import Converted
from toolcarry.types.shapes import NEW_NAMES, TARGETS, Shape, Target, members_of, record_named
from toolcarry.types.values import check_choice

__all__ = [
    "KINDS",
    "convert",
]

OtherDestination: TypeAlias = Literal[
    "anthropic-4-5", "anthropic-4-6", "anthropic-compatible", "anthropic-no-prefill", "azure-openai",
    "bedrock-anthropic", "bedrock-claude-4-6", "bedrock-llama", "bedrock-nova", "cohere", "deepseek", "deepseek-vision", "gemini-3", "glm",
    "groq", "kimi", "minimax", "mistral", "openrouter", "qwen", "vertex-anthropic", "vertex-gemini", "xai",
]  # fmt: skip
To: TypeAlias = Target | OtherDestination | Destination
OTHER_DESTINATIONS: Final = get_args(OtherDestination)
"""The destinations whose requests have one of the formats, with other rules."""


def convert(messages: Given, *, to: To, repair: bool = True) -> Converted:
    """Convert a conversation to another provider's format, each call with its result.

    ``to`` is ``anthropic``, ``openai-chat``, ``openai-responses``, ``gemini``, ``bedrock`` or ``ollama``; ``openai``
    and ``responses`` are older names of OpenAI's two formats. It may also be a destination with rules of its own for
    one of these formats, such as ``mistral``, or your own ``Destination``.

    ``messages`` is a list of messages in any of the known shapes, or bytes: a request body, a JSON array or
    JSONL. Only the active branch of a session file is converted, without side chains. Calls and results keep their order,
    and their ids if the target accepts them.

    Finally, the request is repaired for its destination, as by ``ProjectPolicy(repair=True)``: a call without a result
    gets the result "interrupted", a result without a call is left out, and names and ids that would be rejected are
    replaced. ``Converted.mends`` lists each correction. With ``repair=False``, nothing is invented except missing ids,
    and orphans stay; use this for a conversation in progress, whose last calls will still get their results. The Python
    fallback can't repair, and ``Converted.not_repaired`` says so.

    If the target has no error flag, a failed result begins with ``[Tool use failed]``. Converting to a format with a
    flag turns this mark back into the flag. Arguments that are not JSON become ``{"INVALID_JSON": text}``; with
    ``repair=False`` only where the target has no arguments as text. Raises ``InputError`` as ``carry`` does, and
    ``ConfigError`` for an unknown target.

    >>> converted = convert([
    ...     {"role": "assistant", "content": [
    ...         {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]},
    ...     {"role": "user", "content": [
    ...         {"type": "tool_result", "tool_use_id": "t1", "content": "denied", "is_error": True}]},
    ... ], to="openai")
    >>> converted.messages[1]
    {'role': 'tool', 'tool_call_id': 't1', 'content': '[Tool use failed]\\ndenied'}
    >>> converted.losses
    (Loss(position=1, kind='is_error', detail='Bash t1'),)
    >>> call = {"id": "t1", "type": "function", "function": {"name": "Bash", "arguments": "{}"}}
    >>> converted = convert([{"role": "assistant", "content": None, "tool_calls": [call]}], to="openai")
    >>> converted.messages[1]
    {'role': 'tool', 'tool_call_id': 't1', 'content': '[Tool use interrupted: no result]'}
    >>> converted.mends
    (Mend(kind='missing_result', position=0, call_id='t1', detail=''),)
    """
    if not isinstance(to, Destination):
        check_choice("to", to, (*TARGETS, *NEW_NAMES, *OTHER_DESTINATIONS))
    # These are not loaded with the package: they take as long as all of `import toolcarry`.
    from toolcarry.api.convert import adapt, anthropic, bedrock, gemini, ollama, openai, responses  # noqa: PLC0415 - see above
    from toolcarry.api.convert.opening import open_request  # noqa: PLC0415 - see above
    from toolcarry.api.convert.read import read_turns  # noqa: PLC0415 - see above
    from toolcarry.model.destinations import wanted_destination  # noqa: PLC0415 - see above

    name = to if isinstance(to, Destination) else record_named(to)
    destination = wanted_destination(name)
    target = cast("Shape", NEW_NAMES.get(destination.shape, destination.shape))

    holds, writer = {
        "anthropic": (adapt.ANTHROPIC, anthropic),
        "openai": (adapt.OPENAI, openai),
        "responses": (adapt.RESPONSES, responses),
        "ollama": (adapt.OLLAMA, ollama),
        "gemini": (adapt.GEMINI, gemini),
        "bedrock": (adapt.BEDROCK, bedrock),
    }[target]
    losses = Losses()
    given = open_request(Conversation.of(messages).given, losses)
    turns = [*given.system, *read_turns(given.messages, target, losses)]
    fitted = adapt.fit(turns, holds, losses)
    named = adapt.give_ids(fitted, target, losses)
    if repair:
        named = adapt.wrap_malformed(named)
    system, written = writer.write(named, losses)
    unread = given.importing.with_missing(losses.unread) if given.importing else losses.unread
    converted = Converted(target, written, system, losses.in_order(), unread)
    if not repair or not written:
        return converted
    mended = repaired(converted, name)
    if mended.mends and target in ("anthropic", "openai"):
        for message in mended.messages:
            # A text that has lost its mark needs no part any more.
            if isinstance(message.get("content"), list):
                message["content"] = writer.simple(message["content"])
    return mended


def repaired(converted: Converted, destination: str | Destination) -> Converted:
    """Return a conversation with the corrections of its destination; nothing else is changed."""
    if _backend.backend() == "python":
        return replace(converted, not_repaired=str(BackendError("repair")))
    policy = ProjectPolicy(
        repair=True, destination=destination, content="off", keep_last_results=NO_LIMIT
    )
    try:
        body = dump(converted.to_dict())
    except InputError as error:
        return replace(converted, not_repaired=str(error))
    projected = project_body(body, policy=policy)
    report = projected.report
    rest = report.not_repaired or report.untouched
    if projected.body is body:
        return replace(converted, not_repaired=rest)
    settings = loads(projected.body)
    system_key, key = members_of(converted.target)
    messages = settings.pop(key)
    settings.pop(system_key, None)  # unchanged: the system prompt has no rules
    return replace(
        converted, messages=messages, settings=settings, mends=report.mends, not_repaired=rest
    )
