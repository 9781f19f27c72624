"""Options and arguments that several commands share, and the functions that read their values."""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, TypeVar, cast, get_args, get_origin

import typer

from toolcarry._data import destination_names
from toolcarry.errors import ConfigError
from toolcarry.types.destinations import Destination as OwnDestination
from toolcarry.types.models import WINDOWS
from toolcarry.types.policy import (
    NO_LIMIT,
    AnyPolicy,
    CharLimit,
    Field,
    ResultPolicy,
    fields_of,
    share_of,
)
from toolcarry.types.values import ENCODINGS, EncodingName


def offer(values: Sequence[str]) -> Callable[[str], list[str]]:
    """Return a function for tab completion: the values that begin with what was typed."""
    return lambda incomplete: [value for value in values if value.startswith(incomplete)]


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="Request bodies, JSON arrays or session files (JSONL); - is stdin.",
        show_default=False,
    ),
]
Sessions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE|FOLDER|GLOB",
        help="Request bodies, JSON arrays or session files (JSONL), folders with such files, or patterns; - is stdin.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Count tokens for this model, such as gpt-4o. Default: the last model that the file names.",
        autocompletion=offer(tuple(WINDOWS)),
        show_default=False,
    ),
]
File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A request body, a JSON array or a session file (JSONL); - is stdin.",
        show_default=False,
    ),
]
JsonLines = Annotated[bool, typer.Option("--json", help="Print one line of JSON per file.")]
OutputFile = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT",
        help="Write to this file instead of stdout. It is replaced only on success, and must not be an input.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The encoding in which tokens are counted: o200k_base or cl100k_base. --model decides instead, if given.",
        autocompletion=offer(ENCODINGS),
    ),
]
LimitModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Limits in tokens are those of this model, such as gpt-4o; 80% is a share of its window.",
        autocompletion=offer(tuple(WINDOWS)),
        show_default=False,
    ),
]
Destination = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="For whom the request is, such as mistral. Default: the messages and the model tell.",
        autocompletion=offer(destination_names()),
        show_default=False,
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit with 1 if a call has no result, a result has no call, a line was skipped, or a message "
        "has an unknown structure.",
    ),
]


Choice = TypeVar("Choice", bound=str)


def destination_named(option: str, name: str, older: Sequence[str] = ()) -> str | OwnDestination:
    """Return the destination of a name: the name of a known one, or one that the settings define.

    ``older`` are other names that the option takes. The settings are read only for a name that is not known. Raises a
    usage error for one that they do not define.
    """
    if name in destination_names() or name in older:
        return name
    from toolcarry.config.load import find_file, load  # noqa: PLC0415 - imports msgspec

    own = {each.name: each for each in load(find_file(None)).config.own_destinations()}
    if name not in own:
        allowed = ", ".join(dict.fromkeys((*older, *destination_names(), *own)))
        raise typer.BadParameter(
            f"{name!r} is not allowed; allowed: {allowed}", param_hint=f"'{option}'"
        )
    return own[name]


Command = TypeVar("Command", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class Given:
    """The options of policies that were used, by the names of the fields."""

    values: Mapping[str, str | bool]

    def policy(self, kind: type[AnyPolicy]) -> AnyPolicy:
        """Return the policy that the options describe. Raises ``typer.BadParameter`` for an option of another policy."""
        known = {field.name: field for field in fields_of(kind)}
        for name in self.values:
            if name not in known:
                raise typer.BadParameter(
                    "is no option of this job", param_hint=f"'{option_of(name)}'"
                )
        try:
            return kind(
                **{name: read_value(known[name], value) for name, value in self.values.items()}
            )
        except ConfigError as error:
            name, _, reason = str(error).partition(": ")
            shown = re.sub(
                r"\b\w+_\w+\b",
                lambda word: option_of(word[0]) if word[0] in known else word[0],
                reason,
            )
            raise typer.BadParameter(shown, param_hint=f"'{option_of(name)}'") from None


def with_policies(*kinds: type[ResultPolicy]) -> Callable[[Command], Command]:
    """Give a command an option for each field of these policies but its rules, in the place of its parameter ``given``."""
    fields = {
        field.name: field for kind in kinds for field in fields_of(kind) if field.name != "rules"
    }

    def wrap(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)

        @functools.wraps(command)
        def run(**values: Any) -> None:
            used = {name: values.pop(name) for name in fields}
            command(
                **values,
                given=Given({name: value for name, value in used.items() if value is not None}),
            )

        parameters: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            plain = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += map(option, fields.values()) if parameter.name == "given" else [plain]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return cast("Command", run)

    return wrap


def option_of(name: str) -> str:
    """Return the option of a field.

    >>> option_of("max_result_tokens")
    '--max-result-tokens'
    """
    return f"--{name.replace('_', '-')}"


def option(field: Field) -> inspect.Parameter:
    """Return the option of a field, as the parameter of a command."""
    text = field.doc.replace("``", "")
    if field.default not in (None, ()):
        default = {True: "on", False: "off"}[field.default] if field.hint is bool else field.default
        text = f"{text} Default: {default}."
    info = typer.Option(
        metavar=None if field.hint is bool else METAVARS.get(field.name, metavar_of(field)),
        help=text,
        autocompletion=offer(CHOICES[field.name]() if field.name in CHOICES else choices_of(field)),
        show_default=False,
    )
    hint = bool if field.hint is bool else str
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[hint | None, info],
    )


