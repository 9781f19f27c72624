"""The settings: ``toolcarry.toml``, the environment over it, and the defaults for the rest.

Every table is a frozen struct that knows its keys: one that there is not, or a value of another kind, is refused with
its place and what is allowed there. msgspec takes its time to be imported, so that ``import toolcarry`` doesn't import
this; ``toolcarry.load_config`` does when it is asked for.
"""

from toolcarry.config.carrying import Dedup, DedupRule, Projection, Summarize, Thinking
from toolcarry.config.load import load_config, parse_config
from toolcarry.config.reload import ReloadingConfig
from toolcarry.config.serving import Redaction, RedactionRule, Serve, Upstream
from toolcarry.config.storing import History, Sessions, ToolCache
from toolcarry.config.tables import Config

__all__ = [
    "Config",
    "Dedup",
    "DedupRule",
    "History",
    "Projection",
    "Redaction",
    "RedactionRule",
    "ReloadingConfig",
    "Serve",
    "Sessions",
    "Summarize",
    "Thinking",
    "ToolCache",
    "Upstream",
    "load_config",
    "parse_config",
]
