"""The types of the settings: strings and numbers with their limits.

The ``description`` of a type says in errors what is allowed, where the type alone does not.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from msgspec import Meta

from toolcarry.types.prices import MOST_PRICE

__all__ = [
    "Address",
    "Count",
    "Dollars",
    "HeaderName",
    "Limit",
    "Name",
    "Names",
    "Percent",
    "Port",
    "Positive",
    "Price",
    "RedisURL",
    "Seconds",
    "SummarizerName",
    "Target",
    "Text",
    "TimeToLive",
    "TokensOrShare",
    "TokensShareOrAuto",
    "VariableName",
    "WaitSeconds",
]

LONGEST_TIMEOUT: Final = 1_000_000
"""Seconds: twelve days, within the limits of both databases."""
LONGEST_LIFE: Final = 1_000_000_000
"""Seconds: thirty years. A longer time is probably a mistake."""
MOST: Final = 1_000_000_000_000
"""A larger number than any count reaches, within 64 bits."""

Count = Annotated[int, Meta(ge=0, le=MOST)]
Positive = Annotated[int, Meta(ge=1, le=MOST)]
Limit = Count | Literal["none"]
"""TOML has no null: ``"none"`` means no limit."""
TokensOrShare = (
    Count
    | Annotated[
        str,
        Meta(
            pattern=r"\A(none|([1-9][0-9]?|100) ?%)\Z", description="'none', a share such as '80%'"
        ),
    ]
)
TokensShareOrAuto = (
    Count
    | Annotated[
        str,
        Meta(
            pattern=r"\A(none|auto|([1-9][0-9]?|100) ?%)\Z",
            description="'none', 'auto', a share such as '80%'",
        ),
    ]
)
Price = Annotated[float, Meta(ge=0, le=MOST_PRICE)]
Dollars = Annotated[float, Meta(gt=0, le=MOST)]
Seconds = Annotated[float, Meta(gt=0, le=LONGEST_TIMEOUT)]
WaitSeconds = Annotated[float, Meta(ge=0, le=LONGEST_TIMEOUT)]
Percent = Annotated[float, Meta(ge=0, le=100)]
TimeToLive = Annotated[float, Meta(gt=0, le=LONGEST_LIFE)]
Text = Annotated[str, Meta(pattern=r"\A[^\x00]*\Z", description="a string without NUL")]
Name = Annotated[
    str,
    Meta(pattern=r"\A[^\x00-\x1f\x7f]+\Z", description="a non-empty string on one line"),
]
VariableName = Annotated[
    str,
    Meta(
        pattern=r"\A([A-Za-z_][A-Za-z0-9_]*)?\Z",
        description="the name of an environment variable",
        extra={"is_secret": True},  # a wrong value may be the secret itself
    ),
]
Names = Annotated[tuple[Name, ...], Meta(min_length=1)] | Name
SummarizerName = Annotated[
    str,
    Meta(
        pattern=r"\A(extractive|litellm|none|[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*)\Z",
        description="'extractive', 'litellm', 'none', 'package.module:callable'",
    ),
]
Port = Annotated[int, Meta(ge=0, le=65_535)]
Address = Annotated[
    str,
    Meta(
        pattern=r"\A(?:(?:[^\s:/\[\]]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5})?\Z",
        description="host:port",
    ),
]
HeaderName = Annotated[
    str,
    Meta(
        pattern=r"\A[!#$%&'*+.^_`|~0-9A-Za-z-]*\Z",
        description="the name of a header",
    ),
]
RedisURL = Annotated[
    str,
    Meta(
        pattern=r"\A((redis|rediss|unix)://[^\x00-\x20]+)?\Z",
        description="redis://..., rediss://..., unix://...",
        extra={"has_password": True},
    ),
]
Target = Annotated[Text, Meta(extra={"has_password": True})]
