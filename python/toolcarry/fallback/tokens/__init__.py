"""Tokens: counts as in tiktoken, for texts and messages, and truncation to a number of tokens."""
