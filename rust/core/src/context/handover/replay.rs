//! The current text of a file, as far as it is known, by replaying what was read, written and edited.
//!
//! A file is replayed only if it may be shown. The replay begins at the last call after which the whole text was known. An
//! edit changes the known text at the only place where its old text is; if that is not known, nor is what the lines below
//! it are called, and they are forgotten. A command that may have changed a file makes its text unknown.

use std::borrow::Cow;

use memchr::memmem;

use super::chars::{breaks, size};
use super::clean::clean_file;
use super::files::{Event, File, Files};
use super::patches::{Action, Replacement};
use super::reads::read_lines;
use crate::json::value::Value;

/// The most characters that are looked through for the edits of one file.
const MOST_WORK: usize = 20_000_000;

/// Lines of a file that follow each other, without a newline at the end; `first` is the number of the first one.
#[derive(Clone, Debug)]
pub(super) struct Passage {
    pub(super) first: isize,
    pub(super) text: String,
    /// The number of lines.
    pub(super) count: isize,
}

impl Passage {
    fn new(first: isize, text: String) -> Self {
        Self { first, count: count_of(&text) + 1, text }
    }

    /// The number of the last line.
    pub(super) fn last(&self) -> isize {
        self.first + self.count - 1
    }
}

/// Return the number of line feeds.
fn count_of(text: &str) -> isize {
    isize::try_from(breaks(text)).unwrap_or(isize::MAX)
}

/// Return the number of line feeds in a text that ends a line or not.
fn count_within(text: &str) -> isize {
    count_of(text.strip_suffix('\n').unwrap_or(text))
}

/// The current text of a file, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) passages: Vec<Passage>,
    pub(super) is_whole: bool,
    /// The first and the last line of each edit, where they are now; the newest last.
    pub(super) regions: Vec<(isize, isize)>,
    pub(super) is_gone: bool,
}

impl Known {
    /// The number of lines of the file; 0 if it is not known.
    pub(super) fn total(&self) -> isize {
        self.passages.first().filter(|_| self.is_whole).map_or(0, |passage| passage.count)
    }

    fn forget(&mut self) {
        self.passages.clear();
        self.regions.clear();
        self.is_whole = false;
    }

    fn read(&mut self, first: usize, (text, count): (&str, usize), is_whole: bool) {
        if is_whole {
            if self.passages.first().is_none_or(|passage| passage.text != text) {
                self.regions.clear();
            }
            (self.passages, self.is_whole) = (vec![Passage::new(1, text.to_owned())], true);
            return;
        }
        if count == 0 || first == 0 {
            return;
        }
        let first = isize::try_from(first).unwrap_or(isize::MAX / 2);
        let last = first + isize::try_from(count).unwrap_or(isize::MAX / 2) - 1;
        if self.is_whole && last <= self.total() {
            let own = self.passages.first().map_or("", |passage| lines_within(&passage.text, first - 1, last));
            if own == text {
                return;
            }
            self.forget();
        }
        self.put(first, last, text);
    }

    /// Put lines in the place of those that were known with these numbers.
    fn put(&mut self, first: isize, last: isize, text: &str) {
        let mut kept = Vec::with_capacity(self.passages.len() + 2);
        for each in std::mem::take(&mut self.passages) {
            if each.last() < first || each.first > last {
                kept.push(each);
                continue;
            }
            if each.first < first {
                let before = lines_within(&each.text, 0, first - each.first);
                kept.push(Passage::new(each.first, before.to_owned()));
            }
            if each.last() > last {
                let after = lines_within(&each.text, last + 1 - each.first, each.count);
                kept.push(Passage::new(last + 1, after.to_owned()));
            }
        }
        kept.push(Passage::new(first, text.to_owned()));
        kept.sort_by_key(|passage| passage.first);
        let mut joined: Vec<Passage> = Vec::with_capacity(kept.len());
        for each in kept {
            match joined.last_mut() {
                Some(last) if last.last() + 1 == each.first => {
                    last.text.push('\n');
                    last.text.push_str(&each.text);
                    last.count += each.count;
                }
                _ => joined.push(each),
            }
        }
        (self.passages, self.is_whole) = (joined, false);
    }

