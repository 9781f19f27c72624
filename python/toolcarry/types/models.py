"""Models: their windows, and how their tokens are counted."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from toolcarry._data import read_table
from toolcarry.types.values import EncodingName

WINDOWS: Final[dict[str, int]] = read_table("windows")["windows"]

ENCODING_BY_MODEL: Final[dict[str, EncodingName]] = {
    "gpt-4o": "o200k_base",
    "gpt-4.1": "o200k_base",
    "gpt-4.5": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-oss": "o200k_base",
    "chatgpt-4o": "o200k_base",
    "codex-mini": "o200k_base",
    "o1": "o200k_base",
    "o3": "o200k_base",
    "o4-mini": "o200k_base",
    "gpt-4": "cl100k_base",
    "gpt-3.5": "cl100k_base",
    "gpt-35": "cl100k_base",
    "text-embedding": "cl100k_base",
}
"""The models with a known vocabulary, by the beginning of their names; the first match applies."""

FACTORS: Final[dict[str, float]] = {
    "claude": 1.25,
    "gemini": 1.1,
    "gemma": 1.1,
    "mistral": 1.2,
    "codestral": 1.2,
    "devstral": 1.2,
    "llama": 1.1,
    "qwen": 1.1,
    "deepseek": 1.1,
    "glm": 1.1,
    "kimi": 1.1,
    "grok": 1.1,
}
"""Tokens of a model family per token of ``o200k_base``, on text and code. The factors err on the high side."""


MAKER: Final = re.compile(r"^(?:[a-z-]+\.)+(?=[a-z])")
"""A region and a maker before the name of a model, as Bedrock writes them: ``us.moonshotai.``."""


class Scale(NamedTuple):
    """The encoding used to count a model's tokens, and the model's tokens per token of that encoding.

    ``is_known`` is true if the encoding is the model's own.
    """

    encoding: EncodingName
    factor: float
    is_known: bool


def scale_of(model: str) -> Scale:
    """Return the scale for counting a model's tokens. A provider before the name is ignored.

    >>> scale_of("openai/gpt-4o"), scale_of("claude-sonnet-4-5").factor
    (Scale(encoding='o200k_base', factor=1.0, is_known=True), 1.25)
    """
    name = model.lower().removeprefix("ft:").rpartition("/")[2]
    for start, encoding in ENCODING_BY_MODEL.items():
        if name.startswith(start):
            return Scale(encoding, 1.0, is_known=True)
    factors = (FACTORS[family] for family in FACTORS if family in name)
    return Scale("o200k_base", next(factors, 1.0), is_known=False)


def window_of(model: str) -> int | None:
    """Return the context window of a model, in tokens; ``None`` if it is not known.

    A provider, a maker and a region before the name are ignored. Gateways write ``claude-opus-4.6``, and Claude Code
    marks a window of a million tokens.

    >>> window_of("openai/gpt-4o-2024-11-20"), window_of("us.anthropic.claude-opus-4-5-20251101-v1:0"), window_of("m")
    (128000, 200000, None)
    >>> window_of("anthropic/claude-opus-4.6"), window_of("claude-sonnet-4-5[1m]")
    (1000000, 1000000)
    >>> window_of("moonshotai/Kimi-K2.6"), window_of("us.zai.glm-5.3"), window_of("kimi-k9")
    (262144, 1000000, None)
    """
    name = MAKER.sub("", model.lower().removeprefix("ft:").rpartition("/")[2])
    if name.startswith("claude"):
        if name.endswith("[1m]"):
            return 1_000_000
        name = name.replace(".", "-")
    while name:
        if name in WINDOWS:
            return WINDOWS[name]
        name = name.rpartition("-" if "-" in name else "@" if "@" in name else ":")[0]
    return None
