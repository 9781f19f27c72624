"""Readers for producers whose formats occur in no request. They run before both backends.

Each file of this folder except ``base`` is an importer, and is in the list below. ``toolcarry.importers`` writes what
they read as messages that both backends read. ``docs/how-to/add-an-importer.md`` says how to add one.
"""

from typing import Final

from toolcarry.importers.producers import (
    adk,
    ag_ui,
    ai_sdk,
    ai_sdk_ui,
    amp,
    answers,
    atif,
    autogen,
    cassette,
    cline,
    codex_exec,
    copilot_cli,
    crush,
    cursor,
    droid,
    gemini_cli,
    goose,
    grok,
    haystack,
    inspect_ai,
    kimi,
    kiro,
    langchain,
    langgraph,
    letta,
    llama_index,
    managed_agents,
    mini_swe_agent,
    mini_swe_agent_v1,
    opencode,
    openhands,
    openhands_v0,
    opentelemetry,
    otel_span,
    pi,
    provider_answers,
    pydantic_ai,
    sharegpt,
    smolagents,
    swe_agent,
    tau2,
    vscode,
)
from toolcarry.importers.producers.base import ConversationImporter, Importer

CONVERSATIONS: Final[tuple[ConversationImporter, ...]] = (
    ai_sdk_ui,
    ai_sdk,
    ag_ui,
    vscode,
    copilot_cli,
    cursor,
    gemini_cli,
    opencode,
    pydantic_ai,
    langgraph,
    pi,
    adk,
    codex_exec,
    goose,
    crush,
    amp,
    kiro,
    grok,
    kimi,
    droid,
    managed_agents,
    letta,
    autogen,
    llama_index,
    haystack,
    smolagents,
    openhands_v0,
    inspect_ai,
    tau2,
    otel_span,
    sharegpt,
    cline,
    mini_swe_agent,
    mini_swe_agent_v1,
    answers,
    provider_answers,
    cassette,
)
"""The importers of whole conversations. Each claims only what no other one claims."""
MESSAGES: Final[tuple[Importer, ...]] = (opentelemetry, langchain, openhands, atif, swe_agent)
"""The importers that recognise each message by itself."""
IMPORTERS: Final[tuple[Importer, ...]] = (*CONVERSATIONS, *MESSAGES)
"""All importers, in the order in which they are tried."""
