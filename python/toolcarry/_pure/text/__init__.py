"""Text: where it may be cut, and what of it may stand in a context."""
