//! Changes of files that can't be replayed: by commands, or under another path.
//!
//! A command is read word by word, and a doubt counts as a change. What its result says is believed: that nothing changed,
//! or which files did.

use std::borrow::Cow;
use std::sync::LazyLock;

use ahash::AHashMap;
use aho_corasick::AhoCorasick;

use super::chars::{is_space, lines, strip, words};
use super::kinds::{
    CHANGING, CHECKOUTS, FORMATTERS, GIT_VALUES, HOMES, LISTED, MOVING, NEW_BRANCH, RECORDS, REMOTE, RESETS, REWRITTEN,
    UNCHANGED, UNNAMED, VIEWS, WRITERS,
};
use super::steps::Step;
use crate::dedupe::shell::has_side_effects;
use crate::json::value::Value;

const BETWEEN: &str = "\t\n;&|()<>'\"`";
const DIVIDERS: [char; 4] = [';', '&', '|', '\n'];
/// The characters of a word that the shell replaces.
const PATTERN: [char; 4] = ['$', '*', '~', '{'];
const SLASHES: [char; 2] = ['/', '\\'];

/// The words without which a command changes no file.
static FIND_CHANGE: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = [CHANGING, FORMATTERS, &["git", ">"]].concat();
    AhoCorasick::new(words).ok()
});

/// A path, and the number of a step.
type Noted<'s> = (Cow<'s, str>, usize);

/// The numbers of the steps that may have changed files in a way that can't be replayed.
///
/// They are kept by the name of a file, and looked up for the few files that may be shown, so that many commands and many
/// files take time for each command and each file, and not for each pair.
#[derive(Debug, Default)]
pub(super) struct OtherChanges<'s> {
    /// The steps that may have changed any file of a work tree, each with a directory of that tree.
    everywhere: Vec<Noted<'s>>,
    /// The paths that commands named, by the names of the files.
    by_name: AHashMap<String, Vec<Noted<'s>>>,
    by_folder: Vec<Noted<'s>>,
    /// The path and the key of each file that was changed, by its name.
    edits: AHashMap<String, Vec<(Noted<'s>, &'s str)>>,
}

impl<'s> OtherChanges<'s> {
    /// Return the numbers of the steps that may have changed a file.
    pub(super) fn of(&self, key: &str, path: &str) -> Vec<usize> {
        let (name, full) = (name_of(path), full(key, path));
        let named = |name: &str| self.by_name.get(name).into_iter().flatten();
        let mut found: Vec<usize> = numbers_where(named(name), |other| may_be_same(other, full)).collect();
        if let Some((_, end)) = name.rsplit_once(' ') {
            found.extend(numbers_where(named(end), |_| true)); // words of a command end at a blank, also in quotes
        }
        found.extend(numbers_where(self.everywhere.iter(), |folder| may_share_tree(folder, full)));
        found.extend(numbers_where(self.by_folder.iter(), |folder| may_be_below(folder, full)));
        let edits = self.edits.get(name).into_iter().flatten().filter(|(_, own)| *own != key);
        found.extend(numbers_where(edits.map(|(noted, _)| noted), |other| may_be_same(other, full)));
        found
    }

    /// Note a step that may have changed the files whose paths may be the same as this one.
    pub(super) fn note(&mut self, path: Cow<'s, str>, number: usize) {
        let noted = self.by_name.entry(name_of(&path).to_owned()).or_default();
        if noted.last().is_none_or(|(other, last)| (&**other, *last) != (&*path, number)) {
            noted.push((path, number));
        }
    }

    /// Note a step that changed a file, for files that may be the same one under another path.
    pub(super) fn note_edit(&mut self, key: &'s str, path: Cow<'s, str>, number: usize) {
        let name = name_of(&path).to_owned();
        let path = if key.starts_with('/') { Cow::Borrowed(key) } else { path };
        self.edits.entry(name).or_default().push(((path, number), key));
    }
}

/// Return the numbers of the steps whose paths meet a condition.
fn numbers_where<'n, 's: 'n>(
    noted: impl Iterator<Item = &'n Noted<'s>>,
    meets: impl Fn(&str) -> bool,
) -> impl Iterator<Item = usize> {
    noted.filter(move |(path, _)| meets(path)).map(|(_, number)| *number)
}

/// Return the last name of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.trim_end_matches(SLASHES).rsplit(SLASHES).next().unwrap_or_default()
}

