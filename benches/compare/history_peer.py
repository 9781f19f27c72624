"""Jobs of the peer ``tract-ai``, in the interpreter of an environment that has it; ``history.py`` starts this.

A job is a line on stdin, and what it gives one on stdout. Nothing of toolcarry is imported here.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from typing import Any

from tract import Tract


class Jobs:
    def __init__(self, path: str) -> None:
        self._tract = Tract.open(path)
        self._other = Tract.open(path, tract_id="turns")
        self._commits = 0

    def version(self) -> str:
        return version("tract-ai")

    def append(self, texts: list[str]) -> None:
        """Commit tool results, one by one."""
        for text in texts:
            self._tract.tool_result("toolu_1", "Bash", text)

    def newest(self) -> str:
        found = self._tract.get_content(self._tract.log(limit=1)[0])
        return found if isinstance(found, str) else found["text"]

    def fill(self, turns: list[list[Any]]) -> None:
        """Commit turns, each what the user said, a call, a result, and what the model said."""
        for asked, said, call, result, answer in turns:
            self._other.user(asked)
            self._other.assistant(said, metadata={"tool_calls": [call]})
            self._other.tool_result(call["id"], call["name"], result)
            self._other.assistant(answer)
            self._commits += 4

    def turns(self) -> int:
        return len(self._other.tools.find_turns(limit=self._commits))

    def compile(self) -> int:
        return len(self._other.compile().to_openai())


def main() -> None:
    jobs = Jobs(sys.argv[1])
    for line in sys.stdin:
        name, *values = json.loads(line)
        print(json.dumps(getattr(jobs, name)(*values)), flush=True)


if __name__ == "__main__":
    main()
