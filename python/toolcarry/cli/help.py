"""The help of the command line: commands in groups, and for each an example and a sentence for each option."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any, Final, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

GROUPS: Final = {
    "See what fills a context": ("inspect", "watch", "report", "count"),
    "Shrink, convert and check": ("carry", "project", "convert", "recount", "resolve", "check"),
    "Continue in another agent": ("continue", "sessions"),
    "Many files": ("batch",),
    "Keep conversations": ("history",),
    "Serve and set up": ("serve", "config", "formats", "doctor"),
}  # fmt: skip
"""The commands under each heading of the help."""


class Grouped(TyperGroup):
    """A group whose help lists its commands under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in the order of ``GROUPS``; others come last."""
        left = [name for name in self.list_commands(ctx) if not any(name in group for group in GROUPS.values())]  # fmt: skip
        for title, names in (*GROUPS.items(), ("Others", left)):
            commands = [
                (name, command) for name in names if (command := self.get_command(ctx, name))
            ]
            if commands:
                with formatter.section(title):
                    rows = [(name, command.get_short_help_str(100)) for name, command in commands]
                    formatter.write_dl(rows)


EXAMPLES: Final = {
    "batch": "sessions --job inspect --out sessions.jsonl",
    "carry": "session.jsonl --max-tokens 8000",
    "check": "request.json",
    "config check": "toolcarry.toml",
    "config reference": "",
    "config schema": "",
    "config show": "toolcarry.toml",
    "continue": "claude --in codex",
    "convert": "session.jsonl --destination openai -o request.json",
    "count": "session.jsonl --model gpt-4o",
    "doctor": "",
    "formats": "",
    "history backfill": "--db history.db",
    "history compact": "--db history.db --limit 200000",
    "history conversations": "--db history.db",
    "history export": "--db history.db -o session.jsonl",
    "history import": "session.jsonl --db history.db",
    "history legacy": "--db history.db",
    "history log": "--db history.db -n 20",
    "history search": "'assert split' --db history.db",
    "history shadow-report": "--db history.db",
    "history show": "toolu_011a280f6292e3d5 --db history.db",
    "history stats": "--db history.db",
    "history turns": "--db history.db --name Bash",
    "history verify": "--db history.db",
    "inspect": "session.jsonl",
    "project": "request.json --repair --max-request-tokens 150000",
    "recount": "session.jsonl",
    "report": "session.jsonl -o page.html",
    "resolve": "session.jsonl toolu_011a280f6292e3d5",
    "serve": "http://localhost:11434 --shape ollama",
    "sessions": "--here",
    "watch": "session.jsonl",
}
"""An example of each command, without its name."""


Function = TypeVar("Function", bound=Callable[..., Any])


class Commands(typer.Typer):
    """An application whose commands have a brief help."""

    # Fewer settings than typer's, and a type for the function.
    def command(  # type: ignore[override]
        self, name: str | None = None, *, cls: type[TyperCommand] | None = None
    ) -> Callable[[Function], Function]:
        """Return a decorator that adds a function as a command."""
        return super().command(name, cls=cls or Brief)


FIRST: Final = {
    "batch": ("job", "out", "max_tokens", "max_request_tokens", "jobs", "resume"),
    "carry": ("max_tokens", "max_result_tokens", "layout", "summary", "explain", "output", "as_json"),
    "project": ("max_request_tokens", "max_result_tokens", "repair", "destination", "model", "diff", "output", "as_json"),
}  # fmt: skip
"""The options of the longest commands that the help describes; the others are named."""


class Brief(TyperCommand):
    """A command whose help fits a screen: an example, and a sentence for each option; ``--help-all`` has the rest."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the whole help if it is asked for, else read the arguments."""
        if "--help-all" in args:
            ctx.meta[ALL] = True
            typer.echo(ctx.get_help())
            raise typer.Exit
        rest: list[str] = super().parse_args(ctx, args)
        return rest

    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the example, then the usage."""
        example = EXAMPLES.get(ctx.command_path.partition(" ")[2])
        if example is not None:
            formatter.write(f"Example: {ctx.command_path} {example}".rstrip() + "\n\n")
        super().format_usage(ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and options."""
        if ctx.meta.get(ALL):
            super().format_options(ctx, formatter)
            return
        rows: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        first = FIRST.get(ctx.command_path.partition(" ")[2])
        named: list[str] = []
        is_whole = True
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None:
                names, text = record
                is_argument = each.param_type_name == "argument"
                if first and not is_argument and each.name not in (*first, "help"):
                    named.append(each.opts[-1])
                    continue
                shown = text if is_argument else sentence_of(text)
                rows["Arguments" if is_argument else "Options"].append(
                    (TOGGLE.sub(r"--[no-]\1", names), shown)
                )
                is_whole = is_whole and shown == text
        for title, found in rows.items():
            if found:
                with formatter.section(title):
                    formatter.write_dl(found)
        if named:
            with formatter.section("More options"):
                width = formatter.width - formatter.current_indent
                for line in textwrap.wrap(", ".join(named), width, break_on_hyphens=False):
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")
        if not is_whole or named:
            formatter.write(f"\n{ctx.command_path} --help-all says more about the options.\n")


ALL: Final = "toolcarry.help-all"
TOGGLE: Final = re.compile(r"--(\S+) / --no-\S+")
SENTENCE: Final = re.compile(r'(?<=[^.][.;]) (?=[\w"@-])')


def sentence_of(text: str) -> str:
    """Return the first sentence of a help text, up to a semicolon, and what stands in brackets at its end.

    >>> sentence_of("The most results. More are counted.  [default: 10]")
    'The most results.  [default: 10]'
    """
    words, mark, rest = text.partition("  [")
    first = SENTENCE.split(words, maxsplit=1)[0]
    return f"{first.rstrip('.;')}." + mark + rest if first else text


ARGUMENTS: Final = "toolcarry.arguments"
"""The key under which a context has what stands after ``--``."""


class WithArguments(Brief):
    """A command that passes everything after ``--`` on."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what stands after ``--``, and read the rest."""
        if "--" in args:
            place = args.index("--")
            ctx.meta[ARGUMENTS] = args[place + 1 :]
            args = args[:place]
        rest: list[str] = super().parse_args(ctx, args)
        return rest