/// Return the whole path of a file if it is known.
fn full<'p>(key: &'p str, path: &'p str) -> &'p str {
    if key.starts_with('/') { key } else { path }
}

/// Return true if two paths may be of one file: one is the end of the other, as where no directory is known.
fn may_be_same(one: &str, other: &str) -> bool {
    let leads_up = one.starts_with("../") || other.starts_with("../");
    if leads_up && !one.starts_with('/') && !other.starts_with('/') {
        return one == other;
    }
    let [one, other] = [one, other].map(|path| path.trim_start_matches("../").trim_start_matches('/'));
    let (longer, shorter) = if one.len() < other.len() { (other, one) } else { (one, other) };
    let rest = longer.strip_suffix(shorter);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// Return true if a file may be in a folder. If both are relative, they are relative to one directory.
fn may_be_below(folder: &str, path: &str) -> bool {
    if folder.starts_with('/') == path.starts_with('/') {
        return path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    }
    let first = path.split('/').next().unwrap_or_default();
    format!("/{path}").contains(&format!("/{}/", folder.trim_matches('/')))
        || folder.strip_suffix(first).is_some_and(|rest| rest.ends_with('/'))
}

/// Return true if a file may be in the work tree of a folder: it is below, or both are below more than a home.
fn may_share_tree(folder: &str, path: &str) -> bool {
    let (Some(own), Some(other)) = (folder.strip_prefix('/'), path.strip_prefix('/')) else { return true };
    if other.strip_prefix(own).is_some_and(|rest| rest.starts_with('/')) {
        return true;
    }
    let both = own.split('/').zip(other.split('/')).take_while(|(one, other)| one == other).count();
    let start = own.split('/').next();
    let home = HOMES.iter().find(|home| home.split('/').next() == start);
    both > home.map_or(0, |home| home.split('/').count())
}

/// Note a command that may have changed files: those that it names, or all if it changes the work tree.
pub(super) fn note_command<'s, 'a, V: Value<'a>>(step: &'s Step<'a, V>, others: &mut OtherChanges<'s>) {
    let command = without_bodies(&step.command);
    if FIND_CHANGE.as_ref().is_some_and(|find| !find.is_match(&*command)) {
        return; // most commands only read
    }
    let found = words_of(&command);
    let has_any = |names: &[&str]| found.iter().any(|word| names.contains(&&**word));
    if has_any(FORMATTERS) && lines(&step.ends().text).any(says_rewritten) {
        others.everywhere.push((Cow::Borrowed(&*step.directory), step.number));
        return;
    }
    let is_possible = has_any(CHANGING) || has_any(&["git"]) || command.contains('>');
    if !is_possible || !has_side_effects(&command) {
        return;
    }
    let parts = parts_of(&command).into_iter().map(|part| (part, words_of(part)));
    let parts: Vec<(&str, Vec<Cow<'_, str>>)> = parts.filter(|(_, own)| !own.is_empty()).collect();
    let leaves = parts.iter().any(|(_, own)| own.first().is_some_and(|word| word == "cd"));
    let directory = if leaves { "" } else { &*step.directory };
    let trees: Vec<&[Cow<'_, str>]> = parts.iter().map(|(_, own)| &**own).filter(|own| changes_tree(own)).collect();
    let says_unchanged = |line: &&str| UNCHANGED.iter().any(|part| line.contains(part));
    if !trees.is_empty()
        && lines(&step.ends().text).filter(says_unchanged).count() < trees.len()
        && !note_listed(trees.len(), step, others)
    {
        let named: Vec<_> = trees.iter().map(|own| checked_out(own)).collect();
        if named.iter().any(Vec::is_empty) {
            let folders = trees.iter().map(|own| (tree_of(own, directory), step.number));
            others.everywhere.extend(folders.map(|(folder, number)| (Cow::Owned(folder.to_owned()), number)));
            return;
        }
        for path in named.into_iter().flatten() {
            others.note(in_directory(directory, path), step.number);
            others.by_folder.push((folder_in(directory, path), step.number));
        }
    }
    let mut changed: Vec<Cow<'_, str>> = Vec::new();
    for (part, own) in &parts {
        if own.first().is_some_and(|word| word == "cp") && own.len() > 2 {
            let words: Vec<&Cow<'_, str>> = own.iter().skip(1).filter(|word| !word.starts_with('-')).collect();
            let Some((target, sources)) = words.split_last() else { continue };
            changed.push((*target).clone());
            for source in sources {
                let path = format!("{}/{}", target.trim_end_matches('/'), name_of(source)); // the target may be a folder
                others.note_edit("", in_directory(directory, &path), step.number);
            }
        } else if !changes_tree(own) && git_command(own).is_none_or(|name| !RECORDS.contains(&name)) {
            if command.contains("<<") {
                changed.extend_from_slice(own);
            } else {
                changed.extend(changed_words(part, own));
            }
        }
    }
    let is_unnamed = |word: &Cow<'_, str>| UNNAMED.contains(&&**word) || name_of(word).starts_with('*');
    if changed.iter().any(is_unnamed) {
        others.everywhere.push((Cow::Owned(directory.to_owned()), step.number));
    }
    for word in changed {
        others.note(in_directory(directory, &word), step.number);
    }
    if has_any(MOVING) {
        let folders = found.iter().map(|word| folder_in(directory, word));
        let folders = folders.filter(|folder| !folder.trim_matches('.').is_empty());
        others.by_folder.extend(folders.map(|folder| (folder, step.number)));
    }
}

/// Return the path that a word of a command names in a directory; only its last name if the rest is not certain.
fn in_directory<'s>(directory: &str, word: &str) -> Cow<'s, str> {
    let path = word.replace('\\', "/");
    let path = path.rsplit('=').next().unwrap_or(&path);
    let path = path.strip_prefix("./").unwrap_or(path);
    Cow::Owned(if path.contains("..") || path.contains(':') || path.contains(PATTERN) {
        name_of(path).to_owned()
    } else if directory.starts_with('/') && !path.starts_with('/') {
        format!("{}/{path}", directory.trim_end_matches('/'))
    } else {
        path.to_owned()
    })
}

/// Return the same without slashes at its end.
fn folder_in<'s>(directory: &str, word: &str) -> Cow<'s, str> {
    Cow::Owned(in_directory(directory, word).trim_end_matches('/').to_owned())
}

/// Return a directory in the work tree that a command of git changes; empty if it is not known.
fn tree_of<'w>(own: &'w [Cow<'_, str>], directory: &'w str) -> &'w str {
    let Some(place) = own.iter().position(|word| word == "-C") else { return directory };
    own.get(place + 1).map(|given| &**given).filter(|given| given.starts_with('/')).unwrap_or_default()
}

/// Return the words of a part of a command line that may be files which it changes.
fn changed_words<'w>(part: &'w str, own: &[Cow<'w, str>]) -> Vec<Cow<'w, str>> {
    if !has_side_effects(part) {
        return Vec::new();
    }
    if own.iter().any(|word| word == "git" || CHANGING.contains(&&**word)) {
        return own.to_vec();
    }
    part.split('>').skip(1).filter_map(|piece| words_of(piece).into_iter().next()).collect()
}

/// Note the files that a merge says it changed; return false if it may not name them all.
fn note_listed<'s, 'a, V: Value<'a>>(trees: usize, step: &'s Step<'a, V>, others: &mut OtherChanges<'s>) -> bool {
    let is_listed = |line: &str| !line.contains("would") && LISTED.iter().any(|part| line.contains(part));
    if trees > 1 || !lines(&step.ends().text).any(is_listed) {
        return false;
    }
    let paths = lines(step.text()).filter_map(|line| line.rsplit_once(" | ")).map(|(path, _)| strip(path));
    let paths: Vec<&str> = paths.map(|path| path.strip_prefix(".../").unwrap_or(path)).collect();
    let totals = lines(step.text()).filter_map(|line| {
        let mut words = words(line);
        let count = words.next()?;
        words.next().filter(|word| matches!(*word, "file" | "files")).map(|_| count)
    });
    if !totals.eq([&*paths.len().to_string()]) || paths.iter().any(|path| path.starts_with("...")) {
        return false;
    }
    for path in paths {
        if path.contains(" => ") {
            for side in path.replace('}', "").split(" => ") {
                others.note(Cow::Owned(name_of(&side.replace('{', "/")).to_owned()), step.number);
            }
        } else {
            others.note(Cow::Borrowed(path), step.number);
        }
    }
    true
}

/// Return a command without the lines behind each `<<` that are the text of a file, of a commit, or of a request.
fn without_bodies(command: &str) -> Cow<'_, str> {
    let (mut kept, mut rest) = (String::new(), command);
    while let Some((head, behind)) = rest.split_once("<<")
        && let Some((line, body)) = behind.split_once('\n')
        && !line.starts_with('<')
    {
        let start = words_of(parts_of(head).last().unwrap_or(&""));
        let (first, second) = (start.first().map_or("", |word| &**word), start.get(1));
        let takes_text = REMOTE.contains(&first) || second.map_or(first, |word| &**word) == "commit";
        if !takes_text && (!WRITERS.contains(&first) || line.contains('|')) {
            break;
        }
        kept.extend([head, line, "\n"]);
        let mark = words(line).next().unwrap_or_default().trim_matches(['-', '\'', '"', '\\']);
        let is_end = |own: &str| !mark.is_empty() && own == mark;
        let mut place = 0;
        let end = lines(body).find_map(|own| {
            place += own.len() + 1;
            is_end(own).then_some(place)
        });
        rest = end.and_then(|end| body.get(end..)).unwrap_or_default();
    }
    if kept.is_empty() { Cow::Borrowed(command) } else { Cow::Owned(kept + rest) }
}

