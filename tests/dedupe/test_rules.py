"""Rules: which tools are known by default, how names match, and what a rule may say."""

import json
from types import ModuleType

import pytest
from support.builders.wire import bash, join, read, result, turn, user
from support.rows import for_each

from toolcarry import DEFAULT_RULES, NO_LIMIT, CarryPolicy, ConfigError, Rule
from toolcarry.model.dedupe.rules import glob_matches

KNOWN = {
    "read": "Read read_file ReadFile view open_file cat_file NotebookRead",
    "edit": "Edit MultiEdit Write write_file write_to_file create_file edit_file replace_in_file apply_diff NotebookEdit",
    "command": "Bash bash shell execute_bash execute_command run_terminal_cmd run_shell_command exec_command "
    "local_shell terminal",
}
CASES = [(kind, name) for kind, names in KNOWN.items() for name in names.split()]
FORMS = {
    "{}": "",
    "functions.{}": "",
    "mcp__server__{}": ' @ {"server":"server"}',
    "mcp__my_server-1__{}": ' @ {"server":"my_server-1"}',
}


def key_of(api: ModuleType, name: str, rules: tuple[Rule, ...] = (), **given: object) -> str | None:
    """The key of a call under some rules."""
    (block,) = api.deduplicate_tools(api.extract_tool_blocks(turn(name, given)), rules=rules)
    return block.dedup_key


@for_each(("kind", "name"), CASES)
@for_each("form", FORMS)
def test_the_known_tools(api: ModuleType, kind: str, name: str, form: str) -> None:
    key = "command" if kind == "command" else "file_path"
    for spelled in (name, name.upper(), name.lower()):
        assert key_of(api, form.format(spelled), **{key: "x"}) == f"{kind}:x{FORMS[form]}"


@pytest.mark.parametrize("tool", ["str_replace_based_edit_tool", "str_replace_editor"])
@for_each(
    ("command", "kind"),
    [
        ("view", "read"),
        ("create", "edit"),
        ("str_replace", "edit"),
        ("insert", "edit"),
        ("undo_edit", None),
    ],
)
def test_the_editors_by_their_command(
    api: ModuleType, tool: str, command: str, kind: str | None
) -> None:
    assert key_of(api, tool, command=command, path="a.py") == (f"{kind}:a.py" if kind else None)


@for_each("key", ["file_path", "path", "filePath", "target_file", "notebook_path", "filename"])
def test_every_name_of_a_path(api: ModuleType, key: str) -> None:
    assert key_of(api, "Read", **{key: "a.py"}) == "read:a.py"


@pytest.mark.parametrize("key", ["command", "cmd"])
def test_every_name_of_a_command(api: ModuleType, key: str) -> None:
    assert key_of(api, "Bash", **{key: "ls"}) == "command:ls"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["bash", "-lc", "ls -la"], "ls -la"),
        (["sh", "-c", "a; b"], "a; b"),
        (["git", "commit", "-m", "a b"], "git commit -m 'a b'"),
        (["echo", "it's"], "echo 'it'\"'\"'s'"),
    ],
)
def test_a_command_given_as_words(api: ModuleType, words: list[str], line: str) -> None:
    assert key_of(api, "shell", command=words) == f"command:{line}"


@for_each("name", ["Reader", "xRead", "my_read_file_tool", "mcp__Read", "mcp__a__Reads", "__Read"])
def test_names_match_whole(api: ModuleType, name: str) -> None:
    assert key_of(api, name, file_path="a.py") is None


@pytest.mark.parametrize("given", [{}, {"file_path": ""}, {"file_path": 7}, {"file_path": None}])
def test_without_its_key_argument_a_block_has_no_key(
    api: ModuleType, given: dict[str, object]
) -> None:
    assert key_of(api, "Read", **given) is None
    assert "## Other Tools\n### Read(" in api.carry(turn("Read", given)).text


def test_only_ascii_letters_lose_their_case(api: ModuleType) -> None:
    rule = Rule("stra\u00dfe", kind="read", key="path")
    assert key_of(api, "STRA\u00dfE", (rule,), path="a") == "read:a"
    assert key_of(api, "STRASSE", (rule,), path="a") is None
    assert key_of(api, "\u212aill", (Rule("kill", kind="read", key="path"),), path="a") is None


