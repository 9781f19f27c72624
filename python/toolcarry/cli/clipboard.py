"""The clipboard of the desktop, by the program that each system has for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import Final

from toolcarry.cli.exit_codes import FAILED, NOT_FOUND, FileError

__all__ = ["copy"]

PROGRAMS: Final = (
    ("pbcopy",),
    ("clip",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--input", "--clipboard"),
)
"""The programs of macOS, Windows, Wayland and X11."""
DEADLINE: Final = 10
"""The seconds that a program may take."""


def copy(text: str) -> None:
    """Put a text on the clipboard. Raises ``FileError`` if no program does it."""
    found = next((each for each in PROGRAMS if shutil.which(each[0])), None)
    if found is None:
        names = ", ".join(each[0] for each in PROGRAMS)
        raise FileError(f"no clipboard program was found on the PATH ({names})", NOT_FOUND)
    encoding = "utf-16" if sys.platform == "win32" else "utf-8"
    program = [str(shutil.which(found[0])), *found[1:]]
    try:
        # xclip and wl-copy go on in the background, and would keep a pipe open.
        done = subprocess.run(program, input=text.encode(encoding, "replace"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=DEADLINE, check=False)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise FileError(f"{found[0]}: the clipboard can't be written: {error}", FAILED) from None
    if done.returncode:
        raise FileError(f"{found[0]}: failed with exit code {done.returncode}", FAILED)
