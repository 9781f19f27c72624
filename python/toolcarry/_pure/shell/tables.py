"""List the programs, verbs and options that the classifier knows.

What it does: holds data, and the shape of it.

What it leaves out: every program that only reads; nobody has to list those.
"""

from dataclasses import dataclass


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


def names(text: str) -> frozenset[str]:
    """Read a list of words with spaces between; an empty text has none."""
    return frozenset(text.split())


def spec(valued: str, attached: str = "", long: str = "", groups: str = "") -> Spec:
    """Make a `Spec` of lists with spaces between."""
    return Spec(valued, attached, names(long), names(groups))


SHELLS = names("sh bash zsh dash ksh ash fish")
VERSIONED = names("pip python perl")
WRITERS = names("rm mv cp mkdir rmdir touch ln chmod chown tee dd truncate install patch kill")
FIND_RUNNING = names("-exec -execdir -ok -okdir")
DEVICES = names("/dev/null /dev/stdout /dev/stderr /dev/tty")
GIT_WRITING = names(
    "add am apply checkout cherry-pick clean clone commit fetch init merge mv pull push rebase "
    "reset restore revert rm switch"
)
GIT_BRANCH_WRITING = names("d D m M --delete --move")
GIT_TAG_LISTING = names(
    "l n v --list --verify --contains --no-contains --merged --no-merged --points-at --column"
)
PACKAGE_WRITING = names("install add remove uninstall publish update upgrade")
PACKAGE_SHORTENING = names("npm pnpm yarn brew")
PACKAGE_SHORT = names("i rm un up")
READING = names("ps images logs get describe status show plan list ls version inspect diff")
READING_STEMS = names("get list show")
SENDING = names("POST PUT PATCH DELETE post put patch delete")
CURL_WRITING = names("F --form --form-string T --upload-file O --remote-name --remote-name-all")
WGET_SENDING = names("--post-data --post-file --body-data --body-file")
MAKE_WRITING = names("install deploy clean")

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
SSH = spec("BbcDEeFIiJLlmOoPpQRSWw")
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
