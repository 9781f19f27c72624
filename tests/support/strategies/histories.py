"""Generated histories as they reach a gateway: damaged, with members of other providers, and with system messages."""

from typing import Any

from hypothesis import strategies as st
from support.strategies.damages import damages_of
from support.strategies.other_members import with_other_members
from support.strategies.requests import damaged_requests, requests

NOTE = "A note of the system."


@st.composite
def histories(draw: st.DrawFn, provider: str) -> list[Any]:
    """Draw a history, mostly with damages and other members, and sometimes with a system message anywhere."""
    kinds = st.lists(st.sampled_from(damages_of(provider)), min_size=1, max_size=5)
    broken = kinds.flatmap(lambda drawn: damaged_requests(provider, drawn))
    drawn = draw(st.one_of(broken, broken, requests(provider)))
    messages = draw(with_other_members(provider, drawn))
    if provider == "responses" or not draw(st.booleans()):
        return messages
    parts = {"gemini": ("parts", [{"text": NOTE}]), "bedrock": ("content", [{"text": NOTE}])}
    key, content = parts.get(provider, ("content", NOTE))
    note = {"role": draw(st.sampled_from(("system", "developer"))), key: content}
    place = draw(st.integers(0, len(messages)))
    return [*messages[:place], note, *messages[place:]]


def histories_of_functions() -> st.SearchStrategy[list[Any]]:
    """Draw a history of Chat without calls of custom tools, which only OpenAI reads."""

    def calls_functions(messages: list[Any]) -> bool:
        return not any("custom" in call for each in messages for call in each.get("tool_calls", ()))

    return histories("openai").filter(calls_functions)