METAVARS: Final = {
    "clear_tool_inputs": "true|false|NAME,...",
    "content": "auto|off|KIND,...",
    "exclude_tools": "NAME,...",
}
CHOICES: Final[Mapping[str, Callable[[], Sequence[str]]]] = {
    "destination": destination_names,
    "model": lambda: tuple(WINDOWS),
}


def metavar_of(field: Field) -> str:
    if field.is_token_limit:
        return "N|N%"
    return "N" if field.hint in (int, CharLimit) else "|".join(choices_of(field)) or "NAME"


def choices_of(field: Field) -> tuple[str, ...]:
    return get_args(field.hint) if get_origin(field.hint) is Literal else ()


def read_value(field: Field, value: str | bool) -> Any:
    """Return the value of a field from the text of its option."""
    name = option_of(field.name)
    if isinstance(value, bool) or field.name == "model":
        return value
    if field.name == "destination":
        return destination_named(name, value)
    if choices_of(field):
        return read_choice(name, value, choices_of(field))
    if field.name in METAVARS:
        found = BOOLEANS.get(value, value) if field.name == "clear_tool_inputs" else value
        return (
            found
            if found in (True, False, "auto", "off")
            else [each.strip() for each in value.split(",")]
        )
    is_share = field.is_token_limit and value.endswith("%")
    return value if is_share else read_limit(name, value)


BOOLEANS: Final[Mapping[str, str | bool]] = {"true": True, "false": False}


def scaled(limit: int | None, factor: float) -> int | None:
    """Return a limit in a model's tokens in those of its encoding."""
    return limit if limit is None or limit >= NO_LIMIT else math.floor(limit / factor)


NUMBER: Final = re.compile(r"([0-9]+(?:[_,][0-9]{3})*|[0-9]+(?:_[0-9]+)+|[0-9]*\.[0-9]+)([kKmM]?)")
UNITS: Final = {"": 1, "k": 1_000, "m": 1_000_000}


def read_limit(option: str, text: str | None) -> int | None:
    """Return the limit of an option, or ``None`` if the option was not used.

    >>> read_limit("--max-chars", "20k"), read_limit("--max-chars", "20_000"), read_limit("--max-chars", "1.5M")
    (20000, 20000, 1500000)
    """
    if text is None:
        return None
    if text.lower() == "none":
        return NO_LIMIT
    match = NUMBER.fullmatch(text) if len(text) < 30 else None
    digits = match[1].replace("_", "").replace(",", "") if match is not None else ""
    if match is None and text.isascii() and text.isdecimal():
        return NO_LIMIT  # larger than any limit
    if match is None or ("." in digits and not match[2]):
        raise typer.BadParameter(
            f"{text!r} is not allowed; allowed: an integer >= 0, such as 20000, 20_000 or 20k; none",
            param_hint=f"'{option}'",
        )
    return min(int(Decimal(digits) * UNITS[match[2].lower()]), NO_LIMIT)


def read_share(option: str, text: str | None, model: str | None) -> int | None:
    """Return a limit in tokens, which may be a share of the window of a model, such as ``80%``."""
    if text is None or not text.endswith("%"):
        return read_limit(option, text)
    try:
        return share_of(option, text, None, model)
    except ConfigError:
        why = (
            "without --model" if model is None else f"for {model!r:.80}, whose window is not known"
        )
        raise typer.BadParameter(
            f"{text!r} is not allowed {why}; allowed: 1% to 100% with a model, an integer >= 0, none",
            param_hint=f"'{option}'",
        ) from None


def read_choice(option: str, text: str, allowed: Sequence[Choice]) -> Choice:
    """Return ``text`` as one of the allowed values. Raises ``typer.BadParameter`` for any other text."""
    for value in allowed:
        if text == value:
            return value
    raise typer.BadParameter(
        f"{text!r} is not allowed; allowed: {', '.join(allowed)}", param_hint=f"'{option}'"
    )


def read_encoding(text: str) -> EncodingName:
    """Return the encoding that ``--encoding`` names."""
    return read_choice("--encoding", text, ENCODINGS)
