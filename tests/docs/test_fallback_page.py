"""The tables of docs/reference/fallback.md list everything public, and each row says what happens on the fallback.

Each row has an example here, which runs on the Python backend: it raises a ``BackendError`` or it does not.
"""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from typer.main import get_command

import toolcarry
from toolcarry import AgentConfig, ProjectPolicy, _backend, tables
from toolcarry.cli import main
from toolcarry.cli.app import app
from toolcarry.config import Config, Projection, Serve, Upstream
from toolcarry.errors import BackendError
from toolcarry.integrations.asgi import ToolCarryMiddleware
from toolcarry.integrations.pipeline import RequestPipeline
from toolcarry.integrations.proxy import Proxy
from toolcarry.integrations.recorder.recorder import CanonicalMode, Recorder
from toolcarry.integrations.sdk import AsyncRecordingTransport, RecordingTransport
from toolcarry.sessions import write_session
from toolcarry.tool_cache import MemoryToolCache
from toolcarry.tract import Tract

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "fallback.md"
SESSION = str(ROOT / "examples" / "session.jsonl")
MESSAGE = "needs the Rust extension"

CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "3 passed in 0.02s\n" * 20}
TALK: Any = [
    {"role": "user", "content": "Run the tests."},
    {"role": "assistant", "content": [CALL]},
    {"role": "user", "content": [RESULT]},
]
BODY = json.dumps({"model": "claude-sonnet-4-5", "messages": TALK}).encode()


