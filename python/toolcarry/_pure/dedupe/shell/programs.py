"""Know the programs that write, by name, verb or option.

What it does: answers for one program that runs no other.

What it guarantees: time linear in the arguments; no exception.

What it leaves out: dry runs and the targets of arguments. A program or verb nobody listed reads.
"""

from toolcarry._pure.dedupe.shell.options import has_any, has_option, parse, verb_of
from toolcarry._pure.dedupe.shell.tables import (
    CURL_OPTIONS,
    CURL_WRITING,
    DEVICES,
    GIT_BRANCH_OPTIONS,
    GIT_BRANCH_WRITING,
    GIT_OPTIONS,
    GIT_TAG_DELETING,
    GIT_TAG_LISTING,
    GIT_TAG_OPTIONS,
    GIT_WRITING,
    MAKE_OPTIONS,
    MAKE_WRITING,
    MANAGERS,
    PACKAGE_SHORT,
    PACKAGE_SHORTENING,
    PACKAGE_WRITING,
    PACKAGERS,
    PERL_OPTIONS,
    PERL_WRITING,
    PLAIN,
    READING,
    READING_STEMS,
    SED_OPTIONS,
    SED_WRITING,
    SENDING,
    VERSIONED,
    WGET_OPTIONS,
    WGET_SENDING,
    WRITERS,
)


def program_name(word: str) -> str:
    """A program's name without its folder and, for a few, its version."""
    name = word.rpartition("/")[2]
    base = name.rstrip("0123456789.")
    return base if base in VERSIONED else name


def writes(name: str, arguments: list[str]) -> bool:
    """Whether a program that runs no other writes with these arguments."""
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
            return False


def package_writes(name: str, arguments: list[str]) -> bool:
    """A package manager, by its verb."""
    verb, _ = verb_of(arguments, PACKAGERS[name])
    return verb in PACKAGE_WRITING or (name in PACKAGE_SHORTENING and verb in PACKAGE_SHORT)


def is_reading(verb: str) -> bool:
    """Whether a verb of docker and its like reads; `list-units` counts as `list`."""
    return verb in READING or verb.partition("-")[0] in READING_STEMS


def git_writes(arguments: list[str]) -> bool:
    """Git, by its verb; the verbs that also list, by what follows."""
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
    """`git tag` lists without a name or with an option that only a list takes."""
    options, names = parse(arguments, GIT_TAG_OPTIONS, stops=False)
    is_deletion = has_any(options, GIT_TAG_DELETING)
    return is_deletion or (bool(names) and not has_any(options, GIT_TAG_LISTING))


def curl_writes(arguments: list[str]) -> bool:
    """Whether curl sends something or saves to a file."""
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
    """Whether wget sends something or saves to a file, which it does unless told otherwise."""
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
    """Whether writing to a target changes a file; a process substitution reads as `>()`."""
    return target not in DEVICES and target != ">()" and not target.startswith("/dev/fd/")
