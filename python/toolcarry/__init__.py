"""Tool results in the conversations of LLM agents: paired, deduplicated, cut to a budget, carried over."""

from typing import TYPE_CHECKING

from toolcarry._backend import backend
from toolcarry.api.check import Problem, check
from toolcarry.api.context import (
    Carried,
    Fate,
    Inspection,
    LoadedFile,
    carry,
    carry_files,
    deduplicate_tools,
    dialogue,
    explain,
    extract_tool_blocks,
    format_tool_context,
    inspect,
    load_file,
    prepend_summary_to_user_message,
)
from toolcarry.api.convert import Converted, Loss, convert
from toolcarry.api.projection import (
    Projected,
    ProjectedBody,
    project,
    project_body,
    read_tool_result,
    resolve,
    retrieval_tool,
    search_tool,
)
from toolcarry.api.tokens import (
    FACTORS,
    count_message_tokens,
    count_tokens,
    estimate_tokens,
    resize_token_memo,
    truncate,
)
from toolcarry.errors import BackendError, ConfigError, InputError, ToolcarryError
from toolcarry.types.destinations import Destination
from toolcarry.types.policy import DEFAULT_RULES, NO_LIMIT, CarryPolicy, ProjectPolicy
from toolcarry.types.unread import Unread, UnreadPlace
from toolcarry.types.values import (
    Decisions,
    Mend,
    Notes,
    Partial,
    ProjectReport,
    RecountReport,
    Replacement,
    Report,
    Rule,
    TokenEstimate,
    ToolBlock,
    ToolSize,
)

if TYPE_CHECKING:
    __version__: str

    from toolcarry.api.agent_config import AgentConfig
    from toolcarry.api.context_usage import CONTEXT_LEVELS, ContextUsage, context_usage
    from toolcarry.api.preview import Preview, alimit_events, limit_events, preview
    from toolcarry.api.survey import ContextSurvey, survey_context
    from toolcarry.api.tables import carry_table, inspect_table
    from toolcarry.api.text_history import (
        HistoryUsage,
        Recounted,
        conversation_data_tool,
        estimate_context_usage,
        read_conversation_data,
        recount,
    )
    from toolcarry.config import Config, load_config
    from toolcarry.summarize import CallableSummarizer, ExtractiveSummarizer, LiteLLMSummarizer
    from toolcarry.switch import SummarizeTransformer, Switched
    from toolcarry.tool_cache import (
        MemoryToolCache,
        ToolCache,
        ToolResolution,
        cache_key,
        convert_tools,
    )
else:
    LATE = {
        "AgentConfig": "api.agent_config",
        "Preview": "api.preview",
        "alimit_events": "api.preview",
        "limit_events": "api.preview",
        "preview": "api.preview",
        "Config": "config",
        "load_config": "config",
        "CONTEXT_LEVELS": "api.context_usage",
        "ContextUsage": "api.context_usage",
        "context_usage": "api.context_usage",
        "ContextSurvey": "api.survey",
        "survey_context": "api.survey",
        "carry_table": "api.tables",
        "inspect_table": "api.tables",
        "HistoryUsage": "api.text_history",
        "Recounted": "api.text_history",
        "conversation_data_tool": "api.text_history",
        "estimate_context_usage": "api.text_history",
        "read_conversation_data": "api.text_history",
        "recount": "api.text_history",
        "CallableSummarizer": "summarize",
        "ExtractiveSummarizer": "summarize",
        "LiteLLMSummarizer": "summarize",
        "SummarizeTransformer": "switch",
        "Switched": "switch",
        "MemoryToolCache": "tool_cache",
        "ToolCache": "tool_cache",
        "ToolResolution": "tool_cache",
        "cache_key": "tool_cache",
        "convert_tools": "tool_cache",
    }

    def __getattr__(name: str) -> object:
        """Import a module that is slow to load when one of its names is first used."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - as slow as half of this package

            return version("toolcarry")
        if name not in LATE:
            hint = (
                "; since version 0.2 there are CarryPolicy and ProjectPolicy"
                if name == "Policy"
                else ""
            )
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
        from importlib import import_module  # noqa: PLC0415 - not a name of this package

        return getattr(import_module(f"toolcarry.{LATE[name]}"), name)


__all__ = [
    "CONTEXT_LEVELS",
    "DEFAULT_RULES",
    "FACTORS",
    "NO_LIMIT",
    "AgentConfig",
    "BackendError",
    "CallableSummarizer",
    "Carried",
    "CarryPolicy",
    "Config",
    "ConfigError",
    "ContextSurvey",
    "ContextUsage",
    "Converted",
    "Decisions",
    "Destination",
    "ExtractiveSummarizer",
    "Fate",
    "HistoryUsage",
    "InputError",
    "Inspection",
    "LiteLLMSummarizer",
    "LoadedFile",
    "Loss",
    "MemoryToolCache",
    "Mend",
    "Notes",
    "Partial",
    "Preview",
    "Problem",
    "ProjectPolicy",
    "ProjectReport",
    "Projected",
    "ProjectedBody",
    "RecountReport",
    "Recounted",
    "Replacement",
    "Report",
    "Rule",
    "SummarizeTransformer",
    "Switched",
    "TokenEstimate",
    "ToolBlock",
    "ToolCache",
    "ToolResolution",
    "ToolSize",
    "ToolcarryError",
    "Unread",
    "UnreadPlace",
    "alimit_events",
    "backend",
    "cache_key",
    "carry",
    "carry_files",
    "carry_table",
    "check",
    "context_usage",
    "conversation_data_tool",
    "convert",
    "convert_tools",
    "count_message_tokens",
    "count_tokens",
    "deduplicate_tools",
    "dialogue",
    "estimate_context_usage",
    "estimate_tokens",
    "explain",
    "extract_tool_blocks",
    "format_tool_context",
    "inspect",
    "inspect_table",
    "limit_events",
    "load_config",
    "load_file",
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
    "survey_context",
    "truncate",
]
