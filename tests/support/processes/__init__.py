"""Processes of their own, which a test starts, asks and ends."""
