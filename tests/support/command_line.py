"""The page of the command line, made from its declarations.

``PYTHONPATH=tests python -m support.command_line > docs/reference/command-line.md`` writes it again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

from typer.main import get_command

from toolcarry.cli.app import app

HEAD = """# Command line

Data goes to standard output, everything else to standard error; `-o` replaces a file only when the output is complete, and never replaces a store.
`toolcarry COMMAND --help` shows an example, and a sentence for each of the options that are used most; `--help-all` says all that this page says.

```console
$ toolcarry inspect examples --sort tokens
$ toolcarry carry examples/session.jsonl --max-tokens 8000 --max-result-tokens 500
$ cat examples/session.jsonl | toolcarry carry - --max-result-chars 2000 -o context.md
$ toolcarry convert examples/session.jsonl --destination openai-chat -o request.json
$ toolcarry project request.json --repair --max-request-tokens 150000 --diff
$ toolcarry recount examples/session.jsonl --max-result-length 300 --max-tokens 8000
$ toolcarry config check examples/toolcarry.toml
```

- A file may be compressed with gzip or Zstandard, a folder of OpenHands events, or a store (see [Stores](formats.md#stores)).
- Devices and named pipes are refused, because they may never end; a shell's `<(...)` is read.
- A number may be written `20k` or `20_000`; with `--model`, a limit in tokens may be a share of the model's window, such as `80%`.
- A terminal gets control characters as text (`\\u001b`); a pipe and a file get every byte.
- A line on standard error says how many messages have an unknown structure.
  With `--strict`, such messages, orphans and skipped lines lead to exit code 1.
  A file in which every message is unknown always does.

## Exit codes

| code | meaning |
|---|---|
"""
CODE = re.compile(r"(\d+) (.+?)(?:; (?=\d)|\. )")


def commands(group: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every command with its full name, in the order of the help."""
    for word in group.list_commands(None):
        command = group.commands[word]
        full = f"{name} {word}".strip()
        if hasattr(command, "commands"):
            yield from commands(command, full)
        else:
            yield full, command


def command_line_page() -> str:
    """Return the page docs/reference/command-line.md."""
    top = get_command(app)
    epilog = " ".join((top.epilog or "").split())
    codes = CODE.findall(epilog.partition("Exit codes: ")[2] + " ")
    parts = [HEAD + "".join(f"| {code} | {meaning} |\n" for code, meaning in codes)]
    parts.append("\nA file that fails does not stop the others; the highest code is returned.\n")
    parts += [section(name, command) for name, command in commands(top)]
    return "".join(parts)


def section(name: str, command: Any) -> str:
    """Return the section of a command: its help, its arguments and its options."""
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = " ".join(["toolcarry", name, "[OPTIONS]", *(shape(each) for each in arguments)])
    rows = [
        (names(each), each.help or "")
        for each in command.params
        if not getattr(each, "hidden", False) and each.name != "help"
    ]
    lines = [f"\n## {name}\n", f"{paragraphs(command.help or '')}\n", f"```text\n{usage}\n```\n"]
    if rows:
        table = [f"| {left} | {cell(right)} |" for left, right in rows]
        lines.append("\n".join(["| option | meaning |", "|---|---|", *table]) + "\n")
    return "\n".join(lines)


def shape(argument: Any) -> str:
    """Return an argument as the usage line shows it."""
    word = (argument.metavar or argument.name).upper().strip("[]")
    word = f"{word}..." if argument.nargs == -1 else word
    return word if argument.required else f"[{word}]"


def names(parameter: Any) -> str:
    """Return the names of an option with what it takes, as code."""
    if parameter.param_type_name == "argument":
        return cell(f"`{(parameter.metavar or parameter.name).upper().strip('[]')}`")
    takes = "" if parameter.is_flag else f" {parameter.metavar or takes_of(parameter)}"
    shown = [", ".join(parameter.opts) + takes, ", ".join(parameter.secondary_opts)]
    return cell(" / ".join(f"`{each}`" for each in shown if each))


def takes_of(parameter: Any) -> str:
    """Return what an option takes: its values, or the name of its type."""
    choices = getattr(parameter.type, "choices", None)
    return "|".join(map(str, choices)) if choices else str(parameter.type.name).upper()


def paragraphs(text: str) -> str:
    """Return a help text with each paragraph on one line."""
    kept = text.replace("\b", "").strip()
    return "\n\n".join(" ".join(each.split()) for each in re.split(r"\n\s*\n", kept))


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return " ".join(text.split()).replace("|", r"\|")


if __name__ == "__main__":
    sys.stdout.write(command_line_page())
