"""The values that callers pass and get."""