    fn write(&mut self, text: &str) {
        let passage = Passage::new(1, text.strip_suffix('\n').unwrap_or(text).to_owned());
        self.regions = vec![(1, passage.count)];
        (self.passages, self.is_whole) = (vec![passage], true);
    }

    /// Change the known text as an edit did.
    fn replace(&mut self, change: &Replacement<'_>) {
        if change.old.is_empty() {
            self.insert(change);
            return;
        }
        let finder = memmem::Finder::new(&*change.old);
        let mut found = self.passages.iter().enumerate();
        let mut found = found.by_ref().filter_map(|(place, each)| Some((place, finder.find(each.text.as_bytes())?)));
        let first = found.next();
        let is_only = found.next().is_none();
        let Some((place, at)) = first else { return self.forget() };
        if change.is_everywhere && self.is_whole {
            return self.replace_all(at, change);
        }
        let Some(passage) = self.passages.get_mut(place).filter(|_| is_only && !change.is_everywhere) else {
            return self.forget();
        };
        // Python looks for the next one from the next character on, so that two may overlap.
        let next = at + passage.text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        if passage.text.as_bytes().get(next..).is_some_and(|rest| finder.find(rest).is_some()) {
            return self.forget();
        }
        let first = passage.first + count_of(passage.text.get(..at).unwrap_or_default());
        let (out, new) = (count_of(&change.old), count_of(&change.new));
        passage.text.replace_range(at..at + change.old.len(), &change.new);
        passage.count += new - out;
        self.shift((first, first + out), new - out, place);
        self.regions.push((first, first + count_within(&change.new)));
    }

    fn replace_all(&mut self, at: usize, change: &Replacement<'_>) {
        let Some(passage) = self.passages.first_mut() else { return };
        let first = passage.first + count_of(passage.text.get(..at).unwrap_or_default());
        *passage = Passage::new(passage.first, passage.text.replace(&*change.old, &change.new));
        self.regions = vec![(first, first + count_within(&change.new))];
    }

    fn insert(&mut self, change: &Replacement<'_>) {
        let after = change.after.and_then(|after| isize::try_from(after).ok());
        let Some(after) = after.filter(|after| self.is_whole && *after <= self.total()) else {
            return self.forget();
        };
        let new = change.new.strip_suffix('\n').unwrap_or(&change.new);
        let count = count_of(new) + 1;
        self.shift((after + 1, after), count, 0);
        if let Some(passage) = self.passages.first_mut() {
            if after == passage.count {
                passage.text.push('\n');
                passage.text.push_str(new);
            } else {
                let at = lines_within(&passage.text, 0, after).len() + usize::from(after > 0);
                passage.text.insert_str(at, &format!("{new}\n"));
            }
            passage.count += count;
        }
        self.regions.push((after + 1, after + count));
    }

    /// Move what is below an edit of the lines from `first` to `last` in a passage.
    fn shift(&mut self, (first, last): (isize, isize), grown: isize, edited: usize) {
        for (place, each) in self.passages.iter_mut().enumerate() {
            if place != edited && each.first > last {
                each.first += grown;
            }
        }
        for (start, end) in &mut self.regions {
            if *end >= first {
                *end += grown;
                if *start > last {
                    *start += grown;
                } else {
                    *end = (*end).max(*start);
                }
            }
        }
    }
}

