"""A process that has loaded settings exits cleanly, whatever is still running at its end."""

import subprocess
import sys

import pytest

# What a C library does that forgets a reference: all modules live until the interpreter's last collection.
CODE = """
import ctypes, sys
from toolcarry.config import parse_config
from toolcarry.switch.request_fields import read_fields
parse_config("")
read_fields(b"{}")
left = [dict(sys.modules)]
left.append(left)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(left))
"""


@pytest.mark.slow
def test_the_end_of_a_process() -> None:
    """It crashed in a sixth of the cases."""
    ended = [
        subprocess.run([sys.executable, "-c", CODE], check=False, timeout=60).returncode
        for _ in range(20)
    ]
    assert ended == [0] * 20
