"""The history of a conversation: commits, the hashes that prove them, and the contents of session lines."""
