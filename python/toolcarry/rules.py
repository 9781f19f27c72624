"""The built-in rules: which tools read, edit and run commands, and by which argument they are told apart.

Rules are data, in ``_data/default_rules.json``. A user's rules come before these, and the first rule that matches a name
decides; what no rule matches is of the kind other and is never superseded.
"""

from __future__ import annotations

from typing import Final

from toolcarry._data import read_table
from toolcarry.types import Rule

DEFAULT_RULES: Final[tuple[Rule, ...]] = tuple(
    Rule(tuple(rule["tools"]), rule["kind"], tuple(rule["key"]), rule["keep"])
    for rule in read_table("default_rules")["rules"]
)
