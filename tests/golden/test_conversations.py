"""The outputs of every job for known conversations, as text: a change of behaviour is a difference of these files.

``just goldens`` writes them; CONTRIBUTING.md says how to read them.
"""

from types import ModuleType

import pytest
from support.builders.producers import DOCUMENTS
from support.goldens import files
from support.goldens.inputs import SIZES, corpus, produced, workload
from support.goldens.pages import LARGE, SMALL, carry_page, convert_page, project_page

from toolcarry.api.convert import TARGETS

CARRY, PROJECT, CONVERT, PRODUCERS = (
    files.FOLDER / name for name in ("carry", "project", "convert", "producers")
)
SOME_TARGETS = ("anthropic", "openai", "gemini")
WORKLOADS = [f"workloads/W{size}" for size in SIZES]


@pytest.mark.parametrize("name", corpus())
def test_carry(api: ModuleType, name: str) -> None:
    files.check(CARRY / f"{name}.txt", carry_page(corpus()[name], SMALL))


@pytest.mark.parametrize("name", corpus())
def test_project(rust: None, name: str) -> None:
    files.check(PROJECT / f"{name}.txt", project_page(corpus()[name], SMALL))


@pytest.mark.parametrize("name", corpus())
def test_convert(name: str) -> None:
    targets = SOME_TARGETS if name.startswith(("hard", "recount")) else TARGETS
    files.check(CONVERT / f"{name}.txt", convert_page(corpus()[name], targets))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_job_for_a_producer(rust: None, name: str) -> None:
    """One file, which a new importer adds. Other tests compare the backends on it."""
    given = produced(name)
    pages = (carry_page(given, SMALL), project_page(given, SMALL), convert_page(given, TARGETS))
    files.check(PRODUCERS / f"{name}.txt", "\n".join(pages))


@pytest.mark.parametrize("size", SIZES)
def test_carry_of_a_workload(api: ModuleType, size: int) -> None:
    files.check(CARRY / f"workloads/W{size}.txt", carry_page(workload(size), LARGE))


@pytest.mark.parametrize("size", SIZES)
def test_project_of_a_workload(rust: None, size: int) -> None:
    files.check(PROJECT / f"workloads/W{size}.txt", project_page(workload(size), LARGE))


def test_convert_of_a_workload() -> None:
    files.check(CONVERT / "workloads/W20.txt", convert_page(workload(20)))


def test_every_file_has_its_input() -> None:
    files.check_names(CARRY, [*corpus(), *WORKLOADS])
    files.check_names(PROJECT, [*corpus(), *WORKLOADS])
    files.check_names(CONVERT, [*corpus(), WORKLOADS[0]])
    files.check_names(PRODUCERS, DOCUMENTS)
