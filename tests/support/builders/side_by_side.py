"""The same definition in every style."""

from __future__ import annotations

from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where it is."},
        "limit": {"type": ["integer", "null"], "minimum": 1},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    },
    "required": ["path"],
}
SIDE_BY_SIDE: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {
            "type": "function",
            "function": {
                "name": "Read",
                "description": "Reads a file.",
                "parameters": SCHEMA,
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ],
    "responses": [
        {
            "type": "function",
            "name": "Read",
            "description": "Reads a file.",
            "parameters": SCHEMA,
            "strict": False,
        },
        {"type": "function", "name": "now", "strict": False},
    ],
    "ollama": [
        {
            "type": "function",
            "function": {
                "name": "Read",
                "description": "Reads a file.",
                "parameters": SCHEMA,
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ],
    "anthropic": [
        {
            "name": "Read",
            "description": "Reads a file.",
            "input_schema": SCHEMA,
        },
        {"name": "now", "input_schema": {"type": "object", "properties": {}}},
    ],
    "gemini": [
        {
            "functionDeclarations": [
                {
                    "name": "Read",
                    "description": "Reads a file.",
                    "parametersJsonSchema": SCHEMA,
                },
                {"name": "now"},
            ]
        }
    ],
    "mcp": [
        {
            "name": "Read",
            "description": "Reads a file.",
            "inputSchema": SCHEMA,
        },
        {"name": "now", "inputSchema": {"type": "object", "properties": {}}},
    ],
    "bedrock": [
        {
            "toolSpec": {
                "name": "Read",
                "description": "Reads a file.",
                "inputSchema": {"json": SCHEMA},
            }
        },
        {
            "toolSpec": {
                "name": "now",
                "inputSchema": {"json": {"type": "object", "properties": {}}},
            }
        },
    ],
}
