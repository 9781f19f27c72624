//! Judge one simple command of a shell: does it write, and does it hold commands of its own?
//!
//! What it does: knows the programs that write, by name, verb or option; looks behind the
//! programs that run another (`sudo`, `env`, `xargs`, `find -exec`), and names the scripts in its
//! words (`bash -c`, `eval`), which `lex` scans. The twin of `_pure/shell_commands.py`.
//!
//! What it guarantees: time linear in the words; no recursion; no panic.
//!
//! What it leaves out: dry runs and the targets of arguments. A program or verb nobody listed
//! reads.

const MAX_HOPS: usize = 16;

// Every list is one string with spaces between; `among` looks a word up.
const SHELLS: &str = "sh bash zsh dash ksh ash fish";
const VERSIONED: &str = "pip python perl";
const WRITERS: &str = "rm mv cp mkdir rmdir touch ln chmod chown tee dd truncate install patch kill";
const DEVICES: &str = "/dev/null /dev/stdout /dev/stderr /dev/tty";
const GIT_WRITING: &str = "add am apply checkout cherry-pick clean clone commit fetch init merge \
    mv pull push rebase reset restore revert rm switch";
const GIT_TAG_LISTING: &str = "l n v --list --verify --contains --no-contains --merged \
    --no-merged --points-at --column";
const PACKAGE_WRITING: &str = "install add remove uninstall publish update upgrade";
const PACKAGE_SHORT: &str = "i rm un up";
const READING: &str = "ps images logs get describe status show plan list ls version inspect diff";
const SENDING: &str = "POST PUT PATCH DELETE post put patch delete";
const CURL_WRITING: &str = "F --form --form-string T --upload-file O --remote-name --remote-name-all";
const MAKE_WRITING: &str = "install deploy clean";

/// How a program reads options: the letters that take a value (attached or the next word), the
/// letters whose value is always attached, the long names that take the next word, and the first
/// words after which the next one is the verb.
struct Spec {
    valued: Words,
    attached: Words,
    names: Words,
    groups: Words,
}

type Words = &'static str;

const fn spec(valued: Words, attached: Words, names: Words, groups: Words) -> Spec {
    Spec { valued, attached, names, groups }
}

const PLAIN: Spec = spec("", "", "", "");

fn wrapper(name: &str) -> Option<Spec> {
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

fn packager(name: &str) -> Option<Spec> {
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

fn manager(name: &str) -> Option<Spec> {
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

const SED: Spec = spec("efl", "i", "--expression --file --line-length", "");
const PERL: Spec = spec("eEI", "iFMmxDVCd", "", "");
const PYTHON: Spec = spec("mcXW", "", "", "");
const SHELL: Spec = spec("oO", "", "--rcfile --init-file", "");
const MAKE: Spec = spec("CfIoW", "jlO", "--directory --file --makefile --include-dir", "");
const GIT: Spec = spec("Cc", "", "--git-dir --work-tree --namespace --config-env --attr-source", "");
const GIT_BRANCH: Spec = spec("u", "", "--set-upstream-to --sort --format", "");
const GIT_TAG: Spec = spec("mFu", "n", "--message --file --local-user --sort --format", "");
const CURL: Spec = spec(
    "AbcCdDeEFHKmoPQrtTuUwxXyYz",
    "",
    "--request --output --data --data-raw --data-binary --data-urlencode --data-ascii --json \
     --form --form-string --upload-file --header --user --user-agent --write-out --url --referer \
     --cookie",
    "",
);
const WGET: Spec =
    spec("oaeiBtOTwQPDIXUlAR", "", "--output-document --output-file --method --header --user-agent --tries", "");

/// Whether a command writes, the scripts in its words, and whether it runs its input.
#[derive(Default)]
pub(super) struct Judgement {
    pub(super) writes: bool,
    pub(super) scripts: Vec<String>,
    pub(super) is_stdin_code: bool,
}

/// Judge a simple command and every command that it runs.
pub(super) fn judge(words: &[String]) -> Judgement {
    let mut judgement = Judgement::default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut waiting = vec![(words, 0)];
    while let Some((command, hops)) = waiting.pop() {
        let inner = judge_one(&command, &mut judgement);
        if hops < MAX_HOPS {
            waiting.extend(inner.into_iter().map(|words| (words, hops + 1)));
        }
    }
    judgement
}

/// Judge one command by itself and give the commands in its words.
fn judge_one<'a>(words: &[&'a str], judgement: &mut Judgement) -> Vec<Vec<&'a str>> {
    let words = skip_assignments(words);
    let Some((first, arguments)) = words.split_first() else {
        return Vec::new();
    };
    if is_help(words) {
        return Vec::new();
    }
    let name = program_name(first);
    if let Some(spec) = wrapper(name) {
        return wrapped(name, arguments, &spec);
    }
    if among(SHELLS, name) {
        judge_shell(arguments, judgement);
    } else if name == "eval" {
        judgement.scripts.push(arguments.join(" "));
    } else if name == "find" {
        return found_commands(arguments, judgement);
    } else if name == "python" {
        return python_module(arguments);
    } else if writes(name, arguments) {
        judgement.writes = true;
    }
    Vec::new()
}

