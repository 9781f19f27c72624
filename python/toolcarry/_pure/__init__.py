"""The reference implementation, in Python, which ``toolcarry._core`` matches; ``kernels`` has what both do.

Nothing is imported here, so that a process with the extension loads no more of it than it asks for.
"""
