"""Every snippet of README.md, ARCHITECTURE.md and docs/ runs, and gives what the page shows.

A page is run section by section, each in a folder of its own that holds ``examples/`` and the files that the page shows
up to there: fences after a comment ``<!-- file: NAME -->``. The fences of a section run in their order:

- ``python``, in one namespace. An expression with a comment at the end of its line has that value. A ``print`` prints
  the comment lines below it.
- ``console``. A line that begins with ``$ `` is a command for bash, which has to succeed; the lines below it, if there
  are any, are what it writes to standard output and standard error. ``...`` matches any text. A command that is
  toolcarry's alone runs without bash, in this process.
- ``sh``, after a comment ``<!-- ci: run -->``, is left to ``.ci/run``: these are the commands that install the package.
- A fence after a comment ``<!-- extra: MODULE -->`` makes its section a slow test, which is skipped without that module.
- What comes after a comment ``<!-- needs: MODULE -->`` is left to tests/tables, which ``just tables`` runs with that module.
"""

import ast
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tokenize
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from doctest import ELLIPSIS, OutputChecker
from io import BytesIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

import pytest
from markdown_it import MarkdownIt

import toolcarry
from toolcarry.cli import main
from toolcarry.sessions.agents import AGENTS

ROOT = Path(__file__).parents[2]
DOCS = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if page.parent.name != "decisions" and page.name != "add-an-importer.md"  # it has its own test
]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *DOCS]
VARIABLES = {"TOOLCARRY_CONFIG", "XDG_STATE_HOME", *(agent.variable for agent in AGENTS)}
"""The variables that lead to files of this machine's user."""
COMMENT = re.compile(r"<!-- (file|ci|extra|needs): (\S+) -->")
DATA = ("json", "toml", "yaml", "text")
"""Fences that may appear on a page without being run."""


@dataclass
class Snippet:
    """One fence: its language, its text, and the line of the page that it begins in."""

    language: str
    code: str
    line: int


@dataclass
class Section:
    """The snippets below one heading, and the files that the page has shown by its end."""

    page: str
    title: str
    snippets: list[Snippet] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    extra: str = ""

    def __str__(self) -> str:
        return f"{self.page}: {self.title}"


def read_page(path: Path) -> list[Section]:
    """Return the sections of a page that have snippets."""
    page = path.relative_to(ROOT).as_posix()
    sections = [Section(page, "")]
    files: dict[str, str] = {}
    kind = name = ""
    tokens = MarkdownIt("commonmark").parse(path.read_text("utf-8"))
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and token.tag in ("h1", "h2"):
            assert following is not None
            sections.append(Section(page, following.content, files=dict(files)))
        elif token.type == "html_block" and (found := COMMENT.match(token.content)):
            kind, name = found.groups()
            continue
        elif token.type == "fence":
            assert token.map is not None
            line = token.map[0] + 1
            where = f"{page}, line {line}"
            language = token.info.strip()
            if kind == "file":
                files[name] = sections[-1].files[name] = token.content
            elif kind == "needs":
                pass
            elif language in ("python", "console"):
                sections[-1].snippets.append(Snippet(language, token.content, line))
                if kind == "extra":
                    sections[-1].extra = name
            elif language == "sh":
                assert (kind, name) == ("ci", "run"), f"{where}: neither run by CI nor a console"
            else:
                assert language in DATA, f"{where}: unknown language {language!r}"
        kind = name = ""
    return [section for section in sections if section.snippets]


SECTIONS = [
    pytest.param(section, id=str(section), marks=[pytest.mark.slow] if section.extra else [])
    for page in PAGES
    for section in read_page(page)
]


