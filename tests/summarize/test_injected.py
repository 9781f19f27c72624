"""Text that clients inject into user turns is removed, and the user's own words are not."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.rows import for_each
from support.transcripts import TRANSCRIPTS, real_conversations

from toolcarry import dialogue
from toolcarry.summarize import strip_injected
from toolcarry.summarize.dialogue import DROPPED, UNWRAPPED, split_turns, strip_reasoning

OPEN = "<system-reminder>"
CLOSE = "</system-reminder>"

CASES = {
    "before": (f"{OPEN}\nBe brief.\n{CLOSE}\nFix it.", "Fix it."),
    "behind": (f"Fix it.\n\n{OPEN}Be brief.{CLOSE}", "Fix it."),
    "between": (f"Fix it.\n{OPEN}a{CLOSE}\nThen stop.", "Fix it.\n\nThen stop."),
    "nothing else": (f"{OPEN}a{CLOSE}\n{OPEN}b{CLOSE}\n", ""),
    "unclosed": (f"Fix it.\n{OPEN}Be brief. <b>", "Fix it."),
    "cut in the closing tag": (f"Fix it.\n{OPEN}Be brief.</system-remin", "Fix it."),
    "nested": (f"{OPEN}a{OPEN}b{CLOSE}c{CLOSE}Fix it.", "Fix it."),
    "mentions itself": (f"{OPEN}This is no {OPEN}.{CLOSE}\nFix it.", "Fix it."),
    "closed alone": (f"Fix{CLOSE} it.", "Fix\n\n it."),
    "upper case, attributes": ('<System-Reminder level="1" >a</SYSTEM-REMINDER >Fix it.', "Fix it."),
    "empty": ("<system-reminder/>Fix it.", "Fix it."),
    "other tags inside": (f"{OPEN}<task>a</task><b>{CLOSE}Fix it.", "Fix it."),
    "two names that cross": ("<bash-stdout>a<bash-stderr>b</bash-stdout>c</bash-stderr>", "c"),
    "indent": (f"{OPEN}a{CLOSE}\n\n    def f(): ...\n", "    def f(): ..."),
    "a longer name": ("<system-reminders>a</system-reminders>", "<system-reminders>a</system-reminders>"),
    "no tag of theirs": ("Is a < b? <b>bold</b>", "Is a < b? <b>bold</b>"),
    "talked about": (f"Why is there `{OPEN}` in my turn?", f"Why is there `{OPEN}` in my turn?"),
    "in a fence": (f"```\n{OPEN}\nBe brief.\n{CLOSE}\n```", "```\n\n```"),
    "a tag made by taking one out": (f"<system-{OPEN}a{CLOSE}reminder>b{CLOSE}", "<system-\n\nreminder>b"),
    "a command": (
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the second test</command-args>",
        "the second test",
    ),
    "a command without arguments": (
        "<command-name>/clear</command-name>\n    <command-message>clear</command-message>\n    <command-args></command-args>",
        "",
    ),
    "its output": ("<local-command-stdout>Set model to x</local-command-stdout>", ""),
    "an editor's note": ("<ide_opened_file>The user opened a.py.</ide_opened_file>\nFix it.", "Fix it."),
    "a notification": (
        "<task-notification>\n<status>failed</status>\n</task-notification>\nRead the output file to retrieve the result: /tmp/b1.output\nFix it.",
        "Fix it.",
    ),
    "cline": (
        "<task>\nFix <b>it</b>.\n</task>\n\n<environment_details>\n# Open Tabs\na.py\n</environment_details>",
        "Fix <b>it</b>.",
    ),
    "cline's feedback": ("The user denied it.\n<feedback>\nUse b.py.\n</feedback>", "The user denied it.\n\nUse b.py."),
    "cursor": (
        "<additional_data>\n<attached_files>a.py</attached_files>\n</additional_data>\n<user_query>\nFix it.\n</user_query>",
        "Fix it.",
    ),
    "codex": (
        "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>",
        "",
    ),
    "codex's instructions": (
        "# AGENTS.md instructions for /work\n\n<INSTRUCTIONS>\nRun the tests.\n</INSTRUCTIONS>\nFix it.",
        "Fix it.",
    ),
    "instructions of one's own": ("<instructions>Fix it.</instructions>", "<instructions>Fix it.</instructions>"),
}  # fmt: skip


@for_each("name", CASES)
def test_ordinary_text_stays(name: str) -> None:
    text, kept = CASES[name]
    assert strip_injected(text) == kept


@for_each("name", sorted(DROPPED))
def test_a_tag_is_dropped_whole(name: str) -> None:
    assert strip_injected(f"Fix it.\n<{name}>\nanything\n</{name}>\n") == "Fix it."


@for_each("name", sorted(UNWRAPPED))
def test_a_tag_is_unwrapped(name: str) -> None:
    assert strip_injected(f"<{name}>\nFix it.\n</{name}>\n") == "Fix it."


PIECES = st.sampled_from([
    OPEN, CLOSE, "<task>", "</task>", "<", ">", "</", "/>", "system-reminder", "`", "\n", " ", "a", "b.py", "```",
    "<bash-stdout>", "</bash-stdout>", "# AGENTS.md instructions for x", "<INSTRUCTIONS>", "</INSTRUCTIONS>",
    "Read the output file to retrieve the result: ", "</task-notification>",
])  # fmt: skip


@given(st.lists(PIECES, max_size=24).map("".join))
@example(f"`{OPEN}{OPEN}`{CLOSE}")
@example(
    "# AGENTS.md instructions\n# AGENTS.md instructions\n<INSTRUCTIONS></INSTRUCTIONS>\n<INSTRUCTIONS>a"
)
def test_twice_is_once(text: str) -> None:
    once = strip_injected(text)
    assert strip_injected(once) == once
    assert len(once) <= len(text)


@given(st.text().filter(lambda text: "<" not in text))
def test_a_text_without_tags_is_the_same_object(text: str) -> None:
    assert strip_injected(text) is text


@given(st.text(alphabet="ab <>/\n"))
def test_a_text_without_known_tags_is_the_same_object(text: str) -> None:
    assert strip_injected(text) is text


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        OPEN * 200_000,
        CLOSE * 200_000,
        (OPEN + CLOSE) * 100_000,
        "<system-reminder " * 200_000,
        "<" * 1_000_000,
        "<task>" * 200_000,
        "".join(f"<{name}>" for name in sorted(DROPPED)) * 5_000,
        "# AGENTS.md instructions\n" * 50_000 + "<",
        "# AGENTS.md instructions\n<INSTRUCTIONS>" * 50_000,
        "<think>" * 100_000,
    ],
    ids=range(10),
)
def test_hostile_texts_end(text: str) -> None:
    """Were any of these quadratic, the time limit of a test would not hold."""
    strip_injected(text)
    strip_reasoning(text)


@for_each(
    ("text", "answer"),
    [
        ("<think>\nHm.\n</think>\n\nYes.", "Yes."),
        ("<thinking>a</thinking><reasoning>b</reasoning>Yes.", "Yes."),
        ("Hm.\n</think>\nYes.", "Yes."),
        ("<think>Hm. The answer", ""),
        ("Use <think> in the prompt.", "Use <think> in the prompt."),
        ("It ends with `</think>`.", "It ends with `</think>`."),
    ],
)
def test_reasoning(text: str, answer: str) -> None:
    assert strip_reasoning(text) == answer


def test_real_turns_have_no_tags_left(real_transcripts: object) -> None:
    """No text that a client injected into the real sessions stays, and every other turn is unchanged."""
    changed = 0
    for _, messages in real_conversations(TRANSCRIPTS):
        for speaker, text in split_turns(dialogue(messages)):
            kept = strip_injected(text) if speaker == "USER" else text
            if kept is not text:
                changed += 1
                assert kept == "" or not any(f"<{name}>" in json.dumps(kept) for name in DROPPED)
    assert changed > 10
