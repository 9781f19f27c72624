"""Helpers that tests share: builders, strategies, servers and settings."""
