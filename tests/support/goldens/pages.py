"""Golden files as text: for each input a page for ``carry``, one for ``project`` and one for ``convert``.

A page has a section for each job and policy. Of a projection it has the messages that changed, and in their order the
positions of those that did not. Long strings are shown by their ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from support.goldens.inputs import Input
from support.goldens.values import (
    abridged,
    digest,
    escaped,
    line_of,
    members_of,
    outcome,
    report_line,
    written,
)

import toolcarry
from toolcarry import CarryPolicy, ProjectPolicy
from toolcarry.types import Notes
from toolcarry.types.shapes import TARGETS

DESTINATIONS = ("anthropic", "openai-chat", "openai-responses", "gemini-3", "bedrock-nova", "mistral", "ollama", "deepseek")  # fmt: skip

LONGEST_LINE, SHOWN_LINE = 3_000, 1_000


@dataclass(frozen=True)
class Settings:
    """The policies of a page, for conversations of one size."""

    carry: tuple[CarryPolicy, ...]
    project: tuple[ProjectPolicy, ...]


SMALL = Settings(
    carry=(
        CarryPolicy(),
        CarryPolicy(max_tokens=300, layout="sections"),
        CarryPolicy(max_tokens=300),
        CarryPolicy(max_chars=1_200, max_result_chars=150),
    ),
    project=(
        ProjectPolicy(),
        ProjectPolicy(max_result_chars=100),
        ProjectPolicy(max_request_tokens=60, clear_at_least_tokens=0),
        ProjectPolicy(repair=True),
    ),
)
LARGE = Settings(
    carry=(
        CarryPolicy(),
        CarryPolicy(max_tokens=8_000, layout="sections"),
        CarryPolicy(max_tokens=8_000),
        CarryPolicy(max_chars=40_000, max_result_chars=2_000, layout="sections"),
    ),
    project=(
        ProjectPolicy(),
        ProjectPolicy(max_result_chars=2_000),
        ProjectPolicy(max_request_tokens=30_000, clear_tool_inputs=True),
        ProjectPolicy(repair=True, max_result_tokens=500),
    ),
)


class Page:
    """Sections with a heading each. A section with the same text as an earlier one refers to that."""

    def __init__(self) -> None:
        self._sections: list[str] = []
        self._known: dict[str, str] = {}

    def add(self, heading: str, make: Callable[[], Iterable[str]]) -> None:
        """Add the lines that ``make`` returns, or the error that it raises."""
        found = outcome(lambda: "\n".join(make()))
        text = f"{type(found).__name__}: {found}" if isinstance(found, Exception) else found
        text = "\n".join(abridged(line, LONGEST_LINE, SHOWN_LINE) for line in text.split("\n"))
        if len(text) > 40 and text in self._known:
            text = f"the same as: {self._known[text]}"
        else:
            self._known[text] = heading
        self._sections.append(f"=== {heading}\n{text}\n")

    def text(self) -> str:
        return escaped("\n".join(self._sections))


# The path of carry


def carry_page(held: Input, settings: Settings) -> str:
    page = Page()
    given, summary = held.given, held.summary
    for policy in dict.fromkeys((held.policy, *settings.carry)):
        page.add(f"carry {policy}", lambda policy=policy: carry_lines(given, summary, policy))
    policy = settings.carry[1]
    page.add(f"explain {policy}", lambda: explain_lines(given, summary, policy))
    page.add("blocks", lambda: block_lines(given))
    page.add("results", lambda: result_lines(given))
    page.add("dialogue", lambda: [toolcarry.dialogue(given)])
    page.add("tokens", lambda: [line_of(toolcarry.count_message_tokens(given))])
    if isinstance(given, list):
        page.add("from bytes", lambda: bytes_lines(held))
    return page.text()


def carry_lines(given: Any, summary: str, policy: CarryPolicy) -> list[str]:
    carried = toolcarry.carry(given, summary=summary, policy=policy)
    return [report_line(carried.report), "", carried.text]


def explain_lines(given: Any, summary: str, policy: CarryPolicy) -> list[str]:
    return [
        report_line(fate)
        for fate in toolcarry.carry(given, summary=summary, policy=policy, explain=True).fates
    ]


def block_lines(given: Any) -> Iterable[str]:
    """A line for each block, and the notes of those that deduplication keeps."""
    blocks = toolcarry.extract_tool_blocks(given)
    kept = {block.notes.age: block for block in toolcarry.deduplicate_tools(blocks)}
    for block in blocks:
        stays = kept.get(block.notes.age)
        fate = f"kept, {report_line(stays.notes)}" if stays else "superseded"
        sides = (block.tool_use, block.tool_result)
        use, result = ("none" if side is None else digest(written(side)) for side in sides)
        facts = report_line(replace(block, tool_use=None, tool_result=None, notes=Notes()))
        yield f"{facts}, call {use}, result {result} -> {fate}"


def result_lines(given: Any) -> Iterable[str]:
    """Yield a line for each result that ``resolve`` finds by its reference."""
    references = dict.fromkeys(
        block.call_id for block in toolcarry.extract_tool_blocks(given) if block.call_id
    )
    for reference in references:
        yield whole_line(given, reference)


def whole_line(given: Any, reference: str) -> str:
    """Return a line for what a reference names: the text's beginning, its length and its hash."""
    found = outcome(lambda: toolcarry.resolve(given, reference))
    text = str(found)
    return f"{line_of(reference)}: {line_of(text[:40])}, {len(text):,} characters, {digest(text)}"


