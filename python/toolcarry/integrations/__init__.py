"""Integrations: one module for each host, and the request pipeline that they share.

``import toolcarry`` imports none of them, and the packages that a host needs are imported by its own module only.
"""
