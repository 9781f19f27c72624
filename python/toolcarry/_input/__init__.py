"""Input: bytes and objects as the messages that both backends read, and JSON."""
