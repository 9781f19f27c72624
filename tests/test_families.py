"""A family of wire shapes is whole: a reader on both sides, and what tests and fuzzes it."""

from pathlib import Path

import pytest
from families import FAMILIES

from toolcarry._pure.formats import SHAPES

ROOT = Path(__file__).resolve().parents[1]
NAMES = sorted(shape.__name__.rpartition(".")[2] for shape in SHAPES)  # type: ignore[attr-defined]


def test_the_families() -> None:
    readers = ROOT / "rust" / "core" / "src" / "shapes"
    assert {*NAMES, "mod"} == {path.stem for path in readers.glob("*.rs")}
    assert set(NAMES) == FAMILIES.keys()


@pytest.mark.parametrize("name", NAMES)
def test_a_family_has_a_fuzz_target(name: str) -> None:
    target = f"reads_{name}"
    source = (ROOT / "fuzz" / "fuzz_targets" / f"{target}.rs").read_text("utf-8")
    module = next(shape for shape in SHAPES if shape.__name__.endswith(f".{name}"))  # type: ignore[attr-defined]
    assert f'"{module.NAME}"' in source  # type: ignore[attr-defined]
    assert f'name = "{target}"' in (ROOT / "fuzz" / "Cargo.toml").read_text("utf-8")
