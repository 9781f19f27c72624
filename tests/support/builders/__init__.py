"""Conversations, bodies, definitions and stores to test with, written out."""
