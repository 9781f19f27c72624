//! Count tokens.

use std::ops::ControlFlow;

use super::classes::of_byte;
use super::encoding::Encoding;
use super::safe::is_safe;
use crate::simd::Scalar;
use crate::text::utf8;
use crate::text::{Text, Unit, on_units};

/// Code points that are encoded at once, so that a large text is not held twice.
const PART: usize = 1 << 14;

impl Encoding {
    /// How many tokens a text in UTF-8 has. What looks like a special token is text.
    #[must_use]
    pub fn count(&self, text: &[u8]) -> usize {
        let mut count = 0;
        self.visit_counts(text, 0, usize::MAX, |_, total| count = total);
        count
    }

    /// The ranks of the tokens of a text in UTF-8.
    #[must_use]
    pub fn encode(&self, text: &[u8]) -> Vec<u32> {
        let (mut ends, mut encoder) = (Vec::new(), self.encoder());
        let _: ControlFlow<()> = self.split::<Scalar, _>(text, 0, |start, end| {
            encoder.ends(text, start, end, usize::MAX, &mut ends);
            ControlFlow::Continue(())
        });
        let mut start = 0;
        let ranks = ends.into_iter().map(|end| {
            let rank = self.vocabulary.rank(text, start, end);
            start = end;
            rank.unsigned_abs()
        });
        ranks.collect()
    }

    /// How many tokens a text has; a lone surrogate counts as U+FFFD.
    #[must_use]
    pub fn count_text(&self, text: Text<'_>) -> usize {
        match text {
            Text::Latin1(units) if units.is_ascii() => self.count(units),
            _ => on_units!(text, units => self.count_units(units)),
        }
    }

    /// How many tokens the units have, which are encoded in parts.
    fn count_units<C: Unit>(&self, units: &[C]) -> usize {
        let (mut count, mut start) = (0, 0);
        let mut bytes = Vec::new();
        while start < units.len() {
            let part = self.safe_part(units.get(start..).unwrap_or_default());
            bytes.resize(utf8::len(part), 0);
            utf8::encode(part, &mut bytes);
            count += self.count(&bytes);
            start += part.len();
        }
        count
    }

    /// The first [`PART`] units or a few more, up to where the text can be taken apart.
    fn safe_part<'a, C: Unit>(&self, units: &'a [C]) -> &'a [C] {
        let class = |unit: &C| match u8::try_from(unit.code_point()) {
            Ok(byte @ ..0x80) => of_byte(byte),
            _ => self.classes.of(unit.code_point()),
        };
        let Some((first, later)) = units.get(PART - 1..).and_then(<[C]>::split_first) else { return units };
        let mut before = class(first);
        let seam = later.iter().position(|unit| {
            let byte = u8::try_from(unit.code_point()).unwrap_or(u8::MAX);
            let after = class(unit);
            is_safe(std::mem::replace(&mut before, after), after, byte)
        });
        seam.and_then(|at| units.get(..PART + at)).unwrap_or(units)
    }
}
