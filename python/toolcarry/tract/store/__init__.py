"""Where commits are kept: an append-only log that can prove itself, on SQLite or PostgreSQL.

Knows of hashes, rows and contents, and nothing of what is said in them.
"""
