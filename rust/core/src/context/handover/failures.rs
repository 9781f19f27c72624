//! Failures that nothing later resolved: no success of the same command, or of the same tool on the same thing.

use ahash::{AHashMap, AHashSet};

use super::chars::{head, strip, words};
use super::kinds::{
    COMPILING, COUNTED, INTERPRETERS, LOCATORS, MISUSES, PARSE_ERRORS, PATH_KEYS, PREFIXES, PROBES, QUERY_KEYS,
    REDIRECTIONS, RUNNERS, RUNNING, SCRIPT_RUNNERS, SEPARATORS, SINGLE, StepKind, TERMINAL_KEYS, VIEWERS,
    WITH_SUBCOMMANDS, first_text,
};
use super::other_changes::name_of;
use super::outcomes::telling_line;
use super::steps::{State, Step};
use crate::json::value::{Key, Value, names};
use crate::shorten::runs_tests;

const URL_KEYS: &[Key<'static>] = &[names::URL];
/// The steps in which a command is redone that a shell could not read.
const SOON: usize = 3;
/// The characters at the end of an output in which a test runner counts failures.
const SUMMARY: usize = 400;
const LONGEST_MISUSE: usize = 600;
const NO_FILE: &str = "No such file or directory";
const NOT_FOUND: &str = "not found";
/// Programs that read a file, besides those that only show it.
const READERS: [&str; 3] = ["sed", "awk", "stat"];
/// The steps before the hand-over in which a failure of an unknown tool is open: nothing says what would settle it.
const RECENT: usize = 5;
/// The steps before the hand-over in which a failure may be open; one that was left longer ago was worked around.
const MOST_LOOKED_AT: usize = 40;

/// Return the words of a command without its settings, what it is piped into, and the programs that only run it.
fn own_words(part: &str) -> Vec<&str> {
    let first = part.split(" | ").next().unwrap_or_default();
    let mut found: Vec<&str> = words(first).filter(|word| !REDIRECTIONS.contains(word)).collect();
    let mut at = 0;
    while let Some(word) = found.get_mut(at) {
        let program = plain_name(word);
        let is_setting = word.split('/').next().is_some_and(|start| start.contains('=')) && !word.starts_with('.');
        let is_option = at > 0 && program.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        if let Some(count) = wrapper_at(found.get(at..).unwrap_or_default()) {
            at += count;
        } else if PREFIXES.contains(&program) || is_setting || is_option {
            at += 1;
        } else {
            if let Some(word) = found.get_mut(at) {
                *word = program;
            }
            return found.split_off(at);
        }
    }
    found
}

/// Return the number of words that only run the program after them.
fn wrapper_at(found: &[&str]) -> Option<usize> {
    let (first, rest) = found.split_first()?;
    let program = plain_name(first);
    let is_wrapper = |runner: &&&str| {
        let mut own = words(runner);
        own.next() == Some(program) && own.enumerate().all(|(place, word)| rest.get(place) == Some(&word))
    };
    RUNNERS.iter().find(is_wrapper).map(|runner| words(runner).count())
}

/// Return the name of a program, without its folder, and that of an interpreter without its version.
fn plain_name(word: &str) -> &str {
    let name = name_of(word.trim_matches(['\'', '"', '(']));
    let name = if name.is_empty() { word } else { name };
    let bare = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    if INTERPRETERS.contains(&bare) || bare == "pip" { bare } else { name }
}

/// A command that ran: its program, with a sub-command, a script or a module, and what it was about.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    program: String,
    targets: Vec<String>,
}

impl Run {
    fn name(&self) -> &str {
        self.program.split(' ').next().unwrap_or_default()
    }

    fn verb(&self) -> &str {
        self.program.rsplit(' ').next().unwrap_or_default()
    }
}

