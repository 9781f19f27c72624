"""A text history: what was said, turn by turn, and a line for each tool call with the beginning of its result."""
