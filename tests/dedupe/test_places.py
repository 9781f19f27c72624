"""Blocks of two places are never about the same thing: servers, hosts, working directories, sessions, environments."""

import json
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.builders.records import record
from support.builders.wire import assistant, edit, join, read, result, turn, use, write
from support.rows import for_each

from toolcarry import CarryPolicy, ProjectPolicy, Rule

any_backend = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def kept(api: ModuleType, messages: list[Any], rules: Any = ()) -> list[str]:
    """The ids of the blocks that stay, which must be the same step by step and in one job, from objects and bytes."""
    blocks = api.deduplicate_tools(api.extract_tool_blocks(messages), rules=rules)
    policy = CarryPolicy(rules=rules) if rules else CarryPolicy()
    text = api.carry(messages, policy=policy).text
    assert api.format_tool_context(blocks, policy=policy) == text
    body = "\n".join(json.dumps(message) for message in messages).encode()
    assert api.carry(body, policy=policy).text == text
    return [block.call_id for block in blocks]


def run(command: Any, call_id: str, name: str = "Bash", **given: Any) -> list[Any]:
    return turn(name, {"command": command, **given}, f"output of {call_id}", call_id)


def key_of(api: ModuleType, name: str, **given: Any) -> str | None:
    (block,) = api.extract_tool_blocks(turn(name, given))
    key: str | None = block.dedup_key
    return key


# Commands


DIRECTORIES = [
    *("workdir", "cwd", "directory", "working_directory", "working_dir", "workingDirectory"),
    *("dir_path", "Cwd"),
]


@for_each("name", DIRECTORIES)
def test_a_command_in_another_directory_is_another_command(api: ModuleType, name: str) -> None:
    one, other, again = (
        run("git log", call_id, **{name: place})
        for call_id, place in (("c1", "/a"), ("c2", "/b"), ("c3", "/a/"))
    )
    assert kept(api, join(one, other, again)) == ["c2", "c3"]
    assert kept(api, join(one, run("git log", "c4"))) == ["c1", "c4"]


@for_each(
    ("given", "other"),
    [
        ({"host": "web1"}, {"host": "web2"}),
        ({"host": "web1"}, {}),
        ({"env": {"CI": "1"}}, {"env": {"CI": "2"}}),
        ({"environment": {"CI": "1"}}, {}),
        ({"stdin": "yes\n"}, {"stdin": "no\n"}),
        ({"session_id": 0}, {"session_id": 1}),
        ({"session_id": 0}, {}),
        ({"shell_id": "a"}, {"shell_id": "b"}),
        ({"container_id": "a"}, {"container_id": "b"}),
        ({"user": "root"}, {}),
        ({"run_in_background": True}, {}),
        ({"hostname": "a", "host": "x"}, {"hostname": "b", "host": "x"}),
        ({"cwd": "/a", "directory": "/b"}, {"cwd": "/a", "directory": "/c"}),
        ({"workdir": ["/a"]}, {"workdir": ["/b"]}),
    ],
)
def test_arguments_of_the_place_make_another_command(
    api: ModuleType, given: dict[str, Any], other: dict[str, Any]
) -> None:
    messages = join(run("make test", "c1", **given), run("make test", "c2", **other))
    assert kept(api, messages) == ["c1", "c2"]
    assert kept(api, join(messages, run("make test", "c3", **given))) == ["c2", "c3"]


@pytest.mark.parametrize(
    "given",
    [
        {"description": "Run the tests", "timeout": 10},
        {"run_in_background": False},
        {"env": {}, "stdin": "", "workdir": None, "host": ""},
        {"workdir": "."},
    ],
)
def test_arguments_that_do_not_change_the_place(api: ModuleType, given: dict[str, Any]) -> None:
    assert key_of(api, "Bash", command="ls", **given) == "command:ls"


