"""A summarizer that a test lets fail: it is named in settings as ``support.providers.failing_summarizer:summarize``."""

import threading

WAYS = ("works", "raises", "hangs", "says nothing", "says too much", "dies")
way = "works"
may_end = threading.Event()
"""Set by the test when nobody waits any more for those that hang."""


def summarize(text: str, _instructions: str) -> str:
    """Sum up, or whatever ``way`` says."""
    if way == "raises":
        raise ConnectionError(text)
    if way == "hangs":
        may_end.wait(60)
    if way == "dies":
        raise SystemExit(text)
    if way == "says too much":
        return text * 1_000
    return "" if way == "says nothing" else "Summed up."
