"""Measure the time that the middleware adds to a proxy: ``toolcarry serve`` with and without it, in front of an upstream that only answers.

The upstream, the two proxies and the client are processes of their own; 32 connections ask without a pause, the proxies
take turns, and every answer is compared. On two processors client and upstream take from the same time as the proxy, as
much for one as for the other.

    python benches/compare/proxy.py                  bodies of 50 KB and 1 MB
    python benches/compare/proxy.py --soak 20000     so many requests of 50 KB, and the memory of the proxy meanwhile;
                                                     fails above --most MiB, and if it still grows at the end
    python benches/compare/proxy.py --record         what recording adds to a request of a growing conversation, one at a
                                                     time, in pairs of one proxy that records and one that does not
    python benches/compare/proxy.py --smoke          a few requests: that it runs

benches/README.md says what the columns mean.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from paired import print_origin, print_table

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import generate

CONNECTIONS = 32
SIZES = {"50 KB": 50_000, "1 MB": 1_000_000}
ANSWER = b'{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"ok"}]}'
HEADER = (
    "body", "requests/s without", "requests/s with", "with / without", "p50 without", "p50 with", "p99 without", "p99 with",
    "CPU without", "CPU with",
)  # fmt: skip

UPSTREAM = f"""
import socket, sys, uvicorn
async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", b"{len(ANSWER)}")]
    await send({{"type": "http.response.start", "status": 200, "headers": headers}})
    await send({{"type": "http.response.body", "body": {ANSWER!r}}})
listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
print(f"http://127.0.0.1:{{listener.getsockname()[1]}}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off")).run([listener])
"""

PLAIN = """
[tool_cache]
enabled = false
[thinking.summarize]
enabled = false
[projection]
enabled = false
"""
FULL = """
[thinking.summarize]
enabled = true
[projection]
enabled = true
repair = true
"""
RECORD = """
[sessions]
single_user = true
[history]
target = "{target}"
canonical_mode = "{mode}"
"""
SERVE = """
[[serve.upstreams]]
name = "a"
url = "{url}"
shape = "anthropic"
"""


class Measured(NamedTuple):
    """One round: requests a second, seconds of the median and of the slowest hundredth, and seconds of the processor's
    that the proxy took for a request.
    """

    rate: float
    median: float
    slowest: float
    processor: float


@contextmanager
def process(command: Sequence[str]) -> Iterator[tuple[str, int]]:
    """A server: its URL, which it prints, and its process id."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        try:
            url = started.stdout.readline().strip()
            assert url.startswith("http://"), url
            yield url, started.pid
        finally:
            started.terminate()


def proxy(folder: Path, name: str, settings: str, url: str) -> list[str]:
    """The command of a proxy with these settings."""
    path = folder / f"{name}.toml"
    path.write_text(settings + SERVE.format(url=url))
    return [sys.executable, "-m", "toolcarry", "serve", "--config", str(path), "--port", "0"]


def request(size: int, conversation: int) -> bytes:
    """A request of about ``size`` bytes, as a client sends it again and again while its conversation goes on."""
    return written(messages_of(size), conversation)


def messages_of(size: int) -> list[dict[str, Any]]:
    """Messages of about ``size`` bytes, whose last one is not the model's."""
    messages: list[dict[str, Any]] = []
    length = 0
    for message in generate(2_000 if size > 500_000 else 200):
        length += len(orjson.dumps(message)) + 1
        if length > size and messages[-1:] and message["role"] == "assistant":
            break
        messages.append(message)
    return messages


