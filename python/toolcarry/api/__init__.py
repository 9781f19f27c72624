"""The public functions. ``toolcarry`` exports their names; nothing else here is imported from outside the package."""
