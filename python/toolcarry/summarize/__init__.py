"""Summarizers: their protocol, the built-in ones, and ``Summaries``, which calls them safely."""

from toolcarry.summarize.dialogue import strip_injected
from toolcarry.summarize.extractive import ExtractiveSummarizer
from toolcarry.summarize.guard import Summaries, Summary
from toolcarry.summarize.model import CallableSummarizer, LiteLLMSummarizer
from toolcarry.summarize.prompts import CONVERSATION_SUMMARIZE_SYSTEM, TOOL_SUMMARIZE_SYSTEM
from toolcarry.summarize.protocol import BlockSummarizer, Summarizer, run_summarizer

__all__ = [
    "CONVERSATION_SUMMARIZE_SYSTEM",
    "TOOL_SUMMARIZE_SYSTEM",
    "BlockSummarizer",
    "CallableSummarizer",
    "ExtractiveSummarizer",
    "LiteLLMSummarizer",
    "Summaries",
    "Summarizer",
    "Summary",
    "run_summarizer",
    "strip_injected",
]
