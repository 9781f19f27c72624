//! The calls of a conversation as numbered steps, in time order, with what each is about.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::chars::{breaks, string_of, strip};
use super::clean::{Output, clean_output, last_program, without_echo};
use super::kinds::{
    ACKNOWLEDGED, ENVELOPE_ASIDES, ENVELOPE_TEXTS, EXIT_KEYS, FILE_LISTERS, FOLDER_MARKS, INTERRUPTIONS, LISTERS,
    OLD_KEYS, PART_KEYS, REJECTIONS, SAID_AFTER, SAID_BEFORE, StepKind, VERDICTS, command_of, first_text, first_value,
    has_failure, has_text, is_insert, kind_of, member, patch_of, path_of,
};
use super::patches::{Action, FileChange, changes_in_patch, replacements_in_blocks, replacements_of, written_text};
use super::shell_reads::{Read, ShellRead, read_in};
use crate::content::answer::held_within;
use crate::content::{Content, is_stand_in};
use crate::dedupe::failure::is_void;
use crate::dedupe::place::CallPlace;
use crate::dedupe::rules::Rule;
use crate::json::value::{Key, Value};
use crate::pairing::argument_names::DIFF_KEYS;
use crate::pairing::block::{Entry, Kind};
use crate::text::OwnedText;
use crate::text::piece::Piece;
use crate::tokens::messages::count_media;

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// Its result is not there yet.
    Pending,
    /// Its result is missing.
    Missing,
    /// The user rejected it.
    Rejected,
    /// The user interrupted it.
    Interrupted,
    /// It failed.
    Failed,
    /// Its result is there, and says what it says.
    Said,
}

const LONGEST_REJECTION: usize = 300;
/// The characters of a result in which a tool says that it lists a folder.
const HEAD: usize = 600;
const PATHS: Key<'static> = Key::new("paths");
const METADATA: Key<'static> = Key::new("metadata");
const LONGEST_ENVELOPE: usize = 200_000;
const MOST_CODE: u64 = 100_000;
/// The characters at each end of a long result that are read for a line about it.
const END: usize = 1_000;
const END_OF_FAILURE: usize = 4_000;

static FIND_REJECTION: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(REJECTIONS).ok());

/// A call with its result.
///
/// `turn` counts the requests of the user before it. `command` is what runs after each `cd X &&`, in `directory`.
/// `changes` are those of files, each with the key of its file in `keys`; a read has a key, too.
#[derive(Debug)]
pub(super) struct Step<'a, V> {
    pub(super) entry: Entry<'a, V>,
    pub(super) number: usize,
    pub(super) turn: usize,
    pub(super) kind: StepKind,
    pub(super) state: State,
    pub(super) command: Cow<'a, str>,
    pub(super) directory: Cow<'a, str>,
    pub(super) start_directory: Cow<'a, str>,
    pub(super) session_directory: Cow<'a, str>,
    pub(super) changes: Vec<FileChange<'a>>,
    pub(super) keys: Vec<Cow<'a, str>>,
    pub(super) has_media: bool,
    /// True for a command that prints a file.
    is_shell_read: bool,
    text: OnceCell<Cow<'a, str>>,
    output: OnceCell<Output<'a>>,
    end_output: OnceCell<Output<'a>>,
    /// The lines that a read returned, once they were looked at.
    pub(super) read: OnceCell<Read<'a>>,
    /// A note about what changed the file that it read, once it was looked up.
    pub(super) since: OnceCell<String>,
}

/// Return the last item of a directory, which is its path.
fn last_of<'a>(directory: &[Piece<'a>]) -> Cow<'a, str> {
    directory.last().map_or(Cow::Borrowed(""), string_of)
}

/// Return the first characters of a text.
fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

/// Return the last characters of a text.
fn last_chars(text: &str, count: usize) -> &str {
    text.char_indices().rev().nth(count - 1).and_then(|(start, _)| text.get(start..)).unwrap_or(text)
}

