//! Cut a text to a number of tokens.
//!
//! Guaranteed: what is kept counts at most so many tokens when it is counted by itself, and begins and ends between
//! characters. It is the first, or the last, tokens of the text, without a character of which only a part is in them;
//! a token or more less where these by themselves are encoded in more than they are in the text.
//! The time is proportional to what is kept, unless a single piece of the text is far longer than that.

use std::ops::ControlFlow;

use super::Encoding;

/// Tokens of text and code are seldom longer on average: so many bytes for each are looked at first.
const BYTES_A_TOKEN: usize = 6;

impl Encoding {
    /// Where the first `limit` tokens of a text end.
    #[must_use]
    pub fn head(&self, text: &[u8], limit: usize) -> usize {
        let (mut count, mut encoder) = (0, self.encoder());
        let all = self.split(text, 0, |start, end| {
            let size = encoder.count_up_to(text, start, end, limit - count);
            if count + size > limit {
                return ControlFlow::Break(start);
            }
            count += size;
            ControlFlow::Continue(())
        });
        let ControlFlow::Break(crossing) = all else { return text.len() };
        drop(encoder);
        // What is kept is counted again from the last place on that doesn't depend on where the text ends.
        let splitter = self.splitter(text);
        let safe = splitter.safe_before(crossing);
        let before = self.count_between(text, safe, crossing);
        let allowed = limit - (count - before.min(count)).min(limit);
        let ends = self.ends(text, safe, allowed);
        for size in (1..=allowed).rev() {
            let cut = splitter.floor(ends.get(size - 1).copied().unwrap_or(safe)).max(safe);
            if self.count_up_to(text.get(safe..cut).unwrap_or_default(), allowed).is_some() {
                return cut;
            }
        }
        safe
    }

    /// Where the last `limit` tokens of a text begin.
    #[must_use]
    pub fn tail(&self, text: &[u8], limit: usize) -> usize {
        if limit == 0 {
            return text.len();
        }
        let splitter = self.splitter(text);
        let mut reach = limit.saturating_mul(BYTES_A_TOKEN).saturating_add(64);
        let (from, ends) = loop {
            let from = if reach < text.len() { splitter.safe_after(text.len() - reach) } else { 0 };
            let ends = self.ends(text, from, usize::MAX);
            if from == 0 || ends.len() > limit {
                break (from, ends);
            }
            reach = reach.saturating_mul(4);
        };
        if ends.len() <= limit {
            return from;
        }
        for size in (1..=limit).rev() {
            let first = ends.len() - size;
            let start = ends.get(first - 1).copied().unwrap_or(from);
            let cut = splitter.ceil(start);
            // What follows the next place where the text can be taken apart is encoded as it was.
            let safe = splitter.safe_after(cut);
            let unchanged = ends.partition_point(|end| *end <= safe);
            let rest = text.get(cut..safe).unwrap_or_default();
            if self.count_up_to(rest, limit - (ends.len() - unchanged)).is_some() {
                return cut;
            }
        }
        text.len()
    }

    /// How many tokens end between two places where pieces begin.
    fn count_between(&self, text: &[u8], from: usize, to: usize) -> usize {
        let (mut count, mut encoder) = (0, self.encoder());
        let _: ControlFlow<()> = self.split(text, from, |start, end| {
            if start >= to {
                return ControlFlow::Break(());
            }
            count += encoder.count(text, start, end);
            ControlFlow::Continue(())
        });
        count
    }

    /// Where the tokens from a place on end where a piece begins: the first `enough` of them at least.
    fn ends(&self, text: &[u8], from: usize, enough: usize) -> Vec<usize> {
        let (mut ends, mut encoder) = (Vec::new(), self.encoder());
        let _: ControlFlow<()> = self.split(text, from, |start, end| {
            encoder.ends(text, start, end, enough.saturating_sub(ends.len()), &mut ends);
            if ends.len() >= enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        ends
    }
}
