//! One simple command: does it write, and does it hold commands of its own?
//!
//! Looks behind the programs that run another (`sudo`, `env`, `xargs`, `find -exec`), and names the scripts in a command's
//! words (`bash -c`, `eval`, `ssh host ...`), which [`super::parser`] reads. The time is linear in the words. What is behind
//! more than `MAX_HOPS` wrappers, and a script in a file, are left out.

use super::programs::{FIND_RUNNING, PYTHON_OPTIONS, SHELL_OPTIONS, SHELLS, SSH_OPTIONS, Spec, WRAPPERS, find};
use super::programs::{has_any, parse};
use super::programs::{program_name, writes};

const MAX_HOPS: usize = 16;

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
    if let Some(spec) = find(WRAPPERS, name) {
        return wrapped(name, arguments, spec);
    }
    if SHELLS.contains(&name) {
        judge_shell(arguments, judgement);
    } else if name == "eval" {
        judgement.scripts.push(arguments.join(" "));
    } else if name == "ssh" {
        return judge_remote(arguments, judgement);
    } else if name == "find" {
        return found_commands(arguments, judgement);
    } else if name == "python" {
        return python_module(arguments);
    } else if writes(name, arguments) {
        judgement.writes = true;
    }
    Vec::new()
}

/// The words without the `X=1` in front.
fn skip_assignments<'b, 'a>(words: &'b [&'a str]) -> &'b [&'a str] {
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    words.get(count..).unwrap_or_default()
}

/// Return whether a word sets a variable: `X=1`, `X+=1`, `X[0]=1`.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let is_name = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    is_name && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Return whether a command only tells about itself: `x --version`, `x --help`, `x verb --help`.
fn is_help(words: &[&str]) -> bool {
    matches!(words, [_, "--version" | "--help"] | [_, _, "--help"])
}

/// The command behind a program that runs it.
fn wrapped<'a>(name: &str, arguments: &[&'a str], spec: &Spec) -> Vec<Vec<&'a str>> {
    let (options, mut others) = parse(arguments, spec, true);
    if name == "command" && has_any(&options, &["v", "V"]) {
        return Vec::new();
    }
    if name == "timeout" && !others.is_empty() {
        others.remove(0);
    }
    vec![others]
}

/// A shell: its script is a word, its standard input, or a file that nobody knows.
fn judge_shell(arguments: &[&str], judgement: &mut Judgement) {
    let (options, others) = parse(arguments, &SHELL_OPTIONS, true);
    let first = others.first();
    if has_any(&options, &["c"]) {
        judgement.scripts.extend(first.map(|&script| script.to_owned()));
    } else if has_any(&options, &["s"]) || first.is_none_or(|&word| word == "-") {
        judgement.is_stdin_code = true;
    }
}

/// `ssh`: the words behind the host are a script; without any, its standard input is one.
///
/// A plain command is judged here and not as a script of its own, for `ssh host bash -s <<EOF`:
/// what goes into `ssh` goes into the command.
fn judge_remote<'a>(arguments: &[&'a str], judgement: &mut Judgement) -> Vec<Vec<&'a str>> {
    let (_, others) = parse(arguments, &SSH_OPTIONS, true);
    let (_, command) = parse(others.get(1..).unwrap_or_default(), &SSH_OPTIONS, true);
    if !command.iter().all(|word| is_plain(word)) {
        judgement.scripts.push(command.join(" "));
        return Vec::new();
    }
    judgement.is_stdin_code |= !others.is_empty() && command.is_empty();
    vec![command.into_iter().flat_map(str::split_ascii_whitespace).collect()]
}

/// Return whether a word would be the same word, or the same words, in any script.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _./=:@%+,-".contains(&byte))
}

/// The commands that `find` runs.
fn found_commands<'a>(arguments: &[&'a str], judgement: &mut Judgement) -> Vec<Vec<&'a str>> {
    let mut commands = Vec::new();
    let mut inside: Option<Vec<&str>> = None;
    for &word in arguments {
        match (&mut inside, word) {
            (Some(_), ";" | "+") => commands.extend(inside.take()),
            (Some(command), _) => command.push(word),
            (None, word) if FIND_RUNNING.contains(&word) => inside = Some(Vec::new()),
            (None, "-delete") => judgement.writes = true,
            (None, _) => {}
        }
    }
    commands.extend(inside);
    commands
}

/// The command that `python -m pip` stands for.
fn python_module<'a>(arguments: &[&'a str]) -> Vec<Vec<&'a str>> {
    let (options, mut others) = parse(arguments, &PYTHON_OPTIONS, true);
    let first = options.into_iter().find(|&(option, _)| matches!(option, "c" | "m"));
    if first == Some(("m", "pip")) {
        others.insert(0, "pip");
        return vec![others];
    }
    Vec::new()
}
