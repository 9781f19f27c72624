"""The history of a conversation: commits, what proves them, and what a line of a session file says."""
