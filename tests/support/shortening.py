"""Results that ``project`` shortens by what they are, and an independent idea of an error."""

import json
import re
from types import ModuleType
from typing import Any

from support.builders import wire

from toolcarry import ProjectPolicy, _backend, carry, resolve
from toolcarry.types.policy import CONTENT_KINDS, ResultOptions

ERROR = re.compile(
    r"\bFAIL(ED|URE|:)|\b[A-Za-z]*Error: |\berror(\[E\d+\])?: |panicked at|\bERR!|\bnot ok \d| error TS\d|\bERROR\b"
)
"""An independent idea of a line with an error."""
MARKER = re.compile(r"\[toolcarry: shortened from [0-9,]+ characters; whole: t1\]")
GAP = re.compile(
    r"\.\.\.|\.\.\. [0-9,]+( passing| similar| unchanged| markup| ruled| more)? lines?( of [0-9,]+ (files|folders))?"
)


def projected(rust: ModuleType, command: str, text: str, **settings: Any) -> str:
    """Return the output of a command as it is sent, from objects and from bytes alike."""
    return sent(rust, wire.bash(command, text, "t1"), text, **settings)


def sent(rust: ModuleType, messages: list[Any], text: str, **settings: Any) -> str:
    """Return the one result of a conversation as it is sent. Both backends carry the same of it under these limits."""
    check_both_carry(messages, **settings)
    found = rust.project(messages, policy=ProjectPolicy(**settings))
    assert resolve(messages, "t1") == text
    shown: str = found.messages[1]["content"][0]["content"]
    body = json.dumps({"messages": messages}).encode()
    again = json.loads(rust.project_body(body, policy=ProjectPolicy(**settings)).body)["messages"]
    assert again == found.messages
    assert rust.project(found.messages, policy=ProjectPolicy(**settings)).messages == found.messages
    return shown


def lines_of(shown: str) -> list[str]:
    """Return the lines without the marker and the gaps."""
    *lines, marker = shown.split("\n")
    assert MARKER.fullmatch(marker), shown
    return [line for line in lines if not GAP.fullmatch(line)]


def check_cut_at_its_ends(rust: ModuleType, command: str, text: str) -> None:
    """Check that the output of a command is of no known kind, and so cut at its ends, unless lines are chosen."""
    known = [kind for kind in CONTENT_KINDS if kind != "lines"]
    cut = projected(rust, command, text, max_result_chars=500, content="off")
    assert projected(rust, command, text, max_result_chars=500, content=known) == cut


def check_both_carry(messages: list[Any], **settings: Any) -> None:
    """Check that both backends carry the same of these messages, by the settings that ``carry`` has, too."""
    known: Any = {
        name: settings[name] for name in ResultOptions.__annotations__ if name in settings
    }
    with _backend.using("python"):
        carried = carry(messages, **known)
    with _backend.using("rust"):
        assert carry(messages, **known) == carried
