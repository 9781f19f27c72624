"""The reference implementation in Python, which ``toolcarry._backend._core`` matches. ``kernels`` has the functions of both.

Nothing is imported here, so that a process with the extension loads only the modules that it uses.
"""
