"""Real transcripts, which are not part of this project: tests that use them skip where they are absent."""

from pathlib import Path

TRANSCRIPTS = Path(__file__).parents[2] / "shared" / "transcripts"
