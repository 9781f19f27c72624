//! The lines of a file that a read requests, and the later reads that contain them.

use crate::json::value::{Value, names};
use crate::pairing::argument_names::RANGE_KEYS;
use crate::text::Text;

/// The lines that a read without a range returns. Reading tools have this default.
pub(crate) const DEFAULT_READ: LineRange = LineRange { first: 1, last: 2_000 };
/// The last line of a read to the end of the file.
pub const TO_THE_END: i64 = 1 << 53;
/// The maximum number of digits of a line number in a string.
const MOST_DIGITS: usize = 15;
/// A range in a form that is not known: it contains no other range, and no other range contains it.
pub(crate) const UNREADABLE: LineRange = LineRange { first: 0, last: 0 };
/// The maximum number of ranges remembered for a file. A read that none of them covers is kept, which is always safe.
const MAX_RANGES: usize = 256;

/// A range of lines in a file, from 1, with the last line included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineRange {
    /// The first line.
    pub first: i64,
    /// The last line.
    pub last: i64,
}

/// The lines that a block read, and the block's order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) lines: LineRange,
    pub(crate) order: usize,
}

/// Return the lines that a read requests; `None` if it requests the whole file.
pub fn line_range<'a, V: Value<'a>>(input: V) -> Option<LineRange> {
    if input.size() == 1 {
        return None;
    }
    if let Some(view) = input.get(names::VIEW_RANGE).and_then(Value::list).filter(|view| view.count() == 2) {
        let last = view.item(1);
        let is_open = last.and_then(Value::integer) == Some(-1);
        if let Some(first) = line_number(view.item(0)) {
            match line_number(last) {
                Some(last) => return Some(LineRange { first: first.max(1), last }),
                None if is_open => return Some(LineRange { first: first.max(1), last: TO_THE_END }),
                None => {}
            }
        }
    }
    let (first, last) = (line_number(input.get(names::START_LINE)), line_number(input.get(names::END_LINE)));
    if first.is_some() || last.is_some() {
        let start = first.unwrap_or(1).max(1);
        return Some(LineRange { first: start, last: last.unwrap_or(start + DEFAULT_READ.last - 1) });
    }
    let (offset, limit) = (input.get(names::OFFSET), input.get(names::LIMIT));
    let (first, count) = (line_number(offset), line_number(limit));
    if (offset.is_some() && first.is_none()) || (limit.is_some() && count.is_none()) {
        return Some(UNREADABLE);
    }
    if first.is_some() || count.is_some() {
        let start = first.unwrap_or(1).max(1);
        let count = count.filter(|count| *count > 0).unwrap_or(DEFAULT_READ.last);
        return Some(LineRange { first: start, last: start + count - 1 });
    }
    RANGE_KEYS.iter().any(|key| input.get(*key).is_some()).then_some(UNREADABLE)
}

/// Return a line number that is an integer or a string of digits.
fn line_number<'a, V: Value<'a>>(value: Option<V>) -> Option<i64> {
    let value = value?;
    let digits = |text: Text<'a>| {
        let digits = text.to_utf8();
        let is_number = digits.len() <= MOST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };
    value.integer().or_else(|| value.text().and_then(digits)).filter(|number| (0..TO_THE_END).contains(number))
}

/// Return the order of the block whose range contains `wanted`. The ranges are sorted, and none contains another.
pub(crate) fn find_covering(wanted: LineRange, ranges: &[Read]) -> Option<usize> {
    let after = ranges.partition_point(|range| range.lines.first <= wanted.first);
    let nearest = after.checked_sub(1).and_then(|index| ranges.get(index))?;
    (nearest.lines.last >= wanted.last).then_some(nearest.order)
}

/// Add the range of a read, and remove the ranges that it contains.
pub(crate) fn remember_range(read: Read, ranges: &mut Vec<Read>) {
    if find_covering(read.lines, ranges).is_some() {
        return;
    }
    let start = ranges.partition_point(|range| range.lines < read.lines);
    let held = ranges.iter().skip(start).take_while(|range| range.lines.last <= read.lines.last).count();
    ranges.drain(start..start + held);
    if ranges.len() < MAX_RANGES {
        ranges.insert(start, read);
    }
}