impl<'a, V: Value<'a>> Step<'a, V> {
    /// Read what a call is about. The entry is prepared by its rule.
    pub(super) fn new(mut entry: Entry<'a, V>, number: usize, turn: usize, rule: &Rule) -> Self {
        let mut kind = kind_of(&entry);
        let has_media = entry.content.is_some_and(|content| count_media(content, 0) > 0);
        let is_stand_in = entry.result.is_some() && is_stand_in(&entry.text);
        let path = entry.value.as_ref().filter(|_| kind == StepKind::Read).map(string_of);
        let may_be_file = path.is_some_and(|path| path.contains("json"));
        if entry.result.is_some()
            && !has_media
            && !may_be_file
            && let Some(text) = inside(entry.content)
        {
            entry.text = text;
        }
        if kind == StepKind::Read && entry.result.is_some() && entry.text.starts_with_any(&["<"]) {
            let head = entry.text.start(HEAD);
            let head = string_of(&head);
            if FOLDER_MARKS.iter().any(|mark| head.contains(mark)) {
                kind = StepKind::Listing;
            }
        }
        let mut start = CallPlace::default();
        if !entry.directory.is_empty() {
            start.enter(Piece::Borrowed(entry.directory));
        }
        let session_directory = last_of(&start.directory);
        let given = entry.given.filter(|_| entry.call.is_some());
        let (mut command, mut start_directory) = (Cow::Borrowed(""), session_directory.clone());
        let mut place = start;
        let (mut changes, mut keys) = (Vec::new(), Vec::new());
        let is_by_rule = entry.kind == Kind::Command;
        if kind == StepKind::Command || (kind == StepKind::Patch && is_by_rule) {
            if is_by_rule && let Some(given) = given {
                place = CallPlace::of(rule, &entry, given);
                start_directory = last_of(&place.directory);
            }
            let own = entry.value.clone().filter(|value| is_by_rule && !value.is_empty());
            let whole = own.unwrap_or_else(|| command_of(given));
            let followed = string_of(&place.follow_all(whole.trim_newlines()));
            if kind == StepKind::Command {
                command = followed;
            }
        }
        if kind == StepKind::Command {
            keys.extend(read_in(&command).map(|read| file_key(Cow::Owned(read.path.to_owned()), &place)));
        } else if kind.is_of_file() {
            changes = changes_of(&entry, kind);
            let folder = last_of(&place.directory);
            if folder != start_directory && folder.starts_with(['/', '~']) {
                for change in &mut changes {
                    change.set_folder(&folder);
                }
            }
            keys = keys_of(&entry, kind, &changes, &place);
        }
        let state = state_of(&entry, is_stand_in);
        let is_shell_read = kind == StepKind::Command && !keys.is_empty();
        Self {
            number,
            turn,
            kind,
            state,
            command,
            directory: last_of(&place.directory),
            start_directory,
            session_directory,
            changes,
            keys,
            has_media,
            is_shell_read,
            text: OnceCell::new(),
            output: OnceCell::new(),
            end_output: OnceCell::new(),
            read: OnceCell::new(),
            since: OnceCell::new(),
            entry,
        }
    }

    /// The arguments of the call.
    pub(super) fn given(&self) -> Option<V> {
        self.entry.given.filter(|_| self.entry.call.is_some())
    }

    /// The text of the result.
    pub(super) fn text(&self) -> &str {
        self.text.get_or_init(|| string_of(&self.entry.text.whole()))
    }

    /// Return true for a step that changes files.
    pub(super) fn is_change(&self) -> bool {
        self.kind.is_change()
    }

    /// The file that a command prints.
    pub(super) fn shell_read(&self) -> Option<ShellRead<'_>> {
        if self.is_shell_read { read_in(&self.command) } else { None }
    }

    /// Return true if it reads one file, by a tool or by a command.
    pub(super) fn is_read(&self) -> bool {
        self.kind == StepKind::Read || self.is_shell_read
    }

    /// The paths of its files, as the call has them.
    pub(super) fn paths(&self) -> Vec<Cow<'a, str>> {
        if !self.changes.is_empty() {
            return self.changes.iter().map(|change| change.path.clone()).collect();
        }
        if let Some(read) = self.shell_read() {
            return vec![Cow::Owned(read.path.to_owned())];
        }
        if self.kind == StepKind::Read { vec![path_in(&self.entry, true)] } else { Vec::new() }
    }

    /// Return true if there is a result, and it does not say that the call failed.
    pub(super) fn has_succeeded(&self) -> bool {
        self.state == State::Said
    }

    fn end(&self) -> usize {
        if self.has_succeeded() { END } else { END_OF_FAILURE }
    }

    /// Return true if a line about the result only looks at both ends of it.
    pub(super) fn is_long(&self) -> bool {
        self.entry.text.len() > 2 * self.end()
    }

    /// Return true if lines of the result that are alike say little: they are no hits, and no list of files.
    pub(super) fn folds(&self) -> bool {
        !matches!(self.kind, StepKind::Search | StepKind::Listing) && !LISTERS.contains(&last_program(&self.command))
    }

    /// Return true if the result is a list of files.
    pub(super) fn lists_files(&self) -> bool {
        self.kind == StepKind::Listing || FILE_LISTERS.contains(&last_program(&self.command))
    }

    /// Return the whole result, cleaned.
    pub(super) fn output(&self) -> &Output<'a> {
        self.output.get_or_init(|| {
            self.text();
            let text = self.text.get().cloned().unwrap_or_default();
            let count = breaks(&text);
            let text = without_echo(text, &self.whole_command());
            let echo = count - breaks(&text);
            let output = clean_output(text, self.folds());
            Output { frame: output.frame + echo, ..output }
        })
    }

    /// Return the number of lines of the result, without those of a harness or a client around it.
    pub(super) fn lines_printed(&self) -> usize {
        (breaks(self.text()) + 1).saturating_sub(self.ends().frame)
    }

    /// Return the command as it was given; empty if it is none.
    pub(super) fn whole_command(&self) -> Cow<'_, str> {
        let own = self.entry.value.as_ref().filter(|value| self.entry.kind == Kind::Command && !value.is_empty());
        own.map_or(Cow::Borrowed(&*self.command), |value| value.text().as_utf8())
    }

    /// Return both ends of the result, cleaned; the whole if it is short.
    pub(super) fn ends(&self) -> &Output<'a> {
        if !self.is_long() {
            return self.output();
        }
        self.end_output.get_or_init(|| {
            let (content, end) = (&self.entry.text, self.end());
            let command = self.whole_command();
            let (mut head, mut tail) = (string_of(&content.start(end)), string_of(&content.last(end).whole()));
            let rest = without_echo(Cow::Borrowed(&*head), &command);
            let mut echo = 0;
            if rest.len() < head.len() {
                let text = without_echo(Cow::Borrowed(self.text()), &command);
                echo = breaks(self.text()) - breaks(&text);
                head = Cow::Owned(first_chars(&text, end).to_owned());
                tail = Cow::Owned(last_chars(&text, end).to_owned());
            }
            let cut = head.rfind('\n').and_then(|newline| head.get(..newline)).unwrap_or(&head);
            let rest = tail.split_once('\n').map_or(&*tail, |(_, rest)| rest);
            let output = clean_output(Cow::Owned(format!("{cut}\n{rest}")), self.folds());
            Output { frame: output.frame + echo, ..output }
        })
    }

    /// Return true if the result says nothing but that the call worked.
    pub(super) fn acknowledges(&self) -> bool {
        let start = self.start();
        ACKNOWLEDGED.iter().any(|acknowledged| start.starts_with(acknowledged))
    }

    /// Return true if the result may say that the call failed, though nothing is certain.
    pub(super) fn says_failure(&self) -> bool {
        !self.acknowledges() && has_failure(&self.start())
    }

    /// Return the beginning of the result.
    fn start(&self) -> Cow<'a, str> {
        string_of(&self.entry.text.start(LONGEST_REJECTION))
    }

    /// Return what the user said when rejecting the call; empty if nothing.
    pub(super) fn words_of_user(&self) -> &str {
        for start in SAID_AFTER {
            if let Some((_, mut said)) = self.text().split_once(start) {
                for end in SAID_BEFORE {
                    said = said.split_once(end).map_or(said, |(said, _)| said);
                }
                return strip(said);
            }
        }
        ""
    }
}

