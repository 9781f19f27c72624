"""Handlers of new tool results. They are called after the commit, and may supersede the result with a shorter one.

The original always stays in the history. A handler's failure is logged and counted.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from toolcarry.errors import ConfigError
from toolcarry.model.dedupe.rules import name_forms
from toolcarry.redact.logs import get_logger
from toolcarry.summarize.protocol import finished
from toolcarry.tract.store.validate import check_callable
from toolcarry.types.values import check_limit

__all__ = ["Hooks", "Summarization"]

logger = get_logger("toolcarry.tract")

EVENT: Final = "tool_result"


class Pending(Protocol):
    """The part of a pending tool result that the default handler uses."""

    @property
    def tool_name(self) -> str: ...

    @property
    def token_count(self) -> int: ...

    def summarize(self, instructions: str | None = None) -> object: ...


P = TypeVar("P", bound=Pending)


@dataclass(frozen=True, slots=True)
class Summarization:
    """The settings of the default handler: the results to summarize, and the instructions for them."""

    instructions: Mapping[str, str] = field(default_factory=dict)
    auto_threshold: int | None = None
    default_instructions: str | None = None

    def __post_init__(self) -> None:
        check_limit("auto_threshold", self.auto_threshold, optional=True)
        if not isinstance(self.instructions, Mapping):
            raise refused("instructions", self.instructions, "strings by the names of tools")
        for name, text in self.instructions.items():
            if not isinstance(name, str) or not isinstance(text, str):
                raise refused(f"instructions[{name!r:.80}]", text, "a string by the name of a tool")
        if not isinstance(self.default_instructions, str | None):
            raise refused("default_instructions", self.default_instructions, "a string, None")
        object.__setattr__(self, "instructions", dict(self.instructions))

    def __call__(self, pending: Pending) -> None:
        """Summarize a pending result, if the settings say so."""
        is_named = self._named(pending.tool_name) is not None
        is_long = self.auto_threshold is not None and pending.token_count > self.auto_threshold
        if is_long or (is_named and self.auto_threshold is None):
            pending.summarize(self.instructions_for(pending.tool_name))

    def instructions_for(self, tool_name: str) -> str | None:
        """Return the instructions for the results of a tool, or the default ones."""
        named = self._named(tool_name)
        return self.default_instructions if named is None else named

    def _named(self, tool_name: str) -> str | None:
        """Return the instructions for a tool by its name, in any case and with or without its server, as rules find it."""
        folded = {name.lower(): text for name, text in self.instructions.items()}
        found = (folded[form] for form in name_forms(tool_name) if form in folded)
        return self.instructions.get(tool_name, next(found, None))


class Hooks(Generic[P]):
    """The handlers of new tool results, and a count of their failures."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self.summarization: Summarization | None = None
        self._handler: Callable[[P], object] | None = None

    def on(self, event: str, handler: Callable[[P], object]) -> None:
        """Set the handler, which replaces the default and any earlier handler."""
        check_event(event)
        check_callable("handler", handler)
        self._handler = handler

    def off(self, event: str) -> None:
        """Restore the default handler."""
        check_event(event)
        self._handler = None

    @property
    def has_handler(self) -> bool:
        """True if there is a handler to call."""
        return self._handler is not None or self.summarization is not None

    def run(self, pending: P) -> None:
        """Call the handler with a result. A failure is counted and logged; the result is on disk already."""
        handler = self._handler or self.summarization
        if handler is None:
            return
        try:
            finished(handler(pending))
        except Exception as error:  # noqa: BLE001 - user code: counted, and logged without the error's message
            self._counts["hook_failed"] += 1
            logger.warning(
                "the handler of the tool result of %s failed with %s; the original stays:\n%s",
                pending.tool_name,
                type(error).__name__,
                "".join(traceback.format_tb(error.__traceback__)),
            )


def check_event(event: str) -> None:
    if event != EVENT:
        raise refused("event", event, repr(EVENT))


def refused(key: str, value: object, allowed: str) -> ConfigError:
    return ConfigError(f"{key}: {value!r:.80} is not allowed; allowed: {allowed}")
