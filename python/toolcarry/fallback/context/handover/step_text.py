"""A step as it is written: its heading, the texts of the call, and its result; or a heading and one line about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from toolcarry.fallback.context.block import change_of, language_of
from toolcarry.fallback.context.fence import Source
from toolcarry.fallback.context.handover.clean import printed_file, without_keys
from toolcarry.fallback.context.handover.files import File, changed_since, is_current
from toolcarry.fallback.context.handover.other_changes import name_of
from toolcarry.fallback.context.handover.outcomes import (
    Lines,
    diff_of,
    questions_of,
)
from toolcarry.fallback.context.handover.pieces import (
    LONGEST_INLINE,
    Paper,
    Piece,
    inert_line,
)
from toolcarry.fallback.context.handover.reads import may_be_message, read_lines
from toolcarry.fallback.context.handover.steps import Step
from toolcarry.types.policy import CarryPolicy
from toolcarry.types.values import CutSide

_LEAST_TEXT: Final = 90
"""The tokens of a shortened text below which a line about it says more; of a file, which begins with imports, twice."""
_LONGEST_TITLE: Final = 160
_LISTING: Final = ("search", "listing", "command")
_WITH_RESULT: Final = ("said", "failed", "rejected")
_NEXT: Final = 8
"""The steps after a search that may have followed its hits."""


def is_file_text(step: Step) -> bool:
    """Return true if a read returned the text of a file."""
    return step.is_read and not step.has_media and not may_be_message(step)


def long_argument(step: Step) -> str:
    """Return the longest text among the arguments of a call, if its heading can't hold it; else nothing."""
    given = step.entry.given if step.entry.call is not None else {}
    texts = [value for value in given.values() if isinstance(value, str)]
    longest = max(texts, key=len, default="")
    return longest if len(longest) > _LONGEST_TITLE else ""