def written(messages: Sequence[dict[str, Any]], conversation: int) -> bytes:
    """A request as a client writes it to a connection."""
    body = orjson.dumps({"model": "m", "max_tokens": 100, "messages": messages})
    head = (
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        f"x-api-key: key\r\nx-session-id: talk-{conversation}\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def ask(url: str, payload: bytes, count: int, seconds: list[float]) -> None:
    """Send a request again and again over one connection, and check each answer."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 20)
    for _ in range(count):
        start = time.perf_counter()
        writer.write(payload)
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 "), head
        if b"transfer-encoding: chunked" in head.lower():
            body = (await reader.readuntil(b"0\r\n\r\n")).split(b"\r\n")[1]
        else:
            body = await reader.readexactly(len(ANSWER))
        assert body == ANSWER
        seconds.append(time.perf_counter() - start)
    writer.close()


async def drive(server: tuple[str, int], payloads: Sequence[bytes], count: int) -> Measured:
    """All connections at once, ``count`` requests each."""
    url, process_id = server
    seconds: list[float] = []
    before = processor_time(process_id)
    start = time.perf_counter()
    await asyncio.gather(*(ask(url, payload, count, seconds) for payload in payloads))
    rate = len(seconds) / (time.perf_counter() - start)
    processor = (processor_time(process_id) - before) / len(seconds)
    seconds.sort()
    return Measured(rate, statistics.median(seconds), seconds[len(seconds) * 99 // 100], processor)


def processor_time(process_id: int) -> float:
    """Seconds of the processor's that a process has taken."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(process_id: int) -> int:
    """Bytes that a process has in memory."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def compare(sizes: dict[str, int], rounds: int, count: int) -> None:
    """The table."""
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url, _ = stack.enter_context(process([sys.executable, "-c", UPSTREAM]))
        servers = {
            name: stack.enter_context(process(proxy(Path(folder), name, settings, url)))
            for name, settings in (("without", PLAIN), ("with", FULL))
        }
        for label, size in sizes.items():
            payloads = [request(size, number) for number in range(CONNECTIONS)]
            each = max(1, count * 50_000 // max(size, 50_000))
            found: dict[str, list[Measured]] = {name: [] for name in servers}
            for number in range(rounds + 1):
                order = list(servers) if number % 2 else list(servers)[::-1]
                for name in order:
                    measured = asyncio.run(drive(servers[name], payloads, each))
                    if number:  # the first round warms up
                        found[name].append(measured)
            without, with_it = found["without"], found["with"]
            ratio = statistics.median(
                one.rate / other.rate for one, other in zip(with_it, without, strict=True)
            )
            rows.append(
                [
                    f"{label} ({len(payloads[0]):,} bytes)",
                    f"{middle(without, 0):,.0f}",
                    f"{middle(with_it, 0):,.0f}",
                    f"{ratio:.3f}",
                    *(
                        f"{middle(each, at) * 1e3:.{2 if at == 3 else 1}f} ms"
                        for at in (1, 2, 3)
                        for each in (without, with_it)
                    ),
                ]
            )
    print_table(HEADER, rows)


def middle(measured: Sequence[Measured], at: int) -> float:
    return statistics.median(each[at] for each in measured)


PAUSE = 0.02
"""Seconds that a client takes before its next request, as one that runs a tool does; an agent takes longer."""
TURN = ({"type": "text", "text": "ok"},)


def record(rounds: int, count: int) -> None:
    """Measure what recording adds, request by request in pairs: the same one to both proxies, one after the other."""
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url, _ = stack.enter_context(process([sys.executable, "-c", UPSTREAM]))
        # Both have a history, in which the switch keeps its sessions.
        kinds = {
            name: FULL + RECORD.format(target=f"{folder}/{name}.db", mode=mode)
            for name, mode in (("without", "off"), ("with", "on"))
        }
        servers = {
            name: stack.enter_context(process(proxy(Path(folder), name, settings, url)))
            for name, settings in kinds.items()
        }
        found: dict[str, list[float]] = {name: [] for name in servers}
        for number in range(rounds + 1):
            asyncio.run(grow(servers, number, count, found))
            if not number:  # the first round warms up
                for seconds in found.values():
                    seconds.clear()
    added = sorted(one - other for one, other in zip(found["with"], found["without"], strict=True))
    for name, seconds in found.items():
        ordered = sorted(seconds)
        rows.append(
            [name, *(f"{each * 1e3:.2f} ms" for each in (middle_of(ordered), late_of(ordered)))]
        )
    rows.append(
        ["added, by pairs", f"{middle_of(added) * 1e3:.2f} ms", f"{late_of(added) * 1e3:.2f} ms"]
    )
    print_table(("50 KB, a growing conversation", "p50", "p99"), rows)


def middle_of(ordered: Sequence[float]) -> float:
    return ordered[len(ordered) // 2]


def late_of(ordered: Sequence[float]) -> float:
    return ordered[len(ordered) * 99 // 100]


async def grow(
    servers: dict[str, tuple[str, int]],
    conversation: int,
    count: int,
    found: dict[str, list[float]],
) -> None:
    """Send the requests of a conversation that goes on, each to both proxies by turns."""
    messages = messages_of(50_000)
    for number in range(count):
        payload = written(messages, conversation)
        for name in list(servers) if number % 2 else list(servers)[::-1]:
            await ask(servers[name][0], payload, 1, found[name])
            await asyncio.sleep(PAUSE)
        asked = {"type": "text", "text": f"step {number}: {'a line of a result ' * 20}"}
        messages += [
            {"role": "assistant", "content": list(TURN)},
            {"role": "user", "content": [asked]},
        ]


STEPS = 50
"""The times that a soak begins new conversations: 1,600 in all, more than the proxy keeps by default."""
GROWTH = 24
"""The MiB that the proxy may grow in the second half of a soak: about 2 KB for each request of 20,000."""


def soak(total: int, most: int) -> int:
    """Send ``total`` requests, print the memory of the proxy, and return 1 if it is above a bound."""
    sizes: list[float] = []
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        url, _ = stack.enter_context(process([sys.executable, "-c", UPSTREAM]))
        command = proxy(Path(folder), "with", FULL, url)
        server = stack.enter_context(process(command))
        each = max(total // STEPS // CONNECTIONS, 1)
        for done in range(0, total, each * CONNECTIONS):
            payloads = [request(50_000, done + number) for number in range(CONNECTIONS)]
            asyncio.run(drive(server, payloads, each))
            sizes.append(resident(server[1]) / 2**20)
            if len(sizes) % (STEPS // 10) == 0:
                print(f"{done + each * CONNECTIONS:>9,} requests: {sizes[-1]:.1f} MiB", flush=True)
    growth = max(sizes) - sizes[len(sizes) // 2]
    print(
        f"at most {max(sizes):.1f} MiB; {growth:.1f} MiB more in the second half than at its beginning"
    )
    if max(sizes) <= most and growth <= GROWTH:
        return 0
    print(f"above the bound of {most} MiB, or of {GROWTH} MiB for the second half", file=sys.stderr)
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="a few requests: that it runs")
    parser.add_argument("--rounds", type=int, default=9, help="measured rounds (default: 9)")
    parser.add_argument("--record", action="store_true", help="what recording adds")
    parser.add_argument("--soak", type=int, metavar="N", help="memory over N requests")
    parser.add_argument(
        "--most", type=int, metavar="MIB", default=256, help="the most memory (default: 256)"
    )
    arguments = parser.parse_args()
    print_origin()
    if arguments.soak:
        return soak(arguments.soak, arguments.most)
    if arguments.record:
        record(1 if arguments.smoke else arguments.rounds, 3 if arguments.smoke else 40)
    elif arguments.smoke:
        compare({"50 KB": 50_000}, 1, 3)
    else:
        compare(SIZES, arguments.rounds, 60)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
