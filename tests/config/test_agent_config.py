"""``AgentConfig``: what a file says of the length of results, as it is now; real files, changed in every way."""

from __future__ import annotations

import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.clocks import wait_until

from toolcarry import AgentConfig, ConfigError
from toolcarry.api import agent_config as module

DEFAULT = 500
REFUSED = ("0", "-3", "1.5", "500.0", "true", '"300"', "null", "[300]", "{}")
BROKEN = (b"{", b"", b"[1]", b"300", b'{"toolResultMaxLength": 1, \xff}', b"{" + b" " * (1 << 20))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "agent.json"


@pytest.fixture
def warnings() -> Any:
    """Record the log messages, as lists of levels and texts."""

    class LogRecorder(logging.Handler):
        def __init__(self) -> None:
            super().__init__()
            self.lines: list[str] = []

        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.WARNING:
                self.lines.append(record.getMessage())

    handler = LogRecorder()
    logger = logging.getLogger("toolcarry.api.agent_config")
    logger.addHandler(handler)
    yield handler.lines
    logger.removeHandler(handler)


def write(path: Path, length: object, key: str = "toolResultMaxLength") -> None:
    path.write_text(json.dumps({key: length}))


def replace(path: Path, length: int) -> None:
    """Write a new file and move it over the old one."""
    new = path.with_suffix(".new")
    write(new, length)
    new.replace(path)


def test_a_missing_value_is_the_default(path: Path, warnings: list[str]) -> None:
    config = AgentConfig(path)
    assert config.tool_result_max_length == DEFAULT
    path.write_text('{"other": 1}')
    assert config.tool_result_max_length == DEFAULT
    assert AgentConfig(path / "below a file.json").tool_result_max_length == DEFAULT
    assert AgentConfig(path, key="other").tool_result_max_length == 1
    assert AgentConfig(path, default=7).tool_result_max_length == 7
    assert (warnings, config.failures) == ([], 0)


@pytest.mark.parametrize("value", REFUSED)
def test_an_invalid_length_is_the_default_with_a_warning(
    path: Path, warnings: list[str], value: str
) -> None:
    path.write_text(f'{{"toolResultMaxLength": {value}}}')
    config = AgentConfig(path)
    assert [config.tool_result_max_length for _ in range(3)] == [DEFAULT] * 3
    assert config.failures == 1
    (line,) = warnings
    assert line.startswith(f"{path}: toolResultMaxLength: ")
    assert line.endswith(" is not allowed; allowed: an integer >= 1; using 500")
    write(path, 300)
    assert config.tool_result_max_length == 300
    path.write_text(f'{{ "toolResultMaxLength": {value}}}')
    assert config.tool_result_max_length == DEFAULT
    assert len(warnings) == config.failures == 2


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_file_gives_the_default_or_the_last_good_value(
    path: Path, warnings: list[str], data: bytes
) -> None:
    write(path, 300)
    plain, keeping = AgentConfig(path), AgentConfig(path, keeps_last_good=True)
    assert plain.tool_result_max_length == keeping.tool_result_max_length == 300
    path.write_bytes(data)
    for _ in range(3):
        assert (plain.tool_result_max_length, keeping.tool_result_max_length) == (DEFAULT, 300)
    assert len(warnings) == 2
    path.unlink()
    assert plain.tool_result_max_length == keeping.tool_result_max_length == DEFAULT


def test_special_files_are_never_read(path: Path, warnings: list[str]) -> None:
    os.mkfifo(path)
    assert AgentConfig(path).tool_result_max_length == DEFAULT
    assert AgentConfig(path.parent).tool_result_max_length == DEFAULT
    link = path.with_name("link")
    link.symlink_to(link)
    assert AgentConfig(link).tool_result_max_length == DEFAULT
    assert [line.partition(": ")[2] for line in warnings] == ["is no file; using 500"] * 2


def test_the_last_of_two_keys_counts_and_a_mark_before_them_does_not(path: Path) -> None:
    path.write_bytes(b'\xef\xbb\xbf{"toolResultMaxLength": 1, "toolResultMaxLength": 2}')
    assert AgentConfig(path).tool_result_max_length == 2


