"""Objects to bytes: one writer, for what is sent and what is kept."""

from __future__ import annotations

import json

import orjson

from toolcarry.errors import InputError
from toolcarry.wire import MAX_DEPTH

__all__ = ["dump"]


def dump(value: object, *, is_sorted: bool = False) -> bytes:
    """JSON, without white space. What orjson refuses (lone surrogates, large integers) is written with escapes.

    Raises ``InputError`` for what is nested so deep that nobody writes it, and for what is no JSON.

    >>> dump({"b": 1, "a": "\\ud800"}, is_sorted=True)
    b'{"a":"\\\\ud800","b":1}'
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if is_sorted else 0)
    except orjson.JSONEncodeError:
        try:
            text = json.dumps(value, separators=(",", ":"), sort_keys=is_sorted)
        except RecursionError:
            raise InputError(f"nested deeper than {MAX_DEPTH}", None) from None
        except (TypeError, ValueError) as error:  # an object that is none of JSON's
            raise InputError(f"no JSON: {error}", None) from None
        return text.encode()
