"""toolcarry's ``project`` next to the nearest jobs of other libraries, each in an environment of its own.

    python benches/compare/peers                              all of them; the environments are thrown away
    python benches/compare/peers --only litellm headroom
    python benches/compare/peers --wheel dist/toolcarry-*.whl --environments FOLDER

Two of the peers can't live in one environment: each gets its own, with the versions of its ``requirements-*.txt`` and
what toolcarry needs. Without ``--wheel`` toolcarry is that of the source tree. benches/README.md says what the columns
mean. Nothing here runs in CI: the environments take a gigabyte and some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

from tables import Row, print_rows

sys.path.append(str(Path(__file__).resolve().parents[1]))
from paired import print_origin

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PEERS = ("langchain", "litellm", "openai_agents", "headroom")


def runtime_needs() -> list[str]:
    """The requirements of toolcarry itself, since the source tree is not installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needs: list[str] = project["dependencies"]
    return needs


def make_environment(peer: str, folder: Path, wheel: Path | None) -> Path:
    """The interpreter of an environment with this peer; one that is there already is brought to the pinned versions."""
    if not (folder / "pyvenv.cfg").exists():
        venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    requirements = str(HERE / f"requirements-{peer}.txt")
    subprocess.run([*install, "-r", requirements, *runtime_needs()], check=True)
    if wheel is not None:
        subprocess.run([*install, "--force-reinstall", "--no-deps", str(wheel)], check=True)
    return python


def rows_of(peer: str, folder: Path, wheel: Path | None, rounds: int) -> list[Row]:
    """The rows of a peer; one that says what went wrong where it can't be installed or run."""
    try:
        python = make_environment(peer, folder, wheel)
    except subprocess.CalledProcessError as error:
        return [Row(peer, "", "", "-", error=f"not installed: exit code {error.returncode}")]
    environment = dict(os.environ)
    if wheel is None:
        environment["PYTHONPATH"] = str(ROOT / "python")
    command = [str(python), str(HERE / f"peer_{peer}.py"), "--json", "--rounds", str(rounds)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        return [Row(peer, "", "", "-", error=f"failed: exit code {done.returncode}")]
    return [Row(**fields) for fields in json.loads(done.stdout.splitlines()[-1])]


def main() -> None:
    parser = argparse.ArgumentParser(description="compare toolcarry's project with its peers")
    parser.add_argument("--only", nargs="+", choices=PEERS, default=PEERS, metavar="PEER")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--wheel", type=Path, help="a wheel of toolcarry, not the source tree")
    parser.add_argument("--environments", type=Path, help="where to keep the environments")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as thrown_away:
        folder = given.environments or Path(thrown_away)
        rows = [
            row
            for peer in given.only
            for row in rows_of(peer, folder / peer, given.wheel, given.rounds)
        ]
    print_origin()
    print_rows(rows)


if __name__ == "__main__":
    main()
