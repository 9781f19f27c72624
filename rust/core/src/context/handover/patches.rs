//! The changes that a call makes to files, read from its arguments: replacements, whole texts, removals and moves.

use std::borrow::Cow;

use super::chars::strip;
use super::kinds::{
    EVERYWHERE_KEYS, LINE_KEYS, NEW_KEYS, OLD_KEYS, REPLACE_MARKS, SEARCH_MARKS, TEXT_KEYS, first_text, member,
};
use crate::json::value::{Value, names, objects};

/// The lines of a patch that begin what is about a file, with what becomes of it.
pub(super) const FILE_LINES: [(&str, Action); 3] =
    [("*** Add File: ", Action::Write), ("*** Update File: ", Action::Edit), ("*** Delete File: ", Action::Remove)];
/// The line of a patch before the new path of a file.
pub(super) const MOVE: &str = "*** Move to: ";
const END: &str = "*** End Patch";
const NO_FILE: &str = "/dev/null";

/// An old text and the new one in its place. Without an old text, the new one comes `after` a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement<'a> {
    pub(super) old: Cow<'a, str>,
    pub(super) new: Cow<'a, str>,
    pub(super) is_everywhere: bool,
    /// The number of the line before the new text, if it is known.
    pub(super) after: Option<usize>,
}

/// What a change does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Edit,
    Write,
    Remove,
}

/// A change of a file: replacements, or its whole text, or its new path.
#[derive(Clone, Debug)]
pub(super) struct FileChange<'a> {
    pub(super) path: Cow<'a, str>,
    pub(super) action: Action,
    pub(super) replacements: Vec<Replacement<'a>>,
    pub(super) text: Cow<'a, str>,
    pub(super) moved_to: Cow<'a, str>,
}

impl<'a> FileChange<'a> {
    /// Make a change that does nothing to a file yet.
    pub(super) fn new(path: Cow<'a, str>, action: Action) -> Self {
        let (text, moved_to) = (Cow::Borrowed(""), Cow::Borrowed(""));
        Self { path, action, replacements: Vec::new(), text, moved_to }
    }

    /// Make the paths of files full, which are relative to a folder.
    pub(super) fn set_folder(&mut self, folder: &str) {
        let folder = folder.trim_end_matches('/');
        for path in [&mut self.path, &mut self.moved_to] {
            if !path.is_empty() && !path.starts_with(['/', '~']) {
                *path = Cow::Owned(format!("{folder}/{path}"));
            }
        }
    }
}

/// Return the replacements of an edit, one or several.
pub(super) fn replacements_of<'a, V: Value<'a>>(given: Option<V>) -> Vec<Replacement<'a>> {
    let mut edits: Vec<V> = objects(member(given, names::EDITS)).collect();
    if edits.is_empty() {
        edits.extend(given);
    }
    let line = |edit: V| {
        let after = LINE_KEYS.iter().find_map(|key| edit.get(*key)?.integer());
        after.and_then(|after| usize::try_from(after).ok())
    };
    let replacement = |edit: V| Replacement {
        old: first_text(Some(edit), OLD_KEYS),
        new: first_text(Some(edit), NEW_KEYS),
        is_everywhere: EVERYWHERE_KEYS.iter().any(|key| edit.get(*key).is_some_and(Value::is_true)),
        after: line(edit),
    };
    edits.into_iter().map(replacement).collect()
}

const DIVIDER: &str = "=======";

/// Return the replacements in blocks of a text to search for and one to replace it, as Cline and Roo Code write them.
pub(super) fn replacements_in_blocks<'a>(text: &str) -> Vec<Replacement<'a>> {
    let begins_with = |line: &str, starts: &[&str]| starts.iter().any(|start| line.starts_with(start));
    let mut found = Vec::new();
    let mut old: Vec<&str> = Vec::new();
    let mut new: Option<Vec<&str>> = None;
    let mut is_open = false;
    for line in text.split('\n') {
        if begins_with(line, SEARCH_MARKS) {
            (old, new, is_open) = (Vec::new(), None, true);
            continue;
        }
        if !is_open {
            continue;
        }
        if begins_with(line, REPLACE_MARKS) {
            if let Some(new) = &new {
                let (old, new) = (Cow::Owned(old.join("\n")), Cow::Owned(new.join("\n")));
                found.push(Replacement { old, new, is_everywhere: false, after: None });
            }
            is_open = false;
        } else if let Some(new) = &mut new {
            new.push(line);
        } else if line.starts_with(DIVIDER) {
            new = Some(Vec::new());
        } else if line == "-------" && old.first().is_some_and(|first| first.starts_with(":start_line:")) {
            old.clear(); // what came before are the line numbers of Roo Code
        } else {
            old.push(line);
        }
    }
    found
}

/// Return the whole text that a call writes.
pub(super) fn written_text<'a, V: Value<'a>>(given: Option<V>) -> Cow<'a, str> {
    first_text(given, TEXT_KEYS)
}

