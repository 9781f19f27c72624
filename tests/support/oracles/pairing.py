"""A second, naive reading of the rules for pairing: forwards, quadratic, and sharing no code of pairing with the library.

It says which wire objects belong together. Where the library walks backwards and stops early, this reads everything,
gives ids their results first, and then pairs what has no id turn by turn.
"""

from typing import Any, NamedTuple

from support.oracles.formats import Found, ToolFields, shaped, speaks_as_user

from toolcarry.model.formats.unread import is_call_entry, is_known_part

JsonObject = dict[str, Any]

STAND_INS = (
    "[Request interrupted by user",
    "[Tool result missing",
    "[Tool use interrupted",
    "[Old tool result content cleared",
    "Wasted call",
    "File unchanged since",
)
CALL_TYPES = ("tool_use", "server_tool_use", "mcp_tool_use")


class Call:
    def __init__(self, told: ToolFields, position: int, scope: str, turn: tuple[str, int]) -> None:
        self.wire, self.position, self.scope, self.turn = told.wire, position, scope, turn
        self.part = 0  # how often the user had spoken before
        self.call_id, self.name = told.call_id, told.name
        self.results: list[Result] = []


class Result:
    def __init__(self, told: ToolFields, position: int, scope: str, turn: tuple[str, int]) -> None:
        self.wire, self.position, self.scope, self.turn = told.wire, position, scope, turn
        self.call_id, self.name, self.content = told.call_id, told.name, told.value

    @property
    def is_synthetic(self) -> bool:
        return isinstance(self.content, str) and self.content.startswith(STAND_INS)


class Block(NamedTuple):
    tool_use: JsonObject | None
    tool_result: JsonObject | None
    tool_name: str
    call_id: str
    position: int
    scope: str


class Read(NamedTuple):
    """Calls and results in the order of the conversation, without those in repeated records."""

    events: list[Call | Result]
    repeated: int


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def first(wire: JsonObject, *names: str) -> Any:
    return next((wire[name] for name in names if wire.get(name) is not None), None)


def read(messages: list[Any]) -> Read:
    """Yield every call and result, with its scope and the number of its turn."""
    events: list[Call | Result] = []
    scopes: dict[str, str] = {}
    turns: dict[str, list[Any]] = {}
    repeated = 0
    last = {
        item.get("uuid"): position
        for position, item in enumerate(messages)
        if item and item.get("role") is None
    }
    for position, item in enumerate(messages):
        if item is None:
            continue
        scope, message = "", item
        is_step = "step_id" in item and "source" in item  # ATIF calls what is said its message
        if "uuid" in item or ("message" in item and not is_step):
            message = item.get("message")
            uuid = item.get("uuid")
            if isinstance(uuid, str):
                if position != last[uuid]:
                    repeated += 1
                    continue
                scope = scope_of(item, scopes)
                scopes[uuid] = scope
        if not isinstance(message, dict):
            continue
        state = turns.setdefault(scope, [0, "call", 0])
        calls, results = shaped(message) or told_by(message)
        if calls:
            state[0] += state[1] == "result"
            state[1] = "call"
            found = [Call(told, position, scope, (scope, state[0])) for told in calls]
            for call in found:
                call.part = state[2]
            events += found
        if results:
            state[1] = "result"
            events += [Result(told, position, scope, (scope, state[0])) for told in results]
        if not calls and not results and speaks_as_user(message):
            state[2] += 1
    return Read(events, repeated)


def scope_of(record: JsonObject, scopes: dict[str, str]) -> str:
    if record.get("isSidechain") is not True:
        return ""
    above = scopes.get(record.get("parentUuid") or "", "")
    return record.get("agentId") or above or record["uuid"]


def told_by(message: JsonObject) -> Found:
    """Return the calls and results of an Anthropic or Chat message."""
    calls = [told_call(wire) for wire in call_wires(message)]
    return calls, [told_result(wire) for wire in result_wires(message)]


def told_call(wire: JsonObject) -> ToolFields:
    function = wire.get("function")
    source = function if isinstance(function, dict) else wire
    given = source.get("input", source.get("arguments"))
    return ToolFields(wire, text(wire.get("id")), text(source.get("name")), given)


