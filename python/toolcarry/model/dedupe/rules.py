"""Find the rule for a tool's name.

A name is matched without regard to ASCII case, whole and without ``mcp__server__`` or ``functions.``; if the call names
its server apart from the tool, also as ``mcp__server__tool`` and ``server.tool``. A character that UTF-8 can't encode
matches as U+FFFD. The first rule that matches decides; user rules come before the built-in ones.
"""

from __future__ import annotations

from typing import Literal

from toolcarry._input.objects import JsonObject
from toolcarry.types.policy import DEFAULT_RULES
from toolcarry.types.values import Rule

OTHER = Rule((), kind="other", keep="all")
"""The rule of tools that no other rule matches."""

_MAX_REMEMBERED_NAMES = 4_096

_FOLDED = dict.fromkeys(range(0xD800, 0xE000), 0xFFFD) | {
    upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)
}
"""The translation of names before they are compared: to lower case, and lone surrogates to U+FFFD."""

_Decision = tuple[Rule, dict[str, Rule]]
"""The rule for a name, and those for its sub-commands."""


class RuleSet:
    """Rules, compiled for look-up by name."""

    def __init__(self, rules: tuple[Rule, ...] | Literal["careful"]) -> None:
        self.is_careful = rules == "careful"
        given = () if rules == "careful" or rules is DEFAULT_RULES else rules
        self.rules = (*given, *DEFAULT_RULES, OTHER)
        self.keeps_first = any(rule.keep == "first" for rule in self.rules)
        self._exact: dict[str, int] = {}
        self._globs: list[tuple[str, int]] = []
        self._subcommands: dict[str, dict[str, int]] = {}
        self.known: dict[str, Rule] = {}
        """The rules of names that were seen before, except for those that have sub-commands."""
        self._by_name: dict[tuple[str, str], _Decision] = {}
        for number, rule in enumerate(self.rules):
            for pattern in rule.tools:
                self._add(pattern.translate(_FOLDED), number)

    def _add(self, pattern: str, number: int) -> None:
        name, colon, command = pattern.partition(":")
        if "*" in pattern or "?" in pattern:
            self._globs.append((pattern, number))
        elif colon:
            self._subcommands.setdefault(name, {}).setdefault(command, number)
        else:
            self._exact.setdefault(pattern, number)

    def find(self, name: str, server: str, given: JsonObject) -> Rule:
        """Return the rule for a call of the tool ``name`` of a server (may be empty) with the arguments ``given``."""
        decision = self._by_name.get((name, server))
        if decision is None:
            decision = self._decide(name, server)
        rule, commands = decision
        if commands:
            command = given.get("command")
            if isinstance(command, str):
                return commands.get(command.translate(_FOLDED), rule)
        return rule

    def _decide(self, name: str, server: str) -> _Decision:
        number = len(self.rules) - 1
        commands: dict[str, int] = {}
        for form in name_forms(name, server):
            number = min(number, self._exact.get(form, number))
            for pattern, candidate in self._globs:
                if candidate < number and glob_matches(pattern, form):
                    number = candidate
            for command, candidate in self._subcommands.get(form, {}).items():
                commands[command] = min(candidate, commands.get(command, candidate))
        if len(self._by_name) >= _MAX_REMEMBERED_NAMES:
            self._by_name.clear()
            self.known.clear()
        rules = self.rules
        first = {command: rules[min(found, number)] for command, found in commands.items()}
        self._by_name[name, server] = decision = rules[number], first
        if not commands and not server:
            self.known[name] = rules[number]
        return decision


FUNCTIONS = "functions."
"""The namespace of ordinary functions in OpenAI's Harmony format (github.com/openai/harmony, docs/format.md), which some
hosts leave in the name."""


def name_forms(name: str, server: str = "") -> list[str]:
    """Return the forms of a tool's name that rules may have, in lower case; the last is the shortest."""
    lower = name.translate(_FOLDED)
    forms = [lower]
    if server:
        own = server.translate(_FOLDED)
        forms = [f"mcp__{own}__{lower}", f"{own}.{lower}", lower]
    if lower.startswith("mcp__"):
        _, found, tool = lower[5:].partition("__")
        if found and tool:
            forms.append(tool)
    elif lower.startswith(FUNCTIONS) and len(lower) > len(FUNCTIONS):
        forms.append(lower[len(FUNCTIONS) :])
    return forms


def bare_name(name: str) -> str:
    """Return a tool's name in lower case, without the name of its server."""
    return name_forms(name)[-1]


def glob_matches(pattern: str, text: str) -> bool:
    """Return true if ``pattern`` with its ``*`` and ``?`` matches the whole of ``text``."""
    at, place, star, mark = 0, 0, -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, mark = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("?", text[at]):
            place += 1
            at += 1
        elif star >= 0:
            place, mark = star + 1, mark + 1
            at = mark
        else:
            return False
    return pattern[place:].strip("*") == ""


def key_values(rule: Rule, given: JsonObject) -> list[str]:
    """Return the values of the first key argument that is present: a command, a path, or the paths of several files."""
    for name in rule.key:
        value = given.get(name)
        if isinstance(value, str):
            if value:
                return [value]
        elif isinstance(value, (list, tuple)):
            if rule.kind == "command":
                line = command_line(value)
                return [] if line is None else [line]
            if value and all(isinstance(path, str) and path for path in value):
                return list(value)
    return []


def command_line(words: list[object] | tuple[object, ...]) -> str | None:
    """Return the command of an argument list: the script of ``["bash", "-lc", script]``, else the words, quoted."""
    given = [word for word in words if isinstance(word, str)]
    if not given or len(given) != len(words):
        return None
    if len(given) == 3 and given[1] in ("-c", "-lc"):
        return given[2]
    return " ".join([_quote(word) for word in given])


_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


def _quote(word: str) -> str:
    """Return ``word`` quoted for a shell, if it needs quotes."""
    if word and _SAFE.issuperset(word):
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


DEFAULT_RULE_SET = RuleSet(DEFAULT_RULES)

Rules = tuple[Rule, ...] | Literal["careful"]


def rule_set(rules: Rules) -> RuleSet:
    return DEFAULT_RULE_SET if rules is DEFAULT_RULES else RuleSet(rules)