def test_a_users_rule_comes_before_the_built_in_ones(api: ModuleType) -> None:
    assert (
        key_of(api, "Read", (Rule("read", kind="command", key="file_path"),), file_path="a")
        == "command:a"
    )
    first, second = Rule("f", kind="read", key="a"), Rule("f", kind="edit", key="a")
    assert key_of(api, "f", (first, second), a="x") == "read:x"
    assert key_of(api, "f", (second, first), a="x") == "edit:x"


@for_each(
    ("pattern", "name", "matches"),
    [
        ("search_*", "search_web", True),
        ("SEARCH_*", "search_", True),
        ("search_*", "research_web", False),
        ("s?arch", "search", True),
        ("s?arch", "srch", False),
        ("*", "", False),
        ("*", "anything", True),
        ("*_read_*", "a_read_b", True),
        ("get_*", "mcp__docs__get_page", True),
        ("mcp__docs__*", "mcp__docs__get_page", True),
        ("get_*", "functions.get_page", True),
        ("[s]earch", "search", False),
        ("a*b*c", "abbbc", True),
        ("a*b*c", "abcd", False),
    ],
)
def test_patterns(api: ModuleType, pattern: str, name: str, matches: bool) -> None:
    key = key_of(api, name or "x", (Rule(pattern, kind="read", key="k"),), k="v")
    assert (key is not None) is matches or not name


def test_a_pattern_of_many_stars_takes_linear_memory_and_ends() -> None:
    assert not glob_matches("*a" * 50, "b" * 10_000)


def test_a_sub_command_of_any_tool(api: ModuleType) -> None:
    rule = Rule("db:query", kind="read", key="table")
    assert key_of(api, "db", (rule,), command="QUERY", table="t") == "read:t"
    found = key_of(api, "mcp__x__db", (rule,), command="query", table="t")
    assert found == 'read:t @ {"server":"x"}'
    assert key_of(api, "db", (rule,), command="drop", table="t") is None


def test_the_key_of_another_tool_is_its_name_and_all_its_key_arguments(api: ModuleType) -> None:
    rule = Rule("grep", kind="other", key=("pattern", "path"), keep="last")
    same = join(
        turn("Grep", {"pattern": "x", "path": "a", "n": 1}, "1", "t1"),
        turn("Grep", {"path": "a", "pattern": "x", "n": 2}, "2", "t2"),
        turn("Grep", {"pattern": "x"}, "3", "t3"),
    )
    blocks = api.deduplicate_tools(api.extract_tool_blocks(same), rules=(rule,))
    assert [block.call_id for block in blocks] == ["t2", "t3"]


# The limit on the results of a rule's tools


def limited(limit: int | None, **policy: object) -> CarryPolicy:
    rule = Rule("Bash", kind="command", key="command", max_result_chars=limit)
    return CarryPolicy(rules=(rule,), **policy)  # type: ignore[arg-type]


def sizes_shown(api: ModuleType, policy: CarryPolicy) -> tuple[int, int]:
    """Return how much is shown of a read and of a run, 100 characters each, from objects, from bytes and step by step."""
    messages = join(read("a.txt", "@" * 100, "t1"), bash("ls", "%" * 100, "t2"))
    text: str = api.carry(messages, policy=policy).text
    assert api.carry(json.dumps(messages).encode(), policy=policy).text == text
    blocks = api.deduplicate_tools(api.extract_tool_blocks(messages), rules=policy.rules)
    assert api.format_tool_context(blocks, policy=policy) == text
    return text.count("@"), text.count("%")


@for_each(
    ("limit", "of_policy", "shown"),
    [
        (30, None, (100, 30)),
        (30, 50, (50, 30)),
        (70, 50, (50, 70)),
        (None, 50, (50, 50)),
        (NO_LIMIT, 50, (50, 100)),
        (1 << 80, 50, (50, 100)),
        (0, 50, (50, 0)),
    ],
)
def test_a_limit_of_a_rule_replaces_that_of_the_policy(
    api: ModuleType, limit: int | None, of_policy: int | None, shown: tuple[int, int]
) -> None:
    assert sizes_shown(api, limited(limit, max_result_chars=of_policy)) == shown


