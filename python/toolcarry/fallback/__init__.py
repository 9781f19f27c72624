"""The fallback of `carry` in pure Python, whose output ``toolcarry._backend._core`` matches. ``kernels`` has its functions.

Nothing is imported here, so that a process with the extension loads only the modules that it uses.
"""
