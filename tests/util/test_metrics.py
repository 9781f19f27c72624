"""The counters by their names, and how Prometheus reads them."""

import pytest

from toolcarry import ConfigError
from toolcarry.metrics import (
    COUNTERS,
    PrometheusCollector,
    attributes,
    count,
    families,
    process_counts,
    rates,
)
from toolcarry.tract import Tract

COUNTS = {
    "processed": 4,
    "projection_cuts": 6,
    "fail_open": 1,
    "failed_open.switch": 1,
    "tokens_in": 900,
    "tokens_out": 600,
    "tokens_saved": 300,
    "tokens_rewritten": 400,
}


def test_a_process_counts_what_has_no_pipeline() -> None:
    name = "canonical_writes_with_truncation_marker"
    before = process_counts()
    count(name)
    count(name, 2)
    assert process_counts() == {**before, name: before[name] + 3}
    with pytest.raises(ConfigError, match="name: 'odd' is not allowed; allowed: canonical_writes"):
        count("odd")


def test_prometheus_reads_totals_rates_and_the_net() -> None:
    prometheus = pytest.importorskip("prometheus_client")
    registry = prometheus.CollectorRegistry()
    registry.register(PrometheusCollector(lambda: COUNTS))

    def value(name: str, **labels: str) -> float | None:
        found: float | None = registry.get_sample_value(name, labels)
        return found

    assert value("toolcarry_projection_cuts_total") == 6
    assert value("toolcarry_tool_refetches_total") == 0
    assert value("toolcarry_per_request", counter="projection_cuts") == 1.5
    assert value("toolcarry_tokens_total", kind="in") == 900
    assert value("toolcarry_tokens_net") == -100
    labels = {
        name for family in registry.collect() for each in family.samples for name in each.labels
    }
    assert labels == {"counter", "kind"}


def test_without_a_request_there_is_no_rate() -> None:
    assert rates({"fail_open": 0}) == {}
    assert [family.name for family in families({})] == []


def test_every_counter_has_a_sentence() -> None:
    assert all(words.endswith(".") for words in COUNTERS.values())


def test_attributes_are_those_of_a_request() -> None:
    found = attributes(COUNTS, model="m")
    assert "gen_ai.conversation.id" not in found
    assert "toolcarry.processed" not in found
    assert found["toolcarry.fail_open"] == 1


def test_the_guard_of_the_history_counts_cut_results() -> None:
    name = "canonical_writes_with_truncation_marker"
    before = process_counts()[name]
    with Tract.open() as tract:
        tract.assistant("", tool_calls=[{"id": "t1", "name": "Bash", "arguments": {}}])
        tract.tool_result("t1", "Bash", "[toolcarry: superseded by call t2; whole: t1]")
    assert process_counts()[name] == before + 1
