"""Summarizers: what they are, those that ship, and what guards them."""

from toolcarry.summarize.extractive import ExtractiveSummarizer
from toolcarry.summarize.injected import strip_injected
from toolcarry.summarize.model import CallableSummarizer, LiteLLMSummarizer
from toolcarry.summarize.prompts import CONVERSATION_SUMMARIZE_SYSTEM, TOOL_SUMMARIZE_SYSTEM
from toolcarry.summarize.protocol import BlockSummarizer, Summarizer, run_summarizer
from toolcarry.summarize.summaries import Summaries, Summary

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