def bytes_lines(held: Input) -> Iterable[str]:
    """Say which jobs give something else for the bytes of the messages than for the messages."""
    bodies = {
        "list": json.dumps(held.given).encode(),
        "lines": "".join(f"{json.dumps(message)}\n" for message in held.given).encode(),
    }
    expected = hashes(held.given, held)
    for name, body in bodies.items():
        found = hashes(body, held)
        differing = [f"{job} {found[job]}" for job in found if found[job] != expected[job]]
        yield f"{name}: {', '.join(differing) or 'all the same'}"


def hashes(given: Any, held: Input) -> dict[str, str]:
    """Return a hash of the output of each job that takes bytes, too."""
    return {
        job: digest(written(outcome(lambda run=run: run(given, held))))
        for job, run in OF_BYTES.items()
    }


def carried(given: Any, held: Input) -> Any:
    found = toolcarry.carry(given, summary=held.summary, policy=held.policy)
    return [found.text, found.report]


OF_BYTES: dict[str, Callable[[Any, Input], Any]] = {
    "carry": carried,
    "blocks": lambda given, _: toolcarry.extract_tool_blocks(given),
    "dialogue": lambda given, _: toolcarry.dialogue(given),
    "tokens": lambda given, _: toolcarry.count_message_tokens(given),
}


# Jobs that exist only in Rust


def project_page(held: Input, settings: Settings) -> str:
    page = Page()
    given = held.given
    page.add("inspect", lambda: [report_line(toolcarry.inspect(given))])
    for options in recount_options(held):
        limits = {name: value for name, value in options.items() if name != "tool_calls"}
        page.add(
            f"recount {written(limits)}", lambda options=options: recount_lines(given, options)
        )
    fitting, others = fitting_destinations(given)
    for name in (None, *fitting):
        page.add(f"check {name or ''}".strip(), lambda name=name: check_lines(given, name))
    page.add("destinations of other formats", lambda: others)
    if isinstance(given, list):
        repairs = [ProjectPolicy(repair=True, destination=name) for name in fitting]
        for policy in (*settings.project, *repairs):
            page.add(f"project {policy}", lambda policy=policy: project_lines(given, policy))
        page.add("project, then the next request", lambda: next_lines(given, settings.project[2]))
    for policy in settings.project:
        page.add(f"project_body {policy}", lambda policy=policy: body_lines(given, policy))
    return page.text()


def fitting_destinations(given: Any) -> tuple[list[str], list[str]]:
    """Return the destinations that take the format of a conversation, and a line for each that doesn't."""
    fitting, others = [], []
    for name in DESTINATIONS:
        found = outcome(lambda name=name: toolcarry.check(given, destination=name))
        details = [] if isinstance(found, Exception) else [problem.detail for problem in found]
        refusal = next((detail for detail in details if f"{name} takes " in detail), "")
        if refusal:
            others.append(refusal)
        else:
            fitting.append(name)
    return fitting, others


def recount_options(held: Input) -> list[dict[str, Any]]:
    """The case's own options, and a limit on results and on the total in both units."""
    own = held.recount
    calls = {"tool_calls": own["tool_calls"]} if "tool_calls" in own else {}
    made = [own, *({**calls, **more} for more in ({}, {"max_result_length": 40}, {"max_chars": 400}, {"max_tokens": 60}))]  # fmt: skip
    return [options for place, options in enumerate(made) if options not in made[:place]]


def recount_lines(given: Any, options: dict[str, Any]) -> Iterable[str]:
    found = toolcarry.recount(given, **options)
    yield report_line(found.report)
    for message in found.messages:
        yield f"-- {message['role']}\n{message['content']}"


def check_lines(given: Any, destination: str | None) -> list[str]:
    return [report_line(problem) for problem in toolcarry.check(given, destination=destination)]


def project_lines(given: list[Any], policy: ProjectPolicy) -> Iterable[str]:
    return projected_lines(given, toolcarry.project(given, policy=policy))


