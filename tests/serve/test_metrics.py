"""The proxy's reports about itself: liveness, readiness and counters."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient
from support.clocks import wait_until
from support.providers.fakes import AnthropicFake, OpenAIFake
from support.providers.sdk_turns import SAY

from toolcarry.config import Serve, Upstream
from toolcarry.integrations.proxy import create_app
from toolcarry.integrations.proxy.metrics import BOUNDS, Metrics

pytestmark = pytest.mark.sdk

MESSAGES = [{"role": "user", "content": "Hi"}]

SAMPLE = re.compile(
    r'^(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\})? '
    r"(?P<value>[0-9.e+-]+)$"
)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def parse(text):
    """The samples of an exposition, by name and labels; checked against its grammar."""
    assert text.endswith("\n")
    kinds, samples, last = {}, {}, None
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds
            kinds[name] = kind
            last = name
        elif not line.startswith("# HELP "):
            found = SAMPLE.match(line)
            assert found, line
            assert re.sub("_(bucket|sum|count)$", "", found["name"]) == last
            labels = tuple(sorted(LABEL.findall(found["labels"] or "")))
            assert (found["name"], labels) not in samples
            samples[found["name"], labels] = float(found["value"])
    return kinds, samples


def test_it_lives_and_is_ready(start, http):
    url = start({"a": AnthropicFake()})
    assert (http.get(f"{url}/healthz").status_code, http.get(f"{url}/readyz").status_code) == (
        200,
        200,
    )
    assert http.post(f"{url}/healthz").status_code == 405
    assert http.post(f"{url}/switch").status_code == http.post(f"{url}/metrics").status_code == 404


def test_it_is_not_ready_before_it_is_started():
    app = create_app(
        Serve(upstreams=(Upstream(name="a", url="http://127.0.0.1:1", shape="openai"),))
    )
    client = TestClient(app)
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 503]
    with TestClient(app) as client:
        assert client.get("/readyz").status_code == 200


def test_counters_of_requests(start, clients, http):
    one, two = AnthropicFake(), OpenAIFake()
    counters = {'carried "x"\n\\': 3, "failed_open": 0}
    url = start({"one": one, "two": two}, app_options={"counters": lambda: counters})
    for _ in range(3):
        SAY["anthropic"](clients("anthropic", url), MESSAGES, stream=True)
    with pytest.raises(Exception, match="404"):
        clients("anthropic", url).messages.batches.retrieve("b")
    two.fail(1, 500)
    with pytest.raises(Exception, match="500"):
        SAY["chat"](clients("openai", url), MESSAGES, stream=False)
    http.get(f"{url}/v1/models", headers={"x-toolcarry-upstream": "three"})
    wait_until(lambda: "requests_in_flight 0" in http.get(f"{url.control}/metrics").text)
    answer = http.get(f"{url.control}/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    kinds, samples = parse(answer.text)
    assert kinds == {
        "toolcarry_requests_total": "counter",
        "toolcarry_requests_in_flight": "gauge",
        "toolcarry_received_bytes_total": "counter",
        "toolcarry_sent_bytes_total": "counter",
        "toolcarry_request_duration_seconds": "histogram",
        "toolcarry_pipeline_total": "counter",
    }
    requests = {
        labels: n for (name, labels), n in samples.items() if name == "toolcarry_requests_total"
    }
    assert requests == {
        (("status", "2xx"), ("upstream", "one")): 3,
        (("status", "4xx"), ("upstream", "one")): 1,
        (("status", "5xx"), ("upstream", "two")): 1,
        (("status", "4xx"), ("upstream", "none")): 1,
    }
    sent = sum(len(seen.body) for seen in one.recorded)
    assert samples["toolcarry_received_bytes_total", (("upstream", "one"),)] == sent
    assert samples["toolcarry_sent_bytes_total", (("upstream", "two"),)] > 0
    assert samples["toolcarry_requests_in_flight", ()] == 0
    named = (("counter", r"carried \"x\"\n\\"),)
    assert samples["toolcarry_pipeline_total", named] == 3


def test_durations_are_a_histogram():
    metrics = Metrics()
    seconds = [0.0, 0.05, 0.06, 9.0, 601.0]
    for number in seconds:
        metrics.count("a", 200, number, received=0, sent=0)
    _, samples = parse(metrics.text())
    name = "toolcarry_request_duration_seconds"
    buckets = [
        samples[f"{name}_bucket", (("le", str(bound)), ("upstream", "a"))] for bound in BOUNDS
    ]
    assert buckets == [2, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4]
    assert samples[f"{name}_bucket", (("le", "+Inf"), ("upstream", "a"))] == 5
    assert samples[f"{name}_count", (("upstream", "a"),)] == 5
    assert samples[f"{name}_sum", (("upstream", "a"),)] == pytest.approx(sum(seconds))