/// Return the changes in a patch of `apply_patch`, or in a unified diff.
pub(super) fn changes_in_patch<'a>(patch: &str) -> Vec<FileChange<'a>> {
    let mut found = Vec::new();
    let mut reader: Option<PatchReader<'_>> = None;
    for line in patch.split('\n') {
        if let Some(opened) = opened_by(line, reader.as_ref()) {
            found.extend(reader.replace(opened).map(PatchReader::change));
        } else if let Some(reader) = &mut reader {
            if line.starts_with(END) {
                break;
            }
            reader.add(line);
        }
    }
    found.extend(reader.map(PatchReader::change));
    found.retain(|change| !change.path.is_empty());
    found
}

/// Return the reader of the file that a line of a patch begins.
fn opened_by<'p>(line: &'p str, reader: Option<&PatchReader<'p>>) -> Option<PatchReader<'p>> {
    for (start, action) in FILE_LINES {
        if let Some(path) = line.strip_prefix(start) {
            return Some(PatchReader::new(strip(path), action, false));
        }
    }
    let header = line.strip_prefix("--- ").filter(|_| reader.is_none_or(|reader| reader.is_unified));
    header.map(|path| PatchReader::new(plain_path(path), Action::Edit, true))
}

/// Return the path in a header of a unified diff.
fn plain_path(path: &str) -> &str {
    let path = strip(path.split('\t').next().unwrap_or(path));
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path)
}

/// The lines of a patch that are about one file.
struct PatchReader<'p> {
    is_unified: bool,
    path: &'p str,
    action: Action,
    moved_to: &'p str,
    old: Vec<&'p str>,
    new: Vec<&'p str>,
    done: Vec<Replacement<'static>>,
}

impl<'p> PatchReader<'p> {
    fn new(path: &'p str, action: Action, is_unified: bool) -> Self {
        Self { is_unified, path, action, moved_to: "", old: Vec::new(), new: Vec::new(), done: Vec::new() }
    }

    fn add(&mut self, line: &'p str) {
        if let Some(header) = line.strip_prefix("+++ ").filter(|_| self.is_unified) {
            let path = plain_path(header);
            if self.path == NO_FILE {
                (self.path, self.action) = (path, Action::Write);
            } else if path == NO_FILE {
                self.action = Action::Remove;
            }
        } else if let Some(path) = line.strip_prefix(MOVE) {
            self.moved_to = strip(path);
        } else if line.starts_with("@@") {
            self.close();
        } else if let Some(removed) = line.strip_prefix('-') {
            self.old.push(removed);
        } else if let Some(added) = line.strip_prefix('+') {
            self.new.push(added);
        } else if line.starts_with(' ') || (line.is_empty() && !(self.old.is_empty() && self.new.is_empty())) {
            let kept = line.strip_prefix(' ').unwrap_or(line);
            self.old.push(kept);
            self.new.push(kept);
        }
    }

    fn close(&mut self) {
        let (mut old, mut new) = (std::mem::take(&mut self.old), std::mem::take(&mut self.new));
        while old.last().is_some_and(|line| line.is_empty()) && new.last().is_some_and(|line| line.is_empty()) {
            old.pop();
            new.pop();
        }
        if !old.is_empty() || !new.is_empty() {
            let [old, new] = [old, new].map(|lines| Cow::Owned(lines.join("\n")));
            self.done.push(Replacement { old, new, is_everywhere: false, after: None });
        }
    }

    fn change<'a>(mut self) -> FileChange<'a> {
        let own = |text: &str| Cow::Owned(text.to_owned());
        let mut change = FileChange::new(own(self.path), self.action);
        match self.action {
            Action::Write => change.text = Cow::Owned(self.new.join("\n")),
            Action::Remove => {}
            Action::Edit => {
                self.close();
                change.replacements = self.done;
                change.moved_to = own(self.moved_to);
            }
        }
        change
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, changes_in_patch, replacements_in_blocks};

    #[test]
    fn a_patch_has_the_changes_of_its_files() {
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n x\n-1\n+2\n*** Delete File: b\n*** End Patch";
        let found = changes_in_patch(patch);
        let actions: Vec<_> = found.iter().map(|change| (&*change.path, change.action)).collect();
        assert_eq!(actions, [("a", Action::Edit), ("b", Action::Remove)]);
        let texts = found.first().and_then(|change| change.replacements.first());
        assert_eq!(texts.map(|texts| (&*texts.old, &*texts.new)), Some(("x\n1", "x\n2")));
    }

    #[test]
    fn blocks_have_replacements() {
        let found = replacements_in_blocks("------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n");
        let texts: Vec<_> = found.iter().map(|each| (&*each.old, &*each.new)).collect();
        assert_eq!(texts, [("a", "b")]);
    }

    #[test]
    fn a_new_file_of_a_unified_diff_is_written() {
        let found = changes_in_patch("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+text\n");
        let written = found.first().map(|change| (&*change.path, change.action, &*change.text));
        assert_eq!(written, Some(("new", Action::Write, "text\n")));
    }
}
