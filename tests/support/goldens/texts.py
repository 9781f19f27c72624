"""Generated texts of tool results: code, logs, diffs, listings, hits, tests, tables, pages, and odd ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

WORDS = (
    "Go on.",
    "Done.",
    "été, 日本語",
    "Look at it.\n",
    "I see 3 failures. ",
    "مرحبا",
    "👩‍👩‍👧 ok",
    "OK",
)


def lines(random: Random, line: Callable[[int], str], most: int = 24) -> str:
    return "\n".join(map(line, range(1, random.randint(1, most) + 1)))


def code(random: Random) -> str:
    name = random.choice("fgh")
    return lines(random, lambda number: f"    {name}_{number} = {name}({number * 7 % 13})")


def numbered_code(random: Random) -> str:
    first = random.choice((1, 1, 40))
    return lines(random, lambda number: f"{first + number - 1:6d}\tdef f{number}(): return {number % 5}")  # fmt: skip


def json_text(random: Random) -> str:
    rows = [
        {"id": number, "name": random.choice(WORDS), "ok": number % 3 == 0, "tags": ["x"] * (number % 4)}
        for number in range(random.randint(0, 12))
    ]  # fmt: skip
    return json.dumps({"rows": rows, "next": None}, indent=random.choice((None, 2)), ensure_ascii=False)  # fmt: skip


def log(random: Random) -> str:
    def line(number: int) -> str:
        level = random.choice(("INFO", "INFO", "INFO", "WARN", "ERROR"))
        return f"2026-11-21T10:{number % 60:02d}:00Z {level} worker-{number % 3} took {number * 17 % 90} ms"

    return lines(random, line, 50)


def diff(random: Random) -> str:
    changes = lines(random, lambda number: random.choice("+- ") + f" x{number} = {number}")
    return f"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,9 +1,9 @@\n{changes}"


def listing(random: Random) -> str:
    return "total 8\n" + lines(random, lambda number: f"-rw-r--r-- 1 u u {number * 37} Nov 21 10:00 file{number}.py")  # fmt: skip


def hits(random: Random) -> str:
    return lines(random, lambda number: f"src/{random.choice('abc')}.py:{number * 3}:  match {number}")  # fmt: skip


def tests(random: Random) -> str:
    states = lines(random, lambda number: f"tests/test_{number}.py::test_x {random.choice(('PASSED', 'PASSED', 'FAILED'))}")  # fmt: skip
    return f"===== test session starts =====\n{states}\nE   assert 1 == 2\n===== 1 failed, 3 passed in 0.12s ====="


def trace(random: Random) -> str:
    frames = lines(random, lambda number: f'  File "/app/m{number}.py", line {number}, in f{number}\n    f{number + 1}()', 12)  # fmt: skip
    return f"Traceback (most recent call last):\n{frames}\nValueError: no such thing"


def table(random: Random) -> str:
    return "name,size,kind\n" + lines(random, lambda number: f"row{number},{number * 11},{random.choice('ab')}")  # fmt: skip


def html(random: Random) -> str:
    rows = lines(random, lambda number: f"<p class='c{number}'>Paragraph {number} &amp; more</p>")
    return f"<!DOCTYPE html><html><head><title>T</title></head><body>{rows}</body></html>"


def terminal(random: Random) -> str:
    return "\x1b[32mok\x1b[0m\n" + "".join(f"\rprogress {number * 10} %" for number in range(11)) + "\n"  # fmt: skip


def odd_text(random: Random) -> str:
    return random.choice(
        ("", " ", "\n", "ok", "x" * 350, "\ud800 half", "a\u0301" * 90, "QUJDREVG" * 60, "```\nfence\n```", "<|endoftext|>",
         "[toolcarry: superseded by call t1; whole: t2]", "[toolcarry: cut", "Error: denied", "é" * 500, "日本語" * 200, "1234 " * 200)
    )  # fmt: skip


TEXTS = (
    code, numbered_code, json_text, log, diff, listing, hits, tests, trace, table, html, terminal, odd_text, odd_text, odd_text,
)  # fmt: skip


def a_text(random: Random) -> str:
    return random.choice(TEXTS)(random)


# The conversation, first as a draft
