"""Both ends of a repaired conversation: it is not empty, and the model begins and ends it only if it did so before.

Bedrock and Gemini refuse a conversation that begins with the model, and the model's last words are the beginning of its
answer, which some models refuse to continue. Where the user's first or last message loses all of its content, a text
takes its place and names the loss. A window of a conversation may begin or end with the model: where the destination
refuses that, a user message is put there and says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from toolcarry._data import read_table
from toolcarry._input.objects import JsonObject, text_or_empty
from toolcarry._pure.formats.responses import is_program
from toolcarry._pure.projection.edits import Draft, NewValue
from toolcarry._pure.projection.repair.destinations import Destination
from toolcarry._pure.projection.repair.message_parts import REQUEST_MODEL_ROLES, Side
from toolcarry._pure.projection.repair.state import Repair

LEFT_OUT: dict[str, str] = read_table("texts")["left_out"]
"""The texts in place of a message, by the kind of the correction that left nothing of it."""
_CONTINUE: Final[str] = read_table("texts")["added"]["continue"]
"""The text of a user message after the model's last words."""
REQUEST_USER_ROLES: Final = frozenset(read_table("roles")["request_user_roles"])
"""The roles of the user's side in any format."""


def speaker_of(message: JsonObject, destination: Destination) -> Side:
    """Return the speaker of a message by its role; an item of Responses may have only a type."""
    role = text_or_empty(message.get("role"))
    if role in REQUEST_MODEL_ROLES:
        return "model"
    if role in REQUEST_USER_ROLES or (not role and "" in destination.answering):
        return "user"
    kind = "" if role or destination.form != "items" else text_or_empty(message.get("type"))
    if is_program(kind):
        return "model"
    if kind.endswith("_output"):
        return "user"
    return "model" if kind == "reasoning" or kind.endswith("_call") else "other"


def edge(sides: Iterable[Side]) -> tuple[Side, int] | None:
    """Return the first side that is the user's or the model's, and how many come before it."""
    for count, side in enumerate(sides):
        if side != "other":
            return side, count
    return None


def speaker_at(repair: Repair, position: int) -> Side:
    """Return the speaker of the repaired message at a position."""
    if position in repair.edited.users:
        return "user"
    return speaker_of(repair.edited.messages[position], repair.destination)


def user_ends(repair: Repair) -> bool:
    """Return true if the user has the last word in the request."""
    positions = range(len(repair.edited.messages) - 1, -1, -1)
    last = edge(speaker_at(repair, position) for position in positions)
    return last is not None and last[0] == "user"


def keep_ends(repair: Repair, drafts: list[Draft]) -> list[Draft]:
    """Return the repaired messages with a user message at each end where the user spoke, and now the model would."""
    messages, destination = repair.edited.messages, repair.destination
    callers = {int(path[0]) for path in repair.pairs.calls}
    sides = sides_of(repair)
    first, last = edge(sides), edge(reversed(sides))
    if first is None or last is None:
        return drafts
    start = _edge_of(repair, drafts, callers)
    if start is None:
        return [*drafts, made(repair, first[1])]
    end = _edge_of(repair, drafts[::-1], callers)
    kept = list(drafts)
    if end is not None and end[0] == "model":
        position = len(messages) - 1 - last[1]
        if last[0] == "user":
            kept.append(made(repair, position))
        elif is_users_turn(repair, sides, position):
            repair.mends.add("missing_user", position)
            kept.append(spoken(destination, _CONTINUE))
    if start[0] == "model" and first[0] == "user":
        kept.insert(start[1], made(repair, first[1]))
    elif start[0] == "model" and destination.user_begins and first[1] not in repair.edited.guard:
        repair.mends.add("missing_user", first[1])
        kept.insert(start[1], spoken(destination, LEFT_OUT["missing_user"]))
    return kept


def sides_of(repair: Repair) -> list[Side]:
    """Return the speaker of each repaired message."""
    sides = [speaker_at(repair, position) for position in range(len(repair.edited.messages))]
    for position in {int(path[0]) for path in repair.pairs.calls}:
        if sides[position] == "other":  # a message with calls and no known role gets the model's
            sides[position] = "model"
    return sides


def is_last_turn_over(repair: Repair) -> bool:
    """Return true if the model has the last word, and a user message will be put after it."""
    sides = sides_of(repair)
    last = edge(reversed(sides))
    return (
        last is not None
        and last[0] == "model"
        and is_users_turn(repair, sides, len(sides) - 1 - last[1])
    )


def is_users_turn(repair: Repair, sides: Sequence[Side], last: int) -> bool:
    """Return true if a conversation whose message at ``last`` ends it with the model is refused."""
    destination = repair.destination
    is_refused = destination.user_ends or (destination.user_speaks and "user" not in sides)
    return is_refused and last not in repair.edited.guard


def _edge_of(
    repair: Repair, drafts: Sequence[Draft], callers: Collection[int]
) -> tuple[Side, int] | None:
    """Return the same as ``edge`` of drafts. A message with calls is the model's, and new ones are the user's."""
    for count, draft in enumerate(drafts):
        if isinstance(draft, NewValue) or draft.path is None:
            return "user", count
        position = int(draft.path[0])
        side = speaker_at(repair, position)
        if position in callers:
            side = "model"
        if side != "other":
            return side, count
    return None


def made(repair: Repair, position: int) -> Draft:
    """Return a user message that says why the one at a position is gone."""
    mends = [mend for mend in repair.mends.made if mend.position == position]
    own = (mend.kind for mend in mends if mend.kind in LEFT_OUT)
    text = LEFT_OUT[next(own, "")]
    repair.mends.add("stand_in", position)
    return spoken(repair.destination, text)


def spoken(destination: Destination, text: str) -> Draft:
    """Return a user message."""
    content = [destination.text(text)] if destination.form == "turns" else text
    return NewValue(
        {"role": "user", destination.key if destination.form == "turns" else "content": content}
    )
