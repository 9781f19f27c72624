"""The settings: ``toolcarry.toml``, environment variables that override it, and defaults for the rest.

Every table is a frozen struct. An unknown key or a value of the wrong type is an error, which names its place and the
allowed values. ``import toolcarry`` does not import this package, since msgspec is slow to import;
``toolcarry.load_config`` does.
"""

from toolcarry.config.load import load_config, parse_config
from toolcarry.config.reload import ReloadingConfig
from toolcarry.config.tables import (
    Config,
    Dedup,
    DedupRule,
    History,
    Projection,
    Redaction,
    RedactionRule,
    Serve,
    Sessions,
    Summarize,
    Thinking,
    ToolCache,
    Upstream,
)

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
