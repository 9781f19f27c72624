"""Child processes that a test starts, asks and ends."""
