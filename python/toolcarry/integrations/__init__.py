"""Where other software meets toolcarry: one module for each host, and the ``pipeline`` that they share.

No module here is imported by ``import toolcarry``, and what a host needs is imported by its own module alone.
"""
