"""The places where text may be cut, and the characters that a context may contain."""
