"""Tenants, models and styles in any order, compared with a dictionary of the tools that each may see."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from support.builders.definition_styles import WRITERS, DraftTool, joined
from support.clocks import Clock
from support.strategies.definitions import SERVER_TOOLS
from support.strategies.tool_drafts import (
    ALIKE,
    CALLED,
    CHOICES,
    HELLO,
    INVALID,
    MESSAGES,
    MODELS,
    SCOPES,
    RecentTools,
    descriptions_in,
    given_as,
    owners,
    schema_of,
    spoil,
    styles,
)

from toolcarry.tool_cache import MemoryToolCache, ToolCache

LISTED = styles.filter(lambda style: style != "bedrock")
"""The styles without Bedrock's, whose list may hold other things than definitions: they are kept, and are not invalid."""
TTL = 160
STEP = 10
"""A sixteenth of it."""


class ToolCaches(RuleBasedStateMachine):
    """One cache, without a limit that would be met."""

    most = 10_000
    is_moving = False

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.known: dict[tuple[str, str], RecentTools] = {}  # in the order of their use
        self.expected: Counter[str] = Counter()
        self.returned: list[Any] = []
        self.number = 0

    @initialize(
        when=st.sampled_from(("always", "always", "tool_conversation", "never")),
        empty_means_absent=st.booleans(),
    )
    def make(self, when: Any, empty_means_absent: bool) -> None:
        self.when, self.empty_means_absent = when, empty_means_absent
        backend = MemoryToolCache(ttl=TTL, max_entries=self.most, clock=self.clock)
        self.cache = ToolCache(backend, when=when, empty_means_absent=empty_means_absent)

    def resolve(self, is_task: bool, owner: tuple[str, str], tools: Any, **options: Any) -> Any:
        scope, model = owner
        if is_task:
            return asyncio.run(self.cache.aresolve(model, tools, scope=scope, **options))
        return self.cache.resolve(model, tools, scope=scope, **options)

    def see(self, owner: tuple[str, str], found: Any) -> None:
        """Check that an owner gets only its own tools."""
        assert json.loads(found.to_bytes()) == found.tools
        for said in descriptions_in(found.tools):
            assert json.loads(said)[:2] == list(owner)
        self.returned.append(found)

    @rule(
        owner=owners,
        style=LISTED,
        number=st.integers(0, 3),
        has_schema=st.booleans(),
        own=st.booleans(),
        invalid=st.lists(st.sampled_from(INVALID), max_size=2),
        form=st.sampled_from(("list", "tuple", "bytes", "indented")),
        messages=st.sampled_from(MESSAGES),
        choice=st.sampled_from(CHOICES),
        is_task=st.integers(0, 4).map(lambda drawn: not drawn),
    )
    def bring(
        self, owner: Any, style: Any, number: int, has_schema: bool, own: bool, invalid: Any,
        form: str, messages: Any, choice: Any, is_task: bool,
    ) -> None:  # fmt: skip
        """A request comes with tools. The description of each says whose it is."""
        self.number += 1
        said = [
            DraftTool(f"f{each}", json.dumps([*owner, self.number]), schema_of(owner, has_schema))
            for each in range(number)
        ]
        valid = joined([WRITERS[style](each) for each in said], style)
        beside = [*SERVER_TOOLS[style][:1]] if own else []
        written = joined([*(WRITERS[style](each) for each in said), *invalid], style)
        self.request(owner, style, [*written, *beside], [*valid, *beside], said, len(invalid), form,
                     messages[0], choice[0], is_task)  # fmt: skip

    @precondition(lambda self: self.known)
    @rule(data=st.data(), is_task=st.booleans())
    def bring_again(self, data: Any, is_task: bool) -> None:
        """A request comes with the same tools as the last one, as most do; or with what is written as these are."""
        owner = data.draw(st.sampled_from(sorted(self.known)))
        kept = self.known[owner]
        form = "bytes" if self.is_there(owner) is None else "list"
        alike = [kept.style] if kept.style not in ALIKE else ALIKE
        style = data.draw(st.sampled_from(alike))
        self.request(owner, style, kept.tools, kept.tools, kept.said, 0, form, None, None, is_task)

    def request(
        self, owner: Any, style: Any, tools: Any, valid: Any, said: Any, dropped: int,
        form: str, messages: Any, choice: Any, is_task: bool,
    ) -> None:  # fmt: skip
        if not tools:
            return
        before = json.dumps(tools)
        given = given_as(tools, form)
        options = {"style": style, "messages": messages, "tool_choice": choice}
        is_there = self.is_there(owner)
        found = self.resolve(is_task, owner, given, **options)
        assert found.source == "request"
        assert json.dumps(found.tools) == json.dumps(valid)  # with their members in order
        assert json.dumps(tools) == before
        self.see(owner, found)
        written = given if isinstance(given, bytes) else given_as(tools, "bytes")
        kept = self.known.get(owner)
        is_same = kept is not None and (kept.style, kept.given) == (style, written)
        if self.when == "never":
            self.expected["dropped"] += dropped
        elif is_same and is_there is not False:
            if is_there is None:  # it may have been stored again
                self.expected["store"] = self.cache.counts["store"]
                self.expected["dropped"] = self.cache.counts["dropped"]
            self.used(owner)
        else:
            self.expected["dropped"] += dropped
            if valid:
                self.expected["store"] += 1
                self.known.pop(owner, None)
                self.known[owner] = RecentTools(
                    style, written, valid, said, self.clock.now, self.clock.now
                )
                self.leave_out()
            elif kept is not None:
                self.touched(owner)
        spoil(given if form == "list" else [])

    def leave_out(self) -> None:
        """The least recently used owner is evicted when there are too many."""
        if len(self.known) > self.most:
            del self.known[next(iter(self.known))]
            self.expected["evict"] += 1

    @rule(
        owner=owners,
        style=LISTED,
        empty=st.sampled_from((None, None, [], (), b"[]", b" [\n] ", b"null")),
        messages=st.sampled_from(MESSAGES),
        choice=st.sampled_from(CHOICES),
        is_task=st.integers(0, 4).map(lambda drawn: not drawn),
    )
    def ask(
        self, owner: Any, style: Any, empty: Any, messages: Any, choice: Any, is_task: bool
    ) -> None:
        """A request comes without tools."""
        options = {"style": style, "messages": messages[0], "tool_choice": choice[0]}
        found = self.resolve(is_task, owner, empty, **options)
        self.see(owner, found)
        if empty not in (None, b"null") and not self.empty_means_absent:
            assert (found.source, found.tools) == ("request", [])
        elif self.when == "never" or choice[1] or (self.when != "always" and not messages[1]):
            assert (found.source, found.tools) == ("none", [])
        else:
            self.restored(owner, style, found)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), style=LISTED)
    def ask_as_one_who_is_known(self, data: Any, style: Any) -> None:
        owner = data.draw(st.sampled_from(sorted(self.known)))
        self.ask(owner, style, None, (HELLO + CALLED["openai"], True), (None, False), False)

    def restored(self, owner: Any, style: str, found: Any) -> None:
        """An owner gets back the tools that it sent last, and nothing after they have expired."""
        is_there = self.is_there(owner)
        tools = self.known[owner].in_style(style) if owner in self.known else []
        if is_there is None:
            is_there = found.source == "cache" or not tools
        if is_there and tools:
            assert found.source == "cache"
            assert json.dumps(found.tools) == json.dumps(tools)
            self.expected["hit"] += 1
            self.used(owner)
        else:
            assert (found.source, found.tools) == ("none", [])
            self.expected["miss"] += 1
            if is_there:
                self.touched(owner)
            else:
                self.known.pop(owner, None)

    def is_there(self, owner: Any) -> bool | None:
        """True if an owner's tools have not expired; ``None`` if that is uncertain."""
        kept = self.known.get(owner)
        if kept is None or self.clock.now - kept.touched_at >= TTL + STEP:
            return False
        return True if self.clock.now - kept.used_at < TTL else None

    def used(self, owner: Any) -> None:
        self.known[owner] = kept = self.known.pop(owner)
        kept.use(self.clock.now)

    def touched(self, owner: Any) -> None:
        self.known[owner] = kept = self.known.pop(owner)
        kept.touched_at = self.clock.now

    @precondition(lambda self: self.returned)
    @rule(data=st.data())
    def change_returned_tools(self, data: Any) -> None:
        """A caller does with what it got what it likes."""
        spoil(data.draw(st.sampled_from(self.returned)).tools)

    @precondition(lambda self: self.is_moving)
    @rule(seconds=st.sampled_from((1, STEP, STEP + 1, TTL // 2, TTL - 1, TTL, TTL + STEP)))
    def let_time_go_by(self, seconds: int) -> None:
        self.clock.advance(seconds)

    @rule()
    def ask_for_all(self) -> None:
        """Each client sees its own tools."""
        for scope in SCOPES:
            for model in MODELS:
                self.ask((scope, model), "openai", None, MESSAGES[-1], (None, False), False)

    @invariant()
    def counts_add_up(self) -> None:
        if hasattr(self, "cache"):
            expected = +self.expected
            assert self.cache.counts == expected


class SmallToolCaches(ToolCaches):
    """A cache with room for three owners."""

    most = 3


class AgingToolCaches(ToolCaches):
    """A cache whose clock moves."""

    is_moving = True


many = settings(stateful_step_count=40)
TestToolCaches = ToolCaches.TestCase
TestToolCaches.settings = many
TestSmallToolCaches = SmallToolCaches.TestCase
TestSmallToolCaches.settings = many
TestAgingToolCaches = AgingToolCaches.TestCase
TestAgingToolCaches.settings = many
