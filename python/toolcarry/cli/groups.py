"""The help of the command line: commands in groups, and the exit codes once."""

from __future__ import annotations

from typing import Any, Final

from typer.core import TyperGroup

GROUPS: Final = {
    "See where a context goes": ("inspect", "watch", "report", "count"),
    "Make something of a conversation": ("carry", "project", "convert", "recount", "resolve", "check"),
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
