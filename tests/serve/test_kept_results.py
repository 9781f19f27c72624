"""The store that the retrieval tools read: one for all tenants, closed at the end."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcarry import ToolcarryError
from toolcarry.config import History
from toolcarry.integrations.asgi import SentRequest
from toolcarry.integrations.identity import ModelRequest, RequestIdentity
from toolcarry.integrations.proxy.held_answer import Asked
from toolcarry.integrations.proxy.retrieval import KeptResults
from toolcarry.integrations.recorder import Recorder
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


TENANTS = [f"tenant{number}" for number in range(40)]
BODY = b'{"model": "m", "messages": [{"role": "user", "content": "Go."}]}'
MOST = 12
"""The most descriptors of a process for one store, however many tenants there are: its files, for each thread that reads."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = str(tmp_path_factory.mktemp("store") / "history.db")
    for name in TENANTS[::2]:
        with Tract.open(found, tenant=name, conversation="c1") as tract:
            tract.tool_result("t1", "Bash", f"needle of {name}")
    return found


@pytest.mark.skipif(not DESCRIPTORS.is_dir(), reason="needs /proc")
@given(
    asked=st.lists(
        st.tuples(
            st.sampled_from(TENANTS),
            st.sampled_from(["c1", "c2"]),
            st.sampled_from(["search", "read", "record", "hydrate"]),
        ),
        max_size=60,
    )
)
def test_the_open_stores_do_not_grow_with_the_tenants(
    target: str, asked: list[tuple[str, str, str]]
) -> None:
    before = opened()
    kept, recorder = KeptResults(History(target=target)), Recorder(target)
    for tenant, conversation, what in asked:
        me = RequestIdentity(tenant, conversation, "m")
        if what == "record":
            exchange = recorder.begin(me, ModelRequest(BODY, me))
            assert exchange is not None
            exchange.start(200)
            exchange.write()
        elif what == "hydrate":
            recorder.hydrated(me, BODY)
        else:
            name, given = ("search_tool_results", {"query": "needle"}) if what == "search" else ("read_tool_result", {"ref": "t1"})  # fmt: skip
            try:
                text = kept.answer(SentRequest(BODY, me), Asked("a1", name, given))
            except ToolcarryError:
                text = ""
            assert all(each == tenant for each in TENANTS if f"needle of {each}\n" in f"{text}\n")
        assert opened() <= before + MOST
    recorder.flush()
    recorder.close()
    kept.close()
    assert opened() <= before
