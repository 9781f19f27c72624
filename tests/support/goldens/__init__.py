"""Frozen outputs of every job: how they are made, written, compared and shown (``python -m support.goldens --help``)."""