def next_lines(given: list[Any], policy: ProjectPolicy) -> Iterable[str]:
    """Project the first three fifths of the messages, and then all of them with the decisions about those."""
    first = toolcarry.project(given[: len(given) * 3 // 5], policy=policy)
    yield f"first: {report_line(first.report)}"
    yield from projected_lines(
        given, toolcarry.project(given, policy=policy, previous=first.decisions)
    )


def projected_lines(given: list[Any], projected: Any) -> Iterable[str]:
    yield from report_lines(projected)
    places = {id(message): place for place, message in enumerate(given)}
    own = [places.get(id(message)) for message in projected.messages]
    yield from message_lines(projected.messages, own)
    for replacement in projected.report.replacements:
        yield f"whole of {whole_line(given, replacement.reference)}"


def report_lines(projected: Any) -> Iterable[str]:
    """A line for the report, then one for each replacement and each mend, and a hash of the decisions."""
    members = members_of(projected.report)
    lists = {name: members.pop(name, ()) for name in ("replacements", "mends")}
    yield ", ".join(f"{name} {line_of(member)}" for name, member in members.items())
    for name, found in lists.items():
        for entry in found:
            yield f"{name.removesuffix('s')}: {report_line(entry)}"
    yield f"decisions {digest(written(projected.decisions))}"


def message_lines(messages: list[Any], own: list[int | None]) -> Iterable[str]:
    """The positions of unchanged messages in their order, with a line for each that is new or changed."""
    yield f"messages: {runs(own)}"
    for place, (message, position) in enumerate(zip(messages, own, strict=True)):
        if position is None:
            yield f"{place}: {line_of(message)}"


def runs(own: list[int | None]) -> str:
    """Return positions as runs, ``*`` for a message that is new or changed.

    >>> runs([0, 1, 2, None, 4])
    '0-2 * 4'
    """
    found: list[list[int] | None] = []
    for position in own:
        last = found[-1] if found else None
        if position is None:
            found.append(None)
        elif last is not None and last[-1] == position - 1:
            last.append(position)
        else:
            found.append([position])
    return " ".join(
        "*" if run is None else f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0])
        for run in found
    )


def body_lines(given: Any, policy: ProjectPolicy) -> Iterable[str]:
    """The report about a body, the body's hash, and its messages that changed, by their values."""
    body = given if isinstance(given, bytes) else request_body(given)
    projected = toolcarry.project_body(body, policy=policy)
    yield from report_lines(projected)
    if projected.body is body:
        yield "the same body"
        return
    yield f"{len(body):,} -> {len(projected.body):,} bytes, {digest(projected.body.decode('utf-8', 'surrogateescape'))}"
    before, after = json.loads(body), json.loads(projected.body)
    key = holder_of(before)
    for name, value in after.items():
        if name != key and before.get(name) != value:
            yield f"{name}: {line_of(value)}"
    objects = outcome(lambda: toolcarry.project(before[key], policy=policy).messages)
    if after[key] == objects:
        yield "messages: those of project"
        return
    places = {written(message): place for place, message in enumerate(before[key])}
    own = [places.get(written(message)) for message in after[key]]
    yield from message_lines(after[key], own)


def request_body(messages: list[Any]) -> bytes:
    """Return the body of a request, with the messages where their format has them."""
    first = next((message for message in messages if isinstance(message, dict)), {})
    is_item = first.get("type") == "message" or not first.keys() & {"role", "message"}
    key = "contents" if "parts" in first else "input" if is_item else "messages"
    return json.dumps({"model": "m", key: messages}, ensure_ascii=False).encode("utf-8", "replace")


def holder_of(request: dict[str, Any]) -> str:
    return next(key for key in ("messages", "input", "contents") if key in request)


# Conversion


def convert_page(held: Input, targets: Iterable[str] = TARGETS) -> str:
    page = Page()
    for target in targets:
        page.add(f"convert to {target}", lambda target=target: converted_lines(held.given, target))
    return page.text()


def converted_lines(given: Any, target: Any) -> Iterable[str]:
    converted = toolcarry.convert(given, to=target)
    if converted.system:
        yield f"system: {line_of(converted.system)}"
    for place, message in enumerate(converted.messages):
        yield f"{place}: {line_of(message)}"
    for loss in converted.losses:
        yield f"loss: {report_line(loss)}"
    for mend in converted.mends:
        yield f"mend: {report_line(mend)}"
    if converted.not_repaired or converted.settings:
        yield f"not repaired: {line_of(converted.not_repaired)}, settings {line_of(converted.settings)}"
    unread = report_line(converted.unread)
    if unread:
        yield f"unread: {unread}"
