"""Read the lines of a session file into the parts that become commits of the history."""

from __future__ import annotations

from toolcarry._input.document import loads_line
from toolcarry.fallback.tokens.count import count_tokens
from toolcarry.model.session_lines import LinePart, line_part, read_parts


def read_lines(lines: list[bytes]) -> list[list[LinePart] | None]:
    """Return the parts of the record in each line; ``None`` for a line without a record.

    Raises ``ValueError`` for arguments that can't be written as JSON again, such as an infinite number.

    >>> found, missing = read_lines([b'{"role": "user", "content": "Run the tests."}', b"[1]"])
    >>> found[0].role, found[0].token_count, missing
    ('user', 4, None)
    """
    records = [loads_line(line) for line in lines]
    return [
        None if record is None else [line_part(part, count_tokens) for part in read_parts(record)]
        for record in records
    ]
