"""Large bodies let other threads of Python run, and threads may share what they are given."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from support.builders.wire import bash, join
from support.clocks import wait_until

from toolcarry import NO_LIMIT, CarryPolicy

ROOMY = CarryPolicy(max_chars=NO_LIMIT)


@pytest.fixture(scope="module")
def large_body() -> bytes:
    """Some tens of megabytes."""
    text = "a line of text, \u00e9\n" * 2_000
    turns = join(*(bash(f"c{number}", text, f"t{number}") for number in range(1_000)))
    return json.dumps({"messages": turns}).encode()


@pytest.fixture(scope="module")
def rust(both: tuple[ModuleType, ModuleType]) -> ModuleType:
    return both[1]


@contextmanager
def ticks() -> Iterator[list[float]]:
    """The times at which another thread of Python could run."""
    found: list[float] = []
    is_done = threading.Event()

    def tick() -> None:
        while not is_done.is_set():
            found.append(time.perf_counter())

    other = threading.Thread(target=tick)
    other.start()
    try:
        yield found
    finally:
        is_done.set()
        other.join()


def longest_wait(job: Callable[[], object]) -> float:
    """For which part of a job the other thread stood still at a stretch; near to 1 where it never could run."""
    with ticks() as found:
        start = time.perf_counter()
        job()
        end = time.perf_counter()
    inside = [start, *(at for at in found if start < at < end), end]
    return max(after - before for before, after in pairwise(inside)) / (end - start)


@pytest.fixture
def eager_switches() -> Iterator[None]:
    """Threads take turns at once, so that what is measured is not the time that they wait for one another."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def lets_others_run(job: Callable[[], object], tries: int = 10) -> bool:
    """In one of a few tries, as others may take the processor away."""
    return any(longest_wait(job) < 0.5 for _ in range(tries))


@pytest.mark.slow
@pytest.mark.usefixtures("eager_switches")
def test_a_large_body_lets_other_threads_run(rust: ModuleType, large_body: bytes) -> None:
    assert lets_others_run(lambda: rust.carry(large_body, "", ROOMY))


@pytest.mark.slow
@pytest.mark.usefixtures("eager_switches")
def test_files_let_other_threads_run(rust: ModuleType, large_body: bytes, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(large_body)
    assert lets_others_run(lambda: rust.carry_files([path], "", ROOMY, 1))


@pytest.mark.slow
@pytest.mark.usefixtures("eager_switches")
def test_a_held_lock_is_detected(large_body: bytes) -> None:
    """The measure itself: a sum of bytes lets nobody run."""
    some = large_body[:20_000_000]
    assert not lets_others_run(lambda: sum(some), tries=3)


def test_threads_share_a_body_and_a_policy(backend: ModuleType) -> None:
    body = json.dumps(join(*(bash(f"c{n}", "x" * 5_000, f"t{n}") for n in range(30)))).encode()
    expected = backend.carry(body, "S", ROOMY)
    with ThreadPoolExecutor(8) as pool:
        found = pool.map(lambda _: backend.carry(body, "S", ROOMY), range(40))
    assert all(item == expected for item in found)


def is_read(process: int, path: Path) -> bool:
    """True if a process has a file open or mapped."""
    folder = Path(f"/proc/{process}")
    found = []
    for each in (folder / "fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            found.append(each.readlink())
    return path in found or str(path) in (folder / "maps").read_text()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs to see what is open")
def test_an_interrupt_stops_the_files(
    backend: ModuleType, large_body: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "large.json"
    path.write_bytes(large_body)
    script = (
        "import sys; from toolcarry import carry_files; print('begun', flush=True);"
        "carry_files([sys.argv[1]] * 1_000, threads=2)"
    )
    command = [sys.executable, "-c", script, str(path)]
    name = "rust" if backend.__name__.endswith("_core") else "python"
    environment = {**os.environ, "TOOLCARRY_BACKEND": name}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        wait_until(lambda: is_read(process.pid, path), what="the file to be read")
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=20)
        finally:
            process.kill()
    assert said.splitlines()[-1] == "KeyboardInterrupt"
