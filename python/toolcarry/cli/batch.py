"""``toolcarry batch``: do one job for many files; every file is a row, a bad one with its error."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, cast

import typer

from toolcarry import _backend, backend, convert, project_body, recount
from toolcarry._input.sources import split
from toolcarry._util.plural import counted
from toolcarry._util.pool import in_processes, in_threads
from toolcarry.api.convert import To
from toolcarry.api.rows import (
    CARRIED,
    FILE_COLUMNS,
    INSPECTED,
    Row,
    carried,
    inspected,
    make_row,
    read_path,
    stamp,
)
from toolcarry.cli.exit_codes import FAILED, USAGE, FileError
from toolcarry.cli.io import STDIN, json_line
from toolcarry.cli.options import read_since
from toolcarry.cli.replacement import Replacement
from toolcarry.cli.request import as_request
from toolcarry.cli.rows import RowFile, read_rows
from toolcarry.cli.sources import expand
from toolcarry.cli.terminal import Screen, label, one_line
from toolcarry.errors import InputError
from toolcarry.types.policy import CarryPolicy, ProjectPolicy

JOBS: Final[Mapping[str, Mapping[str, type]]] = {
    "inspect": INSPECTED,
    "carry": CARRIED,
    "recount": {"messages": str, "calls": int, "skipped_lines": int, "unread": int},
    "project": {"body": str, "replaced": int, "chars_before": int, "chars_after": int, "losses": int, "skipped_lines": int, "unread": int},
    "convert": {"request": str, "losses": int, "mends": int, "unread": int, "not_repaired": str},
}  # fmt: skip
"""The columns of each job, after those of the file. Conversations in a column are JSON."""
ENDS: Final = {"inspect": ".json", "carry": ".md", "recount": ".json", "project": ".json", "convert": ".json"}  # fmt: skip
"""The ends of the files that a job writes into a folder."""
TEXTS: Final = {"carry": "text", "recount": "messages", "project": "body", "convert": "request"}
"""The column with the output of a job. A folder gets it as files."""


@dataclass(frozen=True, slots=True)
class Job:
    """The job and its settings, which the manifest records: a later run may resume only with the same.

    ``context`` is the policy of ``carry``, and ``projection`` that of all other jobs.
    """

    name: str
    context: CarryPolicy = CarryPolicy()
    projection: ProjectPolicy = ProjectPolicy()

    def settings(self) -> dict[str, Any]:
        """Return what the rows depend on."""
        policies = [repr(self.context), repr(self.projection)]
        return {"toolcarry": version("toolcarry"), "job": self.name, "policies": policies}

    @property
    def columns(self) -> dict[str, type]:
        """The columns of a row."""
        return {**FILE_COLUMNS, **JOBS[self.name]}


def batch_files(
    names: Sequence[str],
    *,
    job: Job,
    out: str,
    jobs: int | None,
    since: str | None,
    is_resumed: bool,
) -> int:
    """Do a job for all files, and return the exit code: 1 if a file has an error."""
    if job.name == "convert" and job.projection.destination is None:
        raise typer.BadParameter("is needed for --job convert", param_hint="'--destination'")
    if job.name in ("inspect", "project", "recount"):
        _backend.require(job.name)
    if STDIN in names:
        raise FileError("-: stdin is not a file; name files or folders", USAGE)
    screen, target = Screen(), Path(out)
    is_folder = target.suffix not in (".parquet", ".jsonl")
    if is_folder:
        target.mkdir(parents=True, exist_ok=True)
    rows = target / "rows.jsonl" if is_folder else target
    found = newer_than(expand(names, screen), since)
    done = read_done(rows, job) if is_resumed else {}
    if not done:
        with suppress(
            OSError
        ):  # until there are rows of these settings; the rows report a bad path
            manifest_of(rows).unlink()
    kept = {name for name in found if name in done and done[name] == stamp(name)}
    left = [name for name in found if name not in kept]
    base = Path(os.path.commonpath([absolute(name).parent for name in found])) if found else Path()
    failed = finished = in_part = 0
    workers = jobs or os.cpu_count() or 1
    file = RowFile(rows, job.columns)
    try:
        with file:
            for row in read_rows(rows) if kept else ():
                if row["file"] in kept:
                    file.write(row)
            sizes = [stamp(name)[0] for name in left]
            with screen.progress(sizes, is_free=True), closing(work(job, left, workers)) as made:
                for name, row in zip(left, made, strict=True):
                    screen.begin(name)
                    if is_folder:
                        write_output(row, job, target, base)
                    file.write(row)
                    finished += 1
                    in_part += bool(row["unread"] or row.get("skipped_lines"))
                    if row["error"] is not None:
                        failed += 1
                        screen.say(f"{label(name)}: {one_line(row['error'], 400)}")
                    screen.advance()
    except KeyboardInterrupt:
        rest = counted(len(left) - finished, "file")
        screen.say(f"interrupted: {rest} left; --resume does them")
        raise
    finally:
        if file.is_put:
            with RowFile(manifest_of(rows), {}) as manifest:
                manifest.write(job.settings())
    parts = [f"{counted(finished, 'file')} done"]
    parts += [f"{failed:,} with an error"] if failed else []
    parts += [f"{in_part:,} with something unread"] if in_part else []
    parts += [f"{len(kept):,} unchanged"] if kept else []
    screen.say(f"{label(str(rows))}: {', '.join(parts)}")
    return FAILED if failed else 0


def work(job: Job, names: Sequence[str], workers: int) -> Generator[Row, None, None]:
    """Return the rows of files: from threads if the extension does the work, else from processes."""
    is_native = backend() == "rust" and job.name != "convert"
    return (in_threads if is_native else in_processes)(names, partial(row_of, job), workers)


def row_of(job: Job, name: str) -> Row:
    """Return the row of a file."""
    size, modified = stamp(name)
    facts = {"file": name, "size": size, "modified": modified}
    return make_row(job.columns, facts, lambda: WORK[job.name](job, read_path(name)))


def recounted(data: bytes) -> Row:
    found = recount(data)
    report = found.report
    return {
        "messages": as_text(found.messages),
        "calls": report.calls,
        "skipped_lines": len(report.skipped_lines),
        "unread": report.unread.count,
    }


def projected(job: Job, data: bytes) -> Row:
    request = as_request(data, job.projection.destination)
    found = project_body(request.body, policy=job.projection)
    report = found.report
    if report.untouched and not report.blocks:  # else it was read
        raise InputError(f"is not a request: {report.untouched}")
    return {
        "body": found.body.decode("utf-8", "replace"),
        "replaced": len(report.replacements),
        "chars_before": report.chars_before,
        "chars_after": report.chars_after,
        "losses": len(request.losses),
        "skipped_lines": len(request.skipped_lines),
        "unread": request.unread.count + report.unread.count,
    }


def converted(job: Job, data: bytes) -> Row:
    found = convert(data, to=cast("To", job.projection.destination))
    counts = {"losses": len(found.losses), "mends": len(found.mends), "unread": found.unread.count}
    return {"request": as_text(found.to_dict()), **counts, "not_repaired": found.not_repaired}


WORK: Final[Mapping[str, Callable[[Job, bytes], Row]]] = {
    "inspect": lambda _, data: inspected(data),
    "carry": lambda job, data: carried(data, job.context),
    "recount": lambda _, data: recounted(data),
    "project": projected,
    "convert": converted,
}


def as_text(value: object) -> str:
    return json_line(value).decode().rstrip("\n")


def write_output(row: Row, job: Job, folder: Path, base: Path) -> None:
    """Write the output of one file into the folder, in a file of the same path; the row keeps the other columns."""
    column = TEXTS.get(job.name)
    if row["error"] is not None or column is None:
        return
    inside = absolute(row["file"]).relative_to(base)
    path = folder / f"{inside}{ENDS[job.name]}"
    path.parent.mkdir(parents=True, exist_ok=True)
    new = Replacement(path)
    try:
        new.make()
        new.path.write_text(row[column], "utf-8", "surrogatepass")
        new.put()
    finally:
        new.remove()
    row[column] = str(path)


def absolute(name: str) -> Path:
    """Return the absolute path of a file, without dots; links are not followed."""
    return Path(os.path.abspath(name))  # noqa: PTH100 - a Path keeps the dots, or follows links


def manifest_of(rows: Path) -> Path:
    """Return the path of the manifest next to a file of rows, which says with which settings they were made."""
    return rows.with_name(f"{rows.name}.manifest.jsonl")


def read_done(rows: Path, job: Job) -> dict[str, tuple[int, str]]:
    """Return the files that are done, each with its size and time. Raises ``FileError`` for other settings.

    A file with an error is not done, so that a later run tries it again.
    """
    manifest = manifest_of(rows)
    if not (manifest.is_file() and rows.is_file()):
        return {}
    if list(read_rows(manifest)) != [job.settings()]:
        raise FileError(
            f"{label(str(rows))}: was written with other settings; run without --resume, or use another --out",
            USAGE,
        )
    made = read_rows(rows, FILE_COLUMNS)
    return {row["file"]: (row["size"], row["modified"]) for row in made if row["error"] is None}


def newer_than(names: Sequence[str], since: str | None) -> list[str]:
    """Return the files that were changed since a date, such as ``2026-01-31``, or for a time, such as ``7d``."""
    if since is None:
        return list(names)
    limit = read_since(since).timestamp()
    return [name for name in names if mtime(name) >= limit]


def mtime(name: str) -> float:
    """Return the time of change; one that has no file is never too old, so that it is reported."""
    try:
        path = Path(name)
        return (split(path)[0] or path).stat().st_mtime
    except OSError:
        return float("inf")