class Expected(ast.NodeTransformer):
    """Wraps each expression that has a comment with its value into a call of ``show``."""

    def __init__(self, code: str) -> None:
        self.at_end: dict[int, str] = {}
        self.alone: dict[int, str] = {}
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                is_alone = token.line.lstrip().startswith("#")
                found = self.alone if is_alone else self.at_end
                found[token.start[0]] = token.string.removeprefix("#").removeprefix(" ")

    def visit_Expr(self, node: ast.Expr) -> ast.Expr:
        assert node.end_lineno is not None
        line = node.end_lineno
        if line in self.at_end:
            expected = self.at_end[line]
        elif is_print(node.value):
            lines = []
            while (line := line + 1) in self.alone:
                lines.append(self.alone[line])
            expected = "\n".join(lines)
        else:
            return node
        call = ast.parse(f"show(None, {expected!r}, {node.lineno})", mode="eval").body
        assert isinstance(call, ast.Call)
        call.args[0] = node.value
        node.value = call
        return node


def is_print(value: ast.expr) -> bool:
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "print"
    )


def run_python(snippet: Snippet, section: Section, namespace: dict[str, object]) -> None:
    """Execute a snippet, and compare each value and each printed line that it shows."""
    printed = io.StringIO()

    def show(value: object, expected: str, line: int) -> None:
        where = f"{section.page}, line {snippet.line + line}"
        if value is None:
            got = printed.getvalue().rstrip("\n")
            printed.seek(0)
            printed.truncate()
            assert got == expected, where
            return
        with suppress(SyntaxError, ValueError):  # otherwise it is compared as written
            expected = repr(ast.literal_eval(expected))
        assert repr(value) == expected, where

    tree = ast.fix_missing_locations(Expected(snippet.code).visit(ast.parse(snippet.code)))
    ast.increment_lineno(tree, snippet.line)
    namespace["show"] = show
    with redirect_stdout(printed):
        exec(compile(tree, str(ROOT / section.page), "exec"), namespace)
    assert not printed.getvalue(), f"{section.page}, line {snippet.line}: output that is not shown"


SHELL = re.compile(r"[|<>&;$*`=]|\\\n")
"""The signs by which a shell does more than split a command into words."""


def run_command(command: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a command, and return its exit code and what it wrote: in this process if it is toolcarry's alone, else by bash."""
    words = [] if SHELL.search(command) else shlex.split(command)
    if words[:1] == ["toolcarry"] and words[1] != "batch":  # batch starts processes
        with TextIOWrapper(BytesIO(), "utf-8") as written:
            with (
                patch.dict(os.environ, environment, clear=True),
                redirect_stdout(written),
                redirect_stderr(written),
            ):
                code = main(words[1:])
            written.seek(0)
            return code, written.read()
    function = f'toolcarry() {{ "{sys.executable}" -m toolcarry "$@"; }}'
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"{function}\n{command}"],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return ran.returncode, ran.stdout


def run_console(snippet: Snippet, section: Section, folder: Path) -> None:
    """Run each command of a snippet, and compare the output shown below it."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in VARIABLES},
        "COLUMNS": "100",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "XDG_CONFIG_HOME": str(folder),
    }
    before, *commands = re.split(r"^\$ ", snippet.code, flags=re.MULTILINE)
    assert not before, f"{section.page}, line {snippet.line}: output without a command"
    for part in commands:
        command, _, expected = part.partition("\n")
        code, written = run_command(command, folder, environment)
        where = f"{section.page}, line {snippet.line}: {command}"
        assert code == 0, f"{where}\n{written}"
        if expected:
            got = "".join(f"{line.rstrip()}\n" for line in written.splitlines())
            if not OutputChecker().check_output(expected, got, ELLIPSIS):
                assert got == expected, where


@pytest.mark.timeout(300)  # each console command is a process, which a busy machine starts slowly
@pytest.mark.parametrize("section", SECTIONS)
def test_the_snippets_of_a_section(
    section: Section, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if section.extra:
        pytest.importorskip(section.extra, reason=f"{section.extra} is not installed")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name, content in section.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for snippet in section.snippets:
        if snippet.language == "python":
            run_python(snippet, section, namespace)
        else:
            run_console(snippet, section, tmp_path)


def test_the_page_of_functions_names_every_one() -> None:
    page = (ROOT / "docs" / "reference" / "functions.md").read_text("utf-8")
    functions = [name for name in toolcarry.__all__ if name.islower()]
    assert [name for name in functions if not re.search(rf"`{name}\b", page)] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 900
