"""Judge one simple command of a shell: does it write, and does it hold commands of its own?

What it does: knows the programs that write, by name, verb or option; looks behind the programs
that run another (`sudo`, `env`, `xargs`, `find -exec`), and names the scripts in its words
(`bash -c`, `eval`), which `shell` scans.

What it guarantees: time linear in the words; no recursion; no exception.

What it leaves out: dry runs and the targets of arguments. A program or verb nobody listed reads.
"""

from dataclasses import dataclass, field

MAX_HOPS = 16

Options = list[tuple[str, str]]  # with their values: a letter, or a long name with its dashes


def names(text: str) -> frozenset[str]:
    """Read a list of words with spaces between."""
    return frozenset(text.split(" "))


SHELLS = names("sh bash zsh dash ksh ash fish")
VERSIONED = names("pip python perl")
WRITERS = names("rm mv cp mkdir rmdir touch ln chmod chown tee dd truncate install patch kill")
DEVICES = names("/dev/null /dev/stdout /dev/stderr /dev/tty")
GIT_WRITING = names(
    "add am apply checkout cherry-pick clean clone commit fetch init merge mv pull push rebase "
    "reset restore revert rm switch"
)
GIT_TAG_LISTING = names(
    "l n v --list --verify --contains --no-contains --merged --no-merged --points-at --column"
)
PACKAGE_WRITING = names("install add remove uninstall publish update upgrade")
PACKAGE_SHORT = names("i rm un up")
READING = names("ps images logs get describe status show plan list ls version inspect diff")
SENDING = names("POST PUT PATCH DELETE post put patch delete")
CURL_WRITING = names("F --form --form-string T --upload-file O --remote-name --remote-name-all")
MAKE_WRITING = names("install deploy clean")


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


def spec(valued: str, attached: str = "", long: str = "", groups: str = "") -> Spec:
    """Make a `Spec` of lists with spaces between."""
    return Spec(valued, attached, names(long), names(groups))


PLAIN = Spec()
WRAPPERS = {
    "sudo": spec("ughpCrtTUDR", "", "--user --group --host --prompt --chdir"),
    "doas": spec("uC"),
    "env": spec("uCS", "", "--unset --chdir --split-string"),
    "time": spec("fo", "", "--format --output"),
    "nohup": PLAIN,
    "setsid": PLAIN,
    "builtin": PLAIN,
    "command": PLAIN,
    "exec": spec("a"),
    "nice": spec("n", "", "--adjustment"),
    "ionice": spec("cnp", "", "--class --classdata --pid"),
    "stdbuf": spec("ioe", "", "--input --output --error"),
    "timeout": spec("sk", "", "--signal --kill-after"),
    "xargs": spec("InPLdEsa", "iel", "--max-args --max-procs --delimiter --arg-file --max-chars"),
}
APT = spec("otc", "", "--option --target-release --config-file")
PACKAGERS = {
    "pip": spec("", "", "--proxy --log --cache-dir --python --timeout"),
    "npm": spec("Cw", "", "--prefix --workspace --registry --loglevel"),
    "pnpm": spec("CFw", "", "--dir --filter --prefix --loglevel"),
    "yarn": spec("", "", "--cwd", "global"),
    "cargo": spec("ZC", "", "--config --color"),
    "apt": APT,
    "apt-get": APT,
    "brew": PLAIN,
    "uv": spec("", "", "--directory --project --cache-dir", "pip tool self python"),
    "poetry": spec("CP", "", "--directory --project", "self source env"),
    "go": spec("C"),
}
DOCKER = spec(
    "Hclfp",
    "",
    "--host --context --config --log-level --file --project-name --profile --env-file "
    "--project-directory",
    "builder buildx compose config container context image manifest machine network node "
    "plugin pod secret service stack system volume",
)
MANAGERS = {
    "docker": DOCKER,
    "podman": DOCKER,
    "docker-compose": spec(
        "fp", "", "--file --project-name --profile --env-file --project-directory"
    ),
    "kubectl": spec(
        "nslo",
        "",
        "--namespace --context --kubeconfig --cluster --server --user --output",
        "config rollout plugin",
    ),
    "helm": spec("no", "", "--namespace --kube-context --kubeconfig", "repo plugin dependency"),
    "terraform": spec("", "", "", "state workspace"),
    "systemctl": spec("tpnoHM", "", "--type --property --lines --output --host"),
}
SED = spec("efl", "i", "--expression --file --line-length")
PERL = spec("eEI", "iFMmxDVCd")
PYTHON = spec("mcXW")
SHELL = spec("oO", "", "--rcfile --init-file")
MAKE = spec("CfIoW", "jlO", "--directory --file --makefile --include-dir")
GIT = spec("Cc", "", "--git-dir --work-tree --namespace --config-env --attr-source")
GIT_BRANCH = spec("u", "", "--set-upstream-to --sort --format")
GIT_TAG = spec("mFu", "n", "--message --file --local-user --sort --format")
CURL = spec(
    "AbcCdDeEFHKmoPQrtTuUwxXyYz",
    "",
    "--request --output --data --data-raw --data-binary --data-urlencode --data-ascii --json "
    "--form --form-string --upload-file --header --user --user-agent --write-out --url --referer "
    "--cookie",
)
WGET = spec(
    "oaeiBtOTwQPDIXUlAR",
    "",
    "--output-document --output-file --method --header --user-agent --tries",
)