@for_each(
    ("command", "key"),
    [
        ("cd /w && ls", 'command:ls @ {"directory":"/w"}'),
        ("cd /w/./a/.. && ls", 'command:ls @ {"directory":"/w"}'),
        ("cd '/a b' && ls | head", 'command:ls | head @ {"directory":"/a b"}'),
        ('cd "/a b"&&ls 2>&1', 'command:ls 2>&1 @ {"directory":"/a b"}'),
        ("cd /w && cd a && ls", 'command:ls @ {"directory":"/w/a"}'),
        ("cd '/日本' && ls", 'command:ls @ {"directory":"/日本"}'),
        ("cd a && ls && pwd", 'command:ls && pwd @ {"directory":"a"}'),
        ("cd /w; ls", "command:cd /w; ls"),
        ("cd /w && ls; pwd", "command:cd /w && ls; pwd"),
        ("cd /w && ls || pwd", "command:cd /w && ls || pwd"),
        ("cd /w && sleep 1 & ls", "command:cd /w && sleep 1 & ls"),
        ("cd ~ && ls", "command:cd ~ && ls"),
        ("cd - && ls", "command:cd - && ls"),
        ('cd "$X" && ls', 'command:cd "$X" && ls'),
        ("cd $X && ls", "command:cd $X && ls"),
        ("cd && ls", "command:cd && ls"),
        ("cd /w", "command:cd /w"),
        ("cdr /w && ls", "command:cdr /w && ls"),
    ],
)
def test_the_cd_before_a_command_is_its_directory(api: ModuleType, command: str, key: str) -> None:
    assert key_of(api, "Bash", command=command) == key


def test_a_cd_and_an_argument_name_the_same_place(api: ModuleType) -> None:
    messages = join(run("cd src && ls", "c1", workdir="/w"), run("ls", "c2", workdir="/w/src"))
    assert kept(api, messages) == ["c2"]
    assert "### ls (latest of 2 runs)\n" in api.carry(messages).text


def test_a_command_is_shown_as_written(api: ModuleType) -> None:
    assert "### cd /w && ls\n" in api.carry(run("cd /w && ls", "c1")).text


def test_a_command_that_writes_is_known_after_a_cd(api: ModuleType) -> None:
    turns = join(run("cd /w && rm a", "c1"), run("cd /w && rm a", "c2"))
    assert kept(api, turns) == ["c1", "c2"]


def test_a_local_shell_call_has_a_directory_and_an_environment(api: ModuleType) -> None:
    def call(call_id: str, **action: Any) -> list[Any]:
        action = {"type": "exec", "command": ["ls"], **action}
        item = {"type": "local_shell_call", "call_id": call_id, "action": action}
        return [item, {"type": "local_shell_call_output", "call_id": call_id, "output": call_id}]

    places: list[dict[str, Any]] = [
        {"working_directory": "/a"},
        {"working_directory": "/b"},
        {"working_directory": "/a", "env": {"X": "1"}},
    ]
    messages = join(*(call(str(number), **place) for number, place in enumerate(places)))
    assert kept(api, messages) == ["0", "1", "2"]


# Servers and namespaces


def test_tools_of_two_servers_are_in_two_places(api: ModuleType) -> None:
    names = "mcp__a__bash", "mcp__b__bash", "Bash", "mcp__a__bash"
    turns = [run("uptime", f"c{number}", name) for number, name in enumerate(names)]
    assert kept(api, join(*turns)) == ["c1", "c2", "c3"]
    files = "mcp__a__read_file", "mcp__b__read_file", "Read"
    reads = [turn(name, {"path": "/w/x"}, name, name) for name in files]
    assert kept(api, join(*reads)) == list(files)


def test_an_edit_makes_no_read_of_another_place_stale(rust: ModuleType) -> None:
    near = turn("mcp__a__read_file", {"path": "/w/x"}, "1", "r1")
    for name, stale in (("mcp__a__edit_file", 1), ("mcp__b__edit_file", 0), ("Edit", 0)):
        change = turn(name, {"path": "/w/x", "old_string": "1", "new_string": "2"}, "ok", "e1")
        assert rust.inspect(join(near, change)).stale_reads == stale


def test_careful_rules_hold_within_a_place(api: ModuleType) -> None:
    turns = (
        edit("/w/x", "0", "1", "e1"),
        turn("mcp__a__write_file", {"path": "/w/x", "content": "2"}, "ok", "w1"),
        write("/w/x", "3", "w2"),
    )
    assert kept(api, join(*turns), rules="careful") == ["w1", "w2"]


def function(call_id: str, name: str, namespace: str | None, **given: Any) -> list[Any]:
    """A call of OpenAI Responses and its output."""
    item = {
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": json.dumps(given),
    }
    if namespace is not None:
        item["namespace"] = namespace
    return [item, {"type": "function_call_output", "call_id": call_id, "output": call_id * 500}]


def test_a_namespace_is_a_place(api: ModuleType) -> None:
    spaces = ("repo_a", "repo_b", None, "repo_a")
    calls = [function(f"c{at}", "read_file", space, path="a.py") for at, space in enumerate(spaces)]
    assert kept(api, join(*calls)) == ["c1", "c2", "c3"]


