"""Gemini at Vertex AI: calls and results have no ids, so that their order tells which belong together."""

import json
from types import ModuleType
from typing import Any

from toolcarry import ProjectPolicy, check

POLICY = ProjectPolicy(repair=True, destination="vertex-gemini")


def call(call_id: str | None, **args: Any) -> dict[str, Any]:
    held = {"name": "look", "args": args}
    return {"functionCall": held if call_id is None else {"id": call_id, **held}}


def answer(call_id: str | None, said: str) -> dict[str, Any]:
    held = {"name": "look", "response": {"output": said}}
    return {"functionResponse": held if call_id is None else {"id": call_id, **held}}


ASK = {"role": "user", "parts": [{"text": "Go."}]}


def sent(api: ModuleType, contents: list[Any]) -> tuple[list[Any], list[str]]:
    body = json.dumps({"contents": contents}).encode()
    once = api.project_body(body, policy=POLICY)
    assert api.project_body(once.body, policy=POLICY).body == once.body
    assert check(once.body, destination="vertex-gemini") == ()
    found = json.loads(once.body)["contents"]
    assert api.project(contents, policy=POLICY).messages == found
    return found, [mend.kind for mend in once.report.mends]


def test_ids_are_left_out(api: ModuleType) -> None:
    contents = [
        ASK,
        {"role": "model", "parts": [call("a", n=1), call("b", n=2)]},
        {"role": "user", "parts": [answer("a", "one"), answer("b", "two")]},
    ]
    found, kinds = sent(api, contents)
    assert found[1]["parts"] == [call(None, n=1), call(None, n=2)]
    assert found[2]["parts"] == [answer(None, "one"), answer(None, "two")]
    assert kinds == ["renamed_id"] * 2
    assert sent(api, found) == (found, [])


def test_results_follow_the_order_of_the_calls(api: ModuleType) -> None:
    contents = [
        ASK,
        {"role": "model", "parts": [call("a", n=1), call("b", n=2)]},
        {"role": "user", "parts": [answer("b", "two"), answer("a", "one")]},
    ]
    found, kinds = sent(api, contents)
    assert found[2]["parts"] == [answer(None, "one"), answer(None, "two")]
    assert kinds == ["renamed_id"] * 2 + ["moved_result"]
    same = ProjectPolicy(repair=True, destination="gemini")
    assert api.project(contents, policy=same).messages == contents


def test_a_result_that_is_missing_has_no_id(api: ModuleType) -> None:
    contents = [
        ASK,
        {"role": "model", "parts": [call("a", n=1), call("b", n=2)]},
        {"role": "user", "parts": [answer("b", "two")]},
    ]
    found, kinds = sent(api, contents)
    first, second = found[2]["parts"]
    assert first["functionResponse"].keys() == {"name", "response"}
    assert second == answer(None, "two")
    assert kinds == ["renamed_id"] * 2 + ["missing_result"]