def table(title: str) -> dict[str, str]:
    """Return the state of each row of a table: ``works`` or ``raises``."""
    section = PAGE.read_text("utf-8").partition(f"\n### {title}\n")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| `([^`]+)` \| (\w+) \|", section, re.MULTILINE)
    assert len(dict(rows)) == len(rows)
    assert {state for _, state in rows} <= {"works", "raises"}
    return dict(rows)


def params(title: str) -> list[Any]:
    return [pytest.param(name, state == "raises", id=name) for name, state in table(title).items()]


@pytest.fixture(autouse=True)
def _fallback(_chosen_backend: None) -> Iterator[None]:
    with _backend.using("python"):
        yield


def check(run: Callable[[], Any], *, raises: bool) -> None:
    if raises:
        with pytest.raises(BackendError):
            run()
    else:
        run()


async def collect(events: Any) -> list[Any]:
    return [event async for event in events]


async def no_events() -> Any:
    for event in ():
        yield event


CONFIG = AgentConfig("agent.json")
FUNCTIONS: dict[str, Callable[[], Any]] = {
    "backend": toolcarry.backend,
    "cache_key": lambda: toolcarry.cache_key("gpt-4o"),
    "carry": lambda: toolcarry.carry(BODY, explain=True),
    "carry_files": lambda: toolcarry.carry_files([SESSION]),
    "check": lambda: toolcarry.check(TALK),
    "context_usage": lambda: toolcarry.context_usage(TALK, limit=1_000),
    "conversation_data_tool": toolcarry.conversation_data_tool,
    "convert": lambda: toolcarry.convert(TALK, to="openai"),
    "count_message_tokens": lambda: toolcarry.count_message_tokens(TALK),
    "count_tokens": lambda: toolcarry.count_tokens("one two"),
    "deduplicate_tools": lambda: toolcarry.deduplicate_tools(toolcarry.extract_tool_blocks(TALK)),
    "dialogue": lambda: toolcarry.dialogue(TALK),
    "estimate_tokens": lambda: toolcarry.estimate_tokens(TALK, model="gpt-4o"),
    "extract_tool_blocks": lambda: toolcarry.extract_tool_blocks(BODY),
    "format_tool_context": lambda: toolcarry.format_tool_context(toolcarry.extract_tool_blocks(TALK)),
    "inspect": lambda: toolcarry.inspect(TALK),
    "limit_events": lambda: list(toolcarry.limit_events([], 10)),
    "load_config": toolcarry.load_config,
    "prepend_summary_to_user_message": lambda: toolcarry.prepend_summary_to_user_message(TALK[0], "context"),
    "preview": lambda: toolcarry.preview("one two three", 10, reference="t1"),
    "project": lambda: toolcarry.project(TALK),
    "project_body": lambda: toolcarry.project_body(BODY),
    "read_conversation_data": lambda: toolcarry.read_conversation_data(TALK, {}, config=CONFIG),
    "read_tool_result": lambda: toolcarry.read_tool_result(TALK, {"ref": "t1"}),
    "recount": lambda: toolcarry.recount(TALK),
    "resize_token_memo": lambda: toolcarry.resize_token_memo(1_000),
    "resolve": lambda: toolcarry.resolve(TALK, "t1"),
    "retrieval_tool": toolcarry.retrieval_tool,
    "search_tool": toolcarry.search_tool,
    "truncate": lambda: toolcarry.truncate("one two three", 7),
}  # fmt: skip


def test_the_functions_on_tables() -> None:
    pyarrow = pytest.importorskip(
        "pyarrow", reason="pyarrow is not installed; it is part of the extra batch"
    )
    given = pyarrow.table({"content": [BODY.decode()]})
    check(lambda: tables.carry_table(given), raises=False)
    check(lambda: tables.inspect_table(given), raises=True)


def test_the_sessions_of_agents() -> None:
    check(lambda: write_session(TALK, "claude"), raises=True)


def test_every_public_function_has_a_row() -> None:
    functions = [name for name in toolcarry.__all__ if inspect.isfunction(getattr(toolcarry, name))]
    assert list(table("Functions")) == functions == list(FUNCTIONS)


@pytest.mark.parametrize(("name", "raises"), params("Functions"))
def test_a_function(
    name: str, raises: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check(FUNCTIONS[name], raises=raises)


def test_the_error_names_the_job() -> None:
    for job in ("check", "inspect", "project", "recount"):
        with pytest.raises(BackendError, match=f"^{job} needs the Rust extension"):
            FUNCTIONS[job]()


def first_result(tract: Tract) -> str:
    return tract.find_tool_results()[0].commit_hash


METHODS: dict[str, Callable[[Tract, Path], Any]] = {
    "answer_search": lambda tract, _: tract.answer_search({"query": "passed"}),
    "append_many": lambda tract, _: tract.append_many(TALK),
    "archive": lambda tract, path: tract.archive(
        path / "archive.db", before=tract.log()[0].created_at
    ),
    "assistant": lambda tract, _: tract.assistant("Done."),
    "backfill": lambda tract, _: tract.backfill(),
    "close": lambda tract, _: tract.close(),
    "compact": lambda tract, _: tract.compact(limit=100_000),
    "compile": lambda tract, _: tract.compile(style="anthropic"),
    "compress": lambda tract, _: tract.compress(content="The tests pass."),
    "compress_tool_calls": lambda tract, _: tract.compress_tool_calls([first_result(tract)]),
    "configure_tool_summarization": lambda tract, _: tract.configure_tool_summarization(),
    "conversation": lambda tract, _: tract.conversation,
    "conversations": lambda tract, _: tract.conversations(),
    "drop_failed_tool_turns": lambda tract, _: tract.drop_failed_tool_turns(),
    "export": lambda tract, _: list(tract.export()),
    "find_tool_calls": lambda tract, _: tract.find_tool_calls(),
    "find_tool_results": lambda tract, _: tract.find_tool_results(),
    "find_tool_turns": lambda tract, _: tract.find_tool_turns(),
    "forget": lambda tract, _: tract.forget(),
    "get_commit": lambda tract, _: tract.get_commit(first_result(tract)),
    "get_content": lambda tract, _: tract.get_content(first_result(tract)),
    "get_source": lambda tract, _: tract.get_source(first_result(tract)),
    "history_of": lambda tract, _: tract.history_of(first_result(tract)),
    "hydrate": lambda tract, _: tract.hydrate(TALK),
    "import_transcript": lambda tract, _: tract.in_conversation("other").import_transcript(SESSION),
    "in_conversation": lambda tract, _: tract.in_conversation("other"),
    "legacy_results": lambda tract, _: tract.legacy_results(),
    "log": lambda tract, _: tract.log(),
    "needs_refetch": lambda tract, _: tract.needs_refetch(CALL),
    "off": lambda tract, _: tract.off("tool_result"),
    "on": lambda tract, _: tract.on("tool_result", lambda pending: pending.approve()),
    "open": lambda _, path: Tract.open(path / "other.db").close(),
    "read_tool_result": lambda tract, _: tract.read_tool_result({"ref": "t1"}),
    "repair": lambda tract, path: tract.repair(path / "repaired.db"),
    "resolve": lambda tract, _: tract.resolve("t1"),
    "search_tool_results": lambda tract, _: tract.search_tool_results("passed"),
    "stats": lambda tract, _: tract.stats(),
    "summarize_result": lambda tract, _: tract.summarize_result(first_result(tract)),
    "system": lambda tract, _: tract.system("Be brief."),
    "tool_result": lambda tract, _: tract.tool_result("t2", "Bash", "4 passed"),
    "uncompress": lambda tract, _: tract.uncompress(
        tract.compress(content="The tests pass.").commit.commit_hash
    ),
    "user": lambda tract, _: tract.user("Thanks."),
    "verify": lambda tract, _: tract.verify(),
}


def test_every_method_of_a_tract_has_a_row() -> None:
    methods = {name for name in dir(Tract) if not name.startswith("_")}
    twins = {f"a{name}" for name in methods} & methods
    assert list(table("Methods of `Tract`")) == sorted(methods - twins) == list(METHODS)


@pytest.mark.parametrize(("name", "raises"), params("Methods of `Tract`"))
def test_a_method_of_a_tract(name: str, raises: bool, tmp_path: Path) -> None:
    def summarize(_dialogue: str, _instructions: str) -> str:
        return "It passed."

    with Tract.open(tmp_path / "history.db", summarizer=summarize) as tract:
        tract.append_many(TALK)
        check(lambda: METHODS[name](tract, tmp_path), raises=raises)


def test_a_tract_does_not_compile_with_a_policy(tmp_path: Path) -> None:
    with Tract.open(tmp_path / "history.db") as tract:
        tract.append_many(TALK)
        check(lambda: tract.compile(policy=ProjectPolicy(max_result_chars=100)), raises=True)


COMMANDS = {
    "batch": ["--job", "carry", "--out", "out.jsonl", SESSION],
    "carry": [SESSION],
    "check": ["request.json"],
    "config check": ["toolcarry.toml"],
    "config reference": [],
    "config schema": [],
    "config show": ["toolcarry.toml"],
    "continue": [SESSION, "--in", "codex", "--print"],
    "convert": ["request.json", "--destination", "openai-chat"],
    "count": [SESSION],
    "doctor": [],
    "formats": [],
    "history backfill": ["--db", "history.db"],
    "history compact": ["--db", "history.db", "--limit", "100000"],
    "history conversations": ["--db", "history.db"],
    "history export": ["--db", "history.db"],
    "history import": [SESSION, "--db", "other.db"],
    "history legacy": ["--db", "history.db"],
    "history log": ["--db", "history.db"],
    "history search": ["--db", "history.db", "passed"],
    "history shadow-report": ["--db", "history.db"],
    "history show": ["--db", "history.db", "{commit}"],
    "history stats": ["--db", "history.db"],
    "history turns": ["--db", "history.db"],
    "history verify": ["--db", "history.db"],
    "inspect": [SESSION],
    "project": ["request.json"],
    "recount": [SESSION],
    "report": [SESSION, "-o", "report.html"],
    "resolve": ["request.json", "t1"],
    "serve": ["--help"],  # its proxy is a row of the next table
    "sessions": ["--help"],  # it reads the stores of this machine's user
    "watch": ["--help"],  # it never ends; its survey is a row of the first table
}


def test_every_command_has_a_row() -> None:
    found = []
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        found += [f"{name} {each}" for each in getattr(command, "commands", ())] or [name]
    assert list(table("Commands")) == sorted(found) == list(COMMANDS)


@pytest.mark.parametrize(("name", "raises"), params("Commands"))
def test_a_command(
    name: str,
    raises: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if name == "report":
        pytest.importorskip(
            "plotly", reason="plotly is not installed; it is part of the extra report"
        )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "request.json").write_bytes(BODY)
    (tmp_path / "toolcarry.toml").write_text("[projection]\nenabled = false\n", "utf-8")
    with Tract.open(tmp_path / "history.db") as tract:
        commit = tract.append_many(TALK)[0].commit_hash
    code = main([*name.split(), *(each.format(commit=commit) for each in COMMANDS[name])])
    message = capfd.readouterr().err
    assert (code == 2 and MESSAGE in message) == raises, message
    assert code == (2 if raises else 0), message


@pytest.mark.parametrize("job", ["inspect", "project", "recount"])
def test_a_job_of_batch(job: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = main(["batch", "--job", job, "--out", str(tmp_path / "out.jsonl"), SESSION])
    assert (code, MESSAGE in capfd.readouterr().err) == (2, True)


async def nothing(*_: object) -> None:
    """An ASGI application that answers nothing."""


def recorder(folder: Path, mode: CanonicalMode = "on") -> Recorder:
    return Recorder(str(folder / "history.db"), mode=mode)


def litellm_handler() -> Any:
    pytest.importorskip("litellm", reason="LiteLLM is not installed here")
    from toolcarry.integrations.litellm import ToolCarryHandler

    return ToolCarryHandler(RequestPipeline())


UPSTREAM = Upstream(name="local", url="http://127.0.0.1:11434", shape="ollama")
PARTS: dict[str, Callable[[Path], Any]] = {
    "ToolCarryMiddleware": lambda _: ToolCarryMiddleware(nothing, RequestPipeline()),
    "RequestPipeline(transformer=)": lambda _: RequestPipeline(
        transformer=toolcarry.SummarizeTransformer()
    ),
    "RequestPipeline(projection=)": lambda _: RequestPipeline(
        projection=ProjectPolicy(repair=True)
    ),
    "RequestPipeline(tool_cache=)": lambda _: RequestPipeline(
        tool_cache=toolcarry.ToolCache(MemoryToolCache())
    ),
    "RequestPipeline(recorder=)": lambda path: RequestPipeline(recorder=recorder(path)),
    'Recorder(mode="off")': lambda path: recorder(path, "off"),
    'Recorder(mode="on")': recorder,
    'Recorder(mode="shadow")': lambda path: recorder(path, "shadow"),
    "RecordingTransport": lambda path: RecordingTransport(httpx.HTTPTransport(), recorder(path)),
    "AsyncRecordingTransport": lambda path: AsyncRecordingTransport(
        httpx.AsyncHTTPTransport(), recorder(path)
    ),
    "Proxy": lambda _: Proxy(Config(serve=Serve(upstreams=(UPSTREAM,)))),
    "ToolCarryHandler": lambda _: litellm_handler(),
}


def test_every_part_of_a_proxy_has_a_row() -> None:
    rows = list(table("Parts of a proxy"))
    assert rows == list(PARTS)
    steps = {
        name
        for name, parameter in inspect.signature(RequestPipeline).parameters.items()
        if parameter.default is None and name != "window_tokens"  # a setting, and no step
    }
    assert {f"RequestPipeline({name}=)" for name in steps} <= set(rows)
    assert {f'Recorder(mode="{mode}")' for mode in get_args(CanonicalMode)} <= set(rows)


@pytest.mark.parametrize(("name", "raises"), params("Parts of a proxy"))
def test_a_part_of_a_proxy(name: str, raises: bool, tmp_path: Path) -> None:
    check(lambda: PARTS[name](tmp_path), raises=raises)


def test_a_proxy_that_projects_is_not_built() -> None:
    config = Config(projection=Projection(enabled=True), serve=Serve(upstreams=(UPSTREAM,)))
    check(lambda: Proxy(config), raises=True)
