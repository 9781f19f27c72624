"""Short ways to write the records of a session file."""

from types import ModuleType
from typing import Any

from support.builders.wire import assistant, result, use, user
from support.oracles.markdown import shown_blocks

Record = dict[str, Any]


def record(uuid: str, parent: str | None, message: Any, **more: Any) -> Record:
    return {
        "type": message.get("role"),
        "uuid": uuid,
        "parentUuid": parent,
        "message": message,
        **more,
    }


def run(name: str) -> dict[str, Any]:
    """Return a call of a command that names its position."""
    return assistant(use(f"id_{name}", command=name))


def out(name: str) -> dict[str, Any]:
    return user(result(f"id_{name}", f"out of {name}"))


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def carried(api: ModuleType, records: list[Any]) -> list[str]:
    """The commands that a context shows."""
    return [shown.heading for shown in shown_blocks(api.carry(records).text)]
