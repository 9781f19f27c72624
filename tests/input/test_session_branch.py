"""The branch of a session that is followed upward: what is read of a file, and what a lost branch gives."""

import json
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from support.builders.records import Record, carried, out, record, run
from support.builders.wire import assistant, use
from support.examples import examples
from support.strategies import conversations as strategies
from support.strategies import policies as strategies_policies

from toolcarry import CarryPolicy
from toolcarry.fallback.context import carry, carry_walked
from toolcarry.importers.messages import Import
from toolcarry.model.pairing import Walk

SMALL = CarryPolicy(max_chars=600, layout="sections")


def lines(records: list[Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def long_session(turns: int) -> list[Record]:
    """Calls with their results, each record the child of the one before it."""
    said = [
        message for number in range(turns) for message in (run(f"c{number}"), out(f"c{number}"))
    ]
    return [
        record(f"r{number}", f"r{number - 1}" if number else None, message)
        for number, message in enumerate(said)
    ]


def test_the_beginning_of_a_session_stays_unread_where_the_total_is_spent(api: ModuleType) -> None:
    carried = api.carry(b"no record\n" + lines(long_session(200)), policy=SMALL)
    assert not carried.report.walked_all
    assert carried.report.skipped_lines == ()
    assert "c199" in carried.text


def test_a_lost_branch_is_found_by_a_look_at_all_records(api: ModuleType) -> None:
    """A record with a missing parent continues from the records before it: records that were skipped are included again."""
    records = long_session(60)
    del records[100:102]
    shown = [f"c{number}" for number in range(60) if number != 50]
    assert carried(api, records) == shown


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(
            record("r9", "r8", run("c4"), isSidechain=True), id="a side chain without agent"
        ),
        pytest.param(
            record("x", "r391", assistant(use("x")) | {"id": "m"}), id="a part of a message"
        ),
        pytest.param(record("r395", "r398", run("c4")), id="a parent behind its child"),
        pytest.param({"role": "user", "uuid": "r396", "content": "hi"}, id="a name with a role"),
    ],
)
def test_a_record_without_place_makes_all_be_read(api: ModuleType, odd: Record) -> None:
    records = [*long_session(200)[:396], odd, *long_session(200)[397:]]
    given = b"no record\n" + lines(records)
    assert api.carry(given, policy=SMALL).report.skipped_lines == (1,)


@examples(400)
@given(
    records=strategies.sessions() | strategies.tangles | strategies.transcripts,
    policy=strategies_policies.policies,
)
def test_following_the_branch_equals_reading_all_records(
    records: list[Any], policy: CarryPolicy
) -> None:
    """A hand-over reads all records anyway."""
    records, policy = Import().messages(records), replace(policy, layout="sections")
    assert carry(records, "", policy) == carry_walked(Walk(records), "", policy, None)


def test_a_record_that_is_written_again_counts_where_it_was_written_last(api: ModuleType) -> None:
    records = [*long_session(3), *long_session(2)]
    assert carried(api, records) == ["c0", "c1"]
    blocks = api.extract_tool_blocks(records)
    assert [(block.tool_use["input"]["command"], block.position) for block in blocks] == [
        ("c2", 4),
        ("c0", 6),
        ("c1", 8),
    ]