/// Return what a tool said, if the result is an object in JSON that has it beside little else.
fn inside<'a, V: Value<'a>>(content: Option<V>) -> Option<Content<'a, V>> {
    let only =
        content.and_then(Value::list).filter(|parts| parts.count() == 1).and_then(|parts| parts.item(0)?.object());
    let own = only.filter(|only| !PART_KEYS.iter().any(|key| only.has(*key))); // Cline lists the objects
    let held = own.or_else(|| held_within(content, LONGEST_ENVELOPE))?;
    let mut said = ENVELOPE_TEXTS.iter().filter(|key| first_value(Some(held), &[**key]).is_some());
    let key = said.next().filter(|_| said.next().is_none())?;
    let metadata = held.get(METADATA).and_then(Value::object);
    let (mut is_marked, mut has_more) = (false, false);
    for (object, is_outer) in [Some(held), metadata].into_iter().zip([true, false]) {
        let Some(object) = object else { continue };
        object.members(&mut |name, value| {
            let name = name.as_utf8();
            let is_aside = ENVELOPE_ASIDES.contains(&&*name) || EXIT_KEYS.iter().any(|key| key.name.is(&name));
            is_marked |= is_outer && is_aside && !VERDICTS.contains(&&*name);
            has_more |= !is_aside && !key.name.is(&name) && !is_void(value);
            !has_more
        });
    }
    let text = held.get(*key).filter(|_| is_marked && !has_more)?;
    let codes = [Some(held), metadata].into_iter().flatten();
    let mut codes = codes.flat_map(|object| EXIT_KEYS.iter().filter_map(move |key| object.get(*key)?.integer()));
    let code = codes.find(|code| *code != 0 && code.unsigned_abs() < MOST_CODE);
    Some(match code.zip(text.text()) {
        Some((code, text)) => {
            let mut whole = OwnedText::from(format!("Exit code: {code}\nOutput:\n"));
            whole.push(text);
            Content::Piece(Piece::own(whole))
        }
        None => Content::Value(text),
    })
}

