"""Helpers that tests share: builders, strategies, oracles, providers, servers, processes, and time."""
