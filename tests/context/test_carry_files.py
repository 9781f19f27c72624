"""``carry_files``: many files give the same results as each file alone, in order, even if some of them are invalid."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.builders.bodies import FORMS, MARK
from support.builders.wire import bash, join
from support.examples import examples
from support.rows import for_each
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies

from toolcarry import CarryPolicy, ConfigError, InputError
from toolcarry.types import Carried

Both = tuple[ModuleType, ModuleType]

LINES = b"".join(json.dumps(message).encode() + b"\n" for message in bash("ls", "a.py"))
FILES: dict[str, bytes] = {
    "session.jsonl": LINES,
    "request.json": b'{"messages": []}',
    "empty.json": b"",
    "mark.jsonl": MARK + LINES,
    "bad.json": b'{"messages": [',
    "cut.jsonl": LINES + LINES[:30],
    "text.txt": b"hello\nworld\n",
    "utf8.json": b'[{"content": "\xff"}]',
    "number.json": b"[7]",
    "surrogate.json": b'[{"role": "tool", "content": "\\ud800"}]',
    "deep.json": b"[" * 200 + b"]" * 200,
    "digits.json": b'[{"content": %b}]' % (b"7" * 5_000),
    "requests.jsonl": b'{"messages": []}\n' * 2,
    "large.jsonl": LINES.replace(b"a.py", b"x\\u00e9" * 40_000) * 3,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of every kind, a folder, and a link that leads nowhere."""
    made = tmp_path_factory.mktemp("files")
    for name, data in FILES.items():
        (made / name).write_bytes(data)
    (made / "folder").mkdir()
    (made / "nowhere").symlink_to(made / "gone")
    return made


NAMES = [*FILES, "missing.json", "folder", "nowhere", "session.jsonl/below"]


def told(item: Any) -> Any:
    """All that a result says, so that two can be compared."""
    if isinstance(item, Carried):
        return item.to_bytes(), item.report
    if isinstance(item, OSError):
        return type(item), item.errno, item.strerror, item.filename, str(item)
    assert isinstance(item, InputError)
    return type(item), str(item), item.position


def alone(api: ModuleType, path: Path, **given: Any) -> Any:
    """Return the outcome of ``carry`` for a single file."""
    try:
        return told(api.carry(path.read_bytes(), **given))
    except (InputError, OSError) as error:
        return told(error)


@for_each("name", NAMES)
def test_a_file_gives_the_same_as_carry(api: ModuleType, folder: Path, name: str) -> None:
    (found,) = api.carry_files([folder / name])
    assert told(found) == alone(api, folder / name)


@for_each("threads", [None, 1, 2, 8, 10**30])
def test_bad_files_stop_no_others_and_the_order_stays(
    api: ModuleType, folder: Path, threads: int | None
) -> None:
    paths = [folder / name for name in NAMES] * 3
    given = {"summary": "## Done", "policy": CarryPolicy(max_result_chars=20)}
    found = api.carry_files(paths, threads=threads, **given)
    assert [told(item) for item in found] == [alone(api, path, **given) for path in paths]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_backends_are_the_same(both: Both, folder: Path, threads: int) -> None:
    def run(kernels: ModuleType) -> list[Any]:
        found = kernels.carry_files([folder / name for name in NAMES], "S", CarryPolicy(), threads)
        return [told(item) if isinstance(item, Exception) else item for item in found]

    python, rust = both
    assert run(rust) == run(python)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_many_files(api: ModuleType, tmp_path: Path, threads: int) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(300)]
    for number, path in enumerate(paths):
        turns = join(*(bash(f"c{turn}", f"of {number}", f"t{turn}") for turn in range(number % 7)))
        path.write_text(json.dumps({"messages": turns}))
    # Four times: more than the threads have buffers.
    found = api.carry_files(paths * 4, threads=threads)
    assert [told(item) for item in found] == [alone(api, path) for path in paths] * 4


@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    conversations=st.lists(strategies.transcripts, max_size=6),
    policy=strategies_policies.policies,
    threads=st.integers(1, 9),
)
def test_generated_files(
    api: ModuleType, tmp_path: Path, conversations: list[Any], policy: CarryPolicy, threads: int
) -> None:
    paths = []
    for number, messages in enumerate(conversations):
        form = sorted(FORMS)[number % len(FORMS)]
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_bytes(FORMS[form](messages, "some escaped", number))
    found = api.carry_files(paths, summary="S", policy=policy, threads=threads)
    expected = [alone(api, path, summary="S", policy=policy) for path in paths]
    assert [told(item) for item in found] == expected


