"""The rules of destinations, as their records say them."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace
from typing import Any

from toolcarry._data import read_table
from toolcarry.model.destinations import DESTINATIONS, IdRule

RULES: dict[str, dict[str, Any]] = read_table("rules")["rules"]
EMPTY: dict[str, Any] = {
    "flag": False,
    "number": 0,
    "members": (),
    "members_by_type": {},
    "texts": (),
    "text": "",
    "places": (),
    "place": None,
    "id": IdRule(),
    "item_ids": {},
    "failure": None,
}


class Record(SimpleNamespace):
    """A destination with all fields of its record, and the empty values of the rules that it does not have."""

    def takes_item_id(self, item_id: str, kind: str) -> bool:
        most = self.item_ids.get("at_most", 0)
        start = self.item_ids.get("starts", {}).get(kind, "")
        is_long = bool(most) and len(item_id) > most
        is_word = re.fullmatch("[A-Za-z0-9_-]*", item_id) or not self.item_ids.get("is_word")
        return (
            len(item_id) >= self.item_ids.get("at_least", 0)
            and not is_long
            and bool(is_word)
            and item_id.startswith(start)
        )


@cache
def record_of(name: str) -> Record:
    given = dict(DESTINATIONS[name].record)
    for rule, facts in RULES.items():
        if rule not in given:
            given[rule] = EMPTY[facts["value"]]
        elif facts["value"] == "id":
            given[rule] = IdRule(**given[rule])
    given["arguments"] = SimpleNamespace(**{"is_optional": False, **given["arguments"]})
    return Record(has_types="type" in given["text"], **given)


RECORDS = {name: record_of(name) for name in DESTINATIONS}
