"""Whatever a client and its backends do: no backend is ever sent another one's thinking, an invalid request, less than was
learned, or another beginning than it was sent before.
"""

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from support.builders.wire_talks import SHAPES, SIGNED, Message, Shape
from support.examples import examples
from support.providers.validity import PROVIDERS, problems
from support.strategies.requests import requests

from toolcarry import NO_LIMIT, CarryPolicy
from toolcarry.switch import SummarizeTransformer

WHOLE = CarryPolicy(max_chars=NO_LIMIT)
BACKENDS = ("a", "b", "c")

steps = st.lists(
    st.tuples(
        st.sampled_from(BACKENDS),
        st.sampled_from(["says", "calls", "calls twice", "calls for nothing", "fails"]),
    ),
    min_size=1,
    max_size=12,
)


class Client:
    """An append-only client of one shape; each answer is signed by the backend that gave it."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.history: list[Message] = [shape.user("Begin.")]
        self.results: list[str] = []
        self.answers = 0

    def take(self, backend: str, answer: str) -> None:
        """Add a backend's answer and the client's reply to it."""
        self.answers += 1
        number = self.answers
        if answer == "says":
            self.history += [self.shape.says(f"Said {number}."), self.shape.user(f"Ask {number}.")]
            return
        calls: list[Message] = []
        given: list[Message] = []
        for index in range(2 if answer == "calls twice" else 1):
            result = "" if answer == "calls for nothing" else f"result {number} {index}"
            self.results.append(result)
            name = f"tool_{number}_{index}"
            made = self.shape.calls(f"call_{number}_{index}", name, {"n": number})
            calls += [signed(message, backend) for message in made]
            given.append(self.shape.gives(f"call_{number}_{index}", name, result))
        self.history += self.joined(calls) + self.joined(given)

    def joined(self, messages: list[Message]) -> list[Message]:
        """Several calls, or their results, as the shape writes them: in one message, where it holds several."""
        first = copy.deepcopy(messages[0])
        for key in ("tool_calls",) if "tool_calls" in first else ("content", "parts"):
            if isinstance(first.get(key), list):
                first[key] += [part for message in messages[1:] for part in message[key]]
                return [first]
        return messages


def signed(message: Message, backend: str) -> Message:
    return json.loads(json.dumps(message).replace(SIGNED, f"signed-by-{backend}"))


@examples(400)
@given(shape=st.sampled_from(SHAPES), steps=steps)
def test_a_conversation_that_wanders(shape: Shape, steps: list[tuple[str, str]]) -> None:
    made = SummarizeTransformer(policy=WHOLE)
    client = Client(shape)
    last, sent_last = "", ""
    for backend, answer in steps:
        before = copy.deepcopy(client.history)
        sent = made.transform(client.history, conversation="c", backend=backend).messages
        assert client.history == before
        assert problems(shape.name, sent) == []
        text = json.dumps(sent)
        assert not [
            other for other in BACKENDS if other != backend and f"signed-by-{other}" in text
        ]
        assert [result for result in client.results if result not in text] == []
        if backend == last:
            assert text.startswith(sent_last)
        if answer == "fails":
            continue
        made.answered("c", backend)
        last, sent_last = backend, text[:-1]
        client.take(backend, answer)


jumps = st.sampled_from(["goes on", "goes on", "keeps", "goes back", "begins anew"])


@examples(400)
@given(shape=st.sampled_from(SHAPES), data=st.data())
def test_a_conversation_that_goes_back_and_asks_two_backends_at_once(
    shape: Shape, data: st.DataObject
) -> None:
    """Nothing shows which of two answers the client continues with."""
    made = SummarizeTransformer(policy=WHOLE)
    client = Client(shape)
    kept = [client.history]
    for _ in range(data.draw(st.integers(1, 12))):
        asked = data.draw(st.lists(st.sampled_from(BACKENDS), min_size=1, max_size=2, unique=True))
        line = ""
        for backend in asked:
            switched = made.transform(client.history, conversation="c", backend=backend)
            line = switched.line
            text = json.dumps(switched.messages)
            assert problems(shape.name, switched.messages) == []
            assert not [
                other for other in BACKENDS if other != backend and f"signed-by-{other}" in text
            ]
            again = made.transform(client.history, conversation="c", backend=backend)
            assert json.dumps(again.messages) == text
        answered = data.draw(st.lists(st.sampled_from(asked), unique=True))
        for backend in answered:
            made.answered("c", backend, line=line)
        if answered:
            client.history = list(client.history)
            client.take(
                data.draw(st.sampled_from(answered)), data.draw(st.sampled_from(["says", "calls"]))
            )
        jump = data.draw(jumps)
        if jump == "keeps":
            kept.append(client.history)
        elif jump == "goes back":
            client.history = data.draw(st.sampled_from(kept))
        elif jump == "begins anew":
            client.history = [shape.user("What was: ...")]
            kept = [client.history]


@examples(200)
@given(provider=st.sampled_from(sorted(PROVIDERS)), data=st.data())
def test_valid_requests_stay_valid(provider: str, data: st.DataObject) -> None:
    messages: list[Any] = data.draw(requests(provider))
    before = copy.deepcopy(messages)
    made = SummarizeTransformer(policy=WHOLE)
    made.answered("c", "a")
    switched = made.transform(messages, conversation="c", backend="b")
    assert messages == before
    assert problems(provider, switched.messages) == []
    again = made.transform(messages, conversation="c", backend="b")
    assert json.dumps(again.messages) == json.dumps(switched.messages)
