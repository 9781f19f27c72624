"""A table that both backends need is in ``_data`` once; neither tree writes the other's constant again."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / "python" / "toolcarry"
RUST = ROOT / "rust"

pytestmark = pytest.mark.skipif(
    not RUST.exists(), reason="the tests run without the sources of the extension"
)

CONSTANT = re.compile(
    r"^(?:pub(?:\([\w: ]+\))? )?const (\w+): [^=]*= &?\[([^\]]*)\];", re.MULTILINE
)
KEY = re.compile(r'^    ([A-Z][A-Z0-9_]*) "(\w+)"$', re.MULTILINE)
ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|names::(\w+)')

Tables = dict[frozenset[str], str]
"""Tables of two or more texts, with the places of their constants."""


def python_tables(source: str, place: str) -> Tables:
    """Return the tables of texts that a module writes as constants."""
    found: Tables = {}
    for node in ast.parse(source).body:
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(value, ast.Call) and value.args:  # frozenset((...))
            value = value.args[0]
        if isinstance(value, ast.Tuple | ast.List | ast.Set) and len(value.elts) > 1:
            texts = [item.value for item in value.elts if isinstance(item, ast.Constant)]
            if len(texts) == len(value.elts) and all(isinstance(text, str) for text in texts):
                found[frozenset(map(str, texts))] = f"{place}:{node.lineno}"
    return found


def rust_tables(source: str, place: str, keys: dict[str, str]) -> Tables:
    """Return the tables of texts and of keys that a module writes as constants."""
    found: Tables = {}
    for constant in CONSTANT.finditer(source):
        items = [text or keys.get(key, "") for text, key in ITEM.findall(constant[2])]
        if len(items) > 1:
            found[frozenset(items)] = f"{place}: {constant[1]}"
    return found


def test_no_table_is_written_in_both_languages() -> None:
    sources = {path: path.read_text("utf-8") for path in RUST.rglob("src/**/*.rs")}
    keys = dict(pair for source in sources.values() for pair in KEY.findall(source))
    rust: Tables = {}
    for path, source in sources.items():
        rust |= rust_tables(source, str(path.relative_to(ROOT)), keys)
    python: Tables = {}
    for path in PYTHON.rglob("*.py"):
        python |= python_tables(path.read_text("utf-8"), str(path.relative_to(ROOT)))
    assert len(python) > 20, "the tables of the modules were not found"
    twice = [f"{python[table]} and {rust[table]}" for table in python.keys() & rust.keys()]
    assert not twice, f"move to python/toolcarry/_data: {twice}"


@pytest.mark.parametrize(
    ("python", "rust"),
    [
        ('KEYS = ("content", "parts")', 'const KEYS: [&str; 2] = ["parts", "content"];'),
        (
            'KEYS: Final = frozenset(("content", "parts"))',
            "pub(crate) const HOLDERS: [Key<'static>; 2] = [names::CONTENT, names::PARTS];",
        ),
        (
            'KEYS = ["content", "parts"]',
            'const KEYS: &[&str] = &[\n    "content",\n    "parts",\n];',
        ),
    ],
)
def test_equal_tables_are_found(python: str, rust: str) -> None:
    keys = {"CONTENT": "content", "PARTS": "parts"}
    assert python_tables(python, "").keys() == rust_tables(rust, "", keys).keys() != set()
