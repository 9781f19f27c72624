"""The fidelity of policies on a folder of sessions (``toolcarry.api.fidelity`` defines it).

    python benches/fidelity FOLDER [--half tuned|other] [--budgets 2000,4000] [--plot curve.png] [--peers]

It reads all session files of a folder, draws nothing by chance, and prints a row for each policy: the mean over the
cuts for words, for lines and for the files that are named again, the tokens used and the milliseconds. Sessions are
halved by the hash of their names. LangChain needs ``langchain-core``, and ``--plot FILE.png`` needs ``matplotlib``.
``--peers`` prints a second table, of whole requests that ``project`` and other libraries make smaller (``peers.py``).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from peers import PEERS, at_share, text_of

from toolcarry import InputError, count_tokens
from toolcarry.api.fidelity import (
    EVERY,
    POLICIES,
    Cut,
    Score,
    cuts_of,
    held,
    mean,
    score_of,
)
from toolcarry.importers.read import arguments_of, text_of_result

BUDGETS = (2_000, 4_000, 8_000, 16_000, 32_000)


def read_json(data: bytes) -> Any:
    """Return the value of a document; None if it is not one."""
    try:
        return json.loads(data)
    except ValueError:
        return None


def messages_of(path: Path) -> list[Any] | None:
    """Return the messages of a session file; None if it is not one."""
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        return [line for line in map(read_json, data.split(b"\n")) if isinstance(line, dict)]
    found = read_json(data)
    if isinstance(found, dict):
        found = next((found[key] for key in ("messages", "history") if key in found), None)
    return (
        found if isinstance(found, list) and all(isinstance(item, dict) for item in found) else None
    )


def langchain(cut: Cut, budget: int) -> str:
    """Return the last messages that LangChain's ``trim_messages`` keeps, counted by the same tokens."""
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        HumanMessage,
        ToolMessage,
        trim_messages,
    )

    messages: list[BaseMessage] = [HumanMessage("")]
    for number, block in enumerate(cut.blocks):
        name, call_id = block.tool_name or "tool", f"call_{number}"
        call = {"name": name, "args": arguments_of(block), "id": call_id}
        messages.append(AIMessage("", tool_calls=[call]))
        messages.append(ToolMessage(text_of_result(block), tool_call_id=call_id))

    def text_of(message: BaseMessage) -> str:
        calls = [json.dumps(call["args"]) for call in getattr(message, "tool_calls", ())]
        return "\n".join([*calls, str(message.content)])

    kept = trim_messages(
        messages,
        max_tokens=budget,
        token_counter=lambda some: sum(count_tokens(text_of(message)) for message in some),
        strategy="last",
    )
    return "\n".join(map(text_of, kept))


CARRIERS = dict(POLICIES)
if find_spec("langchain_core") is None:
    print(
        "langchain-core is not installed: without LangChain (pip install langchain-core)",
        file=sys.stderr,
    )
else:
    CARRIERS["LangChain trim_messages"] = langchain


def shown(share: float | None) -> str:
    """Return a share with two digits."""
    return "-" if share is None else f"{share:.2f}"


def compare_requests(cuts: list[Cut]) -> None:
    """Print the table of whole requests that are made smaller."""
    print(
        "\n| made smaller by | cuts | tokens left | words / edit lines | `project` at equal tokens | its tokens |"
    )
    print("|---" * 6 + "|")
    for name, load in PEERS.items():
        try:
            shrink = load()
        except ImportError as error:
            print(f"| {name} | not installed: {error.name} |||||")
            continue
        rows: list[tuple[float, float, float | None, float, float | None, float]] = []
        for cut in cuts:
            messages = json.loads(cut.body)
            before, after = shrink(messages)
            share = count_tokens(after) / max(count_tokens(before), 1)
            ours = at_share(messages, share)
            share_of_ours = count_tokens(ours) / max(count_tokens(messages), 1)
            theirs, own = held(cut, text_of(after)), held(cut, text_of(ours))
            rows.append((share, *theirs, *own, share_of_ours))
        left, words, lines, own_words, own_lines, own_left = (
            shown(mean([value for value in column if value is not None]))
            for column in zip(*rows, strict=True)
        )
        print(
            f"| {name} | {len(rows)} | {float(left):.0%} | {words} / {lines} "
            f"| {own_words} / {own_lines} | {float(own_left):.0%} |"
        )


def is_tuned(name: str) -> bool:
    """Return true for the half of the sessions that rules were tuned on."""
    return hashlib.sha1(name.encode()).digest()[0] % 2 == 0


def draw(scores: dict[str, list[Score]], budgets: list[int], path: Path) -> None:
    """Draw the share of words over the tokens used."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4))
    for name, row in scores.items():
        style = "-" if name == "handover" else "--"
        axes.plot(budgets, [score.words for score in row], style, marker="o", label=name)
    axes.set_xscale("log", base=2)
    axes.set_xticks(budgets, [f"{budget:,}" for budget in budgets])
    axes.set_ylim(0, 1)
    axes.set_xlabel("tokens of the context")
    axes.set_ylabel("needed words that it holds")
    axes.grid(alpha=0.3)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120, metadata={"Software": None})


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("tuned", "other"))
    parser.add_argument("--budgets", default=",".join(map(str, BUDGETS)))
    parser.add_argument("--policies", default=",".join(CARRIERS))
    parser.add_argument("--every", type=int, default=EVERY)
    parser.add_argument("--plot", type=Path, help="a PNG with the curve of each policy")
    parser.add_argument("--peers", action="store_true", help="a second table, of whole requests")
    options = parser.parse_args()
    cuts: list[Cut] = []
    sessions = 0
    for path in sorted(options.folder.rglob("*")):
        if not path.is_file() or path.suffix not in (".jsonl", ".json", ".traj"):
            continue
        if options.half and is_tuned(path.name) != (options.half == "tuned"):
            continue
        messages = messages_of(path)
        try:
            found = [] if messages is None else list(cuts_of(messages, every=options.every))
        except InputError as error:
            print(f"{path.name}: {error}")
            continue
        cuts += found
        sessions += bool(found)
    if not cuts:
        print("no session has a cut with needs")
        return
    with_lines = sum(bool(cut.lines) for cut in cuts)
    print(f"{len(cuts)} cuts of {sessions} sessions, {with_lines} with edit lines\n")
    budgets = [int(budget) for budget in options.budgets.split(",")]
    names = options.policies.split(",")
    scores = {
        name: [score_of(CARRIERS[name], cuts, budget) for budget in budgets] for name in names
    }
    header = " | ".join(f"{budget:,}" for budget in budgets)
    print(f"| words / edit lines / files | {header} | tokens | ms |")
    print("|---" * (len(budgets) + 3) + "|")
    for name, row in scores.items():
        cells = " | ".join(
            f"{one.words:.2f} / {shown(one.lines)} / {shown(one.files)}" for one in row
        )
        used = " ".join(f"{one.tokens:,.0f}" for one in row)
        print(f"| {name} | {cells} | {used} | {mean([one.milliseconds for one in row]) or 0:.1f} |")
    if options.peers:
        compare_requests(cuts)
    if options.plot:
        draw(scores, budgets, options.plot)


if __name__ == "__main__":
    main()
