//! The limit on a result when it is first sent: by its kind, and by how much of the window the results before it take.
//!
//! ```text
//! characters   a command's output            any other result
//!      4,000   |\                    32,000  |\
//!              | \                           |   \
//!      2,000   |  \_____________     16,000  |      \____
//!              +----------------             +-----------
//!              0  5 % of the window          0     100 %
//! ```
//!
//! A command's output says most in few lines, which are found by what it is. The text of a file (also one that a command
//! prints) or a page is quoted later from anywhere, so that it is shortened only if it is very long. The answer of another
//! agent was written for the one that reads it, and stays whole. The numbers are explained in benches/README.md.
//!
//! The limit depends only on what stands before the result in the conversation: later requests give it the same bytes,
//! also without decisions. It never rises with what is before, and a projection only makes that shorter, so a projection
//! of a projection changes nothing.

use super::blocks::Block;
use super::decide::BYTES_PER_TOKEN;
use super::policy::FirstSight;
use crate::context::handover::asks_agent;
use crate::json::value::Value;
use crate::pairing::block::Kind;
use crate::shorten::words_of;

/// The longest beginning, in characters, that some provider does not cache. A request is not made shorter for its price
/// as long as it may be below that.
const LEAST_CACHED: usize = 4_096 * BYTES_PER_TOKEN;
/// The window of a model that is not known, in tokens, and the largest that counts: what a result costs depends on its
/// size, however large the window is.
const WINDOW: usize = 200_000;
/// Results of this many characters or fewer do not count: a repair may add one.
const SHORT: usize = 1_000;

/// The programs with which a command prints a file.
const PRINTERS: [&str; 7] = ["awk", "bat", "cat", "less", "more", "nl", "sed"];

/// Return true if a result is the output of a command, and no file.
fn is_output<'a, V: Value<'a>>(block: &Block<'a, V>) -> bool {
    let command = || block.entry.value.as_ref().map_or_else(String::new, |value| value.text().to_utf8());
    block.entry.kind == Kind::Command && !words_of(&command()).iter().any(|word| PRINTERS.contains(word))
}

/// A limit that falls with the characters before a result, from `most` to `least` where they take `percent` of the window.
struct Falling {
    most: usize,
    least: usize,
    percent: usize,
}

const OUTPUT: Falling = Falling { most: 4_000, least: 2_000, percent: 5 };
const OTHER: Falling = Falling { most: 32_000, least: 16_000, percent: 100 };

impl Falling {
    const fn at(&self, before: usize, window: usize) -> usize {
        let end = window * self.percent / 100;
        if before >= end { self.least } else { self.most - (self.most - self.least) * before / end }
    }
}

/// Return the limit in characters on a result, behind results with this many characters.
fn limit(window: usize, is_output: bool, before: usize, is_cached: bool) -> usize {
    let falling = if is_output { OUTPUT } else { OTHER };
    let room = if is_cached { 0 } else { LEAST_CACHED.saturating_sub(before) };
    falling.at(before, window).max(room)
}

/// Set the limits of all results that may be over them. `frame` are the bytes of everything but the messages, if they are known.
pub(crate) fn set_limits<'a, V: Value<'a>>(first_sight: FirstSight, blocks: &mut [Block<'a, V>], frame: usize) {
    let window = first_sight.window.unwrap_or(WINDOW).min(WINDOW) * BYTES_PER_TOKEN;
    let long = blocks.iter().filter(|block| block.size > SHORT);
    let mut sums: Vec<(usize, usize)> = long.map(|block| (block.entry.result_position, block.size)).collect();
    sums.sort_unstable(); // the result of an earlier call may come later
    let mut sum = 0;
    for (_, size) in &mut sums {
        sum += *size;
        *size = sum;
    }
    let may_be_long = |block: &&mut Block<'a, V>| block.size > OUTPUT.least && !asks_agent(block.entry.tool_name);
    for block in blocks.iter_mut().filter(may_be_long) {
        let earlier = sums.partition_point(|(position, _)| *position < block.entry.result_position);
        let before = earlier.checked_sub(1).and_then(|last| sums.get(last)).map_or(0, |(_, sum)| *sum);
        block.first_limit = limit(window, is_output(block), before, frame >= LEAST_CACHED);
    }
}

#[cfg(test)]
mod tests {
    use super::{LEAST_CACHED, limit};

    const WINDOW: usize = 800_000;

    #[test]
    fn a_limit_falls_with_what_is_before() {
        let limits = |is_output, places: &[usize]| {
            places.iter().map(|at| limit(WINDOW, is_output, *at, true)).collect::<Vec<_>>()
        };
        assert_eq!(limits(true, &[0, 20_000, 40_000, 800_000]), [4_000, 3_000, 2_000, 2_000]);
        assert_eq!(limits(false, &[0, 400_000, 800_000]), [32_000, 24_000, 16_000]);
    }

    #[test]
    fn a_small_window_is_full_sooner() {
        assert_eq!(limit(32_000, true, 1_600, true), 2_000);
        assert_eq!(limit(0, false, 0, true), 16_000);
    }

    #[test]
    fn a_request_that_no_cache_takes_stays_long() {
        assert_eq!(limit(WINDOW, true, 0, false), LEAST_CACHED);
        assert_eq!(limit(WINDOW, true, 10_000, false), LEAST_CACHED - 10_000);
        assert_eq!(limit(WINDOW, true, 40_000, false), 2_000);
    }
}
