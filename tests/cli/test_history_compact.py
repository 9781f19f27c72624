"""``toolcarry history compact`` and ``search``."""

import json

from toolcarry import context_usage
from toolcarry.tract import Tract

LONG = "line of a log\n" * 100


def fill(db):
    with Tract.open(db) as tract:
        for number in range(20):
            tract.user(f"Look {number}.")
            call = {"id": f"t{number}", "name": "Grep", "arguments": {"pattern": "x"}}
            tract.assistant("", tool_calls=[call])
            tract.tool_result(f"t{number}", "Grep", f"{LONG}needle {number}")
        return context_usage(tract.compile(), limit=1).used


def test_a_conversation_that_takes_too_much_is_compacted(history, db):
    used = fill(db)
    assert history("compact", "--limit", 2 * used)[:2] == (0, "nothing to compact\n")
    code, out, err = history("compact", "--limit", used, "--target", "0.4")
    assert (code, err) == (0, "")
    messages, _, rest = out.partition(" messages compacted, ")
    assert int(messages) > 30
    with Tract.open(db) as tract:
        assert context_usage(tract.compile(), limit=used).used <= 0.4 * used
        tract.uncompress(rest.rpartition("uncompress: ")[2].strip())
        assert context_usage(tract.compile(), limit=used).used == used
    fields = json.loads(history("compact", "--limit", used, "--json")[1])
    assert fields["covered"] > 20
    assert fields["tokens_after"] < fields["tokens_before"]


def test_what_is_refused(history, db):
    fill(db)
    code, _, err = history("compact", "--limit", 10, "--target", "0.9")
    assert code == 2
    assert "target: 0.9 is not allowed; allowed: less than compact_at, 0.8" in err
    code, _, err = history("compact")
    assert code == 2
    assert "limit: is required without a model; allowed: an integer >= 0" in err
    code, _, err = history("compact", "--model", "no-such-model")
    assert code == 2
    assert "for the model 'no-such-model', whose window is not known" in err
    assert history("compact", "--limit", 10, "--conversation", "none")[0] == 3
    assert history("search", "...")[0] == 2


def test_results_are_found(history, db):
    fill(db)
    code, out, err = history("search", "NEEDLE 7")
    assert (code, err) == (0, "")
    assert out.split("  ")[1:3] == ["t7", "Grep"]
    assert out.endswith("needle 7\n")
    lines = history("search", "needle", "--limit", 3, "--json")[1].splitlines()
    assert len(lines) == 3
    assert json.loads(lines[0])["commit"]["metadata"]["name"] == "Grep"
    assert history("search", "nothing") == (0, "", "")
