"""Servers and stores: PostgreSQL, Redis, what only looks like one, and applications on a socket."""