def told_result(wire: JsonObject) -> ToolFields:
    call_id, name = first(wire, "tool_use_id", "tool_call_id"), first(wire, "tool_name", "name")
    return ToolFields(wire, text(call_id), text(name), wire.get("content"))


def blocks_in(message: JsonObject) -> list[JsonObject]:
    content = message.get("content")
    if not isinstance(content, list) or message.get("role") in ("tool", "function"):
        return []
    return [part for part in content if isinstance(part, dict)]


def call_wires(message: JsonObject) -> list[JsonObject]:
    """Return the calls of a message; a call in both the content and ``tool_calls`` counts once."""
    if message.get("role") in ("tool", "function"):
        return []
    found = [part for part in blocks_in(message) if part.get("type") in CALL_TYPES]
    known = [part.get("id") for part in found if isinstance(part.get("id"), str) and part["id"]]
    listed = message.get("tool_calls")
    if isinstance(listed, list):
        role = message.get("role")
        calls = [call for call in listed if isinstance(call, dict) and is_call_entry(call, role)]
        found += [call for call in calls if call.get("id") not in known]
    if isinstance(message.get("function_call"), dict):
        found.append(message["function_call"])
    return found


def is_read(content: Any) -> bool:
    """True for a text, and for parts that are all known."""
    return isinstance(content, str) or (
        isinstance(content, list)
        and all(
            is_known_part(part) if isinstance(part, dict) else isinstance(part, str)
            for part in content
        )
    )


def result_wires(message: JsonObject) -> list[JsonObject]:
    """Return the results of a message; an answer that names neither call nor tool is one if its content is read."""
    if message.get("role") in ("tool", "function"):
        told = told_result(message)
        is_named = told.call_id or told.name or message["role"] == "function"
        return [message] if is_named or is_read(message.get("content")) else []
    found = [part for part in blocks_in(message) if str(part.get("type")).endswith("tool_result")]
    return [part for part in found if not is_empty(part)]


def is_empty(part: JsonObject) -> bool:
    """True for a result that names no call and has no content, which is read as no result."""
    return (
        part["type"] == "tool_result"
        and not isinstance(part.get("tool_use_id"), str)
        and part.get("content") is None
    )


def pair(events: list[Call | Result]) -> tuple[list[Block], int]:
    """The blocks in the order of the calls, and how many second results there are."""
    calls = [event for event in events if isinstance(event, Call)]
    orphans: list[Result] = []
    for index, event in enumerate(events):
        if isinstance(event, Result):
            before = [call for call in events[:index] if isinstance(call, Call)]
            if not (event.call_id and answer(event, before)):
                orphans.append(event)
    parts = sorted({call.part for call in calls}, reverse=True)
    # Results without an id go first to calls after the user's last words, and among those to calls without an id.
    for part, with_id in [(part, with_id) for part in parts for with_id in (False, True)]:
        group = [call for call in calls if call.part == part and bool(call.call_id) is with_id]
        for result in [result for result in orphans if not result.call_id]:
            for call in group:
                is_open = not call.results and call.turn == result.turn
                if is_open and result.name in ("", call.name or "unknown"):
                    call.results.append(result)
                    orphans.remove(result)
                    break
    blocks = [to_block(event) for event in events if isinstance(event, Call) or event in orphans]
    return blocks, sum(len(call.results) - 1 for call in calls if call.results)


def answer(result: Result, before: list[Call]) -> bool:
    """Give a result to the nearest earlier unanswered call with its id, else to the nearest earlier one.

    Unanswered calls of one message are equally near: their order decides.
    """
    known = [c for c in reversed(before) if c.call_id == result.call_id and c.scope == result.scope]
    open_calls = [call for call in known if not call.results]
    nearest = [call for call in open_calls if call.position == open_calls[0].position]
    for call in nearest[-1:] or known[:1]:
        call.results.append(result)
        return True
    return False


def to_block(event: Call | Result) -> Block:
    if isinstance(event, Result):
        name = event.name or "unknown"
        return Block(None, event.wire, name, event.call_id, event.position, event.scope)
    real = [result for result in event.results if not result.is_synthetic]
    result = (real or event.results or [None])[0]
    wire = result.wire if result is not None else None
    return Block(
        event.wire, wire, event.name or "unknown", event.call_id, event.position, event.scope
    )
