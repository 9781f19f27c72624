"""``toolcarry history legacy`` and ``backfill``."""

import json

from toolcarry.tract import Tract

CUT = "a\n[...9 lines omitted...]\n\nz"


def test_legacy_and_backfill(history, db, tmp_path):
    whole = "a\n" * 9 + "z"
    with Tract.open(db, on_truncated_write="count") as tract:
        first = tract.tool_result("t1", "Bash", CUT)
        tract.tool_result("t2", "Read", "3 passed")
    code, out, err = history("legacy")
    assert (code, err) == (0, "")
    assert out == f"{first.commit_hash[:12]}  t1  Bash  cut by Roo Code; no source is known\n"
    (line,) = map(json.loads, history("legacy", "--json")[1].splitlines())
    assert (line["mark"], line["source"], line["is_filled"]) == ("Roo Code", "", False)
    assert line["commit"]["commit_hash"] == first.commit_hash
    assert history("backfill")[0] == 1
    session = tmp_path / "session.jsonl"
    message = {"role": "tool", "tool_call_id": "t1", "content": whole}
    session.write_text(json.dumps(message) + "\n")
    code, out, _ = history("backfill", session)
    assert (code, out) == (0, "1 result filled, 0 still cut\n")
    assert history("legacy")[1].endswith("cut by Roo Code; filled\n")
    with Tract.open(db) as tract:
        assert tract.resolve("t1") == whole


def test_a_source_that_is_missing(history, db, tmp_path):
    with Tract.open(db, on_truncated_write="count") as tract:
        tract.tool_result("t1", "Bash", CUT)
    code, _, err = history("backfill", tmp_path / "none.jsonl")
    assert (code, err) == (3, f"toolcarry: {tmp_path / 'none.jsonl'}: no such file\n")
    broken = tmp_path / "broken.json"
    broken.write_text('{"messages": [')
    code, _, err = history("backfill", broken)
    assert code == 1
    assert err.startswith(f"toolcarry: {broken}: ")
    assert history("legacy", "--conversation", "none")[0] == 3
