"""Fake providers: servers that speak like the real ones, refuse the same requests, and answer as a test specifies.

``AnthropicFake``, ``OpenAIFake`` and ``OllamaFake`` are ASGI applications; ``serving`` puts one on a socket. Each instance
stands for an account of its own: thinking that another one signed is foreign to it.
"""

from .anthropic import AnthropicFake
from .fake import Fake, Hold, Recorded
from .ollama import OllamaFake
from .openai import OpenAIFake
from .script import Asked, Call, ScriptedTurn, content_of, reads_then_quotes
from .serving import serving

__all__ = [
    "AnthropicFake",
    "Asked",
    "Call",
    "Fake",
    "Hold",
    "OllamaFake",
    "OpenAIFake",
    "Recorded",
    "ScriptedTurn",
    "content_of",
    "reads_then_quotes",
    "serving",
]