/// Return the lines of a text from one number up to another, which is excluded, counted from 0.
fn lines_within(text: &str, first: isize, end: isize) -> &str {
    let first = usize::try_from(first).unwrap_or(0);
    let count = usize::try_from(end).unwrap_or(0).saturating_sub(first);
    if count == 0 {
        return "";
    }
    let mut newlines = memchr::memchr_iter(b'\n', text.as_bytes());
    let start = match first.checked_sub(1) {
        None => 0,
        Some(before) => newlines.nth(before).map_or(text.len(), |newline| newline + 1),
    };
    let end = newlines.nth(count - 1).unwrap_or(text.len());
    text.get(start..end).unwrap_or_default()
}

/// Return what is known of the current text of a file.
pub(super) fn replay<'a, V: Value<'a>>(file: &File<'_, 'a, V>, files: &Files<'_, 'a, V>) -> Known {
    let mut known = Known::default();
    let since = files.unknown(file).last().copied().unwrap_or(0);
    let mut start = file.events.len();
    while let Some(event) = start.checked_sub(1).and_then(|before| file.events.get(before))
        && event.0.number > since
    {
        start -= 1;
        if sets_whole(event) {
            break;
        }
    }
    let mut work = 0;
    for (step, change) in file.events.iter().skip(start) {
        let Some(change) = change else {
            let read = read_lines(step);
            known.read(read.first, (&read.text, read.count), read.is_whole);
            continue;
        };
        match change.action {
            Action::Remove => {
                known.forget();
                known.is_gone = true;
            }
            Action::Write => {
                known.write(&clean_file(Cow::Borrowed(&*change.text)));
                known.is_gone = false;
            }
            Action::Edit => {
                for each in &change.replacements {
                    work += known.passages.iter().map(|passage| size(&passage.text)).sum::<usize>();
                    if work > MOST_WORK {
                        known.forget();
                    } else {
                        known.replace(each);
                    }
                }
                known.is_gone = known.is_gone || !change.moved_to.is_empty();
            }
        }
    }
    known
}

fn sets_whole<'a, V: Value<'a>>((step, change): &Event<'_, 'a, V>) -> bool {
    change.map_or_else(|| read_lines(step).is_whole, |change| change.action == Action::Write)
}

#[cfg(test)]
mod tests {
    use super::{Known, Replacement, lines_within};
    use std::borrow::Cow;

    fn edit<'a>(old: &'a str, new: &'a str, after: Option<usize>) -> Replacement<'a> {
        Replacement { old: Cow::Borrowed(old), new: Cow::Borrowed(new), is_everywhere: false, after }
    }

    fn shown(known: &Known) -> Vec<(isize, &str)> {
        known.passages.iter().map(|passage| (passage.first, &*passage.text)).collect()
    }

    #[test]
    fn lines_are_taken_by_their_numbers() {
        assert_eq!(
            [(0, 1), (1, 3), (2, 2), (0, 9)].map(|(first, end)| lines_within("a\nb\nc", first, end)),
            ["a", "b\nc", "", "a\nb\nc"]
        );
    }

    #[test]
    fn an_edit_changes_its_only_place() {
        let mut known = Known::default();
        known.read(1, ("a\nb\nc", 3), true);
        known.replace(&edit("b", "x\ny", None));
        known.replace(&edit("", "z\n", Some(0)));
        known.replace(&edit("", "end", Some(5)));
        assert_eq!(shown(&known), [(1, "z\na\nx\ny\nc\nend")]);
        assert_eq!(known.regions, [(3, 4), (1, 1), (6, 6)]);
        known.replace(&edit("gone", "", None));
        assert!(known.passages.is_empty());
    }

    #[test]
    fn a_read_replaces_the_lines_that_it_shows() {
        let mut known = Known::default();
        known.read(10, ("a\nb", 2), false);
        known.read(11, ("B\nc", 2), false);
        known.read(20, ("z", 1), false);
        assert_eq!(shown(&known), [(10, "a\nB\nc"), (20, "z")]);
        known.replace(&edit("a\n", "", None));
        assert_eq!(shown(&known), [(10, "B\nc"), (19, "z")]);
    }
}
