"""Counters: their names in one place, and how Prometheus and OpenTelemetry read them.

A ``RequestPipeline`` keeps its own ``counts``, with these names and others. What happens outside a pipeline, such as a
write to the canonical history, is counted here for the whole process. No metric has a label for a conversation, a
tenant or a client, since their number is unbounded; attributes of a span may name them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from toolcarry.errors import ConfigError

__all__ = [
    "COSTS",
    "COUNTERS",
    "INPUTS",
    "TOKENS",
    "Family",
    "PrometheusCollector",
    "attributes",
    "count",
    "families",
    "process_counts",
    "rates",
    "told_costs",
]

COUNTERS: Final[dict[str, str]] = {
    "canonical_writes_with_truncation_marker": "Writes to the canonical history with a mark of truncation; should be 0.",
    "tool_result_missing": "Calls without a result in requests, each counted once.",
    "tool_refetches": "Calls made again after their results were put away.",
    "projection_cuts": "Results replaced in requests: superseded, cut, cleared or dropped, each counted once.",
    "importers_left_out": "Importers of other packages that could not be loaded.",
    "fail_open": "Parts of the work on requests that failed, so that the request went on without.",
}
"""The counters by name, with their descriptions. In Prometheus they are called ``toolcarry_<name>_total``."""
TOKENS: Final[dict[str, str]] = {
    "in": "tokens_in",
    "out": "tokens_out",
    "saved": "tokens_saved",
    "rewritten": "tokens_rewritten",
}
"""The kinds of tokens, and the names of their counters: tokens of requests as received and as forwarded, tokens that
projections saved, and tokens that were sent before but had to be read again because a projection changed something
before them. All are estimates, at four bytes per token."""
BYTES_PER_TOKEN: Final = 4
COSTS: Final[dict[str, str]] = {"sent": "cost", "unchanged": "cost_without"}
"""The kinds of input costs, and the names of their counters: the cost of what was sent, and of sending all requests
unchanged. They are in uncached tokens, by the price model of each request's model; requests without a price model are
not counted. Dollars are counted likewise, in millionths, as ``cost_microdollars`` and ``cost_microdollars_without``."""
INPUTS: Final[dict[str, str]] = {
    "written": "input_written",
    "read": "input_read",
    "uncached": "input_uncached",
}
"""What the provider's cache does with the input tokens of these requests, and the counters for each case."""

_COUNTS: Final = Counter[str]()
_LOCK: Final = threading.Lock()


def count(name: str, number: int = 1) -> None:
    """Count something that happens outside a pipeline. Raises ``ConfigError`` for a name that is not a counter.

    >>> count("canonical_writes_with_truncation_marker", 0)
    """
    if name not in COUNTERS:
        raise ConfigError(f"name: {name!r:.80} is not allowed; allowed: {', '.join(COUNTERS)}")
    with _LOCK:
        _COUNTS[name] += number


def process_counts() -> dict[str, int]:
    """Return the counts of this process outside pipelines, including zeros.

    >>> process_counts()["projection_cuts"]
    0
    """
    with _LOCK:
        return {name: _COUNTS[name] for name in COUNTERS}


def rates(counts: Mapping[str, float]) -> dict[str, float]:
    """Return the counters divided by the number of processed requests; empty before the first request.

    >>> rates({"processed": 4, "projection_cuts": 6})
    {'projection_cuts': 1.5}
    """
    requests = counts.get("processed", 0)
    return {name: counts[name] / requests for name in COUNTERS if requests and name in counts}


class Family(NamedTuple):
    """A metric: its name after ``toolcarry_``, ``counter`` or ``gauge``, its help, and its values by labels."""

    name: str
    kind: str
    help: str
    samples: tuple[tuple[dict[str, str], float], ...]


def families(counts: Mapping[str, float]) -> Iterator[Family]:
    """Return the metrics for counts: those of ``COUNTERS`` and ``TOKENS`` that are present.

    >>> [family.name for family in families({"fail_open": 0})]
    ['fail_open_total']
    """
    for name, words in COUNTERS.items():
        if name in counts:
            yield Family(f"{name}_total", "counter", words, (({}, counts[name]),))
    per_request = rates(counts)
    if per_request:
        samples = tuple(({"counter": name}, rate) for name, rate in per_request.items())
        yield Family("per_request", "gauge", "The counters per processed request.", samples)
    yield from cost_families(counts)
    kinds = {kind: counts[name] for kind, name in TOKENS.items() if name in counts}
    if kinds:
        samples = tuple(({"kind": kind}, number) for kind, number in kinds.items())
        yield Family("tokens_total", "counter", "Tokens of requests, at four bytes each.", samples)
        net = kinds.get("saved", 0) - kinds.get("rewritten", 0)
        yield Family("tokens_net", "gauge", "Tokens saved minus tokens re-written.", (({}, net),))


