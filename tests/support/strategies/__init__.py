"""Hypothesis strategies: conversations, texts, requests, policies, settings, definitions of tools."""