def test_a_limit_in_tokens_holds_next_to_that_of_a_rule(api: ModuleType) -> None:
    messages = bash("ls", "word " * 100)
    for tokens, count in ((5, 5), (50, 10)):
        limits = {"max_result_chars": 10, "max_result_tokens": tokens}
        policy = limited(50, keep="head", **limits)
        assert api.carry(messages, policy=policy).text.count("word") == count


def test_a_rule_limit_holds_for_the_last_block_of_a_total(api: ModuleType) -> None:
    messages = join(bash("ls", "%" * 900), bash("cat a", "@" * 900, "t2"))
    text = api.carry(messages, policy=limited(None, max_chars=1_500, layout="sections")).text
    assert text.count("@") == 900
    assert 200 < text.count("%") < 900
    text = api.carry(messages, policy=limited(200, max_chars=640, layout="sections")).text
    assert text.count("@") == 200
    assert 20 <= text.count("%") < 200
    assert len(text) <= 640


def test_a_rules_limit_is_that_of_its_tools_alone(api: ModuleType) -> None:
    policy = limited(30)
    for name, count in (("Bash", 30), ("mcp__x__bash", 30), ("Basher", 100)):
        messages = turn(name, {"command": "ls"}, "%" * 100)
        assert api.carry(messages, policy=policy).text.count("%") == count
    alone = [
        user(result("t9", "%" * 100, name="Bash"))
    ]  # no rule is known of it, for want of a call
    assert api.carry(alone, policy=policy).text.count("%") == 100


def test_the_default_rules_are_data() -> None:
    assert [rule.kind for rule in DEFAULT_RULES] == ["read", "edit", "command"]
    assert all(isinstance(rule, Rule) for rule in DEFAULT_RULES)
    assert CarryPolicy().rules == DEFAULT_RULES


@for_each(
    ("make", "message"),
    [
        (
            lambda: Rule("x", kind="reed"),
            "rule.kind: 'reed' is not allowed; allowed: 'read', 'edit', 'command', 'other'",
        ),
        (
            lambda: Rule("x", keep="some"),
            "rule.keep: 'some' is not allowed; allowed: 'last', 'all', 'first', 'none'",
        ),
        (lambda: Rule((1,)), "rule.tools: (1,) is not allowed; allowed: a name, a list of names"),
        (
            lambda: Rule("x", key=(None,)),
            "rule.key: (None,) is not allowed; allowed: a name, a list of names",
        ),
        (lambda: Rule(None), "rule.tools: None is not allowed; allowed: a name, a list of names"),
        (lambda: Rule("x", key=7), "rule.key: 7 is not allowed; allowed: a name, a list of names"),
        (
            lambda: Rule("x", max_result_chars=-1),
            "rule.max_result_chars: -1 is not allowed; allowed: an integer >= 0, None",
        ),
        (
            lambda: Rule("x", max_result_chars=True),
            "rule.max_result_chars: True is not allowed; allowed: an integer >= 0, None",
        ),
        (
            lambda: Rule("x", kind=["read"]),
            "rule.kind: ['read'] is not allowed; allowed: 'read', 'edit', 'command', 'other'",
        ),
    ],
)
def test_a_bad_rule(make: object, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make()  # type: ignore[operator]
    assert str(caught.value) == message


def test_more_names_than_are_remembered(api: ModuleType) -> None:
    """What a name means is remembered for some thousands of names; then the memory begins again."""
    rules = (Rule("tool_*", kind="command", key="command"),)
    messages = join(*(turn(f"tool_{number}", {"command": "x"}) for number in range(4_200)))
    messages = join(messages, turn("tool_0", {"command": "y"}), turn("other", {"command": "x"}))
    keys = [
        block.dedup_key
        for block in api.deduplicate_tools(api.extract_tool_blocks(messages), rules=rules)
    ]
    assert keys[-2:] == ["command:y", None]
