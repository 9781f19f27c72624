"""The build backend of the tree: one of two builders, and a plain refusal where it can't build."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import toolcarry

ROOT = Path(__file__).parents[2]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]


def ask(
    hook: str, choice: str | None, path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Call a hook as an installer does; ``path`` takes the place of the search path."""
    environment = {name: value for name, value in os.environ.items() if name != "TOOLCARRY_PURE"}
    environment["PYTHONPATH"] = str(ROOT / "python")
    if choice is not None:
        environment["TOOLCARRY_PURE"] = choice
    if path is not None:
        environment["PATH"] = str(path)
    code = f"import toolcarry_build; print(toolcarry_build.{hook}())"
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def tools(folder: Path, *names: str) -> Path:
    """Put empty programs into a folder."""
    for name in names:
        (folder / name).touch(0o755)
    return folder


@pytest.mark.parametrize(
    "hook", ["get_requires_for_build_wheel", "get_requires_for_build_editable"]
)
def test_only_the_builder_in_use_is_required(hook: str, tmp_path: Path) -> None:
    assert "hatchling" in ask(hook, "1", tmp_path).stdout
    assert "maturin" not in ask(hook, "1", tmp_path).stdout
    path = tools(tmp_path, "cargo", "rustc")
    for choice in ("0", "", None):
        assert "maturin" in ask(hook, choice, path).stdout
        assert "hatchling" not in ask(hook, choice, path).stdout


def test_a_source_distribution_needs_no_toolchain(tmp_path: Path) -> None:
    for choice in ("1", "0", None):
        assert "hatchling" in ask("get_requires_for_build_sdist", choice, tmp_path).stdout


@pytest.mark.parametrize("absent", ["cargo", "rustc"])
@pytest.mark.parametrize("choice", ["0", "", None])
def test_a_missing_tool_is_named(absent: str, choice: str | None, tmp_path: Path) -> None:
    path = tools(tmp_path, *({"cargo", "rustc"} - {absent}))
    done = ask("get_requires_for_build_wheel", choice, path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"toolcarry: {absent} not found on the path" in done.stderr
    assert f"Rust {CARGO['rust-version']} or newer" in done.stderr
    assert "TOOLCARRY_PURE=1" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("choice", ["2", "yes", "true", " 1"])
def test_another_value_is_refused(choice: str, tmp_path: Path) -> None:
    done = ask("get_requires_for_build_wheel", choice, tools(tmp_path, "cargo", "rustc"))
    assert done.returncode == 1
    assert done.stderr == (
        f"TOOLCARRY_PURE: {choice!r} is not allowed; allowed: '1' (build without Rust), '0' or '' (with Rust)\n"
    )


def test_the_version_is_the_one_of_cargo() -> None:
    assert toolcarry.__version__ == CARGO["version"]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    assert "version" not in settings["project"]
    assert settings["tool"]["hatch"]["version"]["path"] == "Cargo.toml"


def test_packages_and_entry_point_are_those_of_both_builders() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    packages = [f"python/{name}" for name in tool["maturin"]["python-packages"]]
    assert tool["hatch"]["build"]["targets"]["wheel"]["packages"] == packages
