"""The outputs of generated requests, as hashes: one line for each number, in ``requests/``.

``just golden-diff NUMBER OTHER`` shows what changed; CONTRIBUTING.md says more. The default run samples each file,
``TOOLCARRY_LONG=1`` takes all of it.
"""

from pathlib import Path
from types import ModuleType

import pytest
from support.examples import IS_LONG
from support.goldens import files
from support.goldens.outputs import CARRY, JOBS, PROJECT, file_of, hash_of, heading_of
from support.goldens.requests import COUNT, numbered

PART = 1_000
PARTS = range(COUNT // PART)
pytestmark = pytest.mark.timeout(1_200)  # 1,000 requests take a minute, more on a busy machine
SAMPLES = {"rust": PART // 40, "python": PART // 100}
"""The number of requests of each file that the default run takes."""


def path_of(part: int) -> Path:
    return files.FOLDER / "requests" / f"{part:02d}.txt"


def numbers_of(part: int) -> range:
    return range(part * PART, (part + 1) * PART)


def lines_of(part: int) -> list[str]:
    return path_of(part).read_text("ascii").splitlines()


def check(part: int, column: str, sample: int) -> None:
    """Compare the hashes of one kind of jobs with those of a file."""
    heading, *lines = lines_of(part)
    jobs = JOBS[column]
    changed = []
    for line in lines if IS_LONG else lines[:sample]:
        number, shape, *hashes = line.split()
        made = numbered(int(number))
        expected = dict(zip(JOBS, hashes, strict=True))[column]
        if (made.shape, hash_of(made, jobs)) != (shape, expected):
            changed.append(int(number))
    if changed:
        is_known = heading == heading_of(map(numbered, numbers_of(part)))
        what = "outputs" if is_known else "generated requests themselves"
        pytest.fail(f"the {what} of {len(changed)} numbers changed: {changed[:20]}")


@pytest.mark.parametrize("part", PARTS)
def test_carry(api: ModuleType, part: int) -> None:
    if files.WRITES:
        pytest.skip("test_project writes the hashes")
    check(part, "carry", SAMPLES[api.backend()])


@pytest.mark.parametrize("part", PARTS)
def test_project(rust: None, part: int) -> None:
    if files.WRITES:
        files.write(path_of(part), file_of(numbers_of(part)))
        return
    check(part, "project", SAMPLES["rust"])


def test_every_number_has_its_line() -> None:
    files.check_names(files.FOLDER / "requests", [f"{part:02d}" for part in PARTS])
    numbers = [line.split()[0] for part in PARTS for line in lines_of(part)[1:]]
    assert numbers == list(map(str, range(COUNT)))
    assert list(JOBS.values()) == [CARRY, PROJECT]
