"""Random bodies, made by changing realistic ones."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

from support.builders.bodies import FORMS, STRUCTURAL, WRITERS

from toolcarry import CarryPolicy, Rule
from toolcarry._input.document import decode_messages
from toolcarry.errors import InputError
from toolcarry.types.policy import DEFAULT_RULES

LONGEST = 40_000
SUMMARIES = ("", "", "## Done\n\n- fixed", "a\ud800b\n```")
FRAGMENTS = [
    *rb"""
null
true
7
-0
-0.0
01
1e999
1e-999
NaN
-Infinity
9223372036854775808
18446744073709551616
-9223372036854775809
[[[[[[[[[]]]]]]]]]
{}
[]
""
"
\
\\
\"
\/
\x
\u00e9
\u000
\u0000
\ud83d\ude00
\ud83d\ud83d\ude00
\ud800
\udc00
\u001b[31m
{"messages":[]}
"messages":[],
"messages":null,
"messages":{},
"content":null,
"content":[],
"content":"",
"role":"tool",
"role":null,
"id":"",
"uuid":"u1",
"uuid":7,
"parentUuid":"u1",
"isSidechain":true,
"message":{},
"is_error":true,
"type":"text",
"text":"x",
"tool_use_id":"t1",
"arguments":"{\"a\":1}",
```\n
~~~~
[/CONTEXT FROM PREVIOUS SESSION]
[Request interrupted by user
""".strip().split(b"\n"),
    *b"\xed\xa0\x80 \xc0\xaf \xf4\x90\x80\x80 \xff \xe2\x82 \xef\xbb\xbf \xc2\x9b".split(b" "),
    *"\u00e9 \u20ac \U0001f600 e\u0301 \u202e \u2028 \U0001f468\u200d\U0001f469".encode().split(),
    *b"\n:\r\n:\n\n:\x0b:\x0c:\x00:\x1f:\x7f:\n{}\n:\n[]\n".split(b":"),
    *(part * times for part in (b"[", b'{"a":', b"]", b" ") for times in (64, 127, 129)),
    *(b"9" * times for times in (310, 4_300, 4_301)),
    *(part * times for part in (b"x", b"\\n", b"\\ud83d\\ude00", b"\\\\") for times in (63, 300)),
]
NAMES = (
    "type",
    "id",
    "text",
    "content",
    "name",
    "data",
    "source",
    "role",
    "uuid",
    "\u00e9",
    "\ud800",
)
VALUES = [
    *r"""
null
true
0
-1
1.5
18446744073709551616
""
"x"
"\u00e9"
"\ud800"
"\ud83d\ude00"
"t1"
"u1"
"image"
"document"
"tool"
"tool_result"
"user"
"{\"path\": \"a.py\"}"
"{\"a\": \"\\ud800\"}"
"[1]"
"NaN"
"{\"a\": "
[]
{}
[[]]
[{}]
["a", {"text": "b"}]
{"text": "x"}
{"\u00e9": 1, "b": [null]}
{"type": "text", "text": "a\nb"}
{"type": "image", "source": {"data": "aGk=", "media_type": "image/png"}}
""".strip().split("\n"),
    *("1" + "0" * times for times in (20, 400, 4_299)),
    *(json.dumps(part * 200) for part in ("y", "a\\", "\n\u20ac", "\U0001f600")),
]
"""The JSON values that replace others."""


RULES = (
    *(DEFAULT_RULES, DEFAULT_RULES, DEFAULT_RULES, "careful"),
    (Rule(tools=("*",), keep="first"),),
    (
        Rule(tools=("Bash", "shell*"), key=("cmd", "command"), keep="all"),
        Rule(tools=("g*",), keep="none"),
    ),
    (Rule(tools=("*",), kind="other", key=("\u00e9", "path", "command")),),
)


class Mutator:
    """A maker of random bodies with policies. A case depends on the seed and its number only."""

    def __init__(self, corpus: list[bytes]) -> None:
        self._corpus = corpus
        self._conversations = [found for found in map(read_messages, corpus) if found]
        self._random = Random()

    def case(self, seed: int, number: int) -> tuple[bytes, str, CarryPolicy]:
        self._random = Random(f"{seed} {number}")
        body = (
            self._rewritten() if self._random.random() < 0.5 else self._random.choice(self._corpus)
        )
        for _ in range(self._random.choice((0, 1, 1, 1, 2, 4, 8))):
            body = self._changed(body)
        return body[:LONGEST], self._random.choice(SUMMARIES), self._policy()

    def _policy(self) -> CarryPolicy:
        random = self._random
        return CarryPolicy(
            max_chars=random.choice((None, None, 0, 100, 400, 1_000, random.randrange(9_000))),
            max_result_chars=random.choice((None, None, 0, 1, 30, random.randrange(600))),
            keep=random.choice(("auto", "auto", "head", "tail", "ends")),
            rules=random.choice(RULES),
            include_others=random.random() < 0.9,
            include_failed=random.random() < 0.9,
            include_interrupted=random.random() < 0.9,
            framing=random.random() < 0.8,
        )

    # Bytes

    def _changed(self, body: bytes) -> bytes:
        random = self._random
        start = random.randrange(len(body) + 1)
        end = min(start + random.choice((1, 1, 2, 8, 64, 1_000)), len(body))
        changes: tuple[Callable[[], bytes], ...] = (
            lambda: body[:start] + self._flipped(body[start : start + 1]) + body[start + 1 :],
            lambda: body[:start] + bytes(random.choices(STRUCTURAL, k=end - start)) + body[end:],
            lambda: body[:start] + random.choice(FRAGMENTS) + body[start:],
            lambda: body[:start] + random.choice(FRAGMENTS) + body[end:],
            lambda: body[:start] + self._part() + body[start:],
            lambda: body[:start] + body[start:end] * random.choice((2, 2, 3, 40)) + body[end:],
            lambda: body[:start] + body[end:],
            lambda: body[:start] if random.random() < 0.5 else body[start:],
        )
        return random.choice(changes)()

    def _flipped(self, byte: bytes) -> bytes:
        return bytes(value ^ 1 << self._random.randrange(8) for value in byte)

    def _part(self) -> bytes:
        """Return a line, or any part, of another body."""
        other = self._random.choice(self._corpus)
        if self._random.random() < 0.5:
            return self._random.choice(other.split(b"\n")) + b"\n"
        start = self._random.randrange(len(other) + 1)
        return other[start : start + self._random.choice((10, 200, 2_000))]

    # Values

    def _rewritten(self) -> bytes:
        """Return a conversation with some values changed, in a random form and spelling."""
        random = self._random
        messages = json.loads(random.choice(self._conversations))
        for _ in range(random.choice((0, 1, 2, 4))):
            self._change_value(messages)
        form, writer = random.choice(sorted(FORMS)), random.choice(sorted(WRITERS))
        return FORMS[form](messages, writer, random.randrange(1 << 32))

    def _change_value(self, messages: list[Any]) -> None:
        random = self._random
        holder: Any = messages
        while (
            inner := [value for value in items(holder) if value and isinstance(value, (list, dict))]
        ) and (random.random() < 0.8):
            holder = random.choice(inner)
        value = json.loads(random.choice(VALUES))
        if isinstance(holder, dict):
            names = list(holder)
            change = random.randrange(4)
            if change == 0:
                holder[random.choice(NAMES)] = value
            elif change == 1:
                holder[random.choice(NAMES)] = holder.pop(random.choice(names))
            else:
                holder[random.choice(names)] = (
                    value if change == 2 else random.choice(list(holder.values()))
                )
            return
        place = random.randrange(len(holder) + 1)
        holder[place : place + random.randrange(2)] = [random.choice((value, *holder))]


def items(holder: Any) -> list[Any]:
    return list(holder.values()) if isinstance(holder, dict) else holder


def read_messages(body: bytes) -> str | None:
    """Return the messages of a body as JSON; None if it can't be read, is too long, or has no messages."""
    try:
        messages, _ = decode_messages(body)
    except InputError:
        return None
    return json.dumps(messages) if messages and len(body) <= LONGEST else None