/// Whether a word is in a list.
fn among(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|item| item == word)
}

/// The words without the `X=1` in front.
fn skip_assignments<'b, 'a>(words: &'b [&'a str]) -> &'b [&'a str] {
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    words.get(count..).unwrap_or_default()
}

/// Whether a word sets a variable: `X=1`, `X+=1`, `X[0]=1`.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let is_name = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    is_name && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Whether a command only tells about itself: `x --version`, `x --help`, `x verb --help`.
fn is_help(words: &[&str]) -> bool {
    matches!(words, [_, "--version" | "--help"] | [_, _, "--help"])
}

/// A program's name without its folder and, for a few, its version.
pub(super) fn program_name(word: &str) -> &str {
    let name = word.rsplit_once('/').map_or(word, |(_, name)| name);
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if among(VERSIONED, base) { base } else { name }
}

/// Options with their values: an option is a letter, or a long name with its dashes.
type Options<'a> = Vec<(&'a str, &'a str)>;

/// The options with their values, and the other words. With `stops`, everything from the first
/// other word on is one.
fn parse<'a>(arguments: &[&'a str], spec: &Spec, stops: bool) -> (Options<'a>, Vec<&'a str>) {
    let mut options = Vec::new();
    let mut others = Vec::new();
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if !is_option(word) && stops {
            others.push(word);
        }
        if word == "--" || (stops && !is_option(word)) {
            others.extend(words);
            break;
        }
        if !is_option(word) {
            others.push(word);
            continue;
        }
        let takes_next = if word.starts_with("--") {
            let split = word.split_once('=');
            options.push(split.unwrap_or((word, "")));
            split.is_none() && among(spec.names, word)
        } else {
            parse_letters(word.get(1..).unwrap_or_default(), spec, &mut options)
        };
        let value = if takes_next { words.next() } else { None };
        if let (Some(option), Some(value)) = (options.last_mut(), value) {
            option.1 = value;
        }
    }
    (options, others)
}

/// Whether a word is an option: `-x`, `--long`, `+x`.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}

/// Take a cluster of letters apart; whether the last one's value is the next word.
fn parse_letters<'a>(letters: &'a str, spec: &Spec, options: &mut Options<'a>) -> bool {
    for (index, letter) in letters.char_indices() {
        let (option, rest) =
            letters.get(index..).and_then(|tail| tail.split_at_checked(letter.len_utf8())).unwrap_or_default();
        let is_valued = spec.valued.contains(letter);
        if is_valued || spec.attached.contains(letter) {
            options.push((option, rest));
            return is_valued && rest.is_empty();
        }
        options.push((option, ""));
    }
    false
}

/// The first word that is no option, or the second where the first is a group of verbs; and the
/// words behind it.
fn verb_of<'a>(arguments: &[&'a str], spec: &Spec) -> (&'a str, Vec<&'a str>) {
    let (_, mut others) = parse(arguments, spec, true);
    if others.first().is_some_and(|first| among(spec.groups, first)) {
        others = parse(others.get(1..).unwrap_or_default(), spec, true).1;
    }
    match others.split_first() {
        Some((verb, rest)) => (verb, rest.to_vec()),
        None => ("", Vec::new()),
    }
}

/// The command behind a program that runs it.
fn wrapped<'a>(name: &str, arguments: &[&'a str], spec: &Spec) -> Vec<Vec<&'a str>> {
    let (options, mut others) = parse(arguments, spec, true);
    if name == "command" && has_any(&options, "v V") {
        return Vec::new();
    }
    if name == "timeout" && !others.is_empty() {
        others.remove(0);
    }
    vec![others]
}

/// A shell: its script is a word, its standard input, or a file that nobody knows.
fn judge_shell(arguments: &[&str], judgement: &mut Judgement) {
    let (options, others) = parse(arguments, &SHELL, true);
    let first = others.first();
    if has_any(&options, "c") {
        judgement.scripts.extend(first.map(|&script| script.to_owned()));
    } else if has_any(&options, "s") || first.is_none_or(|&word| word == "-") {
        judgement.is_stdin_code = true;
    }
}

/// The commands that `find` runs.
fn found_commands<'a>(arguments: &[&'a str], judgement: &mut Judgement) -> Vec<Vec<&'a str>> {
    let mut commands = Vec::new();
    let mut inside: Option<Vec<&str>> = None;
    for &word in arguments {
        match (&mut inside, word) {
            (Some(_), ";" | "+") => commands.extend(inside.take()),
            (Some(command), _) => command.push(word),
            (None, "-exec" | "-execdir" | "-ok" | "-okdir") => inside = Some(Vec::new()),
            (None, "-delete") => judgement.writes = true,
            (None, _) => {}
        }
    }
    commands.extend(inside);
    commands
}

