"""Settings that follow their file, watched for real."""

from __future__ import annotations

import itertools
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from support.clocks import wait_until
from support.watched import PORT, replace, wait_until_watched

from toolcarry import ConfigError
from toolcarry._util import file_watch as watching
from toolcarry.config import Config, ReloadingConfig, Serve

SERVE = [field.name for field in msgspec.structs.fields(Serve)]


@pytest.fixture(autouse=True)
def by_events_alone(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is seen because time went by."""
    monkeypatch.setattr(watching, "LOOK_EVERY", 3_600.0)
    caplog.set_level(logging.WARNING, "toolcarry.config")


@pytest.fixture
def settings(path: Path) -> Iterator[ReloadingConfig]:
    path.write_text(PORT.format(1))
    with ReloadingConfig(path) as settings:
        wait_until_watched(settings, path)
        yield settings


def test_a_file_that_is_replaced(settings: ReloadingConfig, path: Path) -> None:
    for port in (3, 4, 5):
        replace(path, PORT.format(port))
        wait_until(lambda port=port: settings.current.serve.port == port)
    assert settings.failures == 0


def test_a_file_that_is_written_in_place(settings: ReloadingConfig, path: Path) -> None:
    path.write_text(PORT.format(3))
    wait_until(lambda: settings.current.serve.port == 3)


def test_a_broken_file_keeps_the_old_settings(
    settings: ReloadingConfig, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    before = settings.current
    replace(path, "[serve]\nprot = 3\n")
    wait_until(lambda: settings.failures == 1)
    (path.parent / "other").write_text("something else happens in the folder")
    replace(path, "[serve\n")
    wait_until(lambda: settings.failures == 2)
    assert settings.current is before
    kept = "the settings are unchanged"
    assert caplog.messages == [
        f"{path}: serve.prot: unknown key; did you mean 'port'? allowed: {', '.join(SERVE)}; {kept}",
        f"{path}: line 1, column 7: expected ']' at the end of a table declaration; {kept}",
    ]
    replace(path, PORT.format(3))
    wait_until(lambda: settings.current.serve.port == 3)
    assert settings.failures == 2


def test_a_deleted_file_keeps_the_old_settings(
    settings: ReloadingConfig, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = settings.current
    caplog.clear()
    path.unlink()
    wait_until(lambda: settings.failures == 1)
    assert settings.current is before
    assert caplog.messages == [f"{path}: no such file; the settings are unchanged"]
    replace(path, PORT.format(3))
    wait_until(lambda: settings.current.serve.port == 3)


def test_an_emptied_file_keeps_the_old_settings(
    settings: ReloadingConfig, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = settings.current
    caplog.clear()
    path.write_bytes(b"")
    wait_until(lambda: settings.failures == 1)
    assert settings.current is before
    assert caplog.messages == [f"{path}: is empty; the settings are unchanged"]


def test_secrets_are_in_no_log(
    settings: ReloadingConfig, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    replace(
        path, "[tool_cache]\nredis_url = 'http://:hunter2@cache'\n[serve]\ntoken_env = 'hunter-2'\n"
    )
    wait_until(lambda: settings.failures == 1)
    replace(path, "[history]\ntarget = 'postgresql://u:hunter2@db/history'\n")
    wait_until(lambda: settings.current.history.target)
    assert "hunter" not in caplog.text


def test_a_link_that_is_swapped(tmp_path: Path, path: Path) -> None:
    """Replace settings the way Kubernetes does: the link of the file itself is never touched."""
    for number in (1, 2, 3):
        folder = path.parent / f"version{number}"
        folder.mkdir()
        (folder / path.name).write_text(PORT.format(number))
    data = path.parent / "..data"
    data.symlink_to("version1")
    path.symlink_to(Path("..data") / path.name)
    with ReloadingConfig(path) as settings:
        for number in (2, 3):

            def swap(number: int = number) -> None:
                draft = path.parent / "..draft"
                draft.symlink_to(f"version{number}")
                draft.replace(data)

            swap()
            wait_until(lambda number=number: settings.current.serve.port == number, again=swap)


def test_a_link_whose_target_changes(tmp_path: Path, path: Path) -> None:
    target = tmp_path / "elsewhere" / "real.toml"
    target.parent.mkdir()
    target.write_text(PORT.format(1))
    path.symlink_to(target)
    with ReloadingConfig(path) as settings:
        wait_until_watched(settings, target)
        replace(target, PORT.format(3))
        wait_until(lambda: settings.current.serve.port == 3)


def test_on_change(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path.write_text(PORT.format(1))
    seen: list[Config] = []

    def on_change(config: Config) -> None:
        seen.append(config)
        if config.serve.port == 3:
            raise KeyError("hunter2")

    with ReloadingConfig(path, on_change=on_change) as settings:
        wait_until_watched(settings, path)
        replace(path, PORT.format(2) + "# the same settings")
        replace(path, PORT.format(3))
        wait_until(lambda: settings.failures == 1)
        assert settings.current.serve.port == 3
        replace(path, PORT.format(4))
        wait_until(lambda: len(seen) == 3)
    assert [config.serve.port for config in seen] == [2, 3, 4]
    assert f"{path}: on_change raised KeyError; the new settings are in effect" in caplog.messages
    assert "hunter" not in caplog.text


def test_readers_see_consistent_settings(settings: ReloadingConfig, path: Path) -> None:
    """Port and host change together; no reader ever sees only one of the changes."""
    torn: list[Config] = []
    end = threading.Event()

    def read() -> None:
        while not end.is_set():
            serve = settings.current.serve
            if serve.port > 2 and serve.host != f"host{serve.port}":
                torn.append(settings.current)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for port in (3, 4, 5, 6):
            replace(path, f"[serve]\nport = {port}\nhost = 'host{port}'\n")
            wait_until(lambda port=port: settings.current.serve.port == port)
    finally:
        end.set()
        for reader in readers:
            reader.join()
    assert torn == []


def test_start_and_stop(path: Path) -> None:
    path.write_text(PORT.format(1))
    before = threading.active_count()
    settings = ReloadingConfig(path)
    assert threading.active_count() == before
    settings.stop()
    for _ in range(2):
        settings.start()
        settings.start()
        assert threading.active_count() == before + 1
        settings.stop()
        settings.stop()
        assert threading.active_count() == before
    path.write_text(PORT.format(9))
    assert settings.current.serve.port == 1
    settings.start()
    wait_until(lambda: settings.current.serve.port == 9)
    settings.stop()


def test_stop_from_on_change(path: Path) -> None:
    path.write_text(PORT.format(1))
    settings = ReloadingConfig(path, on_change=lambda _: settings.stop())
    before = threading.active_count()
    settings.start()
    replace(path, PORT.format(2))
    ports = itertools.count(3)
    wait_until(
        lambda: threading.active_count() == before,
        again=lambda: replace(path, PORT.format(next(ports))),
    )


def test_a_process_ends_without_stopping_it(path: Path) -> None:
    path.write_text(PORT.format(1))
    code = f"from toolcarry.config import ReloadingConfig; ReloadingConfig({str(path)!r}).start()"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_without_a_file_of_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing folder can't be watched, but the file is found as soon as it exists."""
    monkeypatch.setattr(watching, "LOOK_EVERY", 0.05)
    users = tmp_path / "user" / "toolcarry" / "toolcarry.toml"
    with ReloadingConfig() as settings:
        assert settings.current == Config()
        users.parent.mkdir(parents=True)
        replace(users, PORT.format(3))
        wait_until(lambda: settings.current.serve.port == 3)
    assert settings.failures == 0


def test_an_unwatchable_folder_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ReloadingConfig():
        wait_until(lambda: caplog.messages)
    path = tmp_path / "user" / "toolcarry" / "toolcarry.toml"
    assert caplog.messages == [
        f"{path}: can't watch its folder (FileNotFoundError); checking the file every 3600 seconds instead"
    ]


def test_without_a_home_the_defaults_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("HOME", "relative")
    with ReloadingConfig() as settings:
        assert settings.current == Config()


def test_the_file_is_looked_at_unasked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that replaces the watched one is not watched, so the file is checked at intervals."""
    monkeypatch.setattr(watching, "LOOK_EVERY", 0.05)
    path.write_text(PORT.format(1))
    with ReloadingConfig(path) as settings:
        wait_until_watched(settings, path)
        path.parent.rename(path.parent.with_name("old"))
        path.parent.mkdir()
        replace(path, PORT.format(3))
        wait_until(lambda: settings.current.serve.port == 3)


def test_the_beginning_is_as_strict_as_load_config(path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        ReloadingConfig(path)
    path.write_text("[serve")
    with pytest.raises(ConfigError, match="line 1"):
        ReloadingConfig(path)


def test_without_watchfiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(ConfigError, match=r"^reload: needs watchfiles, .*'toolcarry\[reload\]'$"):
        ReloadingConfig()


def test_a_file_that_cannot_be_read_any_more(
    settings: ReloadingConfig, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    path.unlink()
    path.mkdir()
    wait_until(
        lambda: (
            f"{path}: cannot read: Is a directory; the settings are unchanged" in caplog.messages
        )
    )
    assert settings.current.serve.port == 2