@pytest.mark.parametrize("settled", [0, 2_000_000_000], ids=["old", "young"])
def test_every_replacement_is_seen(
    path: Path, monkeypatch: pytest.MonkeyPatch, settled: int
) -> None:
    monkeypatch.setattr(module, "SETTLED", settled)
    write(path, 100)
    config = AgentConfig(path)
    for length in range(100, 300):
        replace(path, length)
        os.utime(path, ns=(1, 1))  # what tells is another thing than its time
        assert config.tool_result_max_length == length


def test_every_writing_in_place_is_seen(path: Path) -> None:
    config = AgentConfig(path)
    for length in range(100, 300):
        write(path, length)
        assert config.tool_result_max_length == length


@pytest.mark.parametrize("moved", [1, 1 << 61])
def test_times_of_the_past_and_of_the_future(path: Path, moved: int) -> None:
    config = AgentConfig(path)
    for length in (10, 20):
        write(path, length)
        os.utime(path, ns=(moved, moved))
        assert config.tool_result_max_length == length


def test_deletion_return_and_links(path: Path, tmp_path: Path) -> None:
    config = AgentConfig(path)
    for length in (10, 20):
        write(path, length)
        assert config.tool_result_max_length == length
        path.unlink()
        assert config.tool_result_max_length == DEFAULT
    for length in (30, 40):
        target = tmp_path / f"{length}.json"
        write(target, length)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        assert config.tool_result_max_length == length


def test_a_file_that_stays_is_not_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SETTLED", 0)
    write(path, 10)
    config = AgentConfig(path)
    assert config.tool_result_max_length == 10
    monkeypatch.setattr(module, "read", None)  # reading would fail
    assert config.tool_result_max_length == 10


def test_another_working_directory_is_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".agents").mkdir()
    write(tmp_path / ".agents" / "agent.json", 10)
    config = AgentConfig()
    monkeypatch.chdir("/")
    assert config.tool_result_max_length == 10


@pytest.mark.parametrize("wrong", ["", "a\0b", 7, b"agent.json"])
def test_paths_that_are_invalid(wrong: Any) -> None:
    with pytest.raises(ConfigError, match=r"path: .* is not allowed; allowed: a path"):
        AgentConfig(wrong)


@pytest.mark.parametrize(
    "settings", [{"key": ""}, {"key": 7}, {"default": 0}, {"default": True}, {"default": 1.5}]
)
def test_settings_that_are_invalid(settings: dict[str, Any]) -> None:
    (name,) = settings
    with pytest.raises(ConfigError, match=f"{name}: .* is not allowed"):
        AgentConfig(**settings)


def test_threads_see_only_written_values(path: Path) -> None:
    write(path, 1_000)
    config = AgentConfig(path)
    seen: list[set[int]] = [set() for _ in range(6)]
    end = threading.Event()

    def look(own: set[int]) -> None:
        while not end.is_set():
            own.add(config.tool_result_max_length)

    threads = [threading.Thread(target=look, args=(own,)) for own in seen]
    for thread in threads:
        thread.start()
    for length in range(1_000, 1_200):
        replace(path, length)
    end.set()
    for thread in threads:
        thread.join()
    assert set().union(*seen) <= set(range(1_000, 1_200))
    assert config.failures == 0


def test_a_change_is_noticed_if_the_folder_is_watched(path: Path) -> None:
    pytest.importorskip("watchfiles")
    write(path, 10)
    told: list[int] = []

    def on_change(length: int) -> None:
        told.append(length)
        if length == 20:
            raise RuntimeError

    with AgentConfig(path, on_change=on_change) as config:
        replace(path, 20)
        config.start()  # it is already
        wait_until(lambda: told == [20])
        replace(path, 20)
        replace(path, 30)
        wait_until(lambda: told[-1] == 30)
        assert config.failures == 1
    config.stop()
    replace(path, 40)
    assert config.tool_result_max_length == 40
    assert told == [20, 30]


@given(
    st.binary(max_size=60) | st.builds(lambda n: b'{"toolResultMaxLength":%d}' % n, st.integers())
)
def test_no_file_raises(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(data)
    found = AgentConfig(path).tool_result_max_length
    assert found >= 1
    assert found == DEFAULT or str(found).encode() in data
