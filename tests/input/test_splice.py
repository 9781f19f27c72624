"""A changed document is written with the bytes of everything that is the same object as before."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.strategies.texts import json_values

from toolcarry._input.json import loads
from toolcarry._input.splice import spliced

documents = st.dictionaries(st.text(max_size=4), json_values, max_size=4) | st.lists(json_values, max_size=4)  # fmt: skip
NEW = {"new": [1.5, "é\ud800"]}


def paths(value: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value inside, outer ones first."""
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()  # fmt: skip
    for key, inner in items:
        yield (key,)
        yield from ((key, *path) for path in paths(inner))


def changed(value: Any, path: tuple[Any, ...], change: str) -> Any:
    """Return a copy in which the value at a path is replaced or removed, or has another one after it."""
    key, *rest = path
    if rest:
        new = changed(value[key], tuple(rest), change)
    elif change == "remove":
        if isinstance(value, list):
            return [*value[:key], *value[key + 1 :]]
        return {name: held for name, held in value.items() if name != key}
    else:
        new = NEW
    if isinstance(value, dict):
        return {**value, "more" if change == "add" and not rest else key: new}
    return [*value[:key], *([value[key]] if change == "add" and not rest else []), new, *value[key + 1 :]]  # fmt: skip


@examples(400)
@given(value=documents, indent=st.none() | st.integers(0, 2), data=st.data())
def test_any_change(value: Any, indent: int | None, data: st.DataObject) -> None:
    body = json.dumps(value, indent=indent).encode()
    old = loads(body)
    assert spliced(body, old, old) == body
    new = old
    for _ in range(data.draw(st.integers(1, 3))):
        places = list(paths(new))
        if places:
            change = data.draw(st.sampled_from(["replace", "remove", "add"]))
            new = changed(new, data.draw(st.sampled_from(places)), change)
    assert loads(spliced(body, old, new)) == new


def test_numbers_spaces_and_escapes_stay_as_they_are_written() -> None:
    body = b'\xef\xbb\xbf { "a" : 1.50 ,"b":[ {"n":1e2, "t":"\\u0041"} , 2 ], "a":2.0 }\n'
    old = loads(body)
    (first, second) = old["b"]
    new = {**old, "b": [{**first, "t": "B"}, second]}
    assert spliced(body, old, new) == body.replace(b'"\\u0041"', b'"B"')
    assert spliced(body, old, {**old, "b": [second]}) == b'\xef\xbb\xbf { "a" : 1.50 ,"b":[2 ], "a":2.0 }\n'  # fmt: skip
