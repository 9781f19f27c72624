"""What the providers ask of calls and results: where their ids stand, what an id may be, and what they refuse."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from toolcarry._pure.project.mend.made import (
    SHOWN,
    anthropic_result,
    bare_text,
    bedrock_result,
    chat_result,
    gemini_result,
    ollama_result,
    responses_result,
    typed_text,
)
from toolcarry._pure.project.sites import RESPONSES
from toolcarry.wire import Wire, as_object, text_or_empty


class IdAt(NamedTuple):
    """Where an id stands: the member that holds it, by the names that it may have (none: the part itself); its key."""

    holders: tuple[str, ...]
    key: str

    def holder(self, part: Wire) -> str:
        """The name of the member that holds it; empty for the part itself."""
        names = (name for name in self.holders if as_object(part.get(name)) is not None)
        return next(names, self.holders[0] if self.holders else "")

    def held(self, part: Wire) -> Wire:
        """What holds it."""
        return (as_object(part.get(self.holder(part))) or {}) if self.holders else part

    def text(self, part: Wire) -> str:
        """The id; empty where there is none."""
        return text_or_empty(self.held(part).get(self.key))


class Dialect(NamedTuple):
    """How one provider's requests are written."""

    form: Literal["turns", "chat", "items"]
    """Whether results are parts of the user's turn, messages of their own, or items."""
    key: str
    """Where the parts of a message stand."""
    answering: tuple[str, ...]
    """The roles of the messages whose parts may be results; empty for one that has none."""
    call_id: IdAt
    result_id: IdAt
    ids: re.Pattern[str]
    """What an id may be: also nothing, where there need be none."""
    name: IdAt | None
    """Where a result says its tool's name, if that has to be the call's."""
    is_unique: Literal["request", "turn"]
    """Where an id may stand once only."""
    is_call: Callable[[Wire], bool]
    """Of what stands where calls do."""
    is_result: Callable[[Wire], bool]
    make: Callable[[str, str, Wire], Any]
    """A result for a call: of an id and a tool's name, and the call itself; ``None`` where none can be made."""
    text: Callable[[str], Any]
    """A text part."""
    refuses_blank: bool = False
    """Whether a text part without a word is refused, and white space in which the model's last words end."""
    is_failure: Callable[[Wire], bool] = lambda _held: False
    """Of what holds a result: whether it says that it failed, so that one without content is refused."""
    fails_in_words: bool = False
    """Whether a failure may hold nothing but texts."""
    ends_in_calls: bool = False
    """Whether a text behind the calls of a turn is refused, and an answer of the provider's own behind one of them."""
    answers_at_once: bool = False
    """Whether the results of a turn have to stand in one message."""
    merges: bool = False
    """Whether messages of one role may not follow one another."""
    model: str = "assistant"
    """The role of the messages that may call."""

    @property
    def may_be_both(self) -> bool:
        """Whether one part may hold a call and a result: where a member tells what a part is, and not its type."""
        return self.form == "turns" and bool(self.result_id.holders)


ANSWERED = (
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    SHOWN,
)
"""The calls of Responses that the client answers."""

DIALECTS: Final[dict[str, Dialect]] = {
    # Refused: an id outside this pattern, or twice in a request; a blank text; a failure that is empty or holds more than
    # texts; anything between a call and its result; a last assistant message that ends in a thought or in white space.
    # https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls and /docs/en/api/messages; a server's
    # result after a call: https://github.com/vercel/ai/issues/16312. tests/validity/anthropic.py quotes each error.
    "anthropic": Dialect(
        "turns", "content", ("user",), IdAt((), "id"), IdAt((), "tool_use_id"), re.compile(r"[A-Za-z0-9_-]+"), None, "request",
        lambda part: part.get("type") == "tool_use",
        lambda part: part.get("type") == "tool_result",
        anthropic_result, typed_text,
        refuses_blank=True, is_failure=lambda held: held.get("is_error") is True, fails_in_words=True, ends_in_calls=True,
    ),
    # Refused: roles that do not alternate, and ids of more than 64 characters. The reference allows neither dots nor colons
    # in an id, but the service does. https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
    "bedrock": Dialect(
        "turns", "content", ("user",), IdAt(("toolUse",), "toolUseId"), IdAt(("toolResult",), "toolUseId"),
        re.compile(r"[A-Za-z0-9_.:-]{1,64}"), None, "request",
        lambda part: "toolUse" in part,
        lambda part: "toolResult" in part,
        bedrock_result, bare_text,
        refuses_blank=True, is_failure=lambda held: held.get("status") == "error", merges=True,
    ),
    # The responses to the parallel calls of a turn have to be in one content, as many as there are calls.
    # https://ai.google.dev/gemini-api/docs/function-calling
    "gemini": Dialect(
        "turns", "parts", ("user", "function", ""),
        IdAt(("functionCall", "function_call"), "id"), IdAt(RESPONSES, "id"),
        re.compile(r".*", re.DOTALL), IdAt(RESPONSES, "name"), "turn",
        lambda part: "functionCall" in part or "function_call" in part,
        lambda part: any(name in part for name in RESPONSES),
        gemini_result, bare_text,
        answers_at_once=True, model="model",
    ),
    # Each call is answered right after its message; an id has at most 40 characters and may repeat in a later turn.
    # https://platform.openai.com/docs/api-reference/chat/create
    "openai-chat": Dialect(
        "chat", "tool_calls", (), IdAt((), "id"), IdAt((), "tool_call_id"), re.compile(r".{1,40}", re.DOTALL), None, "turn",
        lambda _part: True,
        lambda part: part.get("role") == "tool",
        chat_result, typed_text,
    ),
    # Results are paired by their order and their tool's name; templates ignore ids.
    # https://docs.ollama.com/capabilities/tool-calling
    "ollama": Dialect(
        "chat", "tool_calls", (), IdAt((), "id"), IdAt((), "tool_call_id"),
        re.compile(r".*", re.DOTALL), IdAt((), "tool_name"), "turn",
        lambda _part: True,
        lambda part: part.get("role") == "tool",
        ollama_result, typed_text,
    ),
    # Each call needs its own kind of output in the input, and an id has at most 64 characters.
    # https://platform.openai.com/docs/guides/function-calling?api-mode=responses
    "openai-responses": Dialect(
        "items", "", (), IdAt((), "call_id"), IdAt((), "call_id"), re.compile(r".{1,64}", re.DOTALL), None, "request",
        lambda part: part.get("type") in ANSWERED,
        lambda part: text_or_empty(part.get("type")).endswith("_call_output"),
        responses_result, typed_text,
    ),
}  # fmt: skip
"""By the name that the readers give to a shape. What else is recognised is no request, and is never mended."""
