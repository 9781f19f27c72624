"""Find secrets, and remove them from texts, messages and logs."""

from toolcarry.redact.logs import RedactingFilter, get_logger
from toolcarry.redact.messages import redact_messages
from toolcarry.redact.redactor import Redacted, Redactor
from toolcarry.redact.rules import DEFAULT_REDACTION_RULES, RedactionRule

__all__ = [
    "DEFAULT_REDACTION_RULES",
    "Redacted",
    "RedactingFilter",
    "RedactionRule",
    "Redactor",
    "get_logger",
    "redact_messages",
]
