"""headroom: ``compress``, which replaces stale reads and makes logs, tables and JSON smaller.

What it made of a text it remembers, so that a conversation that is new to it takes longer than a known one. Its model
for prose is an extra that loads weights from a network; without it such text stays as it is.
"""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import tempfile

# It keeps what it removes in a file; here in a temporary folder, not in the home folder.
os.environ["HEADROOM_WORKSPACE_DIR"] = tempfile.mkdtemp(prefix="headroom-")
os.environ["HEADROOM_OFFLINE"] = "1"

from headroom import compress
from peer import Pair, Peer
from side_by_side import main
from workload import Message

from toolcarry import ProjectPolicy

atexit.register(shutil.rmtree, os.environ["HEADROOM_WORKSPACE_DIR"], ignore_errors=True)
logging.getLogger("headroom").setLevel(logging.ERROR)

PROTECTED_TURNS = 2
"""It leaves the last four messages alone: two turns."""


def compressed(messages: list[Message]) -> list[Message]:
    found: list[Message] = compress(messages).messages
    return found


PEER = Peer(
    name="headroom",
    package="headroom-ai",
    provider="anthropic",
    to_wire=lambda messages: messages,
    pairs=(
        Pair(
            "`compress`, without its model",
            compressed,
            lambda _: ProjectPolicy(keep_last_turns=PROTECTED_TURNS),
        ),
    ),
)

if __name__ == "__main__":
    main(PEER)
