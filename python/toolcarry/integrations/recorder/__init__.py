"""Feed the canonical history from requests and their answers, and put its results back into requests."""

from toolcarry.integrations.recorder.recorder import Exchange, Recorder

__all__ = ["Exchange", "Recorder"]
