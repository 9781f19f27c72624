"""The number of examples that Hypothesis tries: a share of it by default, all of it with ``TOOLCARRY_LONG=1``."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings

IS_LONG = os.environ.get("TOOLCARRY_LONG") == "1"

SHARE = 10
"""The default run tries one in ten examples, so that the core suite takes minutes."""

LEAST = 10


def examples(count: int, **options: Any) -> settings:
    """Settings that try ``count`` examples in the long run, and a tenth of them, at least 10, otherwise.

    ``options`` are those of ``hypothesis.settings``.
    """
    return settings(max_examples=count if IS_LONG else max(count // SHARE, LEAST), **options)


def load_profile() -> None:
    """Load the settings of tests that name no number of examples: 300 in the long run, else 20."""
    settings.register_profile(
        "toolcarry",
        deadline=None,
        max_examples=300 if IS_LONG else 20,
        derandomize=not IS_LONG,  # only the long run searches further; a change should fail for what it changed
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    settings.load_profile("toolcarry")
