"""``python -m toolcarry.cli`` is the script ``toolcarry``."""

from __future__ import annotations

import sys

from toolcarry.cli import main

if __name__ == "__main__":
    sys.exit(main())
