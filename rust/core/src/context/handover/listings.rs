//! Long listings of files, as `ls -l` prints them: of each entry its name stays, and the size of a file.

use std::borrow::Cow;

pub(super) const LEFT_OUT: &str = "modes, owners and dates";
/// The entries from which on the columns say less than they take.
const FEWEST: usize = 4;
const MODE: usize = 10;

/// Return lines in which an entry of a long listing is its size and its name; `None` if there are few entries.
pub(super) fn without_columns<'t>(lines: &[&'t str]) -> Option<Vec<Cow<'t, str>>> {
    if lines.iter().filter(|line| has_mode(line)).count() < FEWEST {
        return None;
    }
    let found: Vec<Option<Cow<'t, str>>> = lines.iter().map(|line| entry(line)).collect();
    if found.iter().flatten().count() < FEWEST {
        return None;
    }
    let line_of = |(line, entry): (&&'t str, Option<Cow<'t, str>>)| entry.unwrap_or(Cow::Borrowed(*line));
    Some(lines.iter().zip(found).map(line_of).collect())
}

/// Return true if a line begins with the mode of a file.
fn has_mode(line: &str) -> bool {
    line.as_bytes().split_first_chunk::<MODE>().is_some_and(|([kind, rights @ ..], _)| {
        b"-bcdlps".contains(kind) && rights.iter().all(|right| b"-rwxsStT".contains(right))
    })
}

/// Return the size and the name of an entry: a mode, the links, the owner, the group, the size, the date and the name;
/// `None` for any other line.
fn entry(line: &str) -> Option<Cow<'_, str>> {
    if !has_mode(line) {
        return None;
    }
    let rest = line.get(MODE..)?;
    let rest = rest.strip_prefix(['.', '+', '@']).unwrap_or(rest).strip_prefix(' ')?;
    let (links, rest) = field(rest)?;
    let (_, rest) = field(rest)?;
    let (_, rest) = field(rest)?;
    let (size, rest) = field(rest)?;
    let is_size = |byte: &u8| byte.is_ascii_digit() || b".,KMGTP".contains(byte);
    if !links.bytes().all(|byte| byte.is_ascii_digit())
        || !size.as_bytes().first().is_some_and(u8::is_ascii_digit)
        || !size.as_bytes().iter().all(is_size)
    {
        return None;
    }
    let name = after_date(rest).filter(|name| !name.is_empty())?;
    Some(match line.as_bytes().first() {
        Some(b'd') => Cow::Owned(format!("{name}/")),
        Some(b'l') => Cow::Borrowed(name),
        _ => Cow::Owned(format!("{size} {name}")),
    })
}

/// Return the next word of a line, and what follows the blank after it.
fn field(rest: &str) -> Option<(&str, &str)> {
    rest.trim_start_matches(' ').split_once(' ')
}

/// Return what follows a date: `2024-01-16 23:13`, or a month, a day, and a time or a year.
fn after_date(rest: &str) -> Option<&str> {
    let (first, rest) = field(rest)?;
    let (second, rest) = field(rest)?;
    if has_form(first, "9999-99-99") && has_form(second, "99:99") {
        return Some(rest);
    }
    let (third, rest) = field(rest)?;
    ["99:99", "9:99", "9999"].iter().any(|form| has_form(third, form)).then_some(rest)
}

/// Return true if a text has the form of another one: digits where that has a nine, and else the same signs.
fn has_form(text: &str, form: &str) -> bool {
    let is_same = |(sign, wanted): (u8, u8)| if wanted == b'9' { sign.is_ascii_digit() } else { sign == wanted };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(is_same)
}

#[cfg(test)]
mod tests {
    use super::{entry, without_columns};

    #[test]
    fn an_entry_is_its_size_and_its_name() {
        assert_eq!(entry("-rw-r--r--@ 1 me staff  1000 Jan 12 15:22 a b.txt").as_deref(), Some("1000 a b.txt"));
        assert_eq!(entry("drwxr-xr-x. 2 me me 4.0K 2024-01-16 23:13 src").as_deref(), Some("src/"));
        assert_eq!(entry("lrwxrwxrwx 1 me me 7 Jan  1  2024 bin -> usr/bin").as_deref(), Some("bin -> usr/bin"));
        assert_eq!(entry("crw-rw-rw- 1 root root 1, 3 Jan 12 15:22 null"), None);
        assert_eq!(entry("drwxr-xr-x is a mode"), None);
        assert_eq!(without_columns(&["drwxr-xr-x 2 me me 64 Jan 12 15:22 src"; 3]), None);
    }
}
