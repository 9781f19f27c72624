"""``toolcarry continue``: continue a session in another agent."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from toolcarry import convert
from toolcarry.cli.clipboard import copy
from toolcarry.cli.continue_options import ContinueOptions
from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, FileError
from toolcarry.cli.io import Output, read_some
from toolcarry.cli.request import tell
from toolcarry.cli.session_choice import Chosen, choose
from toolcarry.cli.terminal import Screen, one_line
from toolcarry.errors import InputError, RedactionError
from toolcarry.redact import Redactor
from toolcarry.redact.hook import Redact
from toolcarry.sessions.agents import Agent
from toolcarry.sessions.as_context import context_of, first_prompt
from toolcarry.sessions.files import add_file
from toolcarry.sessions.undo import note_written, state_folder, take_back
from toolcarry.sessions.world import World, look
from toolcarry.sessions.write import draft_session, losses_of, put_session

__all__ = ["continue_session", "undo_session"]

ROOM: Final = 0.7
"""The share of the agent's window that a conversation may fill: its own prompt and the next steps need the rest."""
CONTEXT_TOKENS: Final = 20_000
"""The most tokens of a context."""
WINDOW: Final = 200_000
"""The window of an agent that is not named."""
NOTE: Final = (
    "[Note of toolcarry at the hand-over: some files are no longer as this session saw them.]"
)


def undo_session(name: str | None) -> int:
    """Remove the session that was written last, and return the exit code."""
    screen = Screen()
    try:
        entry = take_back(os.environ, name)
    except (InputError, OSError) as error:
        screen.say(one_line(str(error), 4_000))
        return FAILED
    what = f"session {entry.session_id}" if entry.agent else "context"
    screen.say(f"removed the {what} from {one_line(entry.path, 400)}")
    return 0


def continue_session(name: str | None, options: ContinueOptions) -> int:
    """Continue a session in another agent, and return the exit code. A started agent replaces this process."""
    screen = Screen()
    try:
        command, directory = prepare(name, options, screen)
        if not options.starts_nothing:
            start(command, directory)
    except FileError as error:
        screen.say(str(error))
        return error.code
    except (InputError, RedactionError) as error:
        screen.say(one_line(str(error), 4_000))
        return FAILED
    except OSError as error:
        screen.say(one_line(f"can't be written: {error.filename or ''} {error.strerror or error}", 4_000))  # fmt: skip
        return FAILED
    return 0


def prepare(name: str | None, options: ContinueOptions, screen: Screen) -> tuple[list[str], Path]:
    """Report what will be done, write it, and return the command to start, with the directory."""
    agent = options.agent
    if agent and not options.starts_nothing and shutil.which(agent.program) is None:
        raise FileError(
            f"{agent.program}: no such program on the PATH; use --print to print the command instead",
            NOT_FOUND,
        )
    chosen = choose(name, os.environ, Path.cwd(), screen, is_picked=options.is_picked)
    data = read_some(chosen.name, screen)
    screen.say(f"continuing {chosen.title}{f' in {agent.title}' if agent else ''}")
    if chosen.gone:
        screen.say(
            f"  its directory {one_line(chosen.gone, 400)} is not there; it goes on in this one"
        )
    world = look(chosen.directory, data)
    for line in world.lines():
        screen.say(f"  {one_line(line, 400)}")
    redact = Redactor() if options.is_redacted else None
    if agent and options.way == "session":
        command = as_session(data, chosen, agent, options, world, redact, screen)
    else:
        command = as_context(data, chosen.name, options, world, redact, screen)
    if not command:
        return command, chosen.directory
    command = [*command, *options.arguments]
    shown = as_typed(command, chosen.directory)
    if options.is_printed and not options.is_dry:
        with Output() as out:
            out.write(f"{shown}\n".encode("utf-8", "replace"))
    else:
        screen.say(f"{'would run' if options.is_dry else 'runs'}: {one_line(shown, 4_000)}")
    return command, chosen.directory


def as_typed(command: Sequence[str], directory: Path) -> str:
    """Return a command as a user types it, from this directory."""
    join = shlex.join if os.name != "nt" else subprocess.list2cmdline
    typed = join(command)
    is_here = os.path.realpath(Path.cwd()) == str(directory)
    return typed if is_here else f"{join(['cd', str(directory)])} && {typed}"


def as_session(
    data: bytes,
    chosen: Chosen,
    agent: Agent,
    options: ContinueOptions,
    world: World,
    redact: Redact | None,
    screen: Screen,
) -> list[str]:
    """Write a session and return the command that resumes it."""
    window = options.window or agent.window
    note = "\n".join([NOTE, *world.lines()]) if world.stale else ""
    draft = draft_session(
        data,
        agent.name,
        directory=chosen.directory,
        limit=int(window * ROOM),
        source=chosen.name,
        redact=redact,
        note=note,
    )
    for line in tell(losses_of(draft)):
        screen.say(f"  {line}")
    if options.is_dry:
        screen.say("nothing is written")
        return agent.resume_command(draft.session_id, Path("FILE"))
    written = put_session(draft, os.environ)
    tell_written(agent.name, written.session_id, written.path, screen)
    return agent.resume_command(written.session_id, written.path)


def as_context(
    data: bytes,
    name: str,
    options: ContinueOptions,
    world: World,
    redact: Redact | None,
    screen: Screen,
) -> list[str]:
    """Write a context and return the command that starts the agent with it; empty if none is to start."""
    agent = options.agent
    window = options.window or (agent.window if agent else WINDOW)
    talk = convert(data, to="openai", repair=False).messages
    source = str(Path(name).absolute()) if redact is None and name != "-" else ""
    text = context_of(
        data, talk, world, max_tokens=min(CONTEXT_TOKENS, window // 4), source=source, redact=redact
    )
    path = state_folder(os.environ) / "contexts" / f"{uuid.uuid4()}.md"
    if options.output is not None:
        path = Path(options.output).absolute()
    if options.is_copied and not options.is_dry:
        copy(text)
        screen.say(f"copied the context: {len(text):,} characters")
        return []
    if options.is_shown and not options.is_dry:
        with Output() as out:
            out.write(text.encode("utf-8", "replace"))
        return []
    if options.is_dry:
        screen.say(f"nothing is written; the context has {len(text):,} characters")
    else:
        try:
            add_file(path, text.encode("utf-8", "replace"))
        except FileExistsError:
            raise FileError(
                f"{one_line(str(path), 400)}: already exists; name a new file", FAILED
            ) from None
        tell_written("", path.stem, path, screen)
    if agent is None or options.is_copied or options.is_shown:
        return []
    return agent.start_command(first_prompt(talk, path, redact))


def tell_written(agent: str, session_id: str, path: Path, screen: Screen) -> None:
    """Record what was written for ``--undo``, and report it. A failure to record it is not an error."""
    how = "toolcarry continue --undo removes it"
    try:
        note_written(os.environ, agent, session_id, path)
    except OSError as error:
        how = f"--undo will not find it: {error.filename or ''}: {error.strerror or error}"
    screen.say(f"wrote {one_line(str(path), 400)}; {one_line(how, 400)}")


def start(command: Sequence[str], directory: Path) -> None:
    """Start an agent in place of this process, without a shell. On Windows, wait for it, and end with its exit code."""
    program = shutil.which(command[0])
    if program is None:
        raise FileError(f"{command[0]}: no such program on the PATH", NOT_FOUND)
    os.chdir(directory)
    if os.name == "nt":
        raise SystemExit(subprocess.call([program, *command[1:]]))
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(program, [program, *command[1:]])
