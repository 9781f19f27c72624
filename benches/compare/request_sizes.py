"""The size of each request of one conversation, sent unchanged and projected.

    python benches/compare/request_sizes.py                         W66
    python benches/compare/request_sizes.py --smoke                 W20: that it runs
    python benches/compare/request_sizes.py --svg FILE.svg          the chart of README.md

An agent sends its whole conversation with each request. Each request is projected with the decisions of the one before,
and its tokens are counted with o200k_base. The last request of each policy is asserted to hold every message and call.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from paired import print_origin, print_table

from toolcarry import NO_LIMIT, ProjectPolicy, count_tokens, inspect, project

sys.path.insert(0, str(Path(__file__).parents[1] / "data"))
from workload import Message, generate

POLICIES = {
    "sent unchanged": None,
    "nothing set": ProjectPolicy(),
    "only max_request_tokens=100_000": ProjectPolicy(
        max_request_tokens=100_000, max_result_tokens=NO_LIMIT
    ),
    "max_result_tokens=1_000": ProjectPolicy(max_result_tokens=1_000),
}
COLOURS = ("#757575", "#7b5ea7", "#b3541e", "#00796b")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 340, 62, 20, 44, 44


def sizes(messages: list[Message], policy: ProjectPolicy | None) -> list[int]:
    """Return the tokens of each request: what the conversation holds when the model is asked."""
    found: list[int] = []
    previous: Any = None
    for number, message in enumerate(messages, 1):
        if message["role"] != "user":
            continue
        request = messages[:number]
        if policy is not None:
            projected = project(request, policy=policy, previous=previous)
            previous, sent = projected.decisions, projected.messages
            if number == len(messages):
                assert len(sent) == len(request)
                assert inspect(sent).calls == inspect(request).calls
            request = list(sent)
        found.append(count_tokens(request))
    return found


def chart(lines: dict[str, list[int]]) -> str:
    """Return the lines as an SVG picture."""
    most = max(map(max, lines.values()))
    step = 50_000 if most > 100_000 else 5_000
    top = -(-most // step) * step
    count = len(next(iter(lines.values())))

    def x(request: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * request / max(count - 1, 1)

    def y(tokens: int) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * tokens / top

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for tokens in range(0, top + 1, step):
        parts += [
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tokens):.1f}" y2="{y(tokens):.1f}" stroke="#e0e0e0"/>',
            f'<text x="{LEFT - 8}" y="{y(tokens) + 4:.1f}" text-anchor="end" fill="#424242">{tokens:,}</text>',
        ]
    legend = LEFT
    for (name, line), colour in zip(lines.items(), COLOURS, strict=True):
        points = " ".join(f"{x(place):.1f},{y(tokens):.1f}" for place, tokens in enumerate(line))
        parts += [
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>',
            f'<rect x="{legend}" y="14" width="14" height="4" fill="{colour}"/>',
            f'<text x="{legend + 19}" y="20" fill="#212121">{name}</text>',
        ]
        legend += 40 + 6 * len(name)
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts += [
        f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle" fill="#424242">request 1 to {count} of the conversation; the height is its tokens</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--smoke", action="store_true", help="a small conversation")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the chart")
    asked = parser.parse_args()
    count = 20 if asked.smoke else 66
    print_origin()
    messages = generate(count)
    lines = {name: sizes(messages, policy) for name, policy in POLICIES.items()}
    whole = sum(lines["sent unchanged"])
    rows = [
        (f"W{count}", name, f"{line[-1]:,}", f"{sum(line):,}", f"{100 * sum(line) / whole:.0f}%")
        for name, line in lines.items()
    ]
    print_table(("workload", "policy", "last request", "all requests", "of unchanged"), rows)
    if asked.svg:
        asked.svg.write_text(chart(lines), "utf-8")


if __name__ == "__main__":
    main()
