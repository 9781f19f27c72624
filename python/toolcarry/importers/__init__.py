"""The importers in front of the backends: messages of other producers become messages that both backends read.

A backend that meets a message of another producer raises ``NeedsImport``; then the messages are imported one for one,
so that positions stay the same, and the backend runs again. The output holds the producer's own objects. The reasons:
``docs/decisions/019-importers.md``.
"""
