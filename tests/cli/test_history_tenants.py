"""Conversations of tenants, such as the recorder's, whose names nobody can guess."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcarry.tract import Tract

READERS = [
    ["log"],
    ["turns"],
    ["stats"],
    ["stats", "--all"],
    ["export"],
    ["legacy"],
    ["compact", "--limit", "9000"],
    ["search", "hi"],
]


def fill(path: Any, *owners: tuple[str, str]) -> None:
    for tenant, name in owners:
        with Tract.open(path, tenant=tenant, conversation=name) as tract:
            tract.user("hi")
            tract.assistant("Hello.")


def test_all_conversations_are_listed(history: Any, db: Any) -> None:
    fill(db, ("a" * 64, "c1"), ("single-user", "c1"), ("", "x"), ("single-user", "c2\x1b[1m"))
    code, out, err = history("conversations")
    assert (code, err) == (0, "")
    rows = [line.split() for line in out.splitlines()[2:]]
    assert [row[:2] for row in rows[:2]] == [["a" * 64, "c1"], ["single-user", "c1"]]
    assert all("2" in row for row in rows)
    assert "\x1b" not in out
    code, out, _ = history("conversations", "--json", "--tenant", "single-user")
    found = [json.loads(line) for line in out.splitlines()]
    assert [(row["conversation"], row["commits"]) for row in found] == [("c1", 2), ("c2\x1b[1m", 2)]
    assert found[0]["tenant"] == "single-user"
    assert found[0]["last"].startswith("20")


@pytest.mark.parametrize("args", READERS, ids=" ".join)
def test_commands_find_the_only_tenant_or_lead_to_the_list(
    history: Any, db: Any, args: list[str]
) -> None:
    fill(db, ("k1", "c1"))
    assert history(*args)[0] == 0
    fill(db, ("k2", "c1"))
    code, _, err = history(*args)
    assert code == 3
    assert "2 tenants with conversations" in err
    assert "toolcarry history conversations" in err
    assert history(*args, "--tenant", "k2")[0] == 0
    code, _, err = history(*args, "--tenant", "k3")
    assert (code, "no conversation of 'k3'" in err) == (3, True)


def test_an_import_goes_to_no_other_tenant(history: Any, db: Any, example: Any) -> None:
    fill(db, ("k1", "c1"))
    assert history("import", example)[0] == 0
    with Tract.open(db, tenant="k1") as tract:
        assert tract.conversations() == ["c1"]
