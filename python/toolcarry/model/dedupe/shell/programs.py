"""Programs that write, by name, verb or option; and the options of programs.

The programs are data, ``_data/shell.json``; arguments are read as getopt would. Dry runs, shortened long names and the
targets of arguments are ignored, and a program or a verb that is not listed reads. Takes time linear in the arguments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from toolcarry._data import read_table


@dataclass(frozen=True, slots=True)
class Spec:
    """The options of a program.

    ``valued`` are the letters that take a value (attached, or the next word), ``attached`` those
    whose value is always attached; ``names`` are the long names that take the next word,
    ``groups`` the first words after which the next one is the verb, and ``files`` the options
    that name a file: of statements that the program runs, or that it writes.
    """

    valued: str = ""
    attached: str = ""
    names: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


_TABLE = read_table("shell")


def _words(name: str) -> frozenset[str]:
    """Return a list of words of the table."""
    return frozenset(_TABLE[name])


def spec(given: dict[str, Any]) -> Spec:
    """Return a `Spec` of the table; the fields that it leaves out are empty."""
    lists = (frozenset(given.get(field, ())) for field in ("names", "groups", "files"))
    return Spec(given.get("valued", ""), given.get("attached", ""), *lists)


def _specs(name: str) -> dict[str, Spec]:
    """Return a list of programs of the table."""
    return {program: spec(given) for program, given in _TABLE[name].items()}


CURL_OPTIONS = spec(_TABLE["curl_options"])
CURL_WRITING = _words("curl_writing")
DEVICES = _words("devices")
FIND_RUNNING = _words("find_running")
GIT_BRANCH_OPTIONS = spec(_TABLE["git_branch_options"])
GIT_BRANCH_WRITING = _words("git_branch_writing")
GIT_OPTIONS = spec(_TABLE["git_options"])
GIT_TAG_DELETING = _words("git_tag_deleting")
GIT_TAG_LISTING = _words("git_tag_listing")
GIT_TAG_OPTIONS = spec(_TABLE["git_tag_options"])
GIT_WRITING = _words("git_writing")
MAKE_OPTIONS = spec(_TABLE["make_options"])
MAKE_WRITING = _words("make_writing")
MANAGERS = _specs("managers")
PACKAGE_SHORT = _words("package_short")
PACKAGE_SHORTENING = _words("package_shortening")
PACKAGE_WRITING = _words("package_writing")
PACKAGERS = _specs("packagers")
PERL_OPTIONS = spec(_TABLE["perl_options"])
PERL_WRITING = _words("perl_writing")
PYTHON_OPTIONS = spec(_TABLE["python_options"])
READING = _words("reading")
READING_STEMS = _words("reading_stems")
RESERVED = _words("reserved")
SED_OPTIONS = spec(_TABLE["sed_options"])
SED_WRITING = _words("sed_writing")
SENDING = _words("sending")
SQL_CLIENT_WRITING = _words("sql_client_writing")
SQL_CLIENTS = _specs("sql_clients")
SQL_WRITING = _words("sql_writing")
SHELL_OPTIONS = spec(_TABLE["shell_options"])
SHELLS = _words("shells")
SSH_OPTIONS = spec(_TABLE["ssh_options"])
STDIN = _words("stdin")
VERSIONED = _words("versioned")
WGET_OPTIONS = spec(_TABLE["wget_options"])
WGET_SENDING = _words("wget_sending")
WRAPPERS = _specs("wrappers")
WRITERS = _words("writers")
LETTERS = re.compile("[A-Za-z]+")
NO_BLANKS = re.compile(r"[^ \t\r\n]+")
PLAIN = Spec()
"""The options of a program that is not in the table: none takes a value."""


Options = list[tuple[str, str]]  # with their values: a letter, or a long name with its dashes
_Names = frozenset[str] | tuple[str, ...]


def parse(arguments: list[str], spec: Spec, *, stops: bool) -> tuple[Options, list[str]]:
    """Separate the options with their values from the other words.

    With `stops`, everything from the first other word on counts as other words.
    """
    options: Options = []
    others: list[str] = []
    position, size = 0, len(arguments)
    while position < size:
        word = arguments[position]
        position += 1
        if word == "--" or (stops and not is_option(word)):
            others.extend(arguments[position if word == "--" else position - 1 :])
            break
        if not is_option(word):
            others.append(word)
            continue
        name, equals, value = word.partition("=")
        if word.startswith("--"):
            options.append((name, value))
            takes_next = not equals and name in spec.names
        else:
            takes_next = parse_letters(word[1:], spec, options)
        if takes_next and position < size:
            options[-1] = (options[-1][0], arguments[position])
            position += 1
    return options, others


def is_option(word: str) -> bool:
    """Return true if a word is an option: `-x`, `--long`, `+x`."""
    return len(word) > 1 and word[0] in "-+"


def parse_letters(letters: str, spec: Spec, options: Options) -> bool:
    """Split a cluster of letters, and return true if the last one's value is the next word."""
    for index, letter in enumerate(letters):
        if letter in spec.valued or letter in spec.attached:
            options.append((letter, letters[index + 1 :]))
            return letter in spec.valued and index + 1 == len(letters)
        options.append((letter, ""))
    return False


def verb_of(arguments: list[str], spec: Spec) -> tuple[str, list[str]]:
    """Return the first word that is not an option, or the second one if the first is a group of verbs.

    The words after it are returned with it.
    """
    _, others = parse(arguments, spec, stops=True)
    if others and others[0] in spec.groups:
        _, others = parse(others[1:], spec, stops=True)
    return (others[0], others[1:]) if others else ("", [])


