"""Requests as their providers take them: each call with one result in its place, no result without call, ids that pair.

What the provider would take stays as it stands. Mending what is mended changes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from toolcarry._pure.project.blocks import Block
from toolcarry._pure.project.drafts import Draft, Path
from toolcarry._pure.project.material import Material
from toolcarry._pure.project.mend.chat import mend_chat
from toolcarry._pure.project.mend.dialects import DIALECTS, Dialect
from toolcarry._pure.project.mend.ids import give_ids
from toolcarry._pure.project.mend.items import mend_items
from toolcarry._pure.project.mend.turns import Turns
from toolcarry._pure.read import read_message
from toolcarry._pure.said import Said
from toolcarry.types import Mend


def mend(material: Material, mends: list[Mend]) -> list[Draft]:
    """The messages as their provider takes them; ``mends`` tells what was done."""
    dialect = dialect_of(material.messages)
    if dialect is None:
        return material.all_messages()
    calls = own_calls(material.blocks, dialect)
    ids = give_ids(material, dialect, calls, mends)
    if dialect.form == "turns":
        return Turns(material, dialect, calls, ids, mends).mended()
    mend_by = mend_chat if dialect.form == "chat" else mend_items
    return mend_by(material, dialect, calls, ids, mends)


def dialect_of(messages: Sequence[Any]) -> Dialect | None:
    """The provider whose request the messages are: the one whose shape most of those with calls or results have."""
    names: Counter[str] = Counter()
    for message in messages:
        said = Said()
        name = read_message(message, message.get("role"), said)
        if name in DIALECTS and (said.calls or said.results):
            names[name] += 1
    if not names:
        return None
    return DIALECTS[names.most_common(1)[0][0]]


def own_calls(blocks: Sequence[Block], dialect: Dialect) -> dict[Path, Block]:
    """The calls that the client answers, by where they stand, in their order."""
    return {
        block.call_path: block
        for block in blocks
        if block.call_path is not None
        and block.entry.call is not None
        and dialect.is_call(block.entry.call)
        and (dialect.form != "chat" or block.call_path[1:2] == ("tool_calls",))
    }
