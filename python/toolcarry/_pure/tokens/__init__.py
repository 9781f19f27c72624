"""Tokens: counted as tiktoken counts them, in texts and in messages, and texts cut to a number of them."""