/// Return true if a line says that a formatter changed files, and does not speak of what would be.
fn says_rewritten(line: &str) -> bool {
    !line.contains("would") && REWRITTEN.iter().any(|part| line.contains(part))
}

/// Return the words that are paths which a command of git restores; none if it may change every file.
fn checked_out<'w, 's>(own: &'w [Cow<'s, str>]) -> Vec<&'w Cow<'s, str>> {
    let after = |name: &str| own.iter().position(|word| word == name).and_then(|place| own.get(place + 1..));
    let rest = after("--").or_else(|| after("restore")).unwrap_or_default();
    let paths: Vec<&Cow<'s, str>> = rest.iter().filter(|path| !path.starts_with('-')).collect();
    let is_all = |path: &&Cow<'s, str>| path.contains('*') || path.trim_matches(['.', '/', ':']).is_empty();
    if paths.iter().any(is_all) { Vec::new() } else { paths }
}

/// Return true for a character that ends a word of a command.
fn is_between(character: char) -> bool {
    is_space(character) || BETWEEN.contains(character)
}

/// Return the words of a command. A blank after a backslash is a part of a word.
fn words_of(command: &str) -> Vec<Cow<'_, str>> {
    if !command.contains('\\') {
        return command.split(is_between).filter(|word| !word.is_empty()).map(Cow::Borrowed).collect();
    }
    let plain = command.replace(|character| BETWEEN.contains(character), " ").replace("\\ ", "\0");
    words(&plain).map(|word| Cow::Owned(word.replace('\0', " "))).collect()
}

