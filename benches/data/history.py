"""The data that the benchmarks of the history write: results of 4 KB, sessions of Claude Code's kind, and long conversations.

No two texts are the same, so that nothing is stored once for two of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import orjson
from workload import SEED, Writer, session_record

from toolcarry.tract.store.log import Draft
from toolcarry.tract.store.types import Kind

BYTES = 4_096
"""Of a tool result."""
CHARACTERS = 3_500
"""Of the text in a line of a session, which has about 4 KB with what is around it."""


def results(seed: int = SEED) -> Iterator[str]:
    """Texts of 4 KB in UTF-8, without end, in the workloads' shares of code, logs, prose and so on."""
    writer = Writer(20, seed)
    number = 0
    while True:
        number += 1
        text = f"{number} {writer.text(BYTES)}".encode("utf-8", "replace")[:BYTES]
        yield text.decode("utf-8", "ignore")


def session(lines: int, seed: int) -> bytes:
    """A session file: a call and its result in turns, each line about 4 KB."""
    writer = Writer(20, seed)
    found: list[bytes] = []
    for number in range(lines):
        text = f"{seed} {number} {writer.text(CHARACTERS)}"
        call_id = f"toolu_{seed}_{number // 2}"
        block: dict[str, object]
        if number % 2:
            block = {"type": "tool_result", "tool_use_id": call_id, "content": text}
        else:
            given = {"file_path": f"/src/{number}.py", "content": text}
            block = {"type": "tool_use", "id": call_id, "name": "Write", "input": given}
        role = "user" if number % 2 else "assistant"
        found.append(orjson.dumps(session_record(number, {"role": role, "content": [block]})))
    return b"\n".join(found) + b"\n"


def turns(commits: int) -> Iterator[Draft]:
    """A conversation in turns of four commits: what the user said, a call, its result, and what the model said."""
    for number in range(commits // 4):
        call_id, path = f"toolu_{number:08}", f"/src/{number % 97}.py"
        call = {"id": call_id, "name": "Read", "arguments": {"file_path": path}}
        result = {"tool_call_id": call_id, "name": "Read", "is_error": False}
        text = f"{number}\timport os\n" * 20
        yield Draft("user", Kind.MESSAGE, b"Look at file %d." % number, {}, 6)
        yield Draft("assistant", Kind.CALL, b"I read it (%d)." % number, {"tool_calls": [call]}, 7)
        yield Draft("tool", Kind.RESULT, text.encode(), result, 100)
        yield Draft("assistant", Kind.MESSAGE, b"It imports os, %d times." % number, {}, 9)


def plain(commits: int) -> Iterator[list[object]]:
    """The same conversation for a peer: of each turn what was asked, said, called, returned and answered."""
    drafts = list(turns(commits))
    for asked, said, result, answer in zip(*[iter(drafts)] * 4, strict=True):
        call = said.metadata["tool_calls"][0]
        texts = [draft.content.decode() for draft in (asked, said, result, answer)]
        yield [texts[0], texts[1], call, texts[2], texts[3]]
