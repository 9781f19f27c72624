"""The default settings, and the library objects that are made from settings."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from toolcarry import DEFAULT_RULES, NO_LIMIT, CarryPolicy, ProjectPolicy, Rule
from toolcarry.config import Config, History, parse_config
from toolcarry.config.schema import keys, struct_of, type_at
from toolcarry.types.fields import entries

EXAMPLE = Path(__file__).parents[2] / "examples" / "toolcarry.toml"
TABLES = {
    "thinking.summarize", "thinking", "dedup", "dedup.rules", "projection", "sessions", "tool_cache", "history",
    "redaction", "redaction.rules", "serve", "serve.upstreams",
}  # fmt: skip


def test_an_empty_file_is_good() -> None:
    assert parse_config("") == Config()


def test_defaults() -> None:
    config = Config()
    assert config.carry_policy() == CarryPolicy(max_chars=60_000)
    assert config.projection_policy() == ProjectPolicy(repair=True)
    assert (config.thinking.summarize.enabled, config.projection.enabled) == (True, False)
    assert (config.tool_cache.enabled, config.redaction.enabled) == (True, False)
    assert (config.serve.host, config.serve.port) == ("127.0.0.1", 8787)
    assert config.serve.max_body_bytes == 2**25
    assert config.history == History(target="", busy_timeout=10.0, canonical_mode="off")


def test_settings_are_frozen() -> None:
    with pytest.raises(AttributeError):
        Config().serve.port = 1  # type: ignore[misc]
    assert hash(Config()) == hash(parse_config(""))


def test_every_key_becomes_its_part_of_a_policy() -> None:
    config = parse_config("""
        [thinking.summarize]
        max_tokens = 9
        max_result_chars = "none"
        max_result_tokens = 7
        encoding = "cl100k_base"
        keep = "tail"
        layout = "sections"
        content = "off"
        include_summary = false
        include_files = false
        include_changes = false
        include_commands = false
        include_others = false
        include_failed = false
        include_interrupted = false
        framing = false
        [[dedup.rules]]
        tools = "search_*"
        [[dedup.rules]]
        tools = ["view", "open"]
        kind = "read"
        key = "file"
        keep = "first"
        max_result_chars = 50
        [projection]
        repair = false
        destination = "mistral"
        max_request_tokens = "80%"
        model = "gpt-4"
        window_tokens = 10
        content = ["json", "logs"]
        max_all_results_chars = "none"
        max_result_chars = 3
        max_result_tokens = 4
        encoding = "cl100k_base"
        keep = "head"
        clear_at_least_tokens = 5
        clear_tool_inputs = ["Write"]
        exclude_tools = ["a", "b*"]
        keep_last_results = 6
        keep_last_turns = 7
    """)
    rules = (
        Rule("search_*"),
        Rule(("view", "open"), kind="read", key="file", keep="first", max_result_chars=50),
    )
    assert config.carry_policy() == CarryPolicy(
        max_tokens=9,
        max_result_chars=NO_LIMIT,
        max_result_tokens=7,
        encoding="cl100k_base",
        keep="tail",
        layout="sections",
        content="off",
        rules=rules,
        include_summary=False,
        include_files=False,
        include_changes=False,
        include_commands=False,
        include_others=False,
        include_failed=False,
        include_interrupted=False,
        framing=False,
    )
    assert config.projection_policy() == ProjectPolicy(
        repair=False,
        destination="mistral",
        max_request_tokens="80%",
        model="gpt-4",
        window_tokens=10,
        content=("json", "logs"),
        max_all_results_chars=NO_LIMIT,
        max_result_chars=3,
        max_result_tokens=4,
        encoding="cl100k_base",
        keep="head",
        rules=rules,
        clear_at_least_tokens=5,
        clear_tool_inputs=("Write",),
        exclude_tools=("a", "b*"),
        keep_last_results=6,
        keep_last_turns=7,
    )


def test_presets() -> None:
    assert Config().carry_policy().rules == DEFAULT_RULES
    careful = parse_config('dedup.preset = "careful"')
    assert careful.carry_policy().rules == careful.projection_policy().rules == "careful"


@pytest.mark.parametrize(
    ("given", "chars", "tokens"),
    [
        ("", None, None),
        ("max_result_tokens = 5", None, 5),
        ("max_result_chars = 0", 0, None),
    ],
)
def test_one_result_has_the_limits_that_are_set(
    given: str, chars: int | None, tokens: int | None
) -> None:
    policy = parse_config(f"[thinking.summarize]\n{given}").carry_policy()
    assert (policy.max_result_chars, policy.max_result_tokens) == (chars, tokens)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_key_is_documented(name: str) -> None:
    kind = type_at(tuple(name.split(".")))
    if isinstance(kind, msgspec.inspect.VarTupleType):
        kind = kind.item_type
    assert kind is not None
    struct = struct_of(kind)
    assert struct is not None
    text = " ".join((struct.cls.__doc__ or "").split())
    assert f"[{name}]" in text
    held = getattr(struct.cls, "policy_keys", ())
    documented = {*dict(entries(struct.cls.__doc__)), *held, "summarize"}
    assert {field.name for field in struct.fields} <= documented


def test_all_tables_are_named_here() -> None:
    assert {".".join(map(str, path[:-1])) for path in keys()} <= TABLES


def test_the_example_has_exactly_the_documented_values() -> None:
    config = parse_config(EXAMPLE.read_text())
    upstreams = config.serve.upstreams
    assert [(each.name, each.shape) for each in upstreams] == [
        ("claude", "anthropic"),
        ("local", "ollama"),
    ]
    assert config.dedup.policy_rules() == (Rule("search_*", key="query"),)
    stated = msgspec.structs.replace(
        Config(),
        dedup=config.dedup,
        serve=msgspec.structs.replace(
            Config().serve,
            default="claude",
            token_env="TOOLCARRY_SWITCH_TOKEN",
            upstreams=upstreams,
        ),
    )
    assert config == stated
