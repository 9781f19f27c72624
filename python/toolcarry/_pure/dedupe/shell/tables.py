"""List the programs, verbs and options that the classifier knows.

What it does: holds the data of `_data/shell.json`, and the shape of it.

What it leaves out: every program that only reads; nobody has to list those.
"""

from dataclasses import dataclass
from typing import Any

from toolcarry._data import read_table


@dataclass(frozen=True, slots=True)
class Spec:
    """How a program reads options.

    The letters that take a value (attached, or the next word); the letters whose value is always
    attached; the long names that take the next word; and the first words after which the next
    one is the verb.
    """

    valued: str = ""
    attached: str = ""
    names: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


TABLE = read_table("shell")


def words(name: str) -> frozenset[str]:
    """Return a list of words of the table."""
    return frozenset(TABLE[name])


def spec(given: dict[str, Any]) -> Spec:
    """Return a `Spec` of the table; the fields that it leaves out are empty."""
    names, groups = (frozenset(given.get(field, ())) for field in ("names", "groups"))
    return Spec(given.get("valued", ""), given.get("attached", ""), names, groups)


def specs(name: str) -> dict[str, Spec]:
    """Return a list of programs of the table."""
    return {program: spec(given) for program, given in TABLE[name].items()}


CURL_OPTIONS = spec(TABLE["curl_options"])
CURL_WRITING = words("curl_writing")
DEVICES = words("devices")
FIND_RUNNING = words("find_running")
GIT_BRANCH_OPTIONS = spec(TABLE["git_branch_options"])
GIT_BRANCH_WRITING = words("git_branch_writing")
GIT_OPTIONS = spec(TABLE["git_options"])
GIT_TAG_DELETING = words("git_tag_deleting")
GIT_TAG_LISTING = words("git_tag_listing")
GIT_TAG_OPTIONS = spec(TABLE["git_tag_options"])
GIT_WRITING = words("git_writing")
MAKE_OPTIONS = spec(TABLE["make_options"])
MAKE_WRITING = words("make_writing")
MANAGERS = specs("managers")
PACKAGE_SHORT = words("package_short")
PACKAGE_SHORTENING = words("package_shortening")
PACKAGE_WRITING = words("package_writing")
PACKAGERS = specs("packagers")
PERL_OPTIONS = spec(TABLE["perl_options"])
PERL_WRITING = words("perl_writing")
PYTHON_OPTIONS = spec(TABLE["python_options"])
READING = words("reading")
READING_STEMS = words("reading_stems")
RESERVED = words("reserved")
SED_OPTIONS = spec(TABLE["sed_options"])
SED_WRITING = words("sed_writing")
SENDING = words("sending")
SHELL_OPTIONS = spec(TABLE["shell_options"])
SHELLS = words("shells")
SSH_OPTIONS = spec(TABLE["ssh_options"])
VERSIONED = words("versioned")
WGET_OPTIONS = spec(TABLE["wget_options"])
WGET_SENDING = words("wget_sending")
WRAPPERS = specs("wrappers")
WRITERS = words("writers")
PLAIN = Spec()
"""How a program reads options that nobody described: each stands for itself."""