/// Return the path that a call names, or what it is about.
fn path_in<'a, V: Value<'a>>(entry: &Entry<'a, V>, by_value: bool) -> Cow<'a, str> {
    let path = path_of(entry.given);
    match &entry.value {
        Some(value) if path.is_empty() && by_value => string_of(value),
        _ => path,
    }
}

/// Return the changes that a call makes to files.
fn changes_of<'a, V: Value<'a>>(entry: &Entry<'a, V>, kind: StepKind) -> Vec<FileChange<'a>> {
    let given = entry.given;
    let path = path_in(entry, matches!(entry.kind, Kind::Read | Kind::Edit));
    match kind {
        StepKind::Patch => {
            let own = entry.value.clone().filter(|_| entry.kind == Kind::Command);
            let command = if entry.kind == Kind::Command { own.unwrap_or_default() } else { command_of(given) };
            let mut changes = changes_in_patch(&patch_of(given, &string_of(&command)));
            if !path.is_empty()
                && let [change] = changes.as_mut_slice()
            {
                change.path = path;
            }
            changes
        }
        StepKind::Edit => {
            vec![edit_of(path, given)]
        }
        StepKind::Write => vec![FileChange { text: written_text(given), ..FileChange::new(path, Action::Write) }],
        _ => Vec::new(),
    }
}

/// Return the change of an edit. One without an old text makes a new file.
fn edit_of<'a, V: Value<'a>>(path: Cow<'a, str>, given: Option<V>) -> FileChange<'a> {
    let mut found = replacements_in_blocks(&first_text(given, DIFF_KEYS));
    if found.is_empty() {
        found = replacements_of(given);
    }
    if let [only] = found.as_slice()
        && only.old.is_empty()
        && !only.new.is_empty()
        && only.after.is_none()
        && has_text(given, OLD_KEYS)
        && !is_insert(given)
    {
        return FileChange { text: only.new.clone(), ..FileChange::new(path, Action::Write) };
    }
    FileChange { replacements: found, ..FileChange::new(path, Action::Edit) }
}

/// Return the keys of the files that a call is about.
fn keys_of<'a, V: Value<'a>>(
    entry: &Entry<'a, V>,
    kind: StepKind,
    changes: &[FileChange<'a>],
    place: &CallPlace<'a>,
) -> Vec<Cow<'a, str>> {
    let paths = member(entry.given, PATHS).and_then(Value::list).filter(|_| changes.is_empty());
    if paths.is_some_and(|paths| paths.count() > 1) && kind == StepKind::Read {
        return Vec::new(); // the result holds several files
    }
    let is_by_rule = matches!(entry.kind, Kind::Read | Kind::Edit);
    let own = entry.key.as_ref().filter(|key| is_by_rule && changes.len() < 2 && !key.is_empty());
    let key = |path: Cow<'a, str>| match own {
        Some(own) => string_of(own),
        None => file_key(path, place),
    };
    let paths: Vec<Cow<'a, str>> = match changes {
        [] => vec![path_in(entry, is_by_rule)],
        changes => changes.iter().map(|change| change.path.clone()).collect(),
    };
    paths.into_iter().filter(|path| !path.is_empty()).map(key).collect()
}

/// Return the key of a file: its full path in the normal form, else its path with the directory that is known.
fn file_key<'a>(path: Cow<'a, str>, place: &CallPlace<'a>) -> Cow<'a, str> {
    string_of(&place.file_key(super::chars::piece_of(path)))
}

fn state_of<'a, V: Value<'a>>(entry: &Entry<'a, V>, is_stand_in: bool) -> State {
    if entry.result.is_none() {
        return State::Missing;
    }
    if entry.is_failure() || entry.text.len() <= LONGEST_REJECTION {
        let start = entry.text.start(LONGEST_REJECTION);
        let start = start.text().as_utf8();
        if FIND_REJECTION.as_ref().is_some_and(|find| find.is_match(&*start)) {
            return State::Rejected;
        }
        if INTERRUPTIONS.iter().any(|interruption| start.starts_with(interruption)) {
            return State::Interrupted;
        }
    }
    let is_failed = entry.is_error() || (entry.is_failure() && !is_stand_in);
    if is_failed { State::Failed } else { State::Said }
}

/// Mark the calls without a result that were made last: after them came no other call and no request.
pub(super) fn mark_pending<V>(steps: &mut [Step<'_, V>], last_request: Option<usize>) {
    let Some(newest) = steps.last().map(|step| step.entry.position) else { return };
    let answered = steps.iter().filter(|step| step.entry.result.is_some()).map(|step| step.entry.result_position);
    let before = answered.filter(|position| *position < newest).max().max(last_request);
    for step in steps.iter_mut().rev() {
        if before.is_some_and(|before| step.entry.position <= before) {
            return;
        }
        if step.state == State::Missing {
            step.state = State::Pending;
        }
    }
}
