"""The tables of the settings: frozen structs with their keys, defaults and checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from ipaddress import ip_address
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from msgspec import Meta, field
from msgspec.structs import force_setattr

from toolcarry.config.field_types import (
    Address,
    HeaderName,
    Limit,
    Name,
    Names,
    Percent,
    Port,
    Positive,
    RedisURL,
    Seconds,
    SummarizerName,
    Target,
    Text,
    TimeToLive,
    VariableName,
    WaitSeconds,
)
from toolcarry.config.mask import hide
from toolcarry.config.price_table import ModelPrice
from toolcarry.config.table import HoldsPolicy, Table, holds, limit
from toolcarry.errors import ConfigError
from toolcarry.types.destinations import Destination, check_destination
from toolcarry.types.policy import (
    DEFAULT_CONTEXT_CHARS,
    DEFAULT_RULES,
    CarryPolicy,
    ProjectPolicy,
    Rules,
)
from toolcarry.types.prices import PriceModel, set_price
from toolcarry.types.values import KeepBlock, Kind, Rule

__all__ = [
    "Config",
    "Dedup",
    "DedupRule",
    "History",
    "ModelPrice",
    "Projection",
    "Redaction",
    "RedactionRule",
    "Serve",
    "Sessions",
    "Shape",
    "Summarize",
    "Thinking",
    "ToolCache",
    "Upstream",
]


def check_names(table: str, names: Iterable[str], key: str = "name") -> None:
    """Raise ``ValueError`` if two entries of an array of tables have the same name, which is their ``key``.

    >>> check_names("upstreams", ["a", "b", "a"])
    Traceback (most recent call last):
    ValueError: upstreams[2].name: 'a' is already taken by upstreams[0]
    """
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if first.setdefault(name, index) != index:
            raise ValueError(
                f"{table}[{index}].{key}: {name!r:.80} is already taken by {table}[{first[name]}]"
            )


@holds(CarryPolicy, "model", "references")
class Summarize(HoldsPolicy, frozen=True):
    """``[thinking.summarize]``: the context for a new backend after a switch, and the summary of the dialogue.

    ``enabled``: true to carry a conversation over when its backend changes.
    ``summarizer``: what writes the summary: ``"extractive"`` (offline), ``"litellm"`` (needs the extra ``litellm``),
    ``"none"``, or your own callable as ``"package.module:callable"``.
    ``model``: the model that ``"litellm"`` uses; required for ``"litellm"``.
    ``instructions``: the instructions for the summarizer; empty for the built-in ones.
    ``timeout``: seconds that a summary may take, > 0.
    ``retries``: the number of further attempts after a failed summary.
    ``compact_at``: the share of the model's window, 0 to 1, at which the conversation restarts from a summary, as after
    a switch; 0 for never.
    ``include_tool_context``: true to carry tool results in addition to the summary.

    The other keys are the fields of ``CarryPolicy``, except ``references``, which ``[serve] retrieval_rounds``
    determines. ``max_chars`` defaults to 60,000 unless ``max_tokens`` is set. Without a limit on one result, results
    are carried in full if all of them fit into the total; otherwise each is cut to 2,000 characters.

    >>> Summarize().max_chars, Summarize(max_tokens=8_000).max_chars
    (60000, None)
    """

    enabled: bool = True
    summarizer: SummarizerName = "extractive"
    model: Text = ""
    instructions: Text = ""
    timeout: Seconds = 30.0
    retries: Annotated[int, Meta(ge=0, le=100)] = 2
    compact_at: Annotated[float, Meta(ge=0, le=1)] = 0.0
    include_tool_context: bool = True

    def __post_init__(self) -> None:
        # The default is in the field, so that it can be read and shown.
        fields = self.fields()
        if fields["max_chars"] is None and fields["max_tokens"] is None:
            force_setattr(self, "max_chars", DEFAULT_CONTEXT_CHARS)
        if self.summarizer == "litellm" and not self.model.strip():
            raise ValueError(
                f"model: {self.model!r:.80} is not allowed with summarizer = 'litellm'; "
                "allowed: the name of a model"
            )
        try:
            self.policy()
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def policy(self, rules: Rules = DEFAULT_RULES) -> CarryPolicy:
        """The policy of ``carry``.

        >>> Summarize(max_result_tokens=500).policy().max_chars
        60000
        """
        return CarryPolicy(**self.fields(), rules=rules)


class Thinking(Table, frozen=True):
    """``[thinking]``: the table that contains ``[thinking.summarize]``."""

    summarize: Summarize = Summarize()


class DedupRule(Table, frozen=True):
    """``[[dedup.rules]]``: a rule about which results of some tools supersede others; its keys are the fields of
    ``Rule``.

    ``tools``: a name or a list of names; ``*`` and ``?`` are wildcards.
    ``kind``: ``"read"``, ``"edit"``, ``"command"`` or ``"other"``.
    ``key``: the argument, or a list of arguments, that identifies the target of a call.
    ``keep``: which calls with the same target to keep: ``"last"``, ``"all"``, ``"first"`` or ``"none"``.
    ``max_result_chars``: the limit on one result of these tools, in characters, or ``"none"``.
    """

    tools: Names
    kind: Kind = "other"
    key: tuple[Name, ...] | Name = ()
    keep: KeepBlock = "last"
    max_result_chars: Limit | None = None

    def rule(self) -> Rule:
        """The rule.

        >>> DedupRule(tools="search_*", key=("query",)).rule().tools
        ('search_*',)
        """
        return Rule(
            self.tools,
            kind=self.kind,
            key=self.key,
            keep=self.keep,
            max_result_chars=limit(self.max_result_chars),
        )


class Dedup(Table, frozen=True):
    """``[dedup]``: the rules by which newer results supersede older ones.

    ``preset``: the built-in rules to use: ``"default"``, or ``"careful"``, which keeps every edit of a file until the
    file is written or read in full again, and can't be combined with ``rules``.
    ``rules``: ``[[dedup.rules]]``, which come before the built-in ones.

    >>> Dedup(preset="careful").policy_rules()
    'careful'
    """

    preset: Literal["default", "careful"] = "default"
    rules: tuple[DedupRule, ...] = ()

    def __post_init__(self) -> None:
        if self.preset == "careful" and self.rules:
            raise ValueError(
                "preset: 'careful' is not allowed together with rules; allowed: 'default'"
            )

    def policy_rules(self) -> Rules:
        """The rules as a policy has them."""
        if self.preset == "careful":
            return "careful"
        return tuple(each.rule() for each in self.rules) or DEFAULT_RULES


@holds(ProjectPolicy, "references", repair=True)
class Projection(HoldsPolicy, frozen=True):
    """``[projection]``: how every request is made smaller.

    ``enabled``: true to project requests.

    The other keys are the fields of a ``ProjectPolicy``; ``repair`` is on by default.
    """

    enabled: bool = False

    def __post_init__(self) -> None:
        try:
            self.policy()
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def policy(self, rules: Rules = DEFAULT_RULES) -> ProjectPolicy:
        """The policy of ``project``, without the destination: only the whole configuration knows all of them.

        >>> Projection().policy().repair
        True
        """
        return ProjectPolicy(**{**self.fields(), "destination": None}, rules=rules)


Shape = Literal["anthropic", "openai", "ollama"]
"""The API that an upstream serves; ``"openai"`` is Chat Completions and Responses."""


class RedactionRule(Table, frozen=True):
    """``[[redaction.rules]]``: additional kinds of secrets.

    ``name``: the unique name under which matches are counted.
    ``pattern``: a regular expression in RE2 syntax; its group ``secret`` is replaced, or the whole match if there is no
    such group.
    ``keywords``: the pattern is tried only on texts that contain one of these.
    """

    name: Name
    pattern: Annotated[str, Meta(min_length=1)]
    keywords: tuple[Name, ...] = ()


class Redaction(Table, frozen=True):
    """``[redaction]``: the removal of secrets from contexts. Logs are always redacted.

    ``enabled``: true to redact carried text; needs the extra ``redact``.
    ``use_default_rules``: true to apply the built-in rules.
    ``rules``: ``[[redaction.rules]]``, additional rules.
    """

    enabled: bool = False
    use_default_rules: bool = True
    rules: tuple[RedactionRule, ...] = ()

    def __post_init__(self) -> None:
        check_names("rules", (rule.name for rule in self.rules))


class Upstream(Table, frozen=True):
    """``[[serve.upstreams]]``: a backend that requests are sent to.

    ``name``: its unique name.
    ``url``: its address, ``http://`` or ``https://``, without the path of the API.
    ``shape``: the API that it serves: ``"anthropic"``, ``"openai"`` or ``"ollama"``.
    ``models``: the models whose requests go to this upstream; ``*`` and ``?`` are wildcards.
    ``model``: the model to ask for if a request names one that is not in ``models``, as after a switch; empty to pass
    on every name unchanged.
    ``api_key_env``: the environment variable with its API key; if empty, the client's own key is passed on.
    ``timeout``: seconds to wait for its answer, > 0.
    ``destination``: the destination that its requests are repaired for; by default that of ``[projection]``.
    """

    name: Name
    url: Text
    shape: Shape
    destination: Name | None = None
    models: tuple[Name, ...] = ()
    model: Text = ""
    api_key_env: VariableName = ""
    timeout: Seconds = 600.0

    def __post_init__(self) -> None:
        if not is_plain_url(self.url):
            raise ValueError(
                f"url: {hide(self.url)!r:.80} is not allowed; "
                "allowed: http:// or https:// and a host, without user, password, query and fragment"
            )


class Serve(Table, frozen=True):
    """``[serve]``: the proxy that ``toolcarry serve`` runs.

    ``host``: the address that it listens on.
    ``port``: the port, 0 to 65535; 0 for any free port.
    ``default``: the name of the upstream for models that no upstream lists; empty for the first upstream.
    ``max_body_bytes``: the longest body of a request, in bytes, >= 1.
    ``body_timeout``: seconds that the head of a request may take to arrive, and the same again for its body, > 0.
    ``control_listen``: the address of ``/switch`` and ``/metrics``, as ``host:port``; empty for ``127.0.0.1`` and the
    port after ``port``. An address that other machines reach needs ``token_env``.
    ``token_env``: the environment variable with the token that ``/switch`` requires; empty for no token.
    ``allowed_hosts``: host names with a dot that clients may use for the proxy, as in their ``Host`` header. IP
    addresses, names without a dot, and names that end in ``.local``, ``.internal`` or ``.localhost`` are always
    allowed.
    ``allowed_origins``: the web pages and desktop applications that may send requests, as in their ``Origin`` header.
    ``tenant_header``: the header that names the tenant; empty if there are no tenants.
    ``retrieval_rounds``: how many times per request the proxy itself answers a model that asks for a result that was
    left out, 0 to 20; 0 for never.
    ``upstreams``: ``[[serve.upstreams]]``, the backends.
    """

    host: Name = "127.0.0.1"
    port: Port = 8_787
    default: Text = ""
    max_body_bytes: Positive = 32 * 1_024 * 1_024
    body_timeout: Seconds = 60.0
    control_listen: Address = ""
    token_env: VariableName = ""
    allowed_hosts: tuple[Name, ...] = ()
    allowed_origins: tuple[Name, ...] = ()
    tenant_header: HeaderName = ""
    retrieval_rounds: Annotated[int, Meta(ge=0, le=20)] = 0
    upstreams: tuple[Upstream, ...] = ()

    def __post_init__(self) -> None:
        names = [upstream.name for upstream in self.upstreams]
        check_names("upstreams", names)
        if self.default and self.default not in names:
            listed = ", ".join(map(repr, names)) or "the name of an upstream; none is defined"
            raise ValueError(f"default: {self.default!r:.80} is not allowed; allowed: {listed}")
        host, port = self.control_address()
        if port and (port == self.port or port > 65_535):
            raise ValueError(
                f"control_listen: port {port} is not allowed; allowed: 0 to 65535, different from port"
            )
        if not self.token_env and not is_this_machine(host):
            raise ValueError(
                f"control_listen: {self.control_listen!r:.80} is not allowed without token_env; "
                "allowed: localhost, 127.0.0.1 and [::1] with a port"
            )

    def control_address(self) -> tuple[str, int]:
        """Return the address of ``/switch`` and ``/metrics``; port 0 stands for any free port.

        >>> Serve(port=80).control_address(), Serve(control_listen="[::1]:90").control_address()
        (('127.0.0.1', 81), ('::1', 90))
        """
        if self.control_listen:
            host, _, port = self.control_listen.rpartition(":")
            return host.strip("[]"), int(port)
        return "127.0.0.1", self.port + 1 if 0 < self.port < 65_535 else 0

    def variable_names(self) -> set[str]:
        """Return the names of the environment variables that hold secrets.

        >>> Serve(token_env="SWITCH_TOKEN").variable_names()
        {'SWITCH_TOKEN'}
        """
        names = {self.token_env, *(upstream.api_key_env for upstream in self.upstreams)}
        return names - {""}


def is_this_machine(host: str) -> bool:
    """True if only this machine can reach an address.

    >>> is_this_machine("localhost"), is_this_machine("127.8.8.8"), is_this_machine("0.0.0.0")
    (True, True, False)
    """
    try:
        return host.lower() == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def is_plain_url(text: str) -> bool:
    """True if ``text`` is an HTTP URL without secrets, and without parts that the proxy would ignore.

    >>> is_plain_url("https://api.example.com/v1"), is_plain_url("https://me:pass@example.com")
    (True, False)
    """
    if not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        is_there = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    is_bare = "@" not in parts.netloc and "?" not in text and "#" not in text
    return parts.scheme in ("http", "https") and is_there and is_bare


class Sessions(Table, frozen=True):
    """``[sessions]``: what is remembered about each conversation, so that a switch can be recognised.

    ``max_bytes``: the memory limit, in bytes, >= 1; the least recently used conversation is evicted first. If sessions
    are stored in the history, evicted ones can still be read from there.
    ``max_entries``: the maximum number of conversations, >= 1.
    ``ttl``: seconds that a conversation is remembered after its last request, > 0.
    ``single_user``: true if all requests come from one user, with any key or none; false if only the key identifies the
    user, so that nothing is remembered about requests without a key. If not set, the key identifies the user, and
    requests without a key count as those of one user if ``[serve] host`` is an address of this machine,
    ``tenant_header`` and ``allowed_hosts`` are empty, and the requests have no header that another proxy adds, no
    cookie, and no header for a key or token. Set this to false behind a proxy that adds no header, since such a proxy
    can't be detected.
    ``guess_conversation``: true to identify a conversation without an id by its client and its beginning; two
    conversations that begin alike are distinguished as soon as they differ.
    """

    max_bytes: Positive = 256 * 1_024 * 1_024
    max_entries: Positive | None = None
    ttl: TimeToLive = 86_400.0
    single_user: bool | None = None
    guess_conversation: bool = True


class ToolCache(Table, frozen=True):
    """``[tool_cache]``: a cache of tool definitions, for requests that come without them.

    ``enabled``: true to cache definitions.
    ``ttl``: seconds that definitions are kept after their last use, > 0.
    ``max_bytes``: the memory limit, in bytes, >= 1; the least recently used definitions are evicted first.
    ``max_entries``: the maximum number of entries, >= 1, in memory and in the file.
    ``when``: when definitions are restored: ``"always"``, ``"tool_conversation"`` (if the conversation already has tool
    calls) or ``"never"``. A client that sends its tools only once needs ``"always"``.
    ``empty_means_absent``: true to treat an empty list of tools like a missing one.
    ``path``: the SQLite file that keeps definitions after the process ends; empty for none.
    ``redis_url``: the Redis server, version 6.2 or newer, that several processes share; empty for none. Not allowed
    with ``path``.
    """

    enabled: bool = True
    ttl: TimeToLive = 3_600.0
    max_bytes: Positive = 256 * 1_024 * 1_024
    max_entries: Positive | None = None
    when: Literal["always", "tool_conversation", "never"] = "tool_conversation"
    empty_means_absent: bool = True
    path: Text = ""
    redis_url: RedisURL = ""

    def __post_init__(self) -> None:
        if self.path and self.redis_url:
            raise ValueError(
                "path: is not allowed together with redis_url; allowed: one of the two"
            )


class History(Table, frozen=True):
    """``[history]``: the store of the canonical history.

    ``target``: a file, or ``postgresql://...``; empty for none.
    ``busy_timeout``: seconds to wait while other processes use the store, >= 0.
    ``canonical_mode``: ``"on"`` records requests and answers, and replaces nulls and placeholders with results from the
    history; ``"shadow"`` records them and what this would have changed, but leaves requests unchanged. Both need
    ``target``.
    ``rollout_percent``: the percentage of conversations that ``canonical_mode`` applies to, 0 to 100; these are always
    the same ones, and for all others the mode is ``"off"``.
    ``on_truncated_write``: what to do with a result that was already cut when it arrived: ``"count"`` stores and counts
    it, ``"warn"`` also logs it, ``"raise"`` does not store it.

    >>> History(target="history.db", canonical_mode="shadow", rollout_percent=5).on_truncated_write
    'warn'
    """

    target: Target = ""
    busy_timeout: WaitSeconds = 10.0
    canonical_mode: Literal["off", "shadow", "on"] = "off"
    rollout_percent: Percent = 100.0
    on_truncated_write: Literal["count", "warn", "raise"] = "warn"

    def __post_init__(self) -> None:
        if self.canonical_mode != "off" and not self.target:
            raise ValueError(
                f"canonical_mode: {self.canonical_mode!r} is not allowed without target; allowed: 'off'"
            )


class Config(Table, frozen=True):
    """All settings of ``toolcarry.toml``; each has a default. Frozen, compared by content.

    Each table is documented in its class: ``thinking`` (where ``thinking.summarize`` is a ``Summarize``),
    ``dedup``, ``projection``, ``sessions``, ``tool_cache``, ``history``, ``redaction``, ``serve``.
    ``prices``: ``[[prices]]``, prices of models, which replace the built-in ones.
    ``destinations``: ``[destinations.NAME]``, your own destinations: ``base`` names the destination to start from, and
    the other keys are the rules that differ (``toolcarry.types.destinations.RULES``). Values are checked when settings
    are loaded; a ``Config`` that you make in code is not checked.

    >>> Config().thinking.summarize.max_chars
    60000
    """

    thinking: Thinking = Thinking()
    dedup: Dedup = Dedup()
    projection: Projection = Projection()
    sessions: Sessions = Sessions()
    tool_cache: ToolCache = ToolCache()
    history: History = History()
    redaction: Redaction = Redaction()
    serve: Serve = Serve()
    prices: tuple[ModelPrice, ...] = ()
    destinations: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_names("prices", (price.model for price in self.prices), "model")
        own = self.own_destinations()
        try:
            check_destination(
                "projection.destination", self.projection.fields()["destination"], own
            )
            for index, upstream in enumerate(self.serve.upstreams):
                key = f"serve.upstreams[{index}].destination"
                check_destination(key, upstream.destination, own)
        except ConfigError as error:
            raise ValueError(str(error)) from None

    def __hash__(self) -> int:
        tables = (getattr(self, name) for name in self.__struct_fields__ if name != "destinations")
        return hash((*tables, repr(self.destinations)))

    def own_destinations(self) -> tuple[Destination, ...]:
        """The destinations of ``[destinations]``. Raises ``ValueError`` if one of them is not allowed."""
        found: list[Destination] = []
        for name, given in self.destinations.items():
            rules = {key: value for key, value in given.items() if key != "base"}
            try:
                found.append(Destination(name, given.get("base", ""), rules))
            except ConfigError as error:
                raise ValueError(f"destinations.{name}.{error}") from None
        return tuple(found)

    def own_prices(self) -> dict[str, PriceModel]:
        """The price models of ``[[prices]]`` by the beginning of a model's name, or ``"*"``.

        >>> Config(prices=(ModelPrice(model="*", match="none"),)).own_prices()["*"].cache_read
        1.0
        """
        return {each.model: each.price() for each in self.prices}

    def upstream_destinations(self) -> dict[str, str | Destination]:
        """The destinations of the upstreams that have one, by the upstream's name."""
        own = self.own_destinations()
        found = {
            upstream.name: check_destination("destination", upstream.destination, own)
            for upstream in self.serve.upstreams
        }
        return {name: each for name, each in found.items() if each is not None}

    def carry_policy(self) -> CarryPolicy:
        """The policy of a backend switch: ``[thinking.summarize]`` and ``[dedup]``.

        >>> Config().carry_policy().max_chars
        60000
        """
        return self.thinking.summarize.policy(self.dedup.policy_rules())

    def projection_policy(self) -> ProjectPolicy:
        """The policy of projections: ``[projection]`` and ``[dedup]``, with the price that is set for the policy's
        model.

        >>> Config().projection_policy().repair
        True
        """
        policy = self.projection.policy(self.dedup.policy_rules())
        own = self.own_destinations()
        destination = check_destination("destination", self.projection.fields()["destination"], own)
        prices = policy.prices
        if prices is None and policy.model is not None:
            prices = set_price(policy.model, self.own_prices())
        return replace(policy, destination=destination, prices=prices)
