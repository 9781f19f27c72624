//! The effect of one simple command, and the commands and scripts inside it.
//!
//! Programs that run another program (`sudo`, `env`, `xargs`, `find -exec`) are read through, and the scripts in a
//! command's words (`bash -c`, `eval`, `ssh host ...`) are returned for [`super::parser`] to read. The time is linear
//! in the number of words. Commands inside more than `MAX_HOPS` wrappers and scripts in files are ignored, but a
//! database client whose SQL is in a file counts as writing.

use super::programs::{FIND_RUNNING, PYTHON_OPTIONS, SHELL_OPTIONS, SHELLS, SQL_CLIENTS, SSH_OPTIONS, Spec, WRAPPERS};
use super::programs::{find, has_any, parse};
use super::programs::{program_name, writes};

const MAX_HOPS: usize = 16;

/// The effect of a command: `writes` is true if it writes, `scripts` are the scripts in its words, and `is_stdin_code`
/// and `is_stdin_sql` are true if its standard input is commands, or SQL.
#[derive(Default)]
pub(super) struct Judgement {
    pub(super) writes: bool,
    pub(super) scripts: Vec<String>,
    pub(super) is_stdin_code: bool,
    pub(super) is_stdin_sql: bool,
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

/// Judge one command by itself and return the commands in its words.
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
    judgement.is_stdin_sql |= find(SQL_CLIENTS, name).is_some();
    Vec::new()
}

/// Return the words without the leading assignments (`X=1`).
fn skip_assignments<'b, 'a>(words: &'b [&'a str]) -> &'b [&'a str] {
    let count = words.iter().take_while(|word| is_assignment(word)).count();
    words.get(count..).unwrap_or_default()
}

/// Return true if a word sets a variable: `X=1`, `X+=1`, `X[0]=1`.
fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    let is_name = name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    is_name && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

/// Return true if a command only prints its help or version: `x --version`, `x --help`, `x verb --help`.
fn is_help(words: &[&str]) -> bool {
    matches!(words, [_, "--version" | "--help"] | [_, _, "--help"])
}

/// Return the command that a wrapper runs.
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

/// Judge a shell: its script is a word, its standard input, or a file, which is not read.
fn judge_shell(arguments: &[&str], judgement: &mut Judgement) {
    let (options, others) = parse(arguments, &SHELL_OPTIONS, true);
    let first = others.first();
    if has_any(&options, &["c"]) {
        judgement.scripts.extend(first.map(|&script| script.to_owned()));
    } else if has_any(&options, &["s"]) || first.is_none_or(|&word| word == "-") {
        judgement.is_stdin_code = true;
    }
}

/// Judge `ssh`: the words after the host are a script; without words, its standard input is one.
///
/// A plain command is judged here and not as a separate script, because of `ssh host bash -s <<EOF`: the input of `ssh`
/// is the input of the command.
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

/// Return true if a word has no character with a meaning to a shell, except spaces.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" _./=:@%+,-".contains(&byte))
}

/// Return the commands that `find` runs.
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

/// Return the `pip` command that `python -m pip` runs.
fn python_module<'a>(arguments: &[&'a str]) -> Vec<Vec<&'a str>> {
    let (options, mut others) = parse(arguments, &PYTHON_OPTIONS, true);
    let first = options.into_iter().find(|&(option, _)| matches!(option, "c" | "m"));
    if first == Some(("m", "pip")) {
        others.insert(0, "pip");
        return vec![others];
    }
    Vec::new()
}
