"""The names of documents, which Bedrock takes in one form, and each once in a request."""

from types import ModuleType
from typing import Any

from toolcarry import ProjectPolicy, check

POLICY = ProjectPolicy(repair=True, destination="bedrock")


def document(name: str) -> dict[str, Any]:
    return {"document": {"format": "txt", "name": name, "source": {"bytes": "YQ=="}}}


def names(messages: list[dict[str, Any]]) -> list[str]:
    found = []
    for part in (part for message in messages for part in message["content"]):
        inner = part.get("toolResult", {}).get("content", [part])
        found += [each["document"]["name"] for each in inner if "document" in each]
    return found


def test_names_are_replaced_and_unique(api: ModuleType) -> None:
    call = {"toolUse": {"toolUseId": "t1", "name": "get", "input": {}}}
    parts = [document("chat-file://F0AB_9"), document("LOG"), document("a  b"), document("")]
    messages = [
        {"role": "user", "content": [{"text": "Get."}, document("log"), document("log")]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": parts}}]},
    ]
    found = api.project(messages, policy=POLICY)
    assert names(found.messages) == [
        "log",
        "log 2",
        "chat-file---F0AB_9",
        "LOG 3",
        "a b",
        "document",
    ]
    kinds = [mend.kind for mend in found.report.mends]
    assert kinds == ["document_name"] * 2
    assert [problem.rule for problem in check(messages, destination="bedrock")] == kinds
    assert api.project(found.messages, policy=POLICY).messages == found.messages
    assert check(found.messages, destination="bedrock") == ()


def test_accepted_names_are_unchanged(api: ModuleType) -> None:
    parts = [document("Report (1) [a]-b"), document("n" * 200)]
    messages = [{"role": "user", "content": [{"text": "Read."}, *parts]}]
    assert api.project(messages, policy=POLICY).messages == messages
