"""What the settings only name: keys and tokens stand in the environment."""

from __future__ import annotations

import os

from toolcarry.errors import ConfigError

__all__ = ["secret"]


def secret(name: str, key: str) -> str:
    """The value of the environment variable that the setting ``key`` names; empty where it names none.

    >>> secret("", "serve.token_env")
    ''
    """
    if not name:
        return ""
    value = os.environ.get(name, "")
    if not value:
        raise ConfigError(f"{key}: the variable {name} is not set; allowed: one that is")
    return value
