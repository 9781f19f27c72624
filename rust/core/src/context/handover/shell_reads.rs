//! Commands that print lines of one file, and nothing else: how agents without a reading tool read; and what a read is.

use std::borrow::Cow;

use super::chars::{lines, words};

const SPECIAL: [char; 15] = ['|', '&', ';', '<', '>', '$', '`', '(', ')', '{', '}', '*', '?', '\n', '\\'];
const MOST_DIGITS: usize = 9;
const QUOTES: [char; 2] = ['\'', '"'];

/// Lines of a file: the number of the first one (0 if it is not known), and true if they are the whole file.
#[derive(Clone, Debug)]
pub(super) struct Read<'a> {
    pub(super) first: usize,
    /// The lines, joined.
    pub(super) text: Cow<'a, str>,
    /// The number of lines.
    pub(super) count: usize,
    pub(super) is_whole: bool,
}

impl Read<'_> {
    /// Return the lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        lines(&self.text).take(self.count)
    }
}

/// A file, its first line that is printed, and the last one (0: to the end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ShellRead<'c> {
    pub(super) path: &'c str,
    pub(super) first: usize,
    pub(super) last: usize,
    /// True if lines have numbers.
    pub(super) is_numbered: bool,
}

impl<'c> ShellRead<'c> {
    /// Return the read of a whole file.
    fn whole(path: &'c str) -> Self {
        Self { path, first: 1, last: 0, is_numbered: false }
    }

    /// Return true if the file ends after so many lines: fewer were printed than were asked for.
    pub(super) fn ends_after(&self, count: usize) -> bool {
        self.last == 0 || self.first + count <= self.last
    }

    /// Return true if the whole file is printed.
    pub(super) fn is_whole(&self) -> bool {
        (self.first, self.last) == (1, 0)
    }
}

/// Return what a command reads; `None` if it does anything else.
pub(super) fn read_in(command: &str) -> Option<ShellRead<'_>> {
    if !["cat", "nl", "sed", "head"].iter().any(|program| command.contains(program)) {
        return None;
    }
    let Some((first, second)) = command.split_once('|') else { return single(&words_of(command)) };
    let found = single(&words_of(first))?;
    let rest = words_of(second);
    let ["sed", "-n", range] = rest.as_slice() else { return None };
    let (first, last) = range_of(range).filter(|_| found.is_whole())?;
    Some(ShellRead { first, last, ..found })
}

/// Return the words of a plain command; none if a shell would read it otherwise.
fn words_of(command: &str) -> Vec<&str> {
    if command.contains(SPECIAL) {
        return Vec::new();
    }
    let bare = |word: &'_ str| -> Option<usize> {
        let bare = word.trim_matches(QUOTES);
        (!bare.contains(QUOTES) && matches!(word.len() - bare.len(), 0 | 2)).then_some(bare.len())
    };
    if words(command).any(|word| bare(word).is_none()) {
        return Vec::new();
    }
    words(command).map(|word| word.trim_matches(QUOTES)).collect()
}

fn single<'c>(words: &[&'c str]) -> Option<ShellRead<'c>> {
    let (path, before) = words.split_last()?;
    if before.is_empty() || path.is_empty() || path.starts_with('-') {
        return None;
    }
    let whole = ShellRead::whole(path);
    let up_to = |count: &str| is_number(count).then(|| ShellRead { last: number(count), ..whole });
    match before {
        ["cat"] => Some(whole),
        ["cat", "-n"] | ["nl", "-ba"] => Some(ShellRead { is_numbered: true, ..whole }),
        ["sed", "-n", range] => range_of(range).map(|(first, last)| ShellRead { first, last, ..whole }),
        ["head", "-n", count] => up_to(count),
        ["head", count] => count.strip_prefix('-').and_then(up_to),
        _ => None,
    }
}

/// Return the lines of an address of sed, as in `10,20p`.
fn range_of(text: &str) -> Option<(usize, usize)> {
    let range = text.strip_suffix('p')?;
    let (first, last) = range.split_once(',').map_or((range, None), |(first, last)| (first, Some(last)));
    if !is_number(first) {
        return None;
    }
    match last {
        None => Some((number(first), number(first))),
        Some("$") => Some((number(first), 0)),
        Some(last) => is_number(last).then(|| (number(first), number(last))),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= MOST_DIGITS && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{ShellRead, read_in};

    #[test]
    fn a_command_that_prints_a_file_reads_it() {
        let read = |first, last, is_numbered| Some(ShellRead { path: "src/a.py", first, last, is_numbered });
        assert_eq!(read_in("sed -n '10,20p' src/a.py"), read(10, 20, false));
        assert_eq!(read_in("nl -ba src/a.py | sed -n '1,9p'"), read(1, 9, true));
        assert_eq!(read_in("cat \"src/a.py\""), read(1, 0, false));
        assert_eq!(read_in("head -5 src/a.py"), read(1, 5, false));
        for command in ["cat a.py b.py", "cat a.py | grep x", "cat a*", "ls a", "cat -n"] {
            assert_eq!(read_in(command), None);
        }
    }
}
