"""``toolcarry continue`` and ``toolcarry sessions``, with their options."""

from __future__ import annotations

from typing import Annotated

import typer

from toolcarry.cli.continue_options import STATES, WAYS, ContinueOptions, agent_and_way
from toolcarry.cli.help import ARGUMENTS
from toolcarry.cli.options import offer, read_choice, read_since
from toolcarry.sessions.agents import AGENT_NAMES, TARGET_NAMES

__all__ = ["go_on", "sessions"]


def go_on(
    context: typer.Context,
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="SESSION",
            help="A session file, STORE#ID, an id, or an agent for its newest session. Default: the newest session of "
            "this directory.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--in",
            metavar="AGENT",
            help=f"The agent to continue in: {', '.join(TARGET_NAMES)}. Without an agent, --output or --copy writes the context.",
            autocompletion=offer(TARGET_NAMES),
            show_default=False,
        ),
    ] = None,
    way: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="WAY",
            help="session: a new session of the agent with every call and result, which it resumes. context: a file "
            "that it reads first. Default: session if the agent can resume one; context with --output and --copy.",
            autocompletion=offer(WAYS),
            show_default=False,
        ),
    ] = None,
    ask: Annotated[
        bool,
        typer.Option(
            "--pick",
            help="Choose from the newest sessions of all agents, or of the named agent.",
        ),
    ] = False,
    show: Annotated[
        bool,
        typer.Option(
            "--print",
            help="Write the session or context, but print the command instead of running it.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be done, but write nothing.")
    ] = False,
    undo: Annotated[
        bool,
        typer.Option(
            "--undo",
            help="Remove the last session or context that was written, or the one with this id, unless it was "
            "changed since.",
        ),
    ] = False,
    redact: Annotated[
        bool, typer.Option("--redact", help="Remove secrets, using the built-in redaction rules.")
    ] = False,
    copy: Annotated[
        bool,
        typer.Option(
            "--copy", help="Copy the context to the clipboard instead of starting an agent."
        ),
    ] = False,
    window_tokens: Annotated[
        int | None,
        typer.Option(
            min=1_000,
            metavar="N",
            help="The context window of the agent's model, if it differs from the usual one.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.md",
            help="A new file for the context; - prints it to stdout and starts no agent. Default: a file in the user's state folder.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Continue a session in another agent: write it into that agent's own store, and resume it there.

    Sessions are added to the store; nothing in it is changed. Content that the agent cannot hold is reported first.
    Arguments after -- go to the agent.
    """
    from toolcarry.cli.continue_session import continue_session, undo_session  # noqa: PLC0415 - imports SQLite

    if undo:
        raise typer.Exit(undo_session(session))
    if ask and session is not None:
        read_choice("--pick", session, AGENT_NAMES)
    agent, read_way = agent_and_way(target, way, output=output, is_copied=copy)
    arguments = tuple(context.meta.get(ARGUMENTS, ()))
    options = ContinueOptions(
        agent, read_way, ask, show, dry_run, redact, copy, window_tokens, output, arguments
    )
    raise typer.Exit(continue_session(session, options))


def sessions(
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            help=f"Only the sessions of one agent: {', '.join(AGENT_NAMES)}.",
            autocompletion=offer(AGENT_NAMES),
            show_default=False,
        ),
    ] = None,
    here: Annotated[
        bool, typer.Option("--here", help="Only the sessions of the current directory.")
    ] = False,
    directory: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Only the sessions of a directory.", show_default=False),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="DATE",
            help="Only sessions that changed since a date, such as 2026-01-31, or in the last 7d or 12h.",
            show_default=False,
        ),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            metavar="STATE",
            help="Only sessions in this state: finished, waiting (for the model), or cut-off (during a call).",
            autocompletion=offer(STATES),
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of sessions.")
    ] = 20,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per session.")
    ] = False,
) -> None:
    """List the sessions of agents on this machine, newest first: agent, age, size, state, title, directory and id."""
    from toolcarry.cli.sessions_list import list_sessions  # noqa: PLC0415 - imports SQLite

    if agent is not None:
        read_choice("--agent", agent, AGENT_NAMES)
    if state is not None:
        read_choice("--state", state, STATES)
    if here and directory is not None:
        raise typer.BadParameter("not allowed together with --directory", param_hint="'--here'")
    code = list_sessions(
        agent=agent,
        directory="." if here else directory,
        since=None if since is None else read_since(since),
        state=state,
        limit=limit,
        is_json=as_json,
    )
    raise typer.Exit(code)
