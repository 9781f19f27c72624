"""``toolcarry config``: check the settings and show them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolcarry.cli.exit_codes import NOT_FOUND, USAGE, FileError
from toolcarry.cli.help import Commands
from toolcarry.cli.io import Output, json_line
from toolcarry.cli.terminal import Screen, label, one_line

if TYPE_CHECKING:
    from toolcarry.config import Config
    from toolcarry.config.load import Loaded, SettingsFile

__all__ = ["config"]

config = Commands(
    help="Check or show the settings. Environment variables override toolcarry.toml.",
    rich_markup_mode=None,
)

File = Annotated[
    str | None,
    typer.Argument(
        metavar="[FILE]",
        help="The settings file. Default: $TOOLCARRY_CONFIG, else toolcarry.toml in the user's configuration folder.",
        show_default=False,
    ),
]


@config.callback(invoke_without_command=True)
def main(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)


@config.command("check")
def check(file: File = None) -> None:
    """Check the settings. Exit with 2 if one is not allowed, and warn about settings that can't work on this
    machine."""
    out, screen = Output(), Screen()
    place, loaded = load_settings(file, screen)
    out.write(f"{source(place, loaded)}\n".encode())
    for name in loaded.variables:
        out.write(f"{name} is used\n".encode())
    for warning in warnings(loaded.config):
        screen.say(f"warning: {warning}")


@config.command("show")
def show(
    file: File = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object with the keys file, settings and sources."
        ),
    ] = False,
) -> None:
    """Print all settings as TOML that can be loaded again. Each setting is followed by its source; passwords are
    hidden."""
    from toolcarry.config.schema import dotted  # noqa: PLC0415 - slow to load
    from toolcarry.config.write import plain_values, write_toml  # noqa: PLC0415 - slow to load

    out = Output()
    place, loaded = load_settings(file, Screen())
    if as_json:
        name = None if loaded.file is None else os.fspath(loaded.file)
        sources = {dotted(path): source for path, source in loaded.sources.items()}
        settings = plain_values(loaded.config)
        out.write(json_line({"file": name, "settings": settings, "sources": sources}))
        return
    text = write_toml(loaded.config, loaded.sources)
    out.write(f"# {source(place, loaded)}\n\n{text}".encode())


@config.command("reference")
def reference() -> None:
    """Print a reference of all settings in Markdown. It lists the default, the meaning and the allowed values of each
    key."""
    from toolcarry.config.reference import settings_page  # noqa: PLC0415 - slow to load

    Output().write(settings_page().encode())


@config.command("schema")
def schema() -> None:
    """Print a JSON Schema of toolcarry.toml. Editors use it to complete and check the file."""
    from toolcarry.config.reference import settings_schema  # noqa: PLC0415 - slow to load

    Output().write(json_line(settings_schema()))


def load_settings(file: str | None, screen: Screen) -> tuple[SettingsFile | None, Loaded]:
    """Load the settings, and return them with their place; warn of old names, and of environment variables that name no setting."""
    from toolcarry.config.load import find_file, load  # noqa: PLC0415 - slow to load

    place = find_file(file)
    if place is not None and place.is_asked:
        try:
            place.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            raise FileError(f"{label(str(place.path))}: no such file", NOT_FOUND) from None
        except OSError:
            pass  # load() reports it
    loaded = load(place)
    for line in loaded.renamed:
        screen.say(f"warning: {line}")
    for name in loaded.unknown:
        screen.say(f"warning: {name}: no such setting")
    return place, loaded


def source(place: SettingsFile | None, loaded: Loaded) -> str:
    """Return a line that names the settings file, or says that no file exists."""
    if loaded.file is not None:
        return f"{label(str(loaded.file))}: every setting is allowed"
    where = f" at {label(str(place.path))}" if place else ", and no user configuration folder"
    return f"no file{where}: using the defaults"


def warnings(settings: Config) -> Iterator[str]:
    """Yield warnings of allowed settings that can't work on this machine or have no effect."""
    yield from missing_extras(settings)
    summarize = settings.thinking.summarize
    if ":" in summarize.summarizer and (problem := problem_of_callable(summarize.summarizer)):
        yield f"thinking.summarize.summarizer: {problem}"
    if summarize.model and summarize.summarizer != "litellm":
        yield f"thinking.summarize.model: has no effect with summarizer = {summarize.summarizer!r}"
    yield from missing_variables(settings)
    if settings.redaction.rules and find_spec("re2"):
        yield from wrong_patterns(settings)


def missing_extras(settings: Config) -> Iterator[str]:
    """Yield a warning for each setting that needs a package that is not installed."""
    is_server = settings.history.target.startswith(("postgresql://", "postgres://"))
    for key, module, extra, is_used in (
        (
            "thinking.summarize.summarizer",
            "litellm",
            "litellm",
            settings.thinking.summarize.summarizer == "litellm",
        ),
        ("history.target", "psycopg", "postgres", is_server),
        ("redaction.enabled", "re2", "redact", settings.redaction.enabled),
    ):
        if is_used and find_spec(module) is None:
            yield f"{key}: needs {module}, which is not installed; pip install 'toolcarry[{extra}]'"


def problem_of_callable(name: str) -> str:
    """Import ``package.module:callable``, and return the reason if there is no such callable; else an empty text."""
    module, _, attributes = name.partition(":")
    try:
        found: object = import_module(module)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except Exception as error:  # noqa: BLE001 - importing runs any code; its failure is reported
        return f"{name!r} can't be imported: {type(error).__name__}: {one_line(str(error))}"
    return "" if callable(found) else f"{name!r} is not callable, but {type(found).__name__}"


def missing_variables(settings: Config) -> Iterator[str]:
    """Yield a warning for each missing variable that should hold a secret.

    The name is not printed, since it may be the secret itself, entered by mistake.
    """
    named = {"serve.token_env": settings.serve.token_env}
    for index, upstream in enumerate(settings.serve.upstreams):
        named[f"serve.upstreams[{index}].api_key_env"] = upstream.api_key_env
    for key, name in named.items():
        if name and not os.environ.get(name):
            yield f"{key}: names an environment variable that is not set"


def wrong_patterns(settings: Config) -> Iterator[str]:
    """Yield a warning for each configured redaction pattern that RE2 refuses."""
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    for index, rule in enumerate(settings.redaction.rules):
        try:
            re2.compile(rule.pattern, options)
        except re2.error as error:
            reason = error.args[0] if error.args else ""
            reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
            yield f"redaction.rules[{index}].pattern: is not valid RE2 syntax: {one_line(reason)}"
