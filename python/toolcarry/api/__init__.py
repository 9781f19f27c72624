"""The public functions. ``toolcarry`` exports their names; nothing else is imported from outside of the package."""