/// Return the simple commands of a command line, more or less: what stands between dividers outside of quotes.
fn parts_of(command: &str) -> Vec<&str> {
    let (mut parts, mut start, mut quote, mut is_escaped) = (Vec::new(), 0, None, false);
    for (place, sign) in command.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if sign == '\\' && quote != Some('\'') {
            is_escaped = true;
        } else if quote.is_some() {
            quote = quote.filter(|quote| *quote != sign);
        } else if matches!(sign, '\'' | '"') {
            quote = Some(sign);
        } else if DIVIDERS.contains(&sign) {
            parts.extend(command.get(start..place));
            start = place + 1;
        }
    }
    if quote.is_some() {
        return command.split(DIVIDERS).collect();
    }
    parts.extend(command.get(start..));
    parts
}

/// Return true if a command of git may change files of the work tree, and not only its index or its branches.
fn changes_tree(own: &[Cow<'_, str>]) -> bool {
    let has_any = |names: &[&str]| own.iter().any(|word| names.contains(&&**word));
    let Some(name) = git_command(own).filter(|name| CHECKOUTS.contains(name)) else { return false };
    match name {
        _ if has_any(VIEWS) => false,
        "reset" => has_any(RESETS),
        _ => !has_any(NEW_BRANCH) && !has_any(&["--staged"]),
    }
}

/// Return the command of git among words.
fn git_command<'w>(own: &'w [Cow<'_, str>]) -> Option<&'w str> {
    let mut words = own.iter().skip_while(|word| *word != "git").skip(1);
    while let Some(word) = words.next() {
        if GIT_VALUES.contains(&&**word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}
