"""The proxy's metrics, in the text format of Prometheus.

The only labels are upstreams and classes of status: tenants and conversations are unbounded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from toolcarry.integrations.proxy.routing import PASSAGE, ProxiedRequest, Router
from toolcarry.metrics import families

__all__ = ["CONTENT_TYPE", "Metrics", "Traffic"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

BOUNDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)

NONE: Final = "none"
"""The label of a request that was refused before it had an upstream, and of one that was never answered."""

Counters = Callable[[], Mapping[str, int | float]]


def zero_counters() -> Mapping[str, int | float]:
    return {}


@dataclass(slots=True)
class Durations:
    """A histogram of durations; ``buckets`` has one more than there are bounds."""

    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.buckets[bisect_left(BOUNDS, seconds)] += 1
        self.seconds += seconds


class Metrics:
    """The counts since the proxy was started; ``counters`` returns those of the pipeline by name.

    >>> metrics = Metrics()
    >>> metrics.count("a", 200, 0.3, received=10, sent=20)
    >>> [line for line in metrics.text().splitlines() if line.startswith("toolcarry_requests_total")]
    ['toolcarry_requests_total{upstream="a",status="2xx"} 1']
    """

    def __init__(self, counters: Counters = zero_counters) -> None:
        self.in_flight = 0
        self._counters = counters
        self._requests: Counter[tuple[str, str]] = Counter()
        self._received: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()
        self._durations: defaultdict[str, Durations] = defaultdict(Durations)

    def count(
        self, upstream: str, status: int, seconds: float, *, received: int, sent: int
    ) -> None:
        """Count a finished request; ``status`` is 0 if it was not answered."""
        self._requests[upstream, f"{status // 100}xx" if status else NONE] += 1
        self._received[upstream] += received
        self._sent[upstream] += sent
        self._durations[upstream].add(seconds)

    def text(self) -> str:
        """Return all metrics in the text format of Prometheus."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from head("requests_total", "counter", "Requests by upstream and class of status.")
        for (upstream, status), number in self._requests.items():
            yield sample("requests_total", number, upstream=upstream, status=status)
        yield from head("requests_in_flight", "gauge", "Requests in progress.")
        yield sample("requests_in_flight", self.in_flight)
        yield from head("received_bytes_total", "counter", "Bytes of requests, from clients.")
        for upstream, number in self._received.items():
            yield sample("received_bytes_total", number, upstream=upstream)
        yield from head("sent_bytes_total", "counter", "Bytes of answers, to clients.")
        for upstream, number in self._sent.items():
            yield sample("sent_bytes_total", number, upstream=upstream)
        name = "request_duration_seconds"
        yield from head(name, "histogram", "From the request's head to the answer's end.")
        for upstream, durations in self._durations.items():
            total = 0
            for bound, number in zip((*BOUNDS, "+Inf"), durations.buckets, strict=True):
                total += number
                yield sample(f"{name}_bucket", total, upstream=upstream, le=str(bound))
            yield sample(f"{name}_sum", durations.seconds, upstream=upstream)
            yield sample(f"{name}_count", total, upstream=upstream)
        if counters := self._counters():
            yield from head("pipeline_total", "counter", "The counts of the pipeline, by name.")
            for counted, count in counters.items():
                yield sample("pipeline_total", count, counter=counted)
        for family in families(counters):
            yield from head(family.name, family.kind, family.help)
            for labels, value in family.samples:
                yield sample(family.name, value, **labels)


def head(name: str, kind: str, help_text: str) -> Iterator[str]:
    yield f"# HELP toolcarry_{name} {help_text}"
    yield f"# TYPE toolcarry_{name} {kind}"


def sample(name: str, value: float, **labels: str) -> str:
    r"""Return a line of a metric.

    >>> sample("requests_total", 2, upstream='a "quoted" one')
    'toolcarry_requests_total{upstream="a \\"quoted\\" one"} 2'
    """
    shown = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
    return f"toolcarry_{name}{f'{{{shown}}}' if shown else ''} {value}"


def escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


class Traffic:
    """The outermost layer: it counts, and puts the values that the others share into the scope."""

    def __init__(self, app: ASGIApp, router: Router, metrics: Metrics) -> None:
        self._app = app
        self._router = router
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = perf_counter()
        proxied = scope[PASSAGE] = ProxiedRequest(self._router)
        status = received = sent = 0

        async def take() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            return message

        async def give(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            sent += len(message.get("body", b""))
            await send(message)

        self._metrics.in_flight += 1
        try:
            await self._app(scope, take, give)
        finally:
            self._metrics.in_flight -= 1
            name = proxied.upstream.name if proxied.upstream else NONE
            seconds = perf_counter() - begun
            self._metrics.count(name, status, seconds, received=received, sent=sent)
