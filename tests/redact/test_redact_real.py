"""Real conversations: a second redaction changes nothing, and no content is printed."""

from pathlib import Path

import pytest
from support.transcripts import real_conversations

from toolcarry.redact import Redactor, redact_messages


def test_real_conversations(real_transcripts: Path) -> None:
    redactor = Redactor()
    seen = 0
    for name, messages in real_conversations(real_transcripts):
        seen += len(messages)
        once = redact_messages(messages, redactor)
        counts = redactor.counts
        again = redact_messages(once, redactor)
        if any(new is not old for new, old in zip(again, once, strict=True)):
            pytest.fail(f"{name}: redacted twice is not redacted once")
        if redactor.counts != counts or len(once) != len(messages):
            pytest.fail(f"{name}: something was found in what is redacted")
    assert seen > 0
    assert redactor.counts.total() < seen / 20  # they were cleaned before
