//! Cut text to a number of code points, without splitting a grapheme cluster.
//!
//! The kept text has at most `limit` code points, and begins and ends at boundaries of grapheme clusters. Lone
//! surrogates are accepted, and nothing panics.
//!
//! Not here: limits in tokens, which are in [`crate::tokens`], and joining the pieces with a marker, which the binding
//! does on the caller's `str`.

use super::graphemes::{CodePoint, ceil_boundary, floor_boundary};

/// The part of the text that stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its start.
    Head,
    /// Its end.
    Tail,
    /// Both; the tail gets the odd code point.
    Ends,
}

impl Keep {
    /// Return the shares of a limit for the start and for the end.
    #[must_use]
    pub fn shares(self, limit: usize) -> (usize, usize) {
        let first = match self {
            Self::Head => limit,
            Self::Tail => 0,
            Self::Ends => limit / 2,
        };
        (first, limit - first)
    }
}

/// Return the plan of a cut: the end of the head that stays, and the start of the tail.
///
/// `text[..head]` and `text[tail..]` stay. Both are `text.len()` if nothing is cut, and `head < tail` otherwise. The
/// limit is a number of code points.
#[must_use]
pub fn cut<C: CodePoint>(text: &[C], limit: usize, keep: Keep) -> (usize, usize) {
    let length = text.len();
    if length <= limit {
        return (length, length);
    }
    match keep {
        Keep::Head => (floor_boundary(text, limit), length),
        Keep::Tail => (0, ceil_boundary(text, length - limit)),
        Keep::Ends => {
            let half = limit / 2;
            let tail = length - (limit - half);
            (floor_boundary(text, half), ceil_boundary(text, tail))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Keep, cut};

    #[test]
    fn leaves_a_text_within_the_limit() {
        for keep in [Keep::Head, Keep::Tail, Keep::Ends] {
            assert_eq!(cut::<u8>(&[], 0, keep), (0, 0));
            assert_eq!(cut(b"abc", 3, keep), (3, 3));
            assert_eq!(cut(b"abc", usize::MAX, keep), (3, 3));
        }
    }

    #[test]
    fn keeps_the_part_that_is_asked_for() {
        assert_eq!(cut(b"0123456789", 5, Keep::Head), (5, 10));
        assert_eq!(cut(b"0123456789", 5, Keep::Tail), (0, 5));
        assert_eq!(cut(b"0123456789", 5, Keep::Ends), (2, 7));
    }

    #[test]
    fn keeps_nothing_if_the_limit_is_zero() {
        assert_eq!(cut(b"abc", 0, Keep::Head), (0, 3));
        assert_eq!(cut(b"abc", 0, Keep::Tail), (0, 3));
        assert_eq!(cut(b"abc", 0, Keep::Ends), (0, 3));
    }

    #[test]
    fn never_splits_a_cluster() {
        let text = [0x61_u16, 0x301, 0x0D, 0x0A, 0x62, 0x301];
        assert_eq!(cut(&text, 3, Keep::Head), (2, 6));
        assert_eq!(cut(&text, 3, Keep::Tail), (0, 4));
        assert_eq!(cut(&text, 3, Keep::Ends), (0, 4));
        assert_eq!(cut(&text, 1, Keep::Ends), (0, 6));
    }
}
