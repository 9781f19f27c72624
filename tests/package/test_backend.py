"""The choice of the backend, in separate processes and temporarily within one."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import toolcarry
from toolcarry import _backend

PACKAGE = Path(toolcarry.__file__).parent
HAS_RUST = importlib.util.find_spec("toolcarry._backend._core") is not None
DEFAULT = toolcarry.backend()
SAY = "import toolcarry; print(toolcarry.backend())"


def run(code: str, choice: str | None, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter; ``paths`` come before the installed package."""
    environment = {key: value for key, value in os.environ.items() if key != "TOOLCARRY_BACKEND"}
    if choice is not None:
        environment["TOOLCARRY_BACKEND"] = choice
    environment["PYTHONPATH"] = os.pathsep.join(map(str, [*paths, PACKAGE.parent]))
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy_of_package(tmp_path: Path) -> Path:
    """A copy of the package without the extension."""
    target = tmp_path / "toolcarry"
    (target / "_backend").mkdir(parents=True)
    for path in [*PACKAGE.iterdir(), *(PACKAGE / "_backend").iterdir()]:
        if path.suffix not in (".so", ".pyd") and path.name not in ("__pycache__", "_backend"):
            (target / path.relative_to(PACKAGE)).symlink_to(path)
    return target


def test_python() -> None:
    assert run(SAY, "python").stdout.strip() == "python"


@pytest.mark.skipif(not HAS_RUST, reason="the extension toolcarry._backend._core is not built")
@pytest.mark.parametrize("choice", ["rust", "auto", None])
def test_rust_where_it_is_built(choice: str | None) -> None:
    assert run(SAY, choice).stdout.strip() == "rust"


def test_python_does_not_load_the_extension() -> None:
    code = "import sys, toolcarry; print('toolcarry._backend._core' in sys.modules)"
    assert run(code, "python").stdout.strip() == "False"


@pytest.mark.parametrize("choice", ["auto", None])
def test_a_missing_extension_falls_back(copy_of_package: Path, choice: str | None) -> None:
    done = run(SAY, choice, copy_of_package.parent)
    assert (done.stdout.strip(), done.stderr) == ("python", "")


def test_rust_asked_for_and_missing_raises(copy_of_package: Path) -> None:
    done = run(SAY, "rust", copy_of_package.parent)
    assert done.returncode != 0
    assert "No module named 'toolcarry._backend._core'" in done.stderr


@pytest.mark.parametrize("choice", ["auto", "rust", None])
@pytest.mark.parametrize(
    "broken",
    ["raise ImportError('undefined symbol')", "import no_such_module", "raise OSError('cut file')"],
)
def test_a_broken_extension_raises(copy_of_package: Path, choice: str | None, broken: str) -> None:
    (copy_of_package / "_backend" / "_core.py").write_text(broken)
    done = run(SAY, choice, copy_of_package.parent)
    assert done.returncode != 0
    assert done.stdout == ""
    assert (
        "ImportError" in done.stderr or "no_such_module" in done.stderr or "cut file" in done.stderr
    )


def test_python_does_not_mind_a_broken_extension(copy_of_package: Path) -> None:
    (copy_of_package / "_backend" / "_core.py").write_text("raise ImportError('undefined symbol')")
    assert run(SAY, "python", copy_of_package.parent).stdout.strip() == "python"


@pytest.mark.skipif(not HAS_RUST, reason="the extension toolcarry._backend._core is not built")
def test_an_extension_that_does_not_know_a_field_raises() -> None:
    """It sets the fields of a report by name, so one that it does not know would stay unset."""
    code = """
        import toolcarry
        from toolcarry.types import values

        class Report(values.Report, frozen=True):
            later: int = 0

        values.Report = Report
        toolcarry.carry([])
    """
    done = run(code, "rust")
    assert "ImportError: Report has the fields walked, " in done.stderr
    assert "unread, remarks, later, but the extension writes walked, " in done.stderr


@pytest.mark.parametrize("choice", ["nonsense", "", "Rust"])
def test_nonsense_raises(choice: str) -> None:
    done = run(SAY, choice)
    assert done.returncode != 0
    expected = f"ConfigError: TOOLCARRY_BACKEND: {choice!r} is not allowed; allowed: 'auto', 'rust', 'python'"
    assert expected in done.stderr


def test_another_backend_meanwhile() -> None:
    with _backend.using("python"):
        assert toolcarry.backend() == "python"
        assert toolcarry.carry([]).text == ""
    assert toolcarry.backend() == DEFAULT


def test_a_backend_that_failed_is_not_left_in_place() -> None:
    with pytest.raises(ZeroDivisionError), _backend.using("python"):
        raise ZeroDivisionError
    assert toolcarry.backend() == DEFAULT
