"""The common rules of Anthropic and Bedrock for a turn of results: one for each call of the turn before, ahead of the rest."""

from collections import Counter
from collections.abc import Iterator, Sequence


def problems(place: str, asked: Sequence[str], answered: Sequence[str | None]) -> Iterator[str]:
    """Yield the faults of a turn; ``answered`` has the id of each result, and ``None`` for any other block."""
    wanted = list(dict.fromkeys(asked))
    counts = Counter(call_id for call_id in answered if call_id is not None)
    leading = leading_results(answered)
    for call_id in wanted:
        if not counts[call_id]:
            yield f"{place}: call {call_id!r} has no result"
        elif call_id not in leading:
            yield f"{place}: the result of {call_id!r} stands behind something else"
    for call_id, count in counts.items():
        if call_id not in wanted:
            yield f"{place}: result {call_id!r} has no call in the turn before"
        elif count > 1:
            yield f"{place}: call {call_id!r} has {count} results"


def leading_results(answered: Sequence[str | None]) -> Sequence[str | None]:
    return answered[: answered.index(None)] if None in answered else answered