/// Return what one command runs, and about what: words that are no options and no numbers.
fn run_of(part: &str) -> Run {
    let is_option = |word: &&str| ["-", "+", "'-", "\"-"].iter().any(|start| word.starts_with(start));
    let part = part.replace('\n', " ");
    let found: Vec<&str> = own_words(&part).into_iter().filter(|word| !is_option(word)).collect();
    let found: Vec<&str> = found.iter().map(|word| word.trim_matches(['\'', '"', '('])).collect();
    let (program, mut rest) = match found.split_first() {
        Some((program, rest)) if !program.is_empty() => (*program, rest),
        _ => return Run { program: String::new(), targets: Vec::new() },
    };
    let takes_more = WITH_SUBCOMMANDS.contains(&program) || INTERPRETERS.contains(&program);
    let mut name = program.to_owned();
    if takes_more && rest.first().is_some_and(|first| !SEPARATORS.contains(first)) {
        let is_script = rest.first() == Some(&"run") && SCRIPT_RUNNERS.contains(&program) && rest.len() > 1;
        let (own, others) = rest.split_at(if is_script { 2 } else { 1 });
        for word in own {
            name.push(' ');
            name.push_str(word);
        }
        rest = others;
    }
    let is_target = |word: &&&str| !word.is_empty() && !is_number(word) && !word.contains('=');
    let targets = rest.iter().filter(is_target).map(|word| word.split("::").next().unwrap_or_default().to_owned());
    Run { program: name, targets: targets.collect() }
}

/// Return true for a text of decimal digits, in any script.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Return the part of a command that failed, most likely: the last of those that `&&` joins, before its pipes.
fn main_part(command: &str) -> &str {
    let last = strip(command).rsplit("&&").next().unwrap_or_default();
    let part = strip(last.split('|').next().unwrap_or_default());
    if part.is_empty() { command } else { part }
}

/// Return the commands that `&&` joins, without their flags and without what only shows their output. One of which only the
/// program is left keeps its flags.
fn parts_of(command: &str) -> impl Iterator<Item = String> {
    command.split("&&").map(|part| {
        let own = own_words(part);
        let kept: Vec<&str> = own.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let mut parts = vec![if kept.len() > 1 { kept.join(" ") } else { own.join(" ") }];
        let filters: Vec<Vec<&str>> = part.split(" | ").skip(1).map(own_words).collect();
        let is_viewer = |words: &&Vec<&str>| words.first().is_none_or(|program| VIEWERS.contains(program));
        let count = filters.len() - filters.iter().rev().take_while(is_viewer).count();
        parts.extend(filters.iter().take(count).map(|words| words.join(" ")));
        parts.join(" | ")
    })
}

