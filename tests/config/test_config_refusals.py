"""Settings that are refused: every message, and that nothing slips through."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.rows import for_each
from support.strategies.settings import all_settings

from toolcarry import ConfigError
from toolcarry.config import Config, parse_config
from toolcarry.config.load import place_of
from toolcarry.config.schema import KeyPath, allowed, has_mark, keys, struct_of, type_at
from toolcarry.config.write import toml

UPSTREAM = '[[serve.upstreams]]\nname = "a"\nurl = "http://a"\nshape = "ollama"\n'

REFUSED = {
    # keys that there are not
    "[thinking.summarise]": "thinking.summarise: unknown key; did you mean 'summarize'? allowed: summarize",
    "sreve.port = 1": "sreve: unknown key; did you mean 'serve'? allowed: thinking, dedup, projection, sessions, "
    "tool_cache, history, redaction, serve, prices, destinations",
    "[sessions]\nzzz = 1": "sessions.zzz: unknown key; allowed: max_bytes, max_entries, ttl, single_user, guess_conversation",
    '[sessions]\n"a.b`\\u001b[31m" = 1': "sessions.'a.b`\\x1b[31m': unknown key; allowed: max_bytes, max_entries, ttl, single_user, guess_conversation",
    '[[dedup.rules]]\ntools = "a"\n[[dedup.rules]]\ntool = "b"': "dedup.rules[1].tool: unknown key; did you mean 'tools'? "
    "allowed: tools, kind, key, keep, max_result_chars",
    # values of another kind
    "serve = 5": "serve: 5 is not allowed; allowed: a table",
    "serve = []": "serve: a list is not allowed; allowed: a table",
    "[serve.upstreams]": "serve.upstreams: a table is not allowed; allowed: an array of tables",
    "[serve]\nupstreams = [1]": "serve.upstreams[0]: 1 is not allowed; allowed: a table",
    "[serve]\nport = '80'": "serve.port: '80' is not allowed; allowed: an integer from 0 to 65,535",
    "[serve]\nport = true": "serve.port: true is not allowed; allowed: an integer from 0 to 65,535",
    "[serve]\nport = 80.5": "serve.port: 80.5 is not allowed; allowed: an integer from 0 to 65,535",
    "[serve]\nhost = 1979-05-27": "serve.host: 1979-05-27 is not allowed; allowed: a non-empty string on one line",
    "[projection]\nenabled = 1": "projection.enabled: 1 is not allowed; allowed: true, false",
    "[projection]\nenabled = 'yes'": "projection.enabled: 'yes' is not allowed; allowed: true, false",
    "[projection]\nexclude_tools = 'a'": "projection.exclude_tools: 'a' is not allowed; allowed: a list of strings",
    "[projection]\nexclude_tools = ['a', 1]": "projection.exclude_tools[1]: 1 is not allowed; allowed: a non-empty string "
    "on one line",
    "[dedup]\nrules = [{tools = 1}]": "dedup.rules[0].tools: 1 is not allowed; allowed: a list of strings, a non-empty string "
    "on one line",
    # values out of range
    "[serve]\nport = 65536": "serve.port: 65536 is not allowed; allowed: an integer from 0 to 65,535",
    "[sessions]\nmax_entries = 0": "sessions.max_entries: 0 is not allowed; allowed: an integer from 1 to "
    "1,000,000,000,000",
    f"[sessions]\nmax_entries = 0x{'f' * 5_000}": "sessions.max_entries: an integer of 20,000 bits is not allowed; "
    "allowed: an integer from 1 to 1,000,000,000,000",
    "[sessions]\nttl = nan": "sessions.ttl: nan is not allowed; allowed: a number > 0 and <= 1,000,000,000",
    "[sessions]\nttl = inf": "sessions.ttl: inf is not allowed; allowed: a number > 0 and <= 1,000,000,000",
    "[history]\nrollout_percent = 101": "history.rollout_percent: 101 is not allowed; allowed: a number from 0 to 100",
    "[history]\ncanonical_mode = 'on'": "history.canonical_mode: 'on' is not allowed without target; allowed: 'off'",
    "[history]\ntarget = 'a.db'\non_truncated_write = 'drop'": "history.on_truncated_write: 'drop' is not allowed; "
    "allowed: 'count', 'raise', 'warn'",
    "[history]\nbusy_timeout = -1": "history.busy_timeout: -1 is not allowed; allowed: a number from 0 to 1,000,000",
    "[thinking.summarize]\ntimeout = 0": "thinking.summarize.timeout: 0 is not allowed; allowed: a number > 0 and <= "
    "1,000,000",
    "[thinking.summarize]\nretries = 101": "thinking.summarize.retries: 101 is not allowed; allowed: an integer from 0 "
    "to 100",
    "[thinking.summarize]\nmax_chars = -1": "thinking.summarize.max_chars: -1 is not allowed; "
    "allowed: an integer from 0 to 1,000,000,000,000, 'none'",
    "[thinking.summarize]\nmax_result_chars = 'all'": "thinking.summarize.max_result_chars: 'all' is not "
    "allowed; allowed: an integer from 0 to 1,000,000,000,000, 'none'",
    "[thinking.summarize]\nkeep = 'tial'": "thinking.summarize.keep: 'tial' is not allowed; allowed: 'auto', 'ends', "
    "'head', 'tail'",
    "[thinking.summarize]\nsummarizer = 'gpt'": "thinking.summarize.summarizer: 'gpt' is not allowed; allowed: "
    "'extractive', 'litellm', 'none', 'package.module:callable'",
    "[[dedup.rules]]\ntools = []": "dedup.rules[0].tools: a list is not allowed; allowed: a list of strings, a non-empty string "
    "on one line",
    "[[dedup.rules]]\ntools = 'a'\nkind = 'reed'": "dedup.rules[0].kind: 'reed' is not allowed; allowed: 'command', "
    "'edit', 'other', 'read'",
    "[history]\ntarget = \"a\\u0000\"": "history.target: 'a\\x00' is not allowed; allowed: a string without NUL",
    "[tool_cache]\nredis_url = 'http://:hunter2@a'": "tool_cache.redis_url: 'http://:***@a' is not allowed; allowed: "
    "redis://..., rediss://..., unix://...",
    "[serve]\ncontrol_listen = '8788'": "serve.control_listen: '8788' is not allowed; allowed: host:port",
    "[serve]\ncontrol_listen = '127.0.0.1:8787'": "serve.control_listen: port 8787 is not allowed; allowed: 0 to 65535, "
    "different from port",
    "[serve]\ncontrol_listen = '0.0.0.0:90'": "serve.control_listen: '0.0.0.0:90' is not allowed without token_env; "
    "allowed: localhost, 127.0.0.1 and [::1] with a port",
    "[serve]\nbody_timeout = 0": "serve.body_timeout: 0 is not allowed; allowed: a number > 0 and <= 1,000,000",
    "[sessions]\nmax_bytes = 0": "sessions.max_bytes: 0 is not allowed; allowed: an integer from 1 to 1,000,000,000,000",
    "[serve]\ntenant_header = 'X Tenant'": "serve.tenant_header: 'X Tenant' is not allowed; allowed: the name of a header",
    "[serve]\ntoken_env = 'hunter-2'": "serve.token_env: the value is not allowed; allowed: the name of an environment "
    "variable",
    f"{UPSTREAM}api_key_env = 'hunter-2'": "serve.upstreams[0].api_key_env: the value is not allowed; allowed: the name of "
    "an environment variable",
    # what is missing
    "[[dedup.rules]]\nkeep = 'all'": "dedup.rules[0].tools: is missing; allowed: a list of strings, a non-empty string "
    "on one line",
    "[[serve.upstreams]]\nname = 'a'\nurl = 'http://a'": "serve.upstreams[0].shape: is missing; allowed: 'anthropic', "
    "'ollama', 'openai'",
    # what keys have to do with one another
    "[thinking.summarize]\nmax_chars = 1\nmax_tokens = 2": "thinking.summarize."
    "max_tokens: 2 is not allowed together with max_chars; allowed: one of the two",
    "[projection]\nmax_all_results_chars = 1\nmax_all_results_tokens = 2": "projection.max_all_results_tokens: 2 is not "
    "allowed together with max_all_results_chars; allowed: one of the two",
    "[thinking.summarize]\nsummarizer = 'litellm'\nmodel = ' '": "thinking.summarize.model: ' ' is not allowed with "
    "summarizer = 'litellm'; allowed: the name of a model",
    "[tool_cache]\npath = 'a'\nredis_url = 'redis://a'": "tool_cache.path: is not allowed together with redis_url; allowed: one of the two",
    "[dedup]\npreset = 'careful'\nrules = [{tools = 'a'}]": "dedup.preset: 'careful' is not allowed together with rules; allowed: "
    "'default'",
    "[serve]\ndefault = 'b'": "serve.default: 'b' is not allowed; allowed: the name of an upstream; none is defined",
    f"[serve]\ndefault = 'b'\n{UPSTREAM}": "serve.default: 'b' is not allowed; allowed: 'a'",
    f"{UPSTREAM}{UPSTREAM}": "serve.upstreams[1].name: 'a' is already taken by upstreams[0]",
    "redaction.rules = [{name = 'a', pattern = 'x'}, {name = 'a', pattern = 'y'}]": "redaction.rules[1].name: 'a' is already "
    "taken by rules[0]",
    "[[serve.upstreams]]\nname = 'a'\nshape = 'openai'\nurl = 'https://me:hunter2@a'": "serve.upstreams[0].url: "
    "'https://me:***@a' is not allowed; allowed: http:// or https:// and a host, without user, password, query and fragment",
    "[[prices]]\nmodel = 'm'\ncache_read = -1": "prices[0].cache_read: -1 is not allowed; allowed: a number from 0 to 1,000",
    "[[prices]]\nmodel = 'm'\ncache_read = 1\nmatch = 'sight'": "prices[0].match: 'sight' is not allowed; allowed: 'marks', 'none', 'prefix'",
    "[[prices]]\nmodel = 'm'": "prices[0].cache_read: is required with match 'prefix'; allowed: a number from 0 to 1,000",
    "[[prices]]\nmodel = 'm'\ncache_read = 0.1\nmatch = 'none'": "prices[0].cache_read: 0.1 is not allowed without a cache; allowed: 1",
    "[[prices]]\nmodel = '*'\nmatch = 'none'\n[[prices]]\nmodel = '*'\nmatch = 'none'": "prices[1].model: '*' is already "
    "taken by prices[0]",
    # not TOML
    "[serve\nport = 1": "line 1, column 7: expected ']' at the end of a table declaration",
    "[serve]\nport = 1\nport = 2\n": "line 3, column 9: cannot overwrite a value",
    "[serve]\na = 'b\n\n": "line 2, at the end: expected \"'\"",
    "[serve]\na = [1,\n\n": "line 2, at the end: invalid value",
    "a = " + "[" * 100_000: "nested too deeply",
}  # fmt: skip


@for_each(("text", "message"), REFUSED.items(), ids=range(len(REFUSED)))
def test_every_message(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_config(text)
    assert str(caught.value) == f"toolcarry.toml: {message}"
    assert "hunter" not in str(caught.value)


URLS = (
    "", "a.example", "ftp://a", "http://", "http:///v1", "http://a:99999", "http://a:x", "http://[::1", "http://me@a",
    "http://a?key=1", "http://a#b", "http://a b", "http://a\x7f", "http://a:0",
)  # fmt: skip


@pytest.mark.parametrize("url", URLS)
def test_addresses_that_are_invalid(url: str) -> None:
    with pytest.raises(
        ConfigError, match=r"serve\.upstreams\[0\]\.url: .* is not allowed; allowed: http"
    ):
        parse_config(UPSTREAM.replace('"http://a"', toml(url)))


def inline(value: object) -> str:
    """A value as TOML, tables inline."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{toml(key)} = {inline(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return toml(value)