def test_the_namespace_of_a_server_is_the_server(api: ModuleType) -> None:
    names = [
        function("c1", "read_file", "mcp__a__", path="a.py"),
        function("c2", "read_file", "mcp__a", path="a.py"),
        function("c3", "mcp__a__read_file", None, path="a.py"),
    ]
    keys = {block.dedup_key for block in api.extract_tool_blocks(join(*names))}
    assert keys == {'read:a.py @ {"server":"a"}'}


def test_calls_that_a_provider_sends_to_servers(api: ModuleType) -> None:
    def remote(server: str) -> list[Any]:
        call = {"type": "mcp_tool_use", "id": server, "name": "read_file", "server_name": server}
        answer = {"type": "mcp_tool_result", "tool_use_id": server, "content": server}
        return [assistant({**call, "input": {"path": "/x"}}, answer)]

    def item(label: str) -> list[Any]:
        given = json.dumps({"path": "/x"})
        call = {"type": "mcp_call", "id": label, "name": "read_file", "server_label": label}
        return [{**call, "arguments": given, "output": label}]

    assert kept(api, join(remote("a"), remote("b"))) == ["a", "b"]
    assert kept(api, join(item("a"), item("b"))) == ["a", "b"]


@pytest.mark.parametrize(
    "pattern", ["lookup", "billing.lookup", "mcp__billing__lookup", "billing.*"]
)
def test_a_rule_matches_with_and_without_the_server(api: ModuleType, pattern: str) -> None:
    rule = Rule(pattern, kind="other", key="q", keep="last", max_result_chars=10)
    calls = join(
        function("c1", "lookup", "billing", q="x"),
        function("c2", "lookup", "billing", q="x"),
        function("c3", "lookup", "orders", q="x"),
    )
    text = api.carry(calls, policy=CarryPolicy(rules=(rule,))).text
    assert "c1" * 20 not in text
    assert "c2" * 20 not in text
    assert ("c3" * 20 not in text) == (pattern == "lookup")
    blocks = api.deduplicate_tools(api.extract_tool_blocks(calls), rules=(rule,))
    assert [block.call_id for block in blocks] == ["c2", "c3"]


def test_excluded_tools_match_with_the_server(rust: ModuleType) -> None:
    calls = join(
        function("c1", "lookup", "billing", q="x"), function("c2", "lookup", "orders", q="x")
    )
    policy = ProjectPolicy(max_result_chars=100, exclude_tools=("billing.lookup",))
    outputs = [item["output"] for item in rust.project(calls, policy=policy).messages[1::2]]
    assert [len(output) > 900 for output in outputs] == [True, False]


def test_the_prefix_of_functions_is_no_place(api: ModuleType) -> None:
    assert key_of(api, "functions.read_file", path="a.py") == "read:a.py"
    assert key_of(api, "Functions.Bash", command="ls") == "command:ls"
    assert key_of(api, "functions.", command="ls") is None
    assert key_of(api, "my.functions.read_file", path="a.py") is None


# Working directories of session files


def claude(name: str, parent: str | None, cwd: str | None, *content: Any, role: str) -> Any:
    more = {} if cwd is None else {"cwd": cwd}
    return record(name, parent, {"role": role, "content": list(content)}, **more)


def session(*calls: tuple[str, str | None, dict[str, Any]]) -> list[Any]:
    """Records of Claude Code: the name of a tool, the working directory, and the arguments."""
    records: list[Any] = []
    parent = None
    for number, (name, cwd, arguments) in enumerate(calls):
        ask, answer = f"a{number}", f"u{number}"
        records += [
            claude(ask, parent, cwd, use(f"c{number}", name, **arguments), role="assistant"),
            claude(answer, ask, cwd, result(f"c{number}", f"output {number}"), role="user"),
        ]
        parent = answer
    return records


def test_a_record_of_claude_code_gives_the_directory(api: ModuleType) -> None:
    ls = {"command": "ls"}
    assert kept(
        api, session(("Bash", "/a", ls), ("Bash", "/b", ls), ("Bash", None, ls), ("Bash", "/a", ls))
    ) == ["c1", "c2", "c3"]
    files = session(
        ("Read", "/w", {"file_path": "a.py"}),
        ("Read", "/v", {"file_path": "a.py"}),
        ("Read", "/v", {"file_path": "/w/a.py"}),
    )
    assert kept(api, files) == ["c1", "c2"]


def test_the_steps_keep_the_directory_of_a_record(api: ModuleType) -> None:
    blocks = api.extract_tool_blocks(session(("Read", "/w", {"file_path": "a.py"})))
    assert [(block.notes.directory, block.dedup_key) for block in blocks] == [
        ("/w", "read:/w/a.py")
    ]
    (again,) = api.deduplicate_tools(blocks)
    assert (again.notes.directory, again.dedup_key) == ("/w", "read:/w/a.py")


