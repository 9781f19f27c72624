//! List the programs, verbs and options that the classifier knows.
//!
//! What it does: holds data, and the shape of it. The twin of `_pure/shell/tables.py`.
//!
//! What it leaves out: every program that only reads; nobody has to list those.

/// A list of words with spaces between.
pub(super) type Words = &'static str;

/// How a program reads options: the letters that take a value (attached or the next word), the
/// letters whose value is always attached, the long names that take the next word, and the first
/// words after which the next one is the verb.
pub(super) struct Spec {
    pub(super) valued: Words,
    pub(super) attached: Words,
    pub(super) names: Words,
    pub(super) groups: Words,
}

/// Whether a word is in a list.
pub(super) fn among(list: Words, word: &str) -> bool {
    list.split_ascii_whitespace().any(|item| item == word)
}

const fn spec(valued: Words, attached: Words, names: Words, groups: Words) -> Spec {
    Spec { valued, attached, names, groups }
}

pub(super) const SHELLS: Words = "sh bash zsh dash ksh ash fish";
pub(super) const VERSIONED: Words = "pip python perl";
pub(super) const WRITERS: Words = "rm mv cp mkdir rmdir touch ln chmod chown tee dd truncate install patch kill";
pub(super) const FIND_RUNNING: Words = "-exec -execdir -ok -okdir";
pub(super) const DEVICES: Words = "/dev/null /dev/stdout /dev/stderr /dev/tty";
pub(super) const GIT_WRITING: Words = "add am apply checkout cherry-pick clean clone commit fetch init merge \
    mv pull push rebase reset restore revert rm switch";
pub(super) const GIT_BRANCH_WRITING: Words = "d D m M --delete --move";
pub(super) const GIT_TAG_LISTING: Words = "l n v --list --verify --contains --no-contains --merged \
    --no-merged --points-at --column";
pub(super) const PACKAGE_WRITING: Words = "install add remove uninstall publish update upgrade";
pub(super) const PACKAGE_SHORTENING: Words = "npm pnpm yarn brew";
pub(super) const PACKAGE_SHORT: Words = "i rm un up";
pub(super) const READING: Words = "ps images logs get describe status show plan list ls version inspect diff";
pub(super) const READING_STEMS: Words = "get list show";
pub(super) const SENDING: Words = "POST PUT PATCH DELETE post put patch delete";
pub(super) const CURL_WRITING: Words = "F --form --form-string T --upload-file O --remote-name --remote-name-all";
pub(super) const WGET_SENDING: Words = "--post-data --post-file --body-data --body-file";
pub(super) const MAKE_WRITING: Words = "install deploy clean";

pub(super) const PLAIN: Spec = spec("", "", "", "");

/// A program that runs the command in its words.
pub(super) fn wrapper(name: &str) -> Option<Spec> {
    Some(match name {
        "sudo" => spec("ughpCrtTUDR", "", "--user --group --host --prompt --chdir", ""),
        "doas" => spec("uC", "", "", ""),
        "env" => spec("uCS", "", "--unset --chdir --split-string", ""),
        "time" => spec("fo", "", "--format --output", ""),
        "nohup" | "setsid" | "builtin" | "command" => PLAIN,
        "exec" => spec("a", "", "", ""),
        "nice" => spec("n", "", "--adjustment", ""),
        "ionice" => spec("cnp", "", "--class --classdata --pid", ""),
        "stdbuf" => spec("ioe", "", "--input --output --error", ""),
        "timeout" => spec("sk", "", "--signal --kill-after", ""),
        "xargs" => spec("InPLdEsa", "iel", "--max-args --max-procs --delimiter --arg-file --max-chars", ""),
        _ => return None,
    })
}

/// A program whose verb says whether it writes; it reads by default.
pub(super) fn packager(name: &str) -> Option<Spec> {
    Some(match name {
        "pip" => spec("", "", "--proxy --log --cache-dir --python --timeout", ""),
        "npm" => spec("Cw", "", "--prefix --workspace --registry --loglevel", ""),
        "pnpm" => spec("CFw", "", "--dir --filter --prefix --loglevel", ""),
        "yarn" => spec("", "", "--cwd", "global"),
        "cargo" => spec("ZC", "", "--config --color", ""),
        "apt" | "apt-get" => spec("otc", "", "--option --target-release --config-file", ""),
        "brew" => PLAIN,
        "uv" => spec("", "", "--directory --project --cache-dir", "pip tool self python"),
        "poetry" => spec("CP", "", "--directory --project", "self source env"),
        "go" => spec("C", "", "", ""),
        _ => return None,
    })
}

/// A program whose verb says whether it writes; it writes by default.
pub(super) fn manager(name: &str) -> Option<Spec> {
    Some(match name {
        "docker" | "podman" => spec(
            "Hclfp",
            "",
            "--host --context --config --log-level --file --project-name --profile --env-file \
             --project-directory",
            "builder buildx compose config container context image manifest machine network node \
             plugin pod secret service stack system volume",
        ),
        "docker-compose" => spec("fp", "", "--file --project-name --profile --env-file --project-directory", ""),
        "kubectl" => spec(
            "nslo",
            "",
            "--namespace --context --kubeconfig --cluster --server --user --output",
            "config rollout plugin",
        ),
        "helm" => spec("no", "", "--namespace --kube-context --kubeconfig", "repo plugin dependency"),
        "terraform" => spec("", "", "", "state workspace"),
        "systemctl" => spec("tpnoHM", "", "--type --property --lines --output --host", ""),
        _ => return None,
    })
}

pub(super) const SED: Spec = spec("efl", "i", "--expression --file --line-length", "");
pub(super) const PERL: Spec = spec("eEI", "iFMmxDVCd", "", "");
pub(super) const PYTHON: Spec = spec("mcXW", "", "", "");
pub(super) const SHELL: Spec = spec("oO", "", "--rcfile --init-file", "");
pub(super) const SSH: Spec = spec("BbcDEeFIiJLlmOoPpQRSWw", "", "", "");
pub(super) const MAKE: Spec = spec("CfIoW", "jlO", "--directory --file --makefile --include-dir", "");
pub(super) const GIT: Spec = spec("Cc", "", "--git-dir --work-tree --namespace --config-env --attr-source", "");
pub(super) const GIT_BRANCH: Spec = spec("u", "", "--set-upstream-to --sort --format", "");
pub(super) const GIT_TAG: Spec = spec("mFu", "n", "--message --file --local-user --sort --format", "");
pub(super) const CURL: Spec = spec(
    "AbcCdDeEFHKmoPQrtTuUwxXyYz",
    "",
    "--request --output --data --data-raw --data-binary --data-urlencode --data-ascii --json \
     --form --form-string --upload-file --header --user --user-agent --write-out --url --referer \
     --cookie",
    "",
);
pub(super) const WGET: Spec =
    spec("oaeiBtOTwQPDIXUlAR", "", "--output-document --output-file --method --header --user-agent --tries", "");
