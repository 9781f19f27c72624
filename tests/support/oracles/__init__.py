"""Oracles: second readings that share no code with the library, and checks that many tests make."""