/// Return what a step shows to work if it succeeds.
fn signs_of<'a, V: Value<'a>>(step: &Step<'a, V>) -> Vec<String> {
    if step.entry.call.is_none() {
        return Vec::new();
    }
    let reads = step.keys.iter().map(|key| format!("read {key}"));
    if step.kind == StepKind::Command {
        let parts = parts_of(&step.command).filter(|part| !part.is_empty());
        return parts.map(|part| format!("command {part}")).chain(reads).collect();
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

/// Return true if a failure is an answer: that what was looked for is not there, or a no by the exit code of a command.
fn is_answer<'a, V: Value<'a>>(step: &Step<'a, V>) -> bool {
    let output = &*step.ends().text;
    match step.kind {
        StepKind::Command => {}
        StepKind::Other => return head(output, LONGEST_MISUSE).contains(NOT_FOUND),
        kind => {
            return matches!(
                kind,
                StepKind::Search
                    | StepKind::Listing
                    | StepKind::Read
                    | StepKind::Web
                    | StepKind::Question
                    | StepKind::Plan
            );
        }
    }
    if LOCATORS.iter().any(|start| step.command.starts_with(start))
        && !output.contains('\n')
        && !output.starts_with('/')
    {
        return true; // the program that it looked for is not there, and the rest did not run
    }
    let part = main_part(&step.command);
    if TERMINAL_KEYS.contains(&part) {
        return true;
    }
    let has_no_file = output.contains(NO_FILE);
    let is_reader = |program: &str| VIEWERS.contains(&program) || READERS.contains(&program);
    let is_probe = |program: &str| PROBES.contains(&program) || (has_no_file && is_reader(program));
    is_probe(run_of(part).name())
        || words(part).next().is_some_and(is_probe)
        || ["[", "test ", "!"].iter().any(|start| part.starts_with(start))
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

/// Return true if a step succeeded, and no exit code and no count of a test runner says otherwise.
fn has_worked<'a, V: Value<'a>>(step: &Step<'a, V>) -> bool {
    step.has_succeeded() && matches!(&*step.ends().code, "" | "0") && failed_tests(step).is_none()
}

/// What the failures of a conversation were about, so that only the successes that may resolve one are looked at.
#[derive(Default)]
struct Wanted {
    signs: AHashSet<String>,
    programs: Vec<String>,
    /// True if a success of something else than a command may resolve a failure.
    has_others: bool,
}

impl Wanted {
    fn by<'a, V: Value<'a>>(steps: &[Step<'a, V>]) -> Self {
        let mut wanted = Self::default();
        for step in steps.iter().filter(|step| step.state == State::Failed) {
            wanted.has_others |= step.kind != StepKind::Command || step.is_read();
            let signs = wanted_by(step);
            if step.kind == StepKind::Command {
                let named = signs.iter().filter_map(|sign| sign.split(' ').nth(1)).map(str::to_owned);
                let run = run_of(&step.command).name().to_owned();
                wanted.programs.extend(named.chain([run]).filter(|name| !name.is_empty()));
            }
            wanted.signs.extend(signs);
        }
        wanted.programs.sort_unstable();
        wanted.programs.dedup();
        wanted
    }

    /// Return true if a success may resolve a failure.
    fn may_have<'a, V: Value<'a>>(&self, step: &Step<'a, V>) -> bool {
        if step.kind != StepKind::Command || step.is_read() {
            return self.has_others;
        }
        self.programs.iter().any(|name| step.command.contains(&**name))
    }
}

/// Return the numbers of failures, each with that of the next success of the same thing.
///
/// A command that a shell could not read is resolved by one of the same program soon after it.
pub(super) fn find_resolved<'a, V: Value<'a>>(steps: &[Step<'a, V>]) -> AHashMap<usize, usize> {
    let mut found = AHashMap::new();
    let Some(first) = steps.iter().position(|step| step.state == State::Failed) else { return found };
    let all = Wanted::by(steps);
    let mut later: AHashMap<String, usize> = AHashMap::new();
    let mut programs: AHashMap<String, usize> = AHashMap::new();
    for step in steps.iter().skip(first).rev() {
        let program = || if step.kind == StepKind::Command { run_of(&step.command).program } else { String::new() };
        if all.may_have(step) && has_worked(step) {
            let signs = signs_of(step).into_iter().filter(|sign| all.signs.contains(sign));
            later.extend(signs.map(|sign| (sign, step.number)));
            programs.insert(program(), step.number);
        } else if step.state == State::Failed {
            let program = program();
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

/// What succeeded later, while the steps are read from the last one on: as much of it as may settle a failure.
#[derive(Debug, Default)]
struct Later {
    signs: AHashSet<String>,
    runs: Vec<Run>,
    /// What succeeded after a change of a file, by the name of the file.
    edited: AHashMap<String, Vec<Run>>,
}

impl Later {
    /// Note a success.
    fn note<'a, V: Value<'a>>(&mut self, step: &Step<'a, V>) {
        self.signs.extend(signs_of(step));
        self.signs.extend(names_of(step));
        self.signs.insert(called(step));
        if step.kind == StepKind::Command {
            self.runs.extend(step.command.split("&&").map(run_of).filter(|run| !run.program.is_empty()));
        }
        if step.is_change() {
            for key in &step.keys {
                self.edited.entry(name_of(key).to_owned()).or_default().extend(self.runs.iter().cloned());
            }
        }
    }

    /// Return true if a failure is over, most likely: what it was about works in another form.
    fn settles<'a, V: Value<'a>>(&self, step: &Step<'a, V>) -> bool {
        let output = &*step.ends().text;
        let start = head(output, LONGEST_MISUSE);
        let is_misuse = MISUSES.iter().any(|word| start.contains(word));
        if step.kind != StepKind::Command {
            let called = is_misuse.then(|| called(step));
            return names_of(step).chain(called).any(|sign| self.signs.contains(&sign));
        }
        let failed = run_of(main_part(&step.command));
        let is_settled = |run: &Run| covers(run, &failed, output) || (is_misuse && run.name() == failed.name());
        self.runs.iter().any(is_settled)
            || self
                .edited
                .iter()
                .any(|(name, runs)| output.contains(&**name) && runs.iter().any(|run| proves(run, &failed)))
    }
}

/// Return the names of the files that a step read or changed: another file of the same name may have been meant.
fn names_of<'s, 'a, V: Value<'a>>(step: &'s Step<'a, V>) -> impl Iterator<Item = String> + 's {
    let done = if step.is_change() { "changed" } else { "read" };
    step.keys.iter().map(move |key| format!("{done} {}", name_of(key)))
}

fn called<V>(step: &Step<'_, V>) -> String {
    format!("called {}", step.entry.tool_name.to_utf8())
}

/// Return true if a success of the same program was about the same, or about all, or about what the failure names.
fn covers(run: &Run, failed: &Run, output: &str) -> bool {
    if run.program != failed.program || failed.program.is_empty() {
        return false;
    }
    if SINGLE.contains(&&*run.program) || run.targets.is_empty() {
        return true;
    }
    if failed.targets.is_empty() {
        return run.targets.iter().any(|target| output.contains(name_of(target)));
    }
    failed.targets.iter().any(|one| run.targets.iter().any(|other| is_within(one, other)))
}

fn is_within(path: &str, folder: &str) -> bool {
    let bare = folder.trim_end_matches('/');
    path == folder
        || bare == "."
        || bare == "./..."
        || path.strip_prefix(bare).is_some_and(|rest| rest.starts_with('/'))
}

/// Return true if a success shows that a file has no error any more, on which a run of the same program had failed.
fn proves(run: &Run, failed: &Run) -> bool {
    if run.program == failed.program {
        return true;
    }
    let is_compiled =
        COMPILING.contains(&failed.verb()) && (COMPILING.contains(&run.verb()) || RUNNING.contains(&run.verb()));
    run.name() == failed.name() && (is_compiled || INTERPRETERS.contains(&run.name()))
}

/// Return the failures of the current request that nothing settled, each kind once, oldest first.
pub(super) fn open_failures<'s, 'a, V: Value<'a>>(
    steps: &'s [Step<'a, V>],
    resolved: &AHashMap<usize, usize>,
) -> Vec<&'s Step<'a, V>> {
    let mut found = Vec::new();
    let Some(turn) = steps.last().map(|step| step.turn) else { return found };
    let mut later = Later::default();
    for step in steps.iter().rev().take(MOST_LOOKED_AT).take_while(|step| step.turn == turn) {
        if has_worked(step) {
            later.note(step); // what came before is resolved
            continue;
        }
        let is_failure = step.state == State::Failed || failed_tests(step).is_some();
        let is_left = step.kind == StepKind::Other && step.number + RECENT < steps.len();
        if !is_failure || is_left || resolved.contains_key(&step.number) || is_answer(step) {
            continue;
        }
        let told = telling_line(&step.ends().text);
        let signs = wanted_by(step).into_iter().chain([told]).filter(|sign| !sign.is_empty());
        let signs: Vec<String> = signs.collect();
        if signs.iter().all(|sign| !later.signs.contains(sign)) && !later.settles(step) {
            found.push(step);
        }
        later.signs.extend(signs);
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::{own_words, run_of};

    #[test]
    fn a_command_has_a_program() {
        let commands = ["CI=1 cargo +nightly test -q | tail", "python -m pytest -x", "make", "npm run build", ""];
        let programs = commands.map(|command| run_of(command).program);
        assert_eq!(programs, ["cargo test", "pytest", "make", "npm run build", ""]);
        assert_eq!(own_words("timeout 60 uv run python3.11 -m pytest -q a.py 2>&1 | tail"), ["pytest", "-q", "a.py"]);
        assert_eq!(run_of("pytest a.py::test_b 3 -k x").targets, ["a.py", "x"]);
    }
}
