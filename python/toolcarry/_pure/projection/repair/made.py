"""Results that are made up for calls that have none, and texts, as ``_data/providers.json`` has them for each provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from toolcarry._data import read_table

INTERRUPTED: Final[str] = read_table("texts")["interrupted"]
"""What stands for a result that never came. The readers know it for one that only stands for another."""


def fill(template: Any, given: Mapping[str, str]) -> Any:
    """Return JSON with what is given in the places of a template. A member ``{id?}`` is left out if the id is empty.

    >>> fill({"call_id": "{id?}", "type": "{type}_output"}, {"id?": "", "type": "shell_call"})
    {'type': 'shell_call_output'}
    """
    if isinstance(template, str):
        return template.format_map(given)
    if isinstance(template, list):
        return [fill(item, given) for item in template]
    if isinstance(template, dict):
        return {
            name: fill(member, given)
            for name, member in template.items()
            if member != "{id?}" or given["id?"]
        }
    return template