/// The command that `python -m pip` stands for.
fn python_module<'a>(arguments: &[&'a str]) -> Vec<Vec<&'a str>> {
    let (options, mut others) = parse(arguments, &PYTHON, true);
    let first = options.into_iter().find(|&(option, _)| matches!(option, "c" | "m"));
    if first == Some(("m", "pip")) {
        others.insert(0, "pip");
        return vec![others];
    }
    Vec::new()
}

/// Whether a program that runs no other writes with these arguments.
fn writes(name: &str, arguments: &[&str]) -> bool {
    if among(WRITERS, name) {
        return true;
    }
    if let Some(spec) = packager(name) {
        return package_writes(name, arguments, &spec);
    }
    if let Some(spec) = manager(name) {
        let (verb, _) = verb_of(arguments, &spec);
        return !verb.is_empty() && !is_reading(verb);
    }
    match name {
        "git" => git_writes(arguments),
        "sed" | "gsed" => has_option(arguments, &SED, "i --in-place"),
        "perl" => has_any(&parse(arguments, &PERL, true).0, "i"),
        "curl" => curl_writes(arguments),
        "wget" => wget_writes(arguments),
        "make" | "gmake" => {
            let (_, targets) = parse(arguments, &MAKE, false);
            targets.iter().any(|target| among(MAKE_WRITING, target))
        }
        _ => false,
    }
}

/// Whether one of the named options is among those given.
fn has_any(options: &Options<'_>, names: &str) -> bool {
    options.iter().any(|(option, _)| among(names, option))
}

/// Whether one of the options is among the arguments, wherever it stands.
fn has_option(arguments: &[&str], spec: &Spec, names: &str) -> bool {
    has_any(&parse(arguments, spec, false).0, names)
}

/// A package manager, by its verb.
fn package_writes(name: &str, arguments: &[&str], spec: &Spec) -> bool {
    let (verb, _) = verb_of(arguments, spec);
    among(PACKAGE_WRITING, verb) || (among("npm pnpm yarn brew", name) && among(PACKAGE_SHORT, verb))
}

/// Whether a verb of docker and its like reads; `list-units` counts as `list`.
fn is_reading(verb: &str) -> bool {
    let stem = verb.split_once('-').map_or(verb, |(stem, _)| stem);
    among(READING, verb) || matches!(stem, "get" | "list" | "show")
}

/// Git, by its verb; the verbs that also list, by what follows.
fn git_writes(arguments: &[&str]) -> bool {
    let (verb, rest) = verb_of(arguments, &GIT);
    match verb {
        "branch" => has_option(&rest, &GIT_BRANCH, "d D m M --delete --move"),
        "tag" => git_tag_writes(&rest),
        "stash" => !matches!(verb_of(&rest, &PLAIN).0, "list" | "show"),
        "worktree" => !matches!(verb_of(&rest, &PLAIN).0, "" | "list"),
        _ => among(GIT_WRITING, verb),
    }
}

/// `git tag` lists without a name or with an option that only a list takes.
fn git_tag_writes(arguments: &[&str]) -> bool {
    let (options, names) = parse(arguments, &GIT_TAG, false);
    has_any(&options, "d --delete") || (!names.is_empty() && !has_any(&options, GIT_TAG_LISTING))
}

/// Whether curl sends something or saves to a file.
fn curl_writes(arguments: &[&str]) -> bool {
    let (options, _) = parse(arguments, &CURL, false);
    let (mut has_data, mut is_get) = (false, false);
    for (option, value) in options {
        match option {
            "X" | "--request" if among(SENDING, value) => return true,
            "o" | "--output" if value != "-" && writes_file(value) => return true,
            _ if among(CURL_WRITING, option) => return true,
            "G" | "--get" => is_get = true,
            _ => has_data |= matches!(option, "d" | "--json") || option.starts_with("--data"),
        }
    }
    has_data && !is_get
}

/// Whether wget sends something or saves to a file, which it does unless told otherwise.
fn wget_writes(arguments: &[&str]) -> bool {
    let (options, _) = parse(arguments, &WGET, false);
    let mut saves = true;
    for (option, value) in options {
        match option {
            "--method" if among(SENDING, value) => return true,
            "--post-data" | "--post-file" | "--body-data" | "--body-file" => return true,
            "O" | "--output-document" => saves = value != "-" && writes_file(value),
            "--spider" => saves = false,
            _ => {}
        }
    }
    saves
}

/// Whether writing to a target changes a file; a process substitution reads as `>()`.
pub(super) fn writes_file(target: &str) -> bool {
    !among(DEVICES, target) && target != ">()" && !target.starts_with("/dev/fd/")
}