def cost_families(counts: Mapping[str, float]) -> Iterator[Family]:
    """Return the metrics of costs, if any request had a price.

    >>> found = {family.name: family.samples for family in cost_families({"cost": 60, "cost_without": 80})}
    >>> found["cost_ratio"]
    (({}, 0.75),)
    """
    if not counts.get("cost_without"):
        return
    samples = tuple(({"kind": kind}, counts.get(name, 0)) for kind, name in COSTS.items())
    words = (
        "Cost of the input, in tokens that no cache has: as sent, and if all were sent unchanged."
    )
    yield Family("cost_total", "counter", words, samples)
    ratio = counts.get("cost", 0) / counts["cost_without"]
    words = "Cost of the input, as a share of sending all unchanged."
    yield Family("cost_ratio", "gauge", words, (({}, ratio),))
    samples = tuple(({"kind": kind}, counts.get(name, 0)) for kind, name in INPUTS.items())
    words = "Tokens of the input, as the provider's cache sees them."
    yield Family("input_tokens_total", "counter", words, samples)
    if counts.get("cost_microdollars_without"):
        named = {"sent": "cost_microdollars", "unchanged": "cost_microdollars_without"}
        samples = tuple(({"kind": kind}, counts.get(name, 0) / 1e6) for kind, name in named.items())
        yield Family("cost_dollars_total", "counter", "Cost of the input, at list price.", samples)


def told_costs(counts: Mapping[str, float]) -> str:
    """Return the cost of the input in words; empty if no request had a price.

    >>> told_costs({"cost": 60_000, "cost_without": 80_000, "cost_microdollars": 180_000, "cost_microdollars_without": 240_000})
    'input: 60,000 of 80,000 tokens at list price (0.750 of sending all unchanged), $0.18 of $0.24'
    """
    without = counts.get("cost_without", 0)
    if not without:
        return ""
    sent = counts.get("cost", 0)
    words = f"input: {sent:,.0f} of {without:,.0f} tokens at list price ({sent / without:.3f} of sending all unchanged)"
    dollars = counts.get("cost_microdollars_without", 0) / 1e6
    if dollars:
        words += f", ${counts.get('cost_microdollars', 0) / 1e6:,.2f} of ${dollars:,.2f}"
    return words


class PrometheusCollector:
    """A collector for a registry of ``prometheus-client`` (extra ``metrics``): ``REGISTRY.register(...)``.

    ``counts`` returns the counts of a pipeline (``lambda: pipeline.counts``); the counts of the process are added to
    them. Raises ``ConfigError`` without ``prometheus-client``.
    """

    def __init__(self, counts: Callable[[], Mapping[str, float]] = dict) -> None:
        try:
            from prometheus_client import core  # noqa: PLC0415 - an extra
        except ModuleNotFoundError:
            raise ConfigError(
                "PrometheusCollector needs prometheus-client; install it: pip install 'toolcarry[metrics]'"
            ) from None
        self._kinds: dict[str, Any] = {
            "counter": core.CounterMetricFamily,
            "gauge": core.GaugeMetricFamily,
        }
        self._counts = counts

    def collect(self) -> Iterator[Any]:
        """Yield the metrics for a registry."""
        for family in families(merged(self._counts())):
            labels = tuple(family.samples[0][0])
            metric = self._kinds[family.kind](
                f"toolcarry_{family.name}", family.help, labels=labels
            )
            for values, number in family.samples:
                metric.add_metric(list(values.values()), number)
            yield metric


def merged(counts: Mapping[str, float]) -> dict[str, float]:
    """Return the counts of a pipeline together with those of the process.

    >>> merged({"processed": 3})["processed"]
    3
    """
    found: dict[str, float] = dict(counts)
    for name, number in process_counts().items():  # which has those of a pipeline's recorder, too
        found[name] = max(found.get(name, 0), number)
    return found


def attributes(
    counts: Mapping[str, float], *, conversation: str = "", model: str = "", provider: str = ""
) -> dict[str, Any]:
    """Return attributes for an OpenTelemetry span: GenAI attributes under their standard names, counts as
    ``toolcarry.<name>``.

    >>> attributes({"projection_cuts": 2}, conversation="c1", model="gpt-4o")
    {'gen_ai.operation.name': 'chat', 'gen_ai.conversation.id': 'c1', 'gen_ai.request.model': 'gpt-4o', 'toolcarry.projection_cuts': 2}
    """
    # The names: https://github.com/open-telemetry/semantic-conventions-genai, docs/registry/attributes/gen-ai.md. Its
    # gen_ai.usage.input_tokens is what the provider counted, and not what is estimated here.
    named = {
        "gen_ai.conversation.id": conversation,
        "gen_ai.request.model": model,
        "gen_ai.provider.name": provider,
    }
    found: dict[str, Any] = {"gen_ai.operation.name": "chat"}
    found.update({name: value for name, value in named.items() if value})
    known = {*COUNTERS, *TOKENS.values(), *COSTS.values(), *INPUTS.values()}
    found.update({f"toolcarry.{name}": number for name, number in counts.items() if name in known})
    return found
