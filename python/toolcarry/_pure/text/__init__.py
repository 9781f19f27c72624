"""Where a text may be cut, and which characters a context may contain."""
