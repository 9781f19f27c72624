"""The help of the command line: commands in groups, and the exit codes once."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperCommand, TyperGroup

GROUPS: Final = {
    "See where a context goes": ("inspect", "watch", "report", "count"),
    "Make something of a conversation": ("carry", "project", "convert", "recount", "resolve", "check"),
    "Go on in another agent": ("continue", "sessions"),
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


ARGUMENTS: Final = "toolcarry.arguments"
"""The key under which a context has what stands after ``--``."""


class WithArguments(TyperCommand):
    """A command that passes everything after ``--`` on."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what stands after ``--``, and read the rest."""
        if "--" in args:
            place = args.index("--")
            ctx.meta[ARGUMENTS] = args[place + 1 :]
            args = args[:place]
        rest: list[str] = super().parse_args(ctx, args)
        return rest
