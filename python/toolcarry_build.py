"""The build backend of this tree (PEP 517): maturin builds the wheel with the extension, hatchling the one without.

``TOOLCARRY_PURE=1`` asks for the second, which holds the Python fallback alone (docs/reference/fallback.md). Nothing else leads to
it: a build without a Rust toolchain fails and says so, where maturin would download one. Only the builder that is used
is a requirement. Source distributions are made by hatchling, which needs no toolchain to pack files.
"""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any, Final

HATCHLING: Final = "hatchling>=1.27,<2"
MATURIN: Final = "maturin>=1.9,<2"
CHOICE: Final = os.environ.get("TOOLCARRY_PURE", "")

if CHOICE not in ("", "0", "1"):
    sys.exit(
        f"TOOLCARRY_PURE: {CHOICE!r} is not allowed; allowed: '1' (build without Rust), '0' or '' (with Rust)"
    )

IS_PURE: Final = CHOICE == "1"


def check_toolchain() -> None:
    """Exit with a message if a tool that builds the extension is not on the path."""
    absent = [name for name in ("cargo", "rustc") if shutil.which(name) is None]
    if absent and not IS_PURE:
        oldest = tomllib.loads(Path("Cargo.toml").read_text("utf-8"))["workspace"]["package"][
            "rust-version"
        ]
        sys.exit(
            f"toolcarry: {' and '.join(absent)} not found on the path: the extension is built with Rust {oldest} or newer.\n"
            "Install Rust with rustup or the system's packages, or install a wheel that has the extension.\n"
            "TOOLCARRY_PURE=1 builds the Python fallback instead, without Rust: it is many times slower, and project,\n"
            "project_body, inspect, recount and check raise a BackendError there (docs/reference/fallback.md)."
        )


def builder() -> Any:
    """Return the build backend that makes the wheel."""
    check_toolchain()
    return import_module("hatchling.build" if IS_PURE else "maturin")


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    check_toolchain()
    return [HATCHLING if IS_PURE else MATURIN]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    return get_requires_for_build_wheel()


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return [HATCHLING]


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    return str(builder().build_wheel(wheel_directory, config_settings, metadata_directory))


def build_editable(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    return str(builder().build_editable(wheel_directory, config_settings, metadata_directory))


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    return str(import_module("hatchling.build").build_sdist(sdist_directory, config_settings))


# Without this hook, the metadata are read from a wheel, which hatchling builds in a second.
if not IS_PURE:

    def prepare_metadata_for_build_wheel(
        metadata_directory: str, config_settings: Any = None
    ) -> str:
        return str(builder().prepare_metadata_for_build_wheel(metadata_directory, config_settings))

    prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
