"""Tool results in the conversations of LLM agents: paired, deduplicated, cut to a budget, carried over."""

from typing import TYPE_CHECKING

from toolcarry._backend import backend
from toolcarry.api.check import check
from toolcarry.api.context import (
    carry,
    carry_files,
    deduplicate_tools,
    dialogue,
    extract_tool_blocks,
    format_tool_context,
    prepend_summary_to_user_message,
)
from toolcarry.api.conversation import Conversation
from toolcarry.api.convert import convert
from toolcarry.api.projection import (
    project,
    project_body,
    read_tool_result,
    resolve,
    retrieval_tool,
    search_tool,
)
from toolcarry.api.tokens import (
    count_message_tokens,
    count_tokens,
    estimate_tokens,
    resize_token_memo,
    truncate,
)
from toolcarry.errors import BackendError, ConfigError, InputError, ToolcarryError
from toolcarry.types.destinations import Destination
from toolcarry.types.policy import DEFAULT_RULES, NO_LIMIT, CarryPolicy, ProjectPolicy
from toolcarry.types.values import Rule, ToolBlock

if TYPE_CHECKING:
    __version__: str

    from toolcarry.api.agent_config import AgentConfig
    from toolcarry.api.context_usage import context_usage
    from toolcarry.api.inspection import inspect
    from toolcarry.api.preview import limit_events, preview
    from toolcarry.api.text_history import (
        conversation_data_tool,
        read_conversation_data,
        recount,
    )
    from toolcarry.config import load_config
    from toolcarry.switch import SummarizeTransformer
    from toolcarry.tool_cache import ToolCache, cache_key
else:
    LATE = {
        "AgentConfig": "api.agent_config",
        "limit_events": "api.preview",
        "preview": "api.preview",
        "load_config": "config",
        "context_usage": "api.context_usage",
        "inspect": "api.inspection",
        "conversation_data_tool": "api.text_history",
        "read_conversation_data": "api.text_history",
        "recount": "api.text_history",
        "SummarizeTransformer": "switch",
        "ToolCache": "tool_cache",
        "cache_key": "tool_cache",
    }

    NEW_NAMES = {
        "CallableSummarizer": "toolcarry.summarize.CallableSummarizer",
        "Config": "toolcarry.config.Config",
        "ExtractiveSummarizer": "toolcarry.summarize.ExtractiveSummarizer",
        "LiteLLMSummarizer": "toolcarry.summarize.LiteLLMSummarizer",
        "MemoryToolCache": "toolcarry.tool_cache.MemoryToolCache",
        "Policy": "toolcarry.CarryPolicy or toolcarry.ProjectPolicy",
        "Switched": "toolcarry.switch.Switched",
        "ToolResolution": "toolcarry.tool_cache.ToolResolution",
        "alimit_events": "toolcarry.limit_events",
        "convert_tools": "toolcarry.tool_cache.convert_tools",
        "HistoryUsage": "toolcarry.types.ContextUsage",
        "estimate_context_usage": "toolcarry.context_usage(toolcarry.recount(..., config=CONFIG).messages)",
        "explain": "toolcarry.carry(explain=True).fates",
        "carry_table": "toolcarry.tables.carry_table",
        "inspect_table": "toolcarry.tables.inspect_table",
        "LoadedFile": "toolcarry.Conversation",
        "load_file": "toolcarry.Conversation.of",
        "survey_context": "toolcarry.inspect(tokens=True)",
    }

    def hint_of(name: str) -> str:
        """Return a hint with the current name of a name from version 0.1, for an error message."""
        from toolcarry import types  # noqa: PLC0415 - for an error alone

        new = f"toolcarry.types.{name}" if name in types.__all__ else NEW_NAMES.get(name)
        return f"; since version 0.2 it is {new}" if new else ""

    def __getattr__(name: str) -> object:
        """Import a module that is slow to load when one of its names is first used."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - as slow as half of this package

            return version("toolcarry")
        if name not in LATE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint_of(name)}")
        from importlib import import_module  # noqa: PLC0415 - not a name of this package

        return getattr(import_module(f"toolcarry.{LATE[name]}"), name)


__all__ = [
    "DEFAULT_RULES",
    "NO_LIMIT",
    "AgentConfig",
    "BackendError",
    "CarryPolicy",
    "ConfigError",
    "Conversation",
    "Destination",
    "InputError",
    "ProjectPolicy",
    "Rule",
    "SummarizeTransformer",
    "ToolBlock",
    "ToolCache",
    "ToolcarryError",
    "backend",
    "cache_key",
    "carry",
    "carry_files",
    "check",
    "context_usage",
    "conversation_data_tool",
    "convert",
    "count_message_tokens",
    "count_tokens",
    "deduplicate_tools",
    "dialogue",
    "estimate_tokens",
    "extract_tool_blocks",
    "format_tool_context",
    "inspect",
    "limit_events",
    "load_config",
    "prepend_summary_to_user_message",
    "preview",
    "project",
    "project_body",
    "read_conversation_data",
    "read_tool_result",
    "recount",
    "resize_token_memo",
    "resolve",
    "retrieval_tool",
    "search_tool",
    "truncate",
]