class Named:
    """A path of another library."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __fspath__(self) -> str:
        return str(self._path)


def test_every_kind_of_path(api: ModuleType, folder: Path) -> None:
    path = folder / "session.jsonl"
    expected = [alone(api, path)] * 3
    given = [str(path), path, Named(path)]
    for paths in (given, tuple(given), iter(given), dict.fromkeys(given)):
        assert [told(item) for item in api.carry_files(paths)] == expected
    assert api.carry_files([]) == []


def test_a_path_from_here(api: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (found,) = api.carry_files(["session.jsonl"])
    assert told(found) == alone(api, folder / "session.jsonl")


@pytest.mark.parametrize(
    "name", ["\u00e9 \U0001f600.json", "with\nnewline", " ", "-x", "\udcff.json"]
)
def test_names_of_every_kind(api: ModuleType, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    missing, _ = api.carry_files([path, tmp_path / "other"])
    assert isinstance(missing, FileNotFoundError)
    assert missing.filename == str(path)
    try:
        path.write_bytes(LINES)
    except OSError:
        pytest.skip("the file system does not take this name")
    (found,) = api.carry_files([path])
    assert told(found) == alone(api, path)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there are no devices")
def test_a_device_is_an_empty_file(api: ModuleType) -> None:
    (error,) = api.carry_files(["/dev/null"])
    assert told(error) == alone(api, Path("/dev/null"))


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no names")
def test_a_pipe_of_the_shell_is_read_like_a_file(api: ModuleType) -> None:
    """Programs are given such a name where the shell puts the output of another in place of a file."""
    reader, writer = os.pipe()
    os.write(writer, LINES)
    os.close(writer)
    (found,) = api.carry_files([f"/dev/fd/{reader}"])
    os.close(reader)
    assert told(found) == told(api.carry(LINES))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_an_endless_file_does_not_stop_others(
    api: ModuleType, folder: Path, tmp_path: Path
) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to("/dev/zero")
    *refused, found = api.carry_files([pipe, "/dev/zero", link, folder / "session.jsonl"])
    reason = "is a device or a named pipe, which may never end"
    assert [told(error) for error in refused] == [(InputError, reason, None)] * 3
    assert told(found) == alone(api, folder / "session.jsonl")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_a_file_that_may_not_be_read(api: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "secret.json"
    path.write_bytes(LINES)
    path.chmod(0)
    (error,) = api.carry_files([path])
    assert isinstance(error, PermissionError)
    assert told(error) == alone(api, path)


@for_each("threads", [0, -1, True, False, "2", 2.0, b"1", [1]])
def test_threads_are_a_whole_number_from_1_on(api: ModuleType, threads: Any) -> None:
    with pytest.raises(ConfigError, match="threads"):
        api.carry_files([], threads=threads)


@for_each("paths", [None, 7, [7], [None], "session.jsonl", b"session.jsonl", [b"x"], ["a\0b"]])
def test_paths_that_are_invalid(api: ModuleType, paths: Any) -> None:
    with pytest.raises(InputError, match="path"):
        api.carry_files(paths)


CUT = """
import os, sys, threading
from pathlib import Path
import toolcarry
from toolcarry.types import Carried

path, data = Path(sys.argv[1]), Path(sys.argv[1]).read_bytes()
is_done = threading.Event()

def cut() -> None:
    with path.open("r+b") as file:
        while not is_done.is_set():
            os.truncate(path, 0)
            os.pwrite(file.fileno(), data, 0)
            os.truncate(path, 4096)

thread = threading.Thread(target=cut)
thread.start()
try:
    for _ in range(int(sys.argv[2])):
        for found in toolcarry.carry_files([path] * 4, threads=2):
            assert isinstance(found, Carried | toolcarry.InputError), found
finally:
    is_done.set()
    thread.join()
print(toolcarry.backend())
"""


@pytest.mark.slow
def test_a_file_that_is_cut_and_grows_while_it_is_read(backend_name: str, tmp_path: Path) -> None:
    """Memory that is mapped from a file ends the process where the file ends meanwhile; what is read does not."""
    path = tmp_path / "session.jsonl"
    path.write_bytes(LINES * 4_000)
    done = subprocess.run(
        [sys.executable, "-c", CUT, path, "10" if backend_name == "rust" else "4"],
        capture_output=True,
        check=False,
        env=os.environ | {"TOOLCARRY_BACKEND": backend_name},
        timeout=100,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().strip() == backend_name
