"""Real sessions, as their agents sent them, with the backend changed on the way."""

import json
from pathlib import Path

import pytest
from support.providers.validity import problems
from support.transcripts import growing, real_conversations

from toolcarry import NO_LIMIT, CarryPolicy, ProjectPolicy, convert, extract_tool_blocks, project
from toolcarry.errors import InputError
from toolcarry.switch import SummarizeTransformer

WHOLE = CarryPolicy(max_chars=NO_LIMIT)
REPAIR = ProjectPolicy(repair=True)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["anthropic", "openai", "responses"])
def test_every_session_moves_and_goes_on(real_transcripts: Path, style: str) -> None:
    """At a third of its requests to another backend, at two thirds back: valid throughout, and never another beginning."""
    sessions = switches = carried = 0
    for name, messages in real_conversations(real_transcripts):
        try:
            whole = convert(messages, to=style).messages  # type: ignore[arg-type]
        except InputError:
            continue
        requests = list(growing(whole))[::2]
        if len(requests) < 4:
            continue
        sessions += 1
        made = SummarizeTransformer(policy=WHOLE)
        last, sent_last = "", ""
        for number, request in enumerate(requests):
            backend = "ab"[1 if len(requests) // 3 <= number < 2 * len(requests) // 3 else 0]
            # A record is not a request: content that a provider would refuse is repaired first, as a proxy would.
            given = project(request, policy=REPAIR).messages
            if problems(style, given):
                continue
            switched = made.transform(given, conversation=name, backend=backend)
            assert problems(style, switched.messages) == [], (name, number)
            text = json.dumps(switched.messages)
            if switched.report.reason == "switched":
                switches += 1
                report = switched.report.carried
                assert report is not None
                carried += report.shown
                assert report.walked <= len(extract_tool_blocks(given))
            elif switched.report.reason == "resumed" and last == backend:
                assert text.startswith(sent_last[:2_000].removesuffix("]"))
            made.answered(name, backend)
            last, sent_last = backend, text
    assert switches > sessions > 5
    assert carried > 100
