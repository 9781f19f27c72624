"""Marks for the prompt cache with a lifetime: a longer one may not follow a shorter one."""

import json
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.builders.wire import bash
from support.examples import examples
from support.oracles.repairs import ASK

from toolcarry import ProjectPolicy, check

SHORT = {"type": "ephemeral"}
LONG = {"type": "ephemeral", "ttl": "1h"}
POLICY = ProjectPolicy(repair=True, destination="anthropic")

marks = st.sampled_from((None, None, SHORT, LONG))


def marked(part: dict[str, Any], mark: dict[str, str] | None) -> dict[str, Any]:
    return part if mark is None else {**part, "cache_control": mark}


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    text = {"type": "text", "text": "Hello."}
    inner = [marked(text, draw(marks)) for _ in range(2)]
    called = bash("ls", inner)
    called[1]["content"][0] = marked(called[1]["content"][0], draw(marks))
    messages = [{"role": "user", "content": [marked(text, draw(marks))]}, *called]
    tool = {"name": "Bash", "input_schema": {"type": "object"}}
    return {
        "model": "claude-opus-4-8",
        "tools": [marked(tool, draw(marks))],
        "system": [marked(text, draw(marks))],
        "messages": messages,
    }


def lifetimes(request: dict[str, Any]) -> list[str]:
    """Return the lifetimes of the marks in the order of the prefix; the content of a result comes before the result."""
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, list):
            for each in value:
                walk(each)
        elif isinstance(value, dict):
            walk(value.get("content"))
            if "cache_control" in value:
                found.append(value["cache_control"].get("ttl", "5m"))

    for key in ("tools", "system", "messages"):
        walk(request[key])
    return found


@examples(1_000)
@given(request=requests())
def test_lifetimes_do_not_grow(api: ModuleType, request: dict[str, Any]) -> None:
    once = api.project_body(json.dumps(request).encode(), policy=POLICY)
    found = json.loads(once.body)
    assert lifetimes(found) == sorted(lifetimes(found))
    assert len(lifetimes(found)) == min(4, len(lifetimes(request)))
    assert api.project_body(once.body, policy=POLICY).body == once.body
    given_ones = lifetimes(request)[-4:]
    kinds = {
        problem.rule for problem in check(json.dumps(request).encode(), destination="anthropic")
    }
    assert ("cache_mark_order" in kinds) == (given_ones != sorted(given_ones))
    assert check(once.body, destination="anthropic") == ()


def test_the_report_names_the_place(api: ModuleType) -> None:
    tool = {"name": "Bash", "input_schema": {"type": "object"}, "cache_control": SHORT}
    system = [{"type": "text", "text": "Be kind.", "cache_control": LONG}]
    body = {"model": "claude-opus-4-8", "tools": [tool], "system": system, "messages": [ASK]}
    found = api.project_body(json.dumps(body).encode(), policy=POLICY)
    (mend,) = found.report.mends
    assert (mend.kind, mend.position, mend.detail) == ("cache_mark_order", None, "system")
    assert json.loads(found.body)["system"][0]["cache_control"] == SHORT
