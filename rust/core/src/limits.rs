//! What a budget counts, and what may stay of one text. The twin is `_pure/limits.py`.
//!
//! Tokens of a text are not the sum of those of its parts. But where a line feed is followed by what is neither white
//! space nor a slash, both encodings split, whatever stands on either side: every part of a context that is measured
//! by itself ends and begins so, and the sum of the parts is the count of the whole, exactly.

use crate::clean::cut_text;
use crate::pieces::Piece;
use crate::settings::NO_LIMIT;
use crate::text::Text;
use crate::tokens::Encoding;
use crate::truncate::Keep;

/// What a total counts.
#[derive(Clone, Copy, Debug, Default)]
pub enum Measure {
    /// Code points.
    #[default]
    Characters,
    /// Tokens of an encoding.
    Tokens(&'static Encoding),
}

impl Measure {
    /// Whether it is characters that are counted.
    #[must_use]
    pub fn is_characters(self) -> bool {
        matches!(self, Self::Characters)
    }

    /// What a text takes.
    #[must_use]
    pub fn size(self, text: Text<'_>) -> usize {
        match self {
            Self::Characters => text.len(),
            Self::Tokens(encoding) => encoding.count_text(text),
        }
    }

    /// What a text of ASCII takes.
    #[must_use]
    pub fn size_ascii(self, text: &str) -> usize {
        self.size(Text::ascii(text))
    }

    /// What pieces take that stand one behind the other.
    #[must_use]
    pub fn size_of(self, pieces: &[Piece<'_>]) -> usize {
        match self {
            Self::Characters => pieces.iter().map(Piece::len).sum(),
            Self::Tokens(encoding) => {
                let mut text = vec![0; pieces.iter().map(|piece| piece.text().utf8_len()).sum()];
                let mut size = 0;
                for piece in pieces {
                    size += piece.text().write_utf8(text.get_mut(size..).unwrap_or_default());
                }
                encoding.count(&text)
            }
        }
    }
}

/// How much of one text may stay: characters, and of these, tokens.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The limit in characters.
    pub chars: usize,
    /// The limit in tokens, where there is one.
    pub tokens: Option<(usize, &'static Encoding)>,
}

impl Limits {
    /// No limit.
    pub const NONE: Self = Self::of_chars(NO_LIMIT);

    /// A limit in characters alone.
    #[must_use]
    pub const fn of_chars(chars: usize) -> Self {
        Self { chars, tokens: None }
    }

    /// The limit in a measure.
    #[must_use]
    pub fn of(self, measure: Measure) -> usize {
        match measure {
            Measure::Characters => self.chars,
            Measure::Tokens(_) => self.tokens.map_or(NO_LIMIT, |(tokens, _)| tokens),
        }
    }

    /// No more than fits into what is left of a total.
    #[must_use]
    pub fn within(self, room: usize, measure: Measure) -> Self {
        let room = room.min(self.of(measure));
        match measure {
            Measure::Characters => Self { chars: room, ..self },
            Measure::Tokens(encoding) => Self { tokens: Some((room, encoding)), ..self },
        }
    }

    /// What stays by the limit in tokens: where the head ends, and where the tail begins; nothing where all of it does.
    #[must_use]
    pub fn cut_tokens(self, text: Text<'_>, side: Keep) -> Option<(usize, usize)> {
        let (limit, encoding) = self.tokens?;
        let (head, tail) = encoding.cut(text, limit, side, Text::ascii(""));
        (head < tail).then_some((head, tail))
    }
}

/// What of a text stays where it is cut: a part of its beginning, a part of its end.
#[derive(Clone, Debug)]
pub struct Cut<'a> {
    /// The part of its beginning.
    pub head: Piece<'a>,
    /// The part of its end.
    pub tail: Piece<'a>,
}

impl<'a> Cut<'a> {
    /// A text, cut to its limits; `None` where it is within them.
    #[must_use]
    pub fn of(text: &Piece<'a>, limits: Limits, side: Keep) -> Option<Self> {
        let is_long = text.len() > limits.chars;
        let (head, tail) =
            if is_long { cut_text(text.text(), limits.chars, side) } else { limits.cut_tokens(text.text(), side)? };
        let cut = Self { head: text.slice(0, head), tail: text.slice(tail, text.len()) };
        Some(if is_long { cut.within(limits, side) } else { cut })
    }

    /// What of a cut stays by the limit in tokens.
    #[must_use]
    pub fn within(self, limits: Limits, side: Keep) -> Self {
        let Some((tokens, encoding)) = limits.tokens else { return self };
        let (first, last) = side.shares(tokens);
        let Self { head, tail } = self;
        Self {
            head: head.slice(0, encoding.head(head.text(), first)),
            tail: tail.slice(encoding.tail(tail.text(), last), tail.len()),
        }
    }
}

/// A length as a signed number, for budgets that may be overdrawn.
pub(crate) fn signed(size: usize) -> isize {
    isize::try_from(size).unwrap_or(isize::MAX)
}

/// What is left of a budget, as a length.
pub(crate) fn room_of(left: isize) -> usize {
    usize::try_from(left).unwrap_or(0)
}