@dataclass(slots=True)
class Heredoc:
    """A here-document whose body stands after the next newline."""

    delimiter: str
    is_quoted: bool
    has_tabs: bool
    is_code: bool = False


@dataclass(slots=True)
class Feed:
    """What goes into a command's standard input, as far as the line itself shows it.

    Here-documents by their numbers, and texts.
    """

    heredocs: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def passed_on(self, words: list[str]) -> "Feed":
        """What the command of these words, fed with this, writes into a pipe."""
        match program_name(words[0]):
            case "cat":
                return self
            case "echo" | "printf":
                text = " ".join(word for word in words[1:] if word[:1] != "-")
                return Feed([], [text.replace("\\n", "\n")])
            case _:
                return Feed()


@dataclass(slots=True)
class Code:
    """A command while it is being read.

    Its words so far, the parts of the word being read, the redirection that waits for its target,
    and where in a `case` it stands.
    """

    words: list[str] = field(default_factory=list)
    word: list[str] | None = None
    is_quoted: bool = False
    operator: str = ""
    stdin: Feed = field(default_factory=Feed)
    piped: Feed = field(default_factory=Feed)
    cases: int = 0
    is_pattern: bool = False

    def is_test(self) -> bool:
        """Whether an open `[[` makes operators plain text."""
        return bool(self.words) and self.words[0] == "[["

    def has_descriptor(self) -> bool:
        """Whether the word before a redirection is its number (`2>`) or its variable (`{fd}>`)."""
        word = "".join(self.word or ())
        if self.is_quoted or not word:
            return False
        return not word.strip("0123456789") or (word[0] == "{" and word[-1] == "}")


@dataclass(slots=True)
class Judgement:
    """Whether a command writes, the scripts in its words, and whether it runs its input."""

    writes: bool = False
    scripts: list[str] = field(default_factory=list)
    is_stdin_code: bool = False


def judge(words: list[str]) -> Judgement:
    """Judge a simple command and every command that it runs."""
    judgement = Judgement()
    waiting = [(words, 0)]
    while waiting:
        command, hops = waiting.pop()
        inner = judge_one(command, judgement)
        if hops < MAX_HOPS:
            waiting.extend((words, hops + 1) for words in inner)
    return judgement


def judge_one(words: list[str], judgement: Judgement) -> list[list[str]]:
    """Judge one command by itself and give the commands in its words."""
    words = skip_assignments(words)
    if not words or is_help(words):
        return []
    name, arguments = program_name(words[0]), words[1:]
    if name in WRAPPERS:
        return wrapped(name, arguments)
    if name in SHELLS:
        judge_shell(arguments, judgement)
    elif name == "eval":
        judgement.scripts.append(" ".join(arguments))
    elif name == "find":
        return found_commands(arguments, judgement)
    elif name == "python":
        return python_module(arguments)
    elif writes(name, arguments):
        judgement.writes = True
    return []


def skip_assignments(words: list[str]) -> list[str]:
    """The words without the `X=1` in front."""
    for index, word in enumerate(words):
        if not is_assignment(word):
            return words[index:] if index else words
    return []


def is_assignment(word: str) -> bool:
    """Whether a word sets a variable: `X=1`, `X+=1`, `X[0]=1`."""
    name, equals, _ = word.partition("=")
    name = name.removesuffix("+").partition("[")[0]
    is_name = name != "" and name[0] not in "0123456789"
    return equals != "" and is_name and all(is_name_character(letter) for letter in name)


def is_name_character(letter: str) -> bool:
    """Whether a character may stand in a variable's name."""
    return letter == "_" or (letter.isascii() and letter.isalnum())


def is_help(words: list[str]) -> bool:
    """Whether a command only tells about itself: `x --version`, `x --help`, `x verb --help`."""
    size = len(words)
    return (size == 2 and words[1] == "--version") or (size in (2, 3) and words[-1] == "--help")


def program_name(word: str) -> str:
    """A program's name without its folder and, for a few, its version."""
    name = word.rpartition("/")[2]
    base = name.rstrip("0123456789.")
    return base if base in VERSIONED else name


