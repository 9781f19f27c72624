"""The language of a code block, by the extension of the file."""

from __future__ import annotations

LANGUAGES = {
    "bash": "bash", "c": "c", "cc": "cpp", "clj": "clojure", "cpp": "cpp", "cs": "csharp", "css": "css",
    "cxx": "cpp", "dart": "dart", "diff": "diff", "ex": "elixir", "exs": "elixir", "go": "go",
    "gradle": "groovy", "h": "c", "hpp": "cpp", "hs": "haskell", "html": "html", "ini": "ini",
    "java": "java", "jl": "julia", "js": "javascript", "json": "json", "jsonl": "json",
    "jsx": "jsx", "kt": "kotlin", "less": "less", "lua": "lua", "md": "markdown", "mjs": "javascript",
    "ml": "ocaml", "patch": "diff", "php": "php", "pl": "perl", "proto": "protobuf", "ps1": "powershell",
    "py": "python", "pyi": "python", "r": "r", "rb": "ruby", "rs": "rust", "rst": "rst", "scala": "scala",
    "scss": "scss", "sh": "bash", "sql": "sql", "svelte": "svelte", "swift": "swift", "tex": "latex",
    "tf": "hcl", "toml": "toml", "ts": "typescript", "tsx": "tsx", "vue": "vue", "xml": "xml",
    "yaml": "yaml", "yml": "yaml", "zig": "zig", "zsh": "bash",
}  # fmt: skip

LONGEST_EXTENSION = 8


def language_of(path: str) -> str:
    """The language for ``path``; empty where its extension says nothing."""
    end = path[-LONGEST_EXTENSION - 1 :]
    _, dot, extension = end.rpartition(".")
    return LANGUAGES.get(extension, "") if dot else ""
