"""Where the settings are found."""

from __future__ import annotations

from pathlib import Path

import pytest

import toolcarry
from toolcarry import ConfigError, load_config
from toolcarry.config import Config
from toolcarry.config.load import SettingsFile, find_file, user_folder


def test_a_path_then_the_variable_then_the_users_file(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users, named = tmp_path / "user" / "toolcarry" / "toolcarry.toml", tmp_path / "named.toml"
    assert load_config() == Config()
    users.parent.mkdir(parents=True)
    users.write_text("serve.port = 1")
    assert load_config().serve.port == 1
    named.write_text("serve.port = 2")
    monkeypatch.setenv("TOOLCARRY_CONFIG", str(named))
    assert load_config().serve.port == 2
    path.write_text("serve.port = 3")
    assert load_config(path).serve.port == load_config(str(path)).serve.port == 3
    monkeypatch.setenv("TOOLCARRY_CONFIG", "")
    assert load_config().serve.port == 1


def test_never_silently_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in (".", "toolcarry", ".config/toolcarry"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "toolcarry.toml").write_text("serve.port = 1")
    for value in (".", "", "toolcarry", ".config"):
        monkeypatch.setenv("XDG_CONFIG_HOME", value)
        monkeypatch.setenv("HOME", "/nowhere")
        assert load_config() == Config()
    assert load_config("toolcarry.toml").serve.port == 1


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/toolcarry"),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "x"}, "/h/.config/toolcarry"),
        ("linux", {"HOME": "/h"}, "/h/.config/toolcarry"),
        ("linux", {"HOME": "h"}, None),
        (
            "darwin",
            {"HOME": "/h", "XDG_CONFIG_HOME": "/x"},
            "/h/Library/Application Support/toolcarry",
        ),
        ("win32", {"APPDATA": "/a", "HOME": "/h"}, "/a/toolcarry"),
        ("win32", {"HOME": "/h"}, None),
    ],
)
def test_folders(platform: str, environment: dict[str, str], folder: str | None) -> None:
    assert user_folder(environment, platform) == (folder and Path(folder))


@pytest.mark.parametrize("name", ["absent.toml", "absent/toolcarry.toml", "file/toolcarry.toml"])
def test_an_explicit_file_must_exist(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / name
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value) == f"{path}: no such file"
    monkeypatch.setenv("TOOLCARRY_CONFIG", str(path))
    with pytest.raises(ConfigError, match="no such file"):
        load_config()


def test_files_that_are_invalid(path: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read: Is a directory"):
        load_config(tmp_path)
    with pytest.raises(
        ConfigError, match=r"^path: '' is not allowed; allowed: the path of a file$"
    ):
        load_config("")
    with pytest.raises(ConfigError, match=r"^path: 3 is not allowed; allowed: the path of a file$"):
        load_config(3)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"^TOOLCARRY_CONFIG: 'a\\x00' is not allowed"):
        find_file(None, {"TOOLCARRY_CONFIG": "a\0"})
    path.write_bytes(b"[serve]\nhost = '\xff'\n")
    with pytest.raises(ConfigError, match=r"toolcarry\.toml: line 2: not UTF-8$"):
        load_config(path)
    with pytest.raises(ConfigError, match=r"/a\\nb: no such file$"):
        load_config(tmp_path / "a\nb")


def test_bytes_as_editors_write_them(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf[serve]\r\nport = 1\r\n")
    assert load_config(path).serve.port == 1
    path.write_bytes(b"")
    assert load_config(path) == Config()


def test_an_unreadable_user_file_is_reported(tmp_path: Path) -> None:
    folder = tmp_path / "user" / "toolcarry" / "toolcarry.toml"
    folder.mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot read"):
        load_config()


def test_found_and_looked_at_are_two_things(tmp_path: Path) -> None:
    assert find_file(tmp_path / "a", {}) == SettingsFile(tmp_path / "a", is_asked=True)
    assert find_file(None, {"XDG_CONFIG_HOME": str(tmp_path)}) == SettingsFile(
        tmp_path / "toolcarry" / "toolcarry.toml", is_asked=False
    )


def test_the_public_names() -> None:
    from toolcarry import config

    assert toolcarry.load_config is config.load_config
    with pytest.raises(AttributeError, match=r"^module 'toolcarry' has no attribute 'nothing'$"):
        toolcarry.nothing  # noqa: B018
