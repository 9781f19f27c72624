"""LangChain: ``trim_messages``, and what ``ContextEditingMiddleware`` does before a model is called.

Its messages are objects of its own, made before anything is timed; making them is a row by itself. The counter with
tiktoken is what its pages show; the encoding is the one that comes with toolcarry, so that nothing is fetched.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware
from langchain.agents.middleware.types import ModelRequest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    convert_to_messages,
    convert_to_openai_messages,
    trim_messages,
)
from peer import QUARTER, Pair, Peer
from side_by_side import main
from workload import to_openai

from toolcarry import ProjectPolicy
from toolcarry.fallback.tokens.count import encoding_of

ENCODING = encoding_of("o200k_base")
ANSWER = AIMessage("")
MODEL = FakeListChatModel(responses=[""])
CHARS_PER_TOKEN = 4
"""The characters of a token, by LangChain's approximate counter."""
KEPT = 3
"""The number of results that ``ClearToolUsesEdit`` keeps by default."""


def count_with_tiktoken(messages: Sequence[BaseMessage]) -> int:
    """The tokens of all texts and arguments."""
    texts = [message.text for message in messages]
    texts += [
        json.dumps(call["args"], ensure_ascii=False)
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    ]
    return sum([len(ENCODING.encode_ordinary(text)) for text in texts])


def trim(messages: list[BaseMessage], **options: Any) -> list[BaseMessage]:
    return trim_messages(messages, max_tokens=QUARTER, **options)


def edit(messages: list[BaseMessage], middleware: ContextEditingMiddleware) -> list[BaseMessage]:
    """The messages that the model would be given: a deep copy, counted, all but the last results cleared."""
    request = ModelRequest(model=MODEL, messages=messages)
    found: list[list[BaseMessage]] = []

    def handler(edited: ModelRequest) -> AIMessage:
        found.append(edited.messages)
        return ANSWER

    middleware.wrap_model_call(request, handler)
    return found[0]


CLEARING = [ClearToolUsesEdit(trigger=QUARTER)]
BY_GUESS = ContextEditingMiddleware(edits=CLEARING)
BY_TIKTOKEN = ContextEditingMiddleware(edits=CLEARING, token_counter=count_with_tiktoken)

PEER = Peer(
    name="LangChain",
    package="langchain",
    provider="openai",
    to_wire=to_openai,
    to_own=convert_to_messages,
    from_own=convert_to_openai_messages,
    pairs=(
        Pair("`convert_to_messages`: its own objects", convert_to_messages),
        Pair(
            "`trim_messages` to a quarter, approximate",
            partial(trim, token_counter="approximate"),
            lambda _: ProjectPolicy(max_all_results_chars=QUARTER * CHARS_PER_TOKEN),
        ),
        Pair(
            "the same, from a user's message on",
            partial(trim, token_counter="approximate", start_on="human", end_on=("human", "tool")),
            lambda _: ProjectPolicy(max_all_results_chars=QUARTER * CHARS_PER_TOKEN),
        ),
        Pair(
            "`trim_messages` to a quarter, tiktoken",
            partial(trim, token_counter=count_with_tiktoken),
            lambda _: ProjectPolicy(max_request_tokens=QUARTER),
        ),
        Pair(
            "`ClearToolUsesEdit`, approximate",
            partial(edit, middleware=BY_GUESS),
            lambda _: ProjectPolicy(max_all_results_chars=0, keep_last_results=KEPT),
        ),
        Pair(
            "`ClearToolUsesEdit`, tiktoken",
            partial(edit, middleware=BY_TIKTOKEN),
            lambda _: ProjectPolicy(max_all_results_tokens=0, keep_last_results=KEPT),
        ),
    ),
)

if __name__ == "__main__":
    main(PEER)
