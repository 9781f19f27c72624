//! Read a diff: the changed lines matter most, and each is shown with the headers of its hunk and its file.

use super::lines::{FOLDED, IMPORTANT, NEAR, PLAIN, Ranking};

/// The most digits of a number of lines.
const LONGEST: usize = 9;

/// Return the ranks of the lines of a diff.
///
/// The header of a hunk says how many lines it has, so that a removed `-- comment` is no header. The lines of a merge,
/// which are counted in another way, end where one begins unlike those of a hunk.
pub(super) fn rank_diff(lines: &[&str], label: &'static str, headers: &[&str]) -> Ranking {
    let (mut ranks, mut above) = (Vec::with_capacity(lines.len()), Vec::with_capacity(lines.len()));
    let (mut header, mut hunk) = (None, None);
    let (mut old, mut new) = (0_usize, 0_usize);
    for (place, line) in lines.iter().enumerate() {
        let first = line.bytes().next();
        let is_header = headers.iter().any(|name| line.starts_with(name));
        let is_counted = old > 0 || new > 0 || !is_header;
        if is_counted && matches!(first, None | Some(b'+' | b'-' | b' ' | b'\\')) {
            old = old.saturating_sub(usize::from(!matches!(first, Some(b'+' | b'\\'))));
            new = new.saturating_sub(usize::from(!matches!(first, Some(b'-' | b'\\'))));
            ranks.push(match first {
                None => FOLDED,
                Some(b'+' | b'-') => IMPORTANT,
                Some(_) => PLAIN,
            });
            above.push(hunk.unwrap_or(place));
            continue;
        }
        (old, new) = (0, 0);
        let is_hunk = line.starts_with("@@");
        ranks.push(match () {
            () if is_hunk || is_header => NEAR,
            () if line.is_empty() => FOLDED,
            () => PLAIN,
        });
        let begins = line.starts_with("diff ") || hunk > header;
        above.push(header.filter(|_| is_hunk || (is_header && !begins)).unwrap_or(place));
        if is_hunk {
            hunk = Some(place);
            (old, new) = counts_of(line).unwrap_or((lines.len(), lines.len()));
        } else if is_header {
            header = Some(place);
        }
    }
    Ranking { ranks, label, least: IMPORTANT, groups: Vec::new(), unit: "", above }
}

/// Return how many lines a hunk has before and after the change; `None` if its header does not say it.
fn counts_of(line: &str) -> Option<(usize, usize)> {
    let (ranges, _) = line.split_once(" @@")?;
    let (old, new) = ranges.strip_prefix("@@ -")?.split_once(" +")?;
    Some((count_of(old)?, count_of(new)?))
}

fn count_of(lines: &str) -> Option<usize> {
    let Some((_, count)) = lines.split_once(',') else { return Some(1) };
    let is_number = count.len() <= LONGEST && count.bytes().all(|byte| byte.is_ascii_digit());
    count.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::counts_of;

    #[test]
    fn a_header_counts_the_lines_of_its_hunk() {
        assert_eq!(counts_of("@@ -1,4 +1 @@ def f():"), Some((4, 1)));
        for line in ["@@@ -1,4 -1,4 +1,5 @@@", "@@ -1,x +1 @@", "@@ -1 +1", "@@"] {
            assert_eq!(counts_of(line), None, "{line}");
        }
    }
}
