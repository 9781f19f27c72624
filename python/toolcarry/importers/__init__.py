"""The importers in front of the backends: messages of other producers become messages that both backends read.

A kernel that meets a message of another producer returns ``None``; then the messages are imported one for one, so that
positions stay the same, and the kernel runs again. The output holds the producer's own objects. The reasons:
``docs/decisions/019-importers.md``.
"""
