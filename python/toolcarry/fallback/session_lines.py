"""Read the lines of a session file into the parts that become commits of the history."""

from __future__ import annotations

from toolcarry._input.document import loads_line
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.session_lines import LinePart, line_part, read_parts


def read_lines(lines: list[bytes]) -> list[list[LinePart] | None] | None:
    """Return the parts of the record in each line; ``None`` for a line without a record.

    Returns ``None`` if only an importer can read one of the lines. Raises ``ValueError`` for arguments that can't be
    written as JSON again, such as an infinite number.

    >>> found, missing = read_lines([b'{"role": "user", "content": "Run the tests."}', b"[1]"])
    >>> found[0].role, found[0].token_count, missing
    ('user', 4, None)
    """
    found: list[list[LinePart] | None] = []
    for record in map(loads_line, lines):
        parts = None if record is None else read_parts(record)
        if record is not None and parts is None:
            return None
        found.append(None if parts is None else [line_part(part, count_tokens) for part in parts])
    return found
