"""A conversation with a secret whose backend changes, and a summarizer that keeps what it was given."""

from typing import Any

from support.builders.wire_talks import OPENAI

from toolcarry.switch import SummarizeTransformer

WHERE = {"conversation": "c", "backend": "b"}
REQUEST = [
    OPENAI.user("Read it. The key is s3cret."),
    *OPENAI.turn("call_1", "Read", {"file_path": "a.py"}, "KEY = 's3cret'"),
    OPENAI.says("It holds a key."),
    OPENAI.user("Go on."),
]


def transformer(*arguments: Any, **options: Any) -> SummarizeTransformer:
    made = SummarizeTransformer(*arguments, **options)
    made.answered("c", "a")
    return made


class Recording:
    """A summarizer that keeps what it was given."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __call__(self, text: str, _instructions: str) -> str:
        self.texts.append(text)
        return "A key was read."
