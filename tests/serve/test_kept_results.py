"""The store that the retrieval tools read: one for all tenants, closed at the end."""

from pathlib import Path

import pytest

from toolcarry import ToolcarryError
from toolcarry.config import History
from toolcarry.integrations.asgi import SentRequest
from toolcarry.integrations.identity import RequestIdentity
from toolcarry.integrations.proxy.held_answer import Asked
from toolcarry.integrations.proxy.retrieval import KeptResults
from toolcarry.tract import Tract

DESCRIPTORS = Path("/proc/self/fd")


def opened() -> int:
    """Return the number of open descriptors."""
    return sum(1 for _ in DESCRIPTORS.iterdir())


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="needs /proc")
def test_tenants_share_a_store_and_see_only_their_own_results(tmp_path: Path) -> None:
    target = str(tmp_path / "history.db")
    names = [f"tenant{number}" for number in range(30)]
    with Tract.open(target) as any_tenant:
        any_tenant.user("Go.")
    for name in names:
        with Tract.open(target, tenant=name, conversation="c1") as tract:
            tract.tool_result("t1", "Bash", f"needle of {name}")
    before = opened()
    kept = KeptResults(History(target=target))
    counts = set()
    for name in names:
        sent = SentRequest(b'{"messages": []}', RequestIdentity(name, "c1", "m"))
        search = Asked("s1", "search_tool_results", {"query": "needle"})
        assert f"needle of {name}" in kept.answer(sent, search)
        assert kept.answer(sent, Asked("r1", "read_tool_result", {"ref": "t1"})).startswith(
            f"needle of {name}"
        )
        counts.add(opened())
    assert max(counts) <= before + 4
    stranger = SentRequest(b'{"messages": []}', RequestIdentity("stranger", "c1", "m"))
    with pytest.raises(ToolcarryError):
        kept.answer(stranger, Asked("r1", "read_tool_result", {"ref": "t1"}))
    kept.close()
    kept.close()
    assert opened() <= before