def document(settings: dict[str, Any]) -> str:
    return "\n".join(f"{toml(key)} = {inline(value)}" for key, value in settings.items())


def tables(data: Any, path: KeyPath = ()) -> list[tuple[KeyPath, dict[str, Any]]]:
    """All tables with fixed keys, and their paths."""
    if path == ("destinations",):  # its keys are the user's names
        return []
    if isinstance(data, dict):
        inner = [found for key, value in data.items() for found in tables(value, (*path, key))]
        return [(path, data), *inner]
    if isinstance(data, list):
        return [found for i, value in enumerate(data) for found in tables(value, (*path, i))]
    return []


@given(all_settings(), st.data())
def test_an_unknown_key_is_refused_in_every_table(
    settings: dict[str, Any], data: st.DataObject
) -> None:
    assert isinstance(parse_config(document(settings)), Config)
    path, table = data.draw(st.sampled_from(tables(settings)))
    key = data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
    known = known_keys(path)
    assume(key not in known)
    table[key] = data.draw(st.sampled_from([1, "a", True, [], {}]))
    with pytest.raises(ConfigError) as caught:
        parse_config(document(settings))
    message = str(caught.value)
    assert message.startswith(f"toolcarry.toml: {place_of((*path, key))}: unknown key; ")
    assert message.endswith(f"allowed: {', '.join(known)}")
    assert message.isprintable() or not key.isprintable()
    assert "\x1b" not in message


def known_keys(path: KeyPath) -> list[str]:
    kind = type_at(path)
    struct = struct_of(kind) if kind else None
    assert struct is not None
    return [field.name for field in struct.fields]


@for_each("path", list(keys()), ids=place_of)
def test_a_value_of_another_kind_is_refused_with_its_place(path: KeyPath) -> None:
    nested: Any = {"a": 1}
    for key in reversed(path):
        nested = {key: nested}
    with pytest.raises(ConfigError) as caught:
        parse_config(document(nested))
    value = "the value" if has_mark(path, "is_secret") else "a table"
    assert str(caught.value) == (
        f"toolcarry.toml: {place_of(path)}: {value} is not allowed; allowed: {allowed(type_at(path))}"
    )


def test_secrets_are_marked() -> None:
    marked = {place_of(path) for path in keys() if has_mark(path, "has_password")}
    assert marked == {"history.target", "tool_cache.redis_url"}
    assert has_mark(("serve", "upstreams", 3, "api_key_env"), "is_secret")
    assert not has_mark(("serve", "port"), "is_secret")
