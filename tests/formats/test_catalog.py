"""The table of formats: what it says of a format is what happens to a conversation in it."""

import json
from collections.abc import Iterator
from types import ModuleType

import pytest
from support.builders.claude_session import claude_session
from support.builders.families import ANSWER, FAMILIES, JsonObject, chat
from support.builders.producers import ANSWER as PRODUCERS_ANSWER
from support.builders.producers import DOCUMENTS, WITHOUT_RESULTS
from support.oracles.format_checks import as_lines
from support.rows import for_each

from toolcarry import ConfigError, ProjectPolicy
from toolcarry.api.convert import OTHER_DESTINATIONS
from toolcarry.importers.catalog import FORMATS, FormatFacts
from toolcarry.importers.producers import IMPORTERS

LONG = "one bale after the other, line after line of it. " * 200
FILES = {importer.NAME: importer.__name__.rpartition(".")[2] for importer in IMPORTERS}  # type: ignore[attr-defined]
FILES |= {"openai-chat": "chat", "openai-responses": "responses"}
FORMAT = for_each("facts", FORMATS, ids=[each.name for each in FORMATS])


def ollama() -> list[JsonObject]:
    call = {"function": {"name": "look", "arguments": {"path": "barn"}}}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    return [said, {"role": "tool", "tool_name": "look", "content": ANSWER}]


def mini_swe_agent_with_calls() -> list[JsonObject]:
    said, answer = chat("t1")
    end = {"role": "exit", "content": "", "extra": {"exit_status": "Submitted"}}
    return [said, answer | {"extra": {"returncode": 0}}, end]


def bodies(name: str) -> Iterator[bytes]:
    """Conversations in a format, each with a long result."""
    if name == "claude-code":
        yield claude_session(3)
        return
    file = FILES.get(name, name)
    found = [DOCUMENTS[file]()] if file in DOCUMENTS else []
    found += [FAMILIES[file]("t1")] if file in FAMILIES else []
    found += [ollama()] if name == "ollama" else []
    found += [mini_swe_agent_with_calls()] if name == "mini-swe-agent" else []
    for items in found:
        body = as_lines(items) if len(items) > 1 and name == "codex" else json.dumps(items[0] if len(items) == 1 else items).encode()  # fmt: skip
        for short in (ANSWER, PRODUCERS_ANSWER):
            body = body.replace(short.encode(), f"{short} {LONG}".encode())
        yield body


@FORMAT
def test_it_is_read(rust: ModuleType, facts: FormatFacts) -> None:
    surveys = [rust.inspect(body) for body in bodies(facts.name)]
    assert surveys
    assert {survey.shape for survey in surveys} == {facts.name}
    assert all(survey.calls and not survey.unread for survey in surveys)
    file = FILES.get(facts.name, facts.name)
    assert all(survey.results for survey in surveys) or file in WITHOUT_RESULTS


@FORMAT
def test_it_is_projected_or_passes_through(rust: ModuleType, facts: FormatFacts) -> None:
    policy = ProjectPolicy(max_result_chars=100)
    given = list(bodies(facts.name))
    written = [rust.project_body(body, policy=policy).body for body in given]
    is_shorter = [len(new) < len(old) for new, old in zip(written, given, strict=True)]
    assert any(is_shorter) == facts.projected
    assert all(new == old for new, old, is_less in zip(written, given, is_shorter, strict=True) if not is_less)  # fmt: skip


@FORMAT
def test_it_is_written_by_convert(api: ModuleType, rust: ModuleType, facts: FormatFacts) -> None:
    messages = chat("t1")
    if facts.converted:
        assert rust.inspect(api.convert(messages, to=facts.name).messages).shape == facts.name
    elif (
        facts.name not in OTHER_DESTINATIONS
    ):  # the session of Kimi's agent is not what its API takes
        with pytest.raises(ConfigError):
            api.convert(messages, to=facts.name)