def test_a_message_with_a_role_gives_no_directory(api: ModuleType) -> None:
    call, answer = read("a.py", "text")
    blocks = api.extract_tool_blocks([{**call, "cwd": "/w"}, answer])
    assert [block.dedup_key for block in blocks] == ["read:a.py"]


def codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": kind, "payload": payload}


def rollout(call_id: str, **given: Any) -> list[Any]:
    """A call of a Codex rollout with its output."""
    item, output = function(call_id, "exec_command", None, **given)
    return [codex("response_item", **item), codex("response_item", **output)]


def test_a_turn_of_codex_gives_the_directory(api: ModuleType, rust: ModuleType) -> None:
    records = [
        codex("session_meta", id="s", cwd="/a"),
        *rollout("c1", cmd="ls"),
        codex("turn_context", cwd="/b"),
        *rollout("c2", cmd="ls"),
        codex("event_msg", type="token_count"),
        codex("turn_context", model="m"),
        *rollout("c3", cmd="ls"),
        codex("turn_context", cwd="/a"),
        *rollout("c4", cmd="ls"),
        *rollout("c5", cmd="ls", workdir="src"),
        *rollout("c6", cmd="ls", workdir="/a/src"),
    ]
    assert kept(api, records) == ["c3", "c4", "c6"]
    assert rust.inspect(records).messages == len(records)


def test_a_rollout_without_a_directory_has_one_place(api: ModuleType) -> None:
    records = [*rollout("c1", cmd="ls"), codex("turn_context", model="m"), *rollout("c2", cmd="ls")]
    assert kept(api, records) == ["c2"]


# Several files, and names in the wild


def test_a_read_of_several_files_is_about_all_of_them(api: ModuleType) -> None:
    def several(call_id: str, *paths: str) -> list[Any]:
        return turn("read_multiple_files", {"paths": list(paths)}, call_id, call_id)

    assert kept(api, join(several("r1", "a", "b"), several("r2", "./a", "b"))) == ["r2"]
    assert kept(api, join(several("r1", "a", "b"), several("r2", "a", "c"))) == ["r1", "r2"]
    assert kept(api, join(several("r1", "a", "b"), read("a", "1", "r2"))) == ["r1", "r2"]
    assert kept(api, join(several("r1", "a"), read("a", "1", "r2"))) == ["r2"]
    assert kept(api, join(several("r1", "a, b"), several("r2", "a", "b"))) == ["r1", "r2"]
    assert "### a, b\n" in api.carry(several("r1", "a", "b")).text
    assert key_of(api, "read_multiple_files", paths=["a", 7]) is None
    assert key_of(api, "read_multiple_files", paths=["/v", "b"], cwd="/w") == 'read:["/v","/w/b"]'


@for_each(
    ("name", "given", "key"),
    [
        ("read_text_file", {"path": "a"}, "read:a"),
        ("fs_read", {"mode": "Line", "path": "/a"}, "read:/a"),
        ("fs_write", {"command": "create", "path": "/a", "file_text": "x"}, "edit:/a"),
        ("Shell", {"command": "ls"}, "command:ls"),
        ("run_shell_command", {"command": "ls", "dir_path": "/w"}, 'command:ls @ {"directory":"/w"}'),
        ("replace", {"file_path": "/a", "old_string": "x", "new_string": "y"}, "edit:/a"),
        ("WriteFile", {"path": "/a", "content": "x"}, "edit:/a"),
        ("StrReplaceFile", {"path": "/a", "edit": {"old": "x", "new": "y"}}, "edit:/a"),
        ("StrReplace", {"path": "/a", "old_string": "x", "new_string": "y"}, "edit:/a"),
        ("create_new_file", {"filepath": "a", "contents": "x"}, "edit:a"),
        ("replace_string_in_file", {"filePath": "/a"}, "edit:/a"),
        ("run_in_terminal", {"command": "ls"}, "command:ls"),
        ("copilot_readFile", {"filePath": "/a"}, "read:/a"),
        ("developer__shell", {"command": "ls"}, "command:ls"),
        ("developer__text_editor", {"command": "view", "path": "/a"}, "read:/a"),
        ("developer__text_editor", {"command": "write", "path": "/a"}, "edit:/a"),
        ("file_editor", {"command": "insert", "path": "/a"}, "edit:/a"),
        ("view_file", {"AbsolutePath": "/a"}, "read:/a"),
        ("replace_file_content", {"TargetFile": "/a"}, "edit:/a"),
        ("exec", {"command": "ls", "workdir": "/w", "host": "node"},
         'command:ls @ {"directory":"/w","host":"node"}'),
        ("execute_bash", {"command": "ls", "working_dir": "/w"}, 'command:ls @ {"directory":"/w"}'),
    ],
)  # fmt: skip
def test_names_in_the_wild(api: ModuleType, name: str, given: dict[str, Any], key: str) -> None:
    assert key_of(api, name, **given) == key


