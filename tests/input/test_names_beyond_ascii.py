"""Names beyond ASCII: of keys, of parts, of tools, and in rules, written plainly and with escapes, alike in both."""

from types import ModuleType
from typing import Any

from support.builders.bodies import WRITERS, check_same
from support.builders.wire import join, turn
from support.rows import for_each

from toolcarry import CarryPolicy, Rule

Both = tuple[ModuleType, ModuleType]

NAMES = ("\u00e9", "\u20ac", "\U0001f600", "a\u00e9\U0001f600", "\ud800", "\ufffd", "\ude00\ud83d")


def shown(api: ModuleType, messages: list[Any], rule: Rule) -> set[int]:
    """Return the numbers of blocks shown for the objects and for their bytes in every spelling."""
    policy = CarryPolicy(rules=(rule,), framing=False)
    given = [messages, *(WRITERS[writer](messages, 1).encode() for writer in sorted(WRITERS))]
    return {api.carry(each, policy=policy).report.shown for each in given}


@for_each("name", NAMES, ids=ascii)
def test_a_rule_finds_its_key(api: ModuleType, name: str) -> None:
    rule = Rule("f", kind="read", key=(name,))
    same, other = {name: "1"}, {name: "2"}
    assert shown(api, join(turn("f", same), turn("f", other)), rule) == {2}
    assert shown(api, join(turn("f", same), turn("f", same)), rule) == {1}
    absent = {f"{name}x": "1", name[:-1]: "1"}
    assert shown(api, join(turn("f", absent), turn("f", absent)), rule) == {2}


def test_two_calls_whose_keys_differ_are_two(both: Both) -> None:
    policy = CarryPolicy(rules=(Rule("*", key=("\u00e9",)),), framing=False)
    calls = b'{"name":"f","input":{"\\u00e9":1}},{"name":"f","input":{"\\u00e9":2}}'
    check_same(both, b'[{"tool_calls":[' + calls + b"]}]", "", policy)


@for_each("name", NAMES, ids=ascii)
def test_a_rule_finds_its_tool(api: ModuleType, name: str) -> None:
    messages = join(turn(f"{name}A", {"q": "1"}), turn(f"{name}A", {"q": "1"}))
    for pattern in (f"{name}A", f"{name}a", f"{name}*", "?" * len(name) + "a"):
        assert shown(api, messages, Rule(pattern, kind="read", key=("q",))) == {1}
    assert shown(api, messages, Rule(f"x{name}a", kind="read", key=("q",))) == {2}


def test_lone_surrogates_in_names_become_replacement_characters(api: ModuleType) -> None:
    messages = join(turn("\ud800", {"q": "1"}), turn("\udfff", {"q": "1"}))
    for pattern in ("\ufffd", "\udc00"):
        assert shown(api, messages, Rule(pattern, kind="read", key=("q",))) == {1}
    editor = join(turn("f", {"command": "\ud800"}), turn("f", {"command": "\udfff"}))
    assert shown(api, editor, Rule("f:\ufffd", keep="none")) == {0}


@for_each("name", NAMES, ids=ascii)
def test_a_part_holds_its_text_under_its_own_kind(api: ModuleType, name: str) -> None:
    parts: list[Any] = [{"type": name, name: {"text": "within"}}]
    elsewhere: list[Any] = [{"type": name, f"{name}x": {"text": "within"}}]
    for content, text in ((parts, "within\n"), (elsewhere, '{"')):
        messages = [{"role": "tool", "tool_call_id": "c", "content": content}]
        for given in (messages, *(WRITERS[writer](messages, 1).encode() for writer in WRITERS)):
            _, _, section = api.carry(given, policy=CarryPolicy(framing=False)).text.partition(
                "```\n"
            )
            assert section.startswith(text)


def test_a_medium_of_an_odd_kind_is_named(both: Both) -> None:
    for kind in NAMES:
        part = {"type": kind, kind: {"url": "x"}, "data": "aGk="}
        for writer in sorted(WRITERS):
            check_same(both, WRITERS[writer]([{"role": "tool", "content": [part]}], 1).encode())
