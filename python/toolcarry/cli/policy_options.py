"""The options of policies: one for each field, made of its declaration."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeVar, cast, get_args, get_origin

import typer

from toolcarry._data import destination_names
from toolcarry.cli.options import destination_named, offer, read_choice, read_limit
from toolcarry.errors import ConfigError
from toolcarry.types.fields import CharLimit, Field
from toolcarry.types.models import WINDOWS
from toolcarry.types.policy import AUTO, AnyPolicy, ResultPolicy
from toolcarry.types.prices import price_models

__all__ = ["Given", "option_of", "with_policies"]

Command = TypeVar("Command", bound=Callable[..., None])


@dataclass(frozen=True, slots=True)
class Given:
    """The options of policies that were used, by the names of the fields."""

    values: Mapping[str, str | bool]

    def policy(self, kind: type[AnyPolicy]) -> AnyPolicy:
        """Return the policy that the options describe. Raises ``typer.BadParameter`` for an option of another policy."""
        known = {field.name: field for field in kind.declared}
        for name in self.values:
            if name not in known:
                raise typer.BadParameter(
                    "is not an option of this job", param_hint=f"'{option_of(name)}'"
                )
        try:
            return kind(
                **{
                    name: read_value(known[name], value, kind)
                    for name, value in self.values.items()
                }
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
        field.name: field for kind in kinds for field in kind.declared if field.name != "rules"
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
    "prices": lambda: tuple(price_models()),
}


def metavar_of(field: Field) -> str:
    if field.is_token_limit:
        return "N|N%"
    return "N" if field.hint in (int, CharLimit) else "|".join(choices_of(field)) or "NAME"


def choices_of(field: Field) -> tuple[str, ...]:
    return get_args(field.hint) if get_origin(field.hint) is Literal else ()


def read_value(field: Field, value: str | bool, kind: type[ResultPolicy]) -> Any:
    """Return the value of a policy's field from the text of its option."""
    name = option_of(field.name)
    if isinstance(value, bool) or field.name in ("model", "prices"):
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
    if not field.is_token_limit:
        return read_limit(name, value)
    if value.endswith("%") or value == AUTO:
        return value
    others = f"; a share such as 5%{f'; {AUTO}' * (field.name in kind.auto_limits)}"
    return read_limit(name, value, others)


BOOLEANS: Final[Mapping[str, str | bool]] = {"true": True, "false": False}