def parse(arguments: list[str], spec: Spec, *, stops: bool) -> tuple[Options, list[str]]:
    """Tell the options with their values from the other words.

    With `stops`, everything from the first other word on is one.
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
    """Whether a word is an option: `-x`, `--long`, `+x`."""
    return len(word) > 1 and word[0] in "-+"


def parse_letters(letters: str, spec: Spec, options: Options) -> bool:
    """Take a cluster of letters apart; whether the last one's value is the next word."""
    for index, letter in enumerate(letters):
        if letter in spec.valued or letter in spec.attached:
            options.append((letter, letters[index + 1 :]))
            return letter in spec.valued and index + 1 == len(letters)
        options.append((letter, ""))
    return False


def verb_of(arguments: list[str], spec: Spec) -> tuple[str, list[str]]:
    """Find the first word that is no option, or the second where the first is a group of verbs.

    Gives it with the words behind it.
    """
    _, others = parse(arguments, spec, stops=True)
    if others and others[0] in spec.groups:
        _, others = parse(others[1:], spec, stops=True)
    return (others[0], others[1:]) if others else ("", [])


def wrapped(name: str, arguments: list[str]) -> list[list[str]]:
    """The command behind a program that runs it."""
    options, others = parse(arguments, WRAPPERS[name], stops=True)
    if name == "command" and any(option in ("v", "V") for option, _ in options):
        return []
    return [others[1:] if name == "timeout" else others]


def judge_shell(arguments: list[str], judgement: Judgement) -> None:
    """A shell: its script is a word, its standard input, or a file that nobody knows."""
    options, others = parse(arguments, SHELL, stops=True)
    letters = [option for option, _ in options]
    if "c" in letters:
        judgement.scripts.extend(others[:1])
    elif "s" in letters or not others or others[0] == "-":
        judgement.is_stdin_code = True


def found_commands(arguments: list[str], judgement: Judgement) -> list[list[str]]:
    """The commands that `find` runs."""
    commands: list[list[str]] = []
    is_inside = False
    for word in arguments:
        if is_inside and word not in (";", "+"):
            commands[-1].append(word)
        elif is_inside:
            is_inside = False
        elif word in ("-exec", "-execdir", "-ok", "-okdir"):
            commands.append([])
            is_inside = True
        elif word == "-delete":
            judgement.writes = True
    return commands


def python_module(arguments: list[str]) -> list[list[str]]:
    """The command that `python -m pip` stands for."""
    options, others = parse(arguments, PYTHON, stops=True)
    for option, value in options:
        if option in ("c", "m"):
            return [["pip", *others]] if option == "m" and value == "pip" else []
    return []


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
            return has_option(arguments, SED, ("i", "--in-place"))
        case "perl":
            options, _ = parse(arguments, PERL, stops=True)
            return any(option == "i" for option, _ in options)
        case "curl":
            return curl_writes(arguments)
        case "wget":
            return wget_writes(arguments)
        case "make" | "gmake":
            _, targets = parse(arguments, MAKE, stops=False)
            return any(target in MAKE_WRITING for target in targets)
        case _:
            return False


def has_option(arguments: list[str], spec: Spec, names: tuple[str, ...]) -> bool:
    """Whether one of the options is among the arguments, wherever it stands."""
    options, _ = parse(arguments, spec, stops=False)
    return any(option in names for option, _ in options)


def package_writes(name: str, arguments: list[str]) -> bool:
    """A package manager, by its verb."""
    verb, _ = verb_of(arguments, PACKAGERS[name])
    return verb in PACKAGE_WRITING or (
        name in ("npm", "pnpm", "yarn", "brew") and verb in PACKAGE_SHORT
    )


def is_reading(verb: str) -> bool:
    """Whether a verb of docker and its like reads; `list-units` counts as `list`."""
    return verb in READING or verb.partition("-")[0] in ("get", "list", "show")


def git_writes(arguments: list[str]) -> bool:
    """Git, by its verb; the verbs that also list, by what follows."""
    verb, rest = verb_of(arguments, GIT)
    match verb:
        case "branch":
            return has_option(rest, GIT_BRANCH, ("d", "D", "m", "M", "--delete", "--move"))
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
    options, names = parse(arguments, GIT_TAG, stops=False)
    if any(option in ("d", "--delete") for option, _ in options):
        return True
    return bool(names) and not any(option in GIT_TAG_LISTING for option, _ in options)


def curl_writes(arguments: list[str]) -> bool:
    """Whether curl sends something or saves to a file."""
    options, _ = parse(arguments, CURL, stops=False)
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
    options, _ = parse(arguments, WGET, stops=False)
    saves = True
    for option, value in options:
        match option:
            case "--method" if value in SENDING:
                return True
            case "--post-data" | "--post-file" | "--body-data" | "--body-file":
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
