"""Every shared transcript, projected and repaired: valid for the provider, complete, and equal from objects and from bytes."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from support.providers.validity import problems

from toolcarry import ProjectPolicy

POLICIES = (
    ProjectPolicy(repair=True),
    ProjectPolicy(repair=True, max_result_chars=500),
    ProjectPolicy(repair=True, max_all_results_chars=4_000, clear_at_least_tokens=0),
    ProjectPolicy(repair=True, max_request_tokens=8_000),
)
KEYS = {"contents": "gemini", "input": "responses"}


def requests(folder: Path) -> Iterator[tuple[str, str, str | None, Any]]:
    """The name, the provider, the key of the messages, and the document of each real request."""
    for path in sorted((folder / "openai_chat").glob("*.json")):
        found = json.loads(path.read_bytes())
        if isinstance(found, dict) and isinstance(found.get("messages"), list):
            yield path.name, "openai", "messages", found
    for path in sorted((folder / "cline").glob("*.json")):
        found = json.loads(path.read_bytes())
        if isinstance(found, list) and all("role" in message for message in found):
            yield path.name, "anthropic", None, found
    for path in sorted((folder / "claude_code").rglob("*.jsonl")):
        yield path.name, "anthropic", None, main_chain(path)
    for path in sorted((folder / "http").glob("*.yaml")):
        for number, exchange in enumerate(yaml.safe_load(path.read_bytes())["interactions"]):
            request = exchange["request"]
            body = request.get("parsed_body") or request.get("body")
            body = json.loads(body) if isinstance(body, str) and body.startswith("{") else body
            provider = provider_of(path.name, request.get("uri", ""), body)
            if provider is not None:
                key = next(key for key in (*KEYS, "messages") if key in body)
                yield f"{path.name}#{number}", provider, key, body


def provider_of(name: str, address: str, body: Any) -> str | None:
    """Whose request a body is."""
    if not isinstance(body, dict) or "conversation" in body or "previous_response_id" in body:
        return None  # the provider holds what was before
    for key, provider in KEYS.items():
        if isinstance(body.get(key), list):
            return provider
    if not isinstance(body.get("messages"), list):
        return None
    if "converse" in address:
        return "bedrock"
    return "anthropic" if "anthropic" in address or "anthropic" in name else "openai"


def main_chain(path: Path) -> list[Any]:
    """The messages of a session, without side chains, as a request would have them."""
    messages: list[Any] = []
    for line in path.read_bytes().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        message = record.get("message") if isinstance(record, dict) else None
        if isinstance(message, dict) and "role" in message and not record.get("isSidechain"):
            messages.append({"role": message["role"], "content": message.get("content")})
    return messages


@pytest.mark.slow
def test_repaired_projections_are_valid(api: ModuleType, real_transcripts: Path) -> None:
    seen = broken = 0
    for name, provider, key, document in requests(real_transcripts):
        body = json.dumps(document, indent=1).encode()
        messages = document if key is None else document[key]
        seen += 1
        broken += bool(problems(provider, messages))
        for policy in POLICIES:
            projected = api.project_body(body, policy=policy)
            assert not projected.report.untouched, name
            found = json.loads(projected.body)
            new = found if key is None else found[key]
            assert problems(provider, new) == [], (name, policy, projected.report)
            if key is None:
                assert api.project(messages, policy=policy).messages == new
            again = api.project_body(projected.body, policy=policy)
            assert again.body is projected.body, (name, again.report)
            for replacement in projected.report.replacements:
                if replacement.chars_before:
                    assert api.resolve(messages, replacement.reference)
    assert seen > 100
    assert broken > 5
