"""Summarizers: what they are, those that ship, and what guards them."""

from toolcarry.summarize.extractive import ExtractiveSummarizer
from toolcarry.summarize.injected import strip_injected
from toolcarry.summarize.prompts import CONVERSATION_SUMMARIZE_SYSTEM, TOOL_SUMMARIZE_SYSTEM
from toolcarry.summarize.protocol import BlockSummarizer, Summarizer, run_summarizer

__all__ = [
    "CONVERSATION_SUMMARIZE_SYSTEM",
    "TOOL_SUMMARIZE_SYSTEM",
    "BlockSummarizer",
    "ExtractiveSummarizer",
    "Summarizer",
    "run_summarizer",
    "strip_injected",
]