def has_any(options: Options, names: _Names) -> bool:
    """Return true if one of the named options is among the given ones."""
    return any(option in names for option, _ in options)


def has_option(arguments: list[str], spec: Spec, names: _Names) -> bool:
    """Return true if one of the named options is anywhere among the arguments."""
    options, _ = parse(arguments, spec, stops=False)
    return has_any(options, names)


def program_name(word: str) -> str:
    """Return a program's name without its folder and, for a few, its version."""
    name = word.rpartition("/")[2]
    base = name.rstrip("0123456789.")
    return base if base in VERSIONED else name


def writes(name: str, arguments: list[str]) -> bool:
    """Return true if a program that runs no other one writes with these arguments."""
    if name in WRITERS:
        return True
    if name in PACKAGERS:
        return package_writes(name, arguments)
    if name in MANAGERS:
        verb, _ = verb_of(arguments, MANAGERS[name])
        return verb != "" and not is_reading(verb)
    match name:
        case "git":
            return git_writes(arguments)
        case "sed" | "gsed":
            return has_option(arguments, SED_OPTIONS, SED_WRITING)
        case "perl":
            options, _ = parse(arguments, PERL_OPTIONS, stops=True)
            return has_any(options, PERL_WRITING)
        case "curl":
            return curl_writes(arguments)
        case "wget":
            return wget_writes(arguments)
        case "make" | "gmake":
            _, targets = parse(arguments, MAKE_OPTIONS, stops=False)
            return any(target in MAKE_WRITING for target in targets)
        case _:
            return name in SQL_CLIENTS and client_writes(arguments, SQL_CLIENTS[name])


def client_writes(arguments: list[str], spec: Spec) -> bool:
    """Return true if a client of a database runs SQL of a file, or SQL among the arguments changes something."""
    options, _ = parse(arguments, spec, stops=False)
    if any(option in spec.files and value not in STDIN for option, value in options):
        return True
    has_file = any(is_option(argument) and argument in spec.files for argument in arguments)
    return has_file or any(sql_writes(argument) for argument in arguments)


def sql_writes(text: str) -> bool:
    """Return true if a word of SQL, or of a client's own commands, changes something or runs a file."""
    if any(word.lower() in SQL_WRITING for word in LETTERS.findall(text)):
        return True
    return any(word in SQL_CLIENT_WRITING or word[0] == "@" for word in NO_BLANKS.findall(text))


def is_query(text: str) -> bool:
    """Return true if SQL only asks: nothing in it writes, and no statement in it is the value of an expansion."""
    statements = (statement.lstrip(" \t\r\n") for statement in text.split(";"))
    return not sql_writes(text) and not any(each.startswith(("$", "`")) for each in statements)


def package_writes(name: str, arguments: list[str]) -> bool:
    """Return true if a package manager writes, by its verb."""
    verb, _ = verb_of(arguments, PACKAGERS[name])
    return verb in PACKAGE_WRITING or (name in PACKAGE_SHORTENING and verb in PACKAGE_SHORT)


def is_reading(verb: str) -> bool:
    """Return true if a verb of docker and similar programs reads; `list-units` counts as `list`."""
    return verb in READING or verb.partition("-")[0] in READING_STEMS


def git_writes(arguments: list[str]) -> bool:
    """Return true if git writes, by its verb, and for verbs that also list, by the words after it."""
    verb, rest = verb_of(arguments, GIT_OPTIONS)
    match verb:
        case "branch":
            return has_option(rest, GIT_BRANCH_OPTIONS, GIT_BRANCH_WRITING)
        case "tag":
            return git_tag_writes(rest)
        case "stash":
            return verb_of(rest, PLAIN)[0] not in ("list", "show")
        case "worktree":
            return verb_of(rest, PLAIN)[0] not in ("", "list")
        case _:
            return verb in GIT_WRITING


def git_tag_writes(arguments: list[str]) -> bool:
    """Return true if `git tag` writes. It lists without a name or with an option that only lists take."""
    options, names = parse(arguments, GIT_TAG_OPTIONS, stops=False)
    is_deletion = has_any(options, GIT_TAG_DELETING)
    return is_deletion or (bool(names) and not has_any(options, GIT_TAG_LISTING))


def curl_writes(arguments: list[str]) -> bool:
    """Return true if curl sends data or saves to a file."""
    options, _ = parse(arguments, CURL_OPTIONS, stops=False)
    has_data = is_get = False
    for option, value in options:
        match option:
            case "X" | "--request" if value in SENDING:
                return True
            case "o" | "--output" if value != "-" and writes_file(value):
                return True
            case _ if option in CURL_WRITING:
                return True
            case "G" | "--get":
                is_get = True
            case _:
                has_data |= option in ("d", "--json") or option.startswith("--data")
    return has_data and not is_get


def wget_writes(arguments: list[str]) -> bool:
    """Return true if wget sends data or saves to a file, which is its default."""
    options, _ = parse(arguments, WGET_OPTIONS, stops=False)
    saves = True
    for option, value in options:
        match option:
            case "--method" if value in SENDING:
                return True
            case _ if option in WGET_SENDING:
                return True
            case "O" | "--output-document":
                saves = value != "-" and writes_file(value)
            case "--spider":
                saves = False
            case _:
                pass
    return saves


def writes_file(target: str) -> bool:
    """Return true if writing to a target changes a file; a process substitution appears as `>()`."""
    return target not in DEVICES and target != ">()" and not target.startswith("/dev/fd/")