class StepWriter:
    """Writes steps."""

    def __init__(
        self,
        policy: CarryPolicy,
        paper: Paper,
        lines: Lines,
        files: Mapping[str, File],
        resolved: Mapping[int, int],
        steps: Sequence[Step],
    ) -> None:
        self._policy, self._paper, self._lines = policy, paper, lines
        self._files, self._resolved, self._steps = files, resolved, steps
        self.runs: dict[int, int] = {}
        """The first number of each run of equal steps, by the number of the last one."""

    def write(self, step: Step, room: int) -> Piece | None:
        """Return a step in at most ``room``; ``None`` if not even its heading with a line about the result fits."""
        if self._written_anew(step):
            short = self._short(step, room)
            return None if short is None else short._replace(is_outlined=False)
        called, returned = self._texts_of_call(step), self._texts_of_result(step)
        said = self._line_of(step)
        head = f"### {self._title(step, is_long=step.kind == 'command' and bool(called))}\n"
        line = f"→ {inert_line(said, 2 * LONGEST_INLINE)}\n" if said else ""
        if not called:
            head, line = head + line, ""
        if not (called or line or returned):
            head += "\n"
        found = [self._paper.piece(head)]
        left = room - found[0].size
        limits = self._paper.limits.by_rule(step.entry.max_chars)
        texts: list[Source | str] = [*called, *([line] if line else []), *returned]
        for number, text in enumerate(texts, 1):
            end = "\n" if number == len(texts) else ""
            if isinstance(text, str):
                body: Piece | None = self._paper.piece(f"{text}{end}")
            else:
                rest = self._rough(texts[number:])
                most = max(left // 2, left - rest)
                body = self._paper.fence(text, limits, most, end)
                hits = self._hits_first(step, text) if body is not None and body.is_cut else None
                if hits is not None:
                    body = self._paper.fence(hits, limits, most, end)
            if body is None or body.size > left:
                return self._short(step, room)
            left -= body.size
            found.append(body)
        if left < 0:
            return None
        least = _LEAST_TEXT * self._paper.token * (1 + is_file_text(step))
        if found[-1].is_cut and found[-1].size < least:
            short = self._short(step, room)
            if short is not None:
                return short
        size = sum([piece.size for piece in found])
        is_cut = any([piece.is_cut for piece in found])
        return Piece("".join([piece.text for piece in found]), size, is_cut)

    def _written_anew(self, step: Step) -> int:
        """Return the number of the last step that wrote the file again which a step had written as a whole, or had failed
        to; 0 if none did.
        """
        is_write = step.kind == "write" and step.state in ("said", "failed") and step.keys
        file = self._files.get(step.keys[0]) if is_write else None
        return file.written if file is not None and file.written > step.number else 0

    def _hits_first(self, step: Step, source: Source) -> Source | None:
        """Return the result of a search, first the hits in files that the next steps read or changed, and a line
        that says so; ``None`` if it has none, or is no result of a search.
        """
        if step.folds() or step.is_read or step.has_media or source.language:
            return None
        later = self._steps[step.number : step.number + _NEXT]
        names = {name_of(path) for each in later for path in each.paths} - {""}
        lines = source.text.split("\n")
        is_hit = [any(name in line for name in names) for line in lines]
        if not any(is_hit) or all(is_hit):
            return None
        hits = [line for line, is_one in zip(lines, is_hit, strict=True) if is_one]
        others = [line for line, is_one in zip(lines, is_hit, strict=True) if not is_one]
        side = "head" if self._policy.keep == "auto" else self._policy.keep
        note = f"... of the other {len(others):,} lines:"
        return Source("\n".join([*hits, note, *others]), "", side, source.reference)

    def _rough(self, texts: Sequence[Source | str]) -> int:
        """Return about how much some texts take."""
        if not texts:
            return 0
        chars = sum([len(text) if isinstance(text, str) else len(text.text) for text in texts])
        return (chars if self._paper.token > 1 else chars // 3) + 12 * self._paper.token

    def _short(self, step: Step, room: int) -> Piece | None:
        """Return a step in two lines."""
        outcome = self._lines.outcome(step, LONGEST_INLINE)
        said = f"→ {inert_line(outcome, LONGEST_INLINE)}\n" if outcome else ""
        found = self._paper.piece(f"### {self._title(step, is_long=False)}\n{said}\n")
        return found._replace(is_cut=True, is_outlined=True) if found.size <= room else None

    def _title(self, step: Step, *, is_long: bool) -> str:
        notes = self._lines.notes(step)
        if step.number in self._resolved:
            notes.append(f"see #{self._resolved[step.number]}")
        elif anew := self._written_anew(step):
            notes.append(f"written anew by #{anew}")
        changed = changed_since(step, self._files)
        if changed:
            notes.append(changed)
        said = f" ({'; '.join(notes)})" if notes else ""
        title = "$" if is_long else self._lines.title(step, _LONGEST_TITLE)
        first = self.runs.get(step.number, step.number)
        number = f"#{step.number}"
        if first < step.number:
            number = f"#{first} to #{step.number}, {step.number - first + 1} times,"
        return f"{number} {inert_line(title, 2 * _LONGEST_TITLE)}{inert_line(said, 200)}"

    def _line_of(self, step: Step) -> str:
        if step.state in ("pending", "missing", "interrupted"):
            return self._lines.outcome(step, LONGEST_INLINE)
        if step.state == "rejected":
            said = step.words_of_user()
            is_short = "\n" not in said and len(said) <= LONGEST_INLINE
            return f"the user said: {said}" if said and is_short else ""
        if step.state == "said" and is_file_text(step):
            if is_current(step, self._files):
                return ""
            count = len(read_lines(step).lines)
            return f"{count:,} line{'s' * (count != 1)}"
        if step.state == "said" and step.is_change:
            return self._line_of_change(step)
        output = step.output()
        text = self._lines.without_folder(output.text) if step.kind in _LISTING else output.text
        if not text:
            return self._lines.outcome(step, LONGEST_INLINE)
        if "\n" not in text and len(text) <= LONGEST_INLINE:
            return text + (f" (left out: {output.left_out})" if output.left_out else "")
        return f"left out: {output.left_out}" if output.left_out else ""

    def _line_of_change(self, step: Step) -> str:
        if not step.acknowledges():
            output = step.ends().text
            if output and "\n" not in output and len(output) <= LONGEST_INLINE:
                return output
        removed = [change.path for change in step.changes if change.action == "remove"]
        return f"removed {', '.join(removed)}" if removed and step.kind != "patch" else ""

    def _reference(self, step: Step) -> str:
        return step.entry.call_id if self._policy.references else ""

    def _texts_of_call(self, step: Step) -> list[Source]:
        """Return the texts of a call that need a fence: a long command, a change, a question."""
        reference = self._reference(step)
        side: CutSide = "head" if self._policy.keep == "auto" else self._policy.keep
        if step.kind == "command":
            command = self._lines.command(step).strip("\n")
            if "\n" in command or len(command) > _LONGEST_TITLE:
                return [Source(command, "sh", side, reference)]
        elif step.is_change and step.state not in ("missing", "interrupted"):
            return self._change(step, side, reference)
        elif step.kind == "question":
            asked = "\n".join(questions_of(step))
            if "\n" in asked or len(asked) > _LONGEST_TITLE:
                return [Source(asked, "text", side, reference)]
        elif step.kind in ("agent", "other") and step.state == "pending":
            asked = without_keys(long_argument(step))
            return [Source(asked, "text", side, reference)] if asked else []
        return []

    def _texts_of_result(self, step: Step) -> list[Source]:
        return self._result(step, self._reference(step)) if step.state in _WITH_RESULT else []

    def _change(self, step: Step, side: CutSide, reference: str) -> list[Source]:
        if step.changes and step.changes[0].action == "write" and step.kind != "patch":
            text = without_keys(step.changes[0].text)
            return [Source(text, language_of(step.paths[0]), side, reference)] if text else []
        diff = diff_of(step)
        if diff:
            return [Source(diff, "diff", side, reference)]
        change = change_of(step.entry.given) if step.entry.call is not None else None
        if change is None:
            return []
        text, language = change
        return [Source(without_keys(text), language or language_of(step.paths[0]), side, reference)]

    def _result(self, step: Step, reference: str) -> list[Source]:
        """Return the result, unless a line says it all."""
        if step.state == "rejected":
            said = step.words_of_user()
            is_long = "\n" in said or len(said) > LONGEST_INLINE
            return [Source(said, "text", "head", reference)] if is_long else []
        keep = self._policy.keep
        if step.state == "said" and is_file_text(step):
            if not is_current(step, self._files):
                return []
            side: CutSide = "head" if keep == "auto" else keep
            is_numbered = step.shell_read is not None and step.shell_read.is_numbered
            text = printed_file(step.text) if is_numbered else "\n".join(read_lines(step).lines)
            return [Source(text, language_of(step.paths[0]), side, reference)]
        is_said = step.acknowledges() or "\n" not in step.ends().text
        if step.is_change and step.state == "said" and is_said:
            return []
        text = step.output().text
        if step.kind in _LISTING:
            text = self._lines.without_folder(text)
        if not text or ("\n" not in text and len(text) <= LONGEST_INLINE):
            return []
        side = (
            ("ends" if step.kind in ("command", "other", "agent") else "head")
            if keep == "auto"
            else keep
        )
        printed_by = step.command if step.kind == "command" else step.entry.tool_name.lower()
        content = step.entry.content if step.has_media else None
        printed = Source(text, "", side, reference, content=content, printed_by=printed_by)
        return [printed._replace(has_marker_below=True)]
