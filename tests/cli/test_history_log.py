"""``toolcarry history log``: filters, and the messages' own times; ``history show`` by a marker's reference."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def imported(history, example):
    assert history("import", example)[0] == 0
    return history


def rows(found: tuple[int, str, str]) -> list[list[str]]:
    assert found[0] == 0, found[2]
    return [line.split() for line in found[1].splitlines()]


def test_the_time_is_that_of_the_message(imported):
    found = rows(imported("log"))
    assert found[0][1] == "2026-03-14T09:16:48Z"
    assert all(row[1].startswith("2026-03-14") for row in found if row[2] != "record")
    line = json.loads(imported("log", "--json", "-n", "1")[1])
    assert line["time"].startswith("2026-03-14T09:16:48")
    assert not line["created_at"].startswith("2026-03-14")


def test_records_are_hidden(imported):
    assert len(rows(imported("log"))) == 36
    assert len(rows(imported("log", "--records"))) == 38
    assert len(rows(imported("log", "--role", "record"))) == 2


def test_filters(imported):
    assert {row[2] for row in rows(imported("log", "--role", "user"))} == {"user"}
    found = rows(imported("log", "--tool", "Grep"))
    assert {row[3] for row in found} == {"Grep"}
    assert {row[2] for row in found} == {"tool", "assistant"}
    assert len(rows(imported("log", "--text", "RUFF HERE", "--role", "assistant"))) == 1
    assert len(rows(imported("log", "--tool", "Bash", "-n", "3"))) == 3
    assert rows(imported("log", "--text", "no such text")) == []


def test_show_by_reference(imported):
    code, out, _ = imported("show", "toolu_01b7f86a38be91c3")
    assert (code, "reference" in out, "Exit code 1" in out) == (0, True, True)
    assert imported("show", "toolu_01b7f86a38be91c3", "--raw")[1].startswith("Exit code 1\n")
    line = json.loads(imported("show", "toolu_01b7f86a38be91c3", "--json")[1])
    assert line["reference"] == "toolu_01b7f86a38be91c3"
    assert imported("show", "toolu_of_nobody")[0] == 3
