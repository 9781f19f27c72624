//! Failures that nothing later resolved: no success of the same command, or of the same tool on the same thing.

use ahash::{AHashMap, AHashSet};

use super::chars::{strip, words};
use super::files::name_of;
use super::kinds::{
    COUNTED, INTERPRETERS, PARSE_ERRORS, PATH_KEYS, PREFIXES, PROBES, QUERY_KEYS, REDIRECTIONS, StepKind,
    WITH_SUBCOMMANDS, first_text,
};
use super::outcomes::{lines_with_words, telling_line};
use super::steps::{State, Step};
use crate::json::value::{Key, Value, names};
use crate::shorten::runs_tests;

const URL_KEYS: &[Key<'static>] = &[names::URL];
/// The steps in which a command is redone that a shell could not read.
const SOON: usize = 3;
/// The characters at the end of an output in which a test runner counts failures.
const SUMMARY: usize = 400;
/// The steps before the hand-over in which a failure may be open; one that was left longer ago was worked around.
const MOST_LOOKED_AT: usize = 40;

/// Return the program that a command runs, with its sub-command, or with the script or module that it interprets.
pub(super) fn program_of(command: &str) -> String {
    let is_option = |word: &str| ["-", "+", "'-", "\"-"].iter().any(|start| word.starts_with(start));
    let is_setting = |word: &str| word.contains('=') && !word.starts_with(['/', '.']);
    let mut found = words(command).filter(|word| !PREFIXES.contains(word) && !is_option(word) && !is_setting(word));
    let Some(first) = found.next() else { return String::new() };
    let program = name_of(first.trim_matches(['\'', '"', '(']));
    let takes_more = WITH_SUBCOMMANDS.contains(&program) || INTERPRETERS.contains(&program);
    let second = found.next().filter(|second| takes_more && !["|", "&&", ";", ">"].contains(second));
    let Some(second) = second.map(|second| second.trim_matches(['\'', '"'])) else { return program.to_owned() };
    let is_runner = ["npm", "pnpm", "yarn", "bun"].contains(&program);
    match found.next().filter(|_| is_runner && second == "run") {
        Some(third) => format!("{program} run {third}"),
        None => format!("{program} {second}"),
    }
}

/// Return the part of a command that failed, most likely: the last of those that `&&` joins, before its pipes.
fn main_part(command: &str) -> &str {
    let last = strip(command).rsplit("&&").next().unwrap_or_default();
    let part = strip(last.split('|').next().unwrap_or_default());
    if part.is_empty() { command } else { part }
}

/// Return the commands that `&&` joins, without their flags and what they are piped into. One of which only the program is
/// left keeps its flags.
fn parts_of(command: &str) -> impl Iterator<Item = String> {
    command.split("&&").map(|part| {
        let own = words(part.split(" | ").next().unwrap_or_default());
        let own: Vec<&str> = own.filter(|word| !REDIRECTIONS.contains(word)).collect();
        let kept: Vec<&str> = own.iter().copied().filter(|word| !word.starts_with('-')).collect();
        if kept.len() > 1 { kept.join(" ") } else { own.join(" ") }
    })
}

/// Return what a step shows to work if it succeeds.
fn signs_of<'a, V: Value<'a>>(step: &Step<'a, V>) -> Vec<String> {
    if step.entry.call.is_none() {
        return Vec::new();
    }
    let reads = step.keys.iter().map(|key| format!("read {key}"));
    if step.kind == StepKind::Command {
        return parts_of(&step.command).map(|part| format!("command {part}")).chain(reads).collect();
    }
    if step.kind.is_of_file() && !step.keys.is_empty() {
        let changes = if step.is_change() { wanted_by(step) } else { Vec::new() };
        return reads.chain(changes).collect();
    }
    let given = step.given();
    let about = [URL_KEYS, PATH_KEYS, QUERY_KEYS].map(|keys| first_text(given, keys));
    let is_unknown = about.iter().all(|text| text.is_empty()) && given.is_some_and(|given| given.size() > 0);
    if is_unknown { Vec::new() } else { vec![format!("tool {} {}", step.entry.tool_name.as_utf8(), about.join(" "))] }
}

/// Return what has to work later, so that the failure of a step is resolved: one of these.
fn wanted_by<'a, V: Value<'a>>(step: &Step<'a, V>) -> Vec<String> {
    if step.is_change() && step.entry.call.is_some() {
        return step.keys.iter().map(|key| format!("change {key}")).collect();
    }
    signs_of(step).pop().into_iter().collect()
}

/// Return true if a shell could not read a command, so that nothing ran.
fn is_parse_error<'a, V: Value<'a>>(step: &Step<'a, V>) -> bool {
    step.kind == StepKind::Command && PARSE_ERRORS.iter().any(|word| step.ends().text.contains(word))
}

/// Return true if a command says no by its exit code, and so did not fail: a search without hits, a test, a probe.
fn is_answer<V>(step: &Step<'_, V>) -> bool {
    if step.kind != StepKind::Command {
        return matches!(step.kind, StepKind::Search | StepKind::Listing | StepKind::Question | StepKind::Plan);
    }
    let part = main_part(&step.command);
    let program = program_of(part);
    let program = program.split(' ').next().unwrap_or_default();
    PROBES.contains(&program) || ["[", "test ", "!"].iter().any(|start| part.starts_with(start))
}

/// Return the line in which a test runner counts failures, although nothing calls its run a failure, as where its output
/// goes through a pipe; `None` if there is none.
pub(super) fn failed_tests<'a, V: Value<'a>>(step: &Step<'a, V>) -> Option<String> {
    if step.kind != StepKind::Command || !step.has_succeeded() || !runs_tests(&step.command) {
        return None;
    }
    let end = step.entry.text.last(SUMMARY).whole();
    let end = end.text().as_utf8();
    let counts_failures = |line: &&str| {
        let mut before = "";
        let found = line.split([',', ';']).flat_map(words).find(|word| {
            let is_number = !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
            let is_counted = COUNTED.contains(word) && is_number && !before.trim_matches('0').is_empty();
            before = word;
            is_counted
        });
        found.is_some()
    };
    end.rsplit('\n').find(counts_failures).map(|line| line.trim_matches([' ', '=']).to_owned())
}

/// Return the numbers of failures, each with that of the next success of the same thing.
///
/// A command that a shell could not read is resolved by one of the same program soon after it.
pub(super) fn find_resolved<'a, V: Value<'a>>(steps: &[Step<'a, V>]) -> AHashMap<usize, usize> {
    let mut found = AHashMap::new();
    let Some(first) = steps.iter().position(|step| step.state == State::Failed) else { return found };
    let mut later: AHashMap<String, usize> = AHashMap::new();
    let mut programs: AHashMap<String, usize> = AHashMap::new();
    for step in steps.iter().skip(first).rev() {
        let program = if step.kind == StepKind::Command { program_of(&step.command) } else { String::new() };
        if step.has_succeeded() && failed_tests(step).is_none() {
            later.extend(signs_of(step).into_iter().map(|sign| (sign, step.number)));
            programs.insert(program, step.number);
        } else if step.state == State::Failed {
            let redone =
                programs.get(&program).copied().filter(|redone| !program.is_empty() && redone - step.number <= SOON);
            let redone = redone.filter(|_| is_parse_error(step));
            let wanted = wanted_by(step);
            let numbers = wanted.iter().filter_map(|sign| later.get(sign).copied());
            found.extend(numbers.chain(redone).min().map(|number| (step.number, number)));
        }
    }
    found
}

/// Return the failures of the current request that are not resolved, each kind once, oldest first.
pub(super) fn open_failures<'s, 'a, V: Value<'a>>(
    steps: &'s [Step<'a, V>],
    resolved: &AHashMap<usize, usize>,
) -> Vec<&'s Step<'a, V>> {
    let mut found = Vec::new();
    let Some(turn) = steps.last().map(|step| step.turn) else { return found };
    let mut known: AHashSet<String> = AHashSet::new();
    for step in steps.iter().rev().take(MOST_LOOKED_AT).take_while(|step| step.turn == turn) {
        let is_counted = failed_tests(step).is_some();
        if step.has_succeeded() && !is_counted {
            known.extend(signs_of(step)); // what came before is resolved
            continue;
        }
        let is_failure = step.state == State::Failed || is_counted;
        if !is_failure || resolved.contains_key(&step.number) || is_answer(step) {
            continue;
        }
        let lines = lines_with_words(&step.ends().text);
        let told = if lines.is_empty() { String::new() } else { strip(&telling_line(&lines)).to_owned() };
        let signs = wanted_by(step).into_iter().chain([told]).filter(|sign| !sign.is_empty());
        let signs: Vec<String> = signs.collect();
        if signs.iter().all(|sign| !known.contains(sign)) {
            found.push(step);
        }
        known.extend(signs);
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::program_of;

    #[test]
    fn a_command_has_a_program() {
        let programs = ["CI=1 cargo +nightly test -q | tail", "python -m pytest -x", "make", "npm run build", ""];
        assert_eq!(programs.map(program_of), ["cargo test", "python pytest", "make", "npm run build", ""]);
    }
}
