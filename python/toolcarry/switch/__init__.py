"""The backend switch: a conversation moves from one backend to another and keeps what its tools gave."""

from toolcarry.switch.sessions import MemorySessions, Sessions
from toolcarry.switch.transformer import SummarizeTransformer
from toolcarry.switch.values import Switched, SwitchedBody, SwitchReport

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
    if name == "HistorySessions":  # its store is slow to import
        from toolcarry.switch.history_sessions import HistorySessions  # noqa: PLC0415

        return HistorySessions
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
