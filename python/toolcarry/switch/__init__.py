"""The backend switch: a conversation moves to another backend and keeps its tool results."""

from toolcarry.switch.sessions import MemorySessions, Sessions
from toolcarry.switch.transformer import SummarizeTransformer
from toolcarry.switch.types import Switched, SwitchedBody, SwitchReport

__all__ = [
    "HistorySessions",
    "MemorySessions",
    "Sessions",
    "SummarizeTransformer",
    "SwitchReport",
    "Switched",
    "SwitchedBody",
]


def __getattr__(name: str) -> object:
    if name == "HistorySessions":
        from toolcarry.switch.history_sessions import HistorySessions  # noqa: PLC0415 - imports apsw

        return HistorySessions
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