@pytest.mark.parametrize(
    "part",
    [{"head": 5}, {"tail": 5}, {"line_offset": 2, "n_lines": 3}, {"startLine": 1, "endLine": 2}],
)
def test_a_part_in_another_tools_words_supersedes_nothing(
    api: ModuleType, part: dict[str, Any]
) -> None:
    turns = turn("read_text_file", {"path": "a"}, "all", "r1"), read("a", "some", "r2", **part)
    assert kept(api, join(*turns)) == ["r1", "r2"]


def test_a_search_in_a_file_is_not_the_file(api: ModuleType) -> None:
    whole = turn("fs_read", {"path": "/a"}, "all", "r1")
    search = turn("fs_read", {"path": "/a", "mode": "Search", "pattern": "x"}, "line", "r2")
    assert kept(api, join(whole, search)) == ["r1", "r2"]


# Keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"command": 'ls @ {"directory":"/w"}'}, {"command": "ls", "workdir": "/w"}),
        ({"command": "ls @ {}"}, {"command": "ls"}),
    ],
)
def test_no_value_looks_like_a_place(
    api: ModuleType, one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert key_of(api, "Bash", **one) != key_of(api, "Bash", **other)


def test_the_arguments_of_a_users_rule_are_no_place(api: ModuleType) -> None:
    rule = Rule("ls", kind="read", key="directory")
    (block,) = api.deduplicate_tools(
        api.extract_tool_blocks(turn("ls", {"directory": "src"})), rules=(rule,)
    )
    assert block.dedup_key == "read:src"


VALUES = st.sampled_from(["/a", "/b", "sub", "", None, "~/x", "C:\\w"])
TOOLS = st.sampled_from(["Bash", "mcp__s1__bash", "mcp__s2__bash", "functions.bash"])
PLACES = st.fixed_dictionaries(
    {},
    optional={
        "workdir": VALUES,
        "host": st.sampled_from(["h1", "h2", ""]),
        "env": st.sampled_from([{}, {"X": "1"}, {"X": "2"}]),
        "session_id": st.sampled_from([0, 1, None]),
        "description": st.sampled_from(["one", "two"]),
    },
)
COMMANDS = st.sampled_from(["ls", "cd sub && ls", "cd /a && ls", "pytest -q"])


def place_of(name: str, command: str, given: dict[str, Any]) -> tuple[Any, ...]:
    """The place and the command, told apart without the code under test."""
    given = {key: value for key, value in given.items() if value not in ("", None) or value == 0}
    server = name.split("__")[1] if name.startswith("mcp__") else ""
    directory = given.get("workdir", "")
    if command.startswith("cd "):
        target, command = command[3:].split(" && ")
        joined = f"{directory}/{target}" if directory else target
        directory = target if target.startswith("/") else joined
    env = json.dumps(given.get("env") or {})
    return server, given.get("host", ""), env, given.get("session_id"), directory, command


@any_backend
@given(calls=st.lists(st.tuples(TOOLS, COMMANDS, PLACES), min_size=1, max_size=8))
def test_keys_never_merge_two_places(
    api: ModuleType, calls: list[tuple[str, str, dict[str, Any]]]
) -> None:
    turns = [
        run(command, f"c{number}", name, **given)
        for number, (name, command, given) in enumerate(calls)
    ]
    messages = join(*turns)
    places = [place_of(*call) for call in calls]
    last = {place: f"c{number}" for number, place in enumerate(places)}
    assert set(last.values()) <= set(kept(api, messages))
    keys = {block.dedup_key for block in api.extract_tool_blocks(messages)}
    assert len(keys) == len(set(places))


@settings(deadline=None)
@given(name=TOOLS, command=COMMANDS | st.text(max_size=30).map("cd ".__add__), given=PLACES)
def test_both_backends_have_the_same_keys(
    both: tuple[Any, Any], name: str, command: str, given: dict[str, Any]
) -> None:
    messages = run(command, "c1", name, **given)
    keys = [backend.extract_tool_blocks(messages)[0].dedup_key for backend in both]
    assert keys[0] == keys[1]
