//! The marker in place of a result: one line with the reason and the reference of the full text.
//!
//! A reference is the id of the call. If an id repeats, its second call is `id#2`. Calls whose id is missing or not a
//! plain word are `#1`, `#2` and so on. Only a text that is such a line and nothing else is recognised as a marker.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use ahash::{AHashMap, AHashSet};
use memchr::memmem::Finder;

use super::edits::{Json, TextPart};
use super::excerpt::Excerpted;
use super::policy::{Decision, DecisionKind};
use super::repair::rules::LONGEST_STEM;
use crate::content::Content;
use crate::json::value::{Spelling, Value};
use crate::text::constants::{MARKER_START, MARKER_WHOLE};
use crate::text::piece::Piece;
use crate::text::sanitize::find_ascii;
use crate::text::{OwnedText, Text, grouped};

const MOST_NUMBER: &str = "#999999";
/// The id of a call that had none, and the longest one that it gets if that is taken.
const MADE_UP_ID: &str = "call";
const MOST_MADE_UP: &str = "call_999";
/// The beginnings of markers that stand in place of a whole result, which count without a reference, too.
const BARE_MARKERS: [&str; 3] =
    ["[toolcarry: superseded by call ", "[toolcarry: left out by a rule]", "[toolcarry: cleared, "];
/// The sign between the reference of a call and the name of one of its arguments: `t1;content`. No id has it.
pub(crate) const ARGUMENT: char = ';';
static FIND_START: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARKER_START.as_bytes()));
/// The most characters of an id that can be a reference.
const MOST_ID: usize = 64;

/// Write the marker for a result of `chars` characters, or for the part that is cut out of it.
pub(crate) fn marker_of(decision: &Decision<'_>, chars: usize, reference: &str) -> OwnedText {
    marker_with(decision, chars, reference, "")
}

/// Write a marker with the longest references that its calls may get; `reference` is that of its own call.
pub(crate) fn longest_marker(decision: &Decision<'_>, chars: usize, reference: &str, cleared: &str) -> OwnedText {
    let decision = Decision { by: Cow::Owned(widest(&decision.by)), ..decision.clone() };
    marker_with(&decision, chars, reference, cleared)
}

/// Write a marker. `cleared` says what was cleared, if that was not only text.
fn marker_with(decision: &Decision<'_>, chars: usize, reference: &str, cleared: &str) -> OwnedText {
    let mut marker = String::with_capacity(64 + decision.by.len() + reference.len());
    marker.push_str(MARKER_START);
    match decision.fate {
        DecisionKind::Superseded => {
            marker.push_str("superseded by call ");
            marker.push_str(&decision.by);
        }
        DecisionKind::Rule => marker.push_str("left out by a rule"),
        DecisionKind::Cleared => {
            marker.push_str("cleared, ");
            if cleared.is_empty() {
                marker.push_str(&grouped(chars));
                marker.push_str(" characters");
            } else {
                marker.push_str(cleared);
            }
        }
        // What a terminal shows has no marker, since nothing is lost.
        DecisionKind::Shortened | DecisionKind::Terminal => {
            marker.push_str("shortened from ");
            marker.push_str(&grouped(chars));
            marker.push_str(" characters");
        }
        DecisionKind::Cut => {
            marker.push_str(&grouped(chars + decision.head - decision.tail));
            marker.push_str(" of ");
            marker.push_str(&grouped(chars));
            marker.push_str(" characters");
        }
    }
    if !reference.is_empty() {
        marker.push_str(MARKER_WHOLE);
        marker.push_str(reference);
    }
    marker.push(']');
    OwnedText::from(marker)
}

/// The text in place of a result.
#[derive(Clone, Debug)]
pub(crate) enum Substitute<'a, V> {
    /// A marker and, on lines of their own, the head and the tail that stay.
    ///
    /// The ends are slices of the result as it is encoded. In a body they are copied with their escapes.
    Marked { head: Content<'a, V>, marker: Piece<'a>, tail: Content<'a, V> },
    /// The text that an excerpt says, which was worth it when the excerpt was made, and the excerpt.
    Excerpted(Excerpted<'a>, Arc<[u8]>),
}

impl<'a, V: Value<'a>> Substitute<'a, V> {
    /// No text at all.
    pub(crate) const NONE: Self = Self::new(Piece::ascii(""));

    /// Make the text that a decision puts in place of a result of `size` characters. `cleared` says what is cleared, if
    /// that is not only text.
    pub(crate) fn of(
        (text, size): (&Content<'a, V>, usize),
        decision: &Decision<'_>,
        reference: &str,
        cleared: &str,
    ) -> Self {
        if decision.fate != DecisionKind::Cut {
            return Self::new(Piece::own(marker_with(decision, size, reference, cleared)));
        }
        let (head, tail) = decision.ends_in(size);
        let ends = [text.first(head), text.last(size - tail)];
        Self::cut(ends, &Decision::cut(head, tail), size, reference)
    }

    /// Make the text for a result that a decision cuts to these ends.
    pub(crate) fn cut(ends: [Content<'a, V>; 2], decision: &Decision<'_>, size: usize, reference: &str) -> Self {
        let [head, tail] = ends;
        Self::Marked { head, marker: Piece::own(marker_of(decision, size, reference)), tail }
    }

    /// Make a text that has no ends of the result.
    pub(crate) const fn new(marker: Piece<'a>) -> Self {
        Self::Marked { head: Content::Piece(Piece::ascii("")), marker, tail: Content::Piece(Piece::ascii("")) }
    }

    /// Return the excerpt that says the text, if one does.
    pub(crate) const fn excerpt(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::Marked { .. } => None,
            Self::Excerpted(_, excerpt) => Some(excerpt),
        }
    }

    /// The number of characters.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Marked { head, marker, tail } => {
                let ends = [head, tail].map(Content::len);
                marker.len() + ends.iter().map(|size| size + usize::from(*size > 0)).sum::<usize>()
            }
            Self::Excerpted(text, _) => text.chars,
        }
    }

    /// Return the number of bytes of the marker, or of the whole text if it has no ends of the result.
    pub(crate) fn marker_len(&self) -> usize {
        match self {
            Self::Marked { marker, .. } => marker.text().utf8_len(),
            Self::Excerpted(text, _) => text.bytes,
        }
    }

    /// Return the number of bytes in UTF-8. A lone surrogate counts as three.
    pub(crate) fn utf8_len(&self) -> usize {
        match self {
            Self::Marked { head, marker, tail } => parts(head, marker, tail).map(|part| part.utf8_len()).sum(),
            Self::Excerpted(text, _) => text.bytes,
        }
    }

    /// Return the whole text.
    pub(crate) fn text(&self) -> Piece<'a> {
        match self {
            Self::Marked { marker, .. } if self.len() == marker.len() => marker.clone(),
            Self::Marked { head, marker, tail } => {
                let mut text = OwnedText::default();
                for part in parts(head, marker, tail) {
                    text.push(part.whole().text());
                }
                Piece::own(text)
            }
            Self::Excerpted(text, _) => Piece::own(text.text()),
        }
    }

    /// Return the text as a new JSON value.
    pub(crate) fn json(&self) -> Json<'a> {
        Json::Joined(match self {
            Self::Marked { head, marker, tail } => parts(head, marker, tail).map(|part| TextPart::of(&part)).collect(),
            Self::Excerpted(text, _) => text.parts.clone(),
        })
    }
}

/// Return the parts of a text with a marker, in order.
fn parts<'a, V: Value<'a>>(
    head: &Content<'a, V>,
    marker: &Piece<'a>,
    tail: &Content<'a, V>,
) -> impl Iterator<Item = Content<'a, V>> {
    let line_feed = || Content::Piece(Piece::ascii("\n"));
    let head = (!head.is_empty()).then(|| [head.clone(), line_feed()]);
    let tail = (!tail.is_empty()).then(|| [line_feed(), tail.clone()]);
    let marker = Content::Piece(marker.clone());
    head.into_iter().flatten().chain([marker]).chain(tail.into_iter().flatten())
}

/// Return true if a text is a marker and nothing else. Checking the ends first rules out most texts.
pub(crate) fn is_marker<'a, V: Value<'a>>(content: &Content<'a, V>) -> bool {
    if !content.starts_with_any(&[MARKER_START]) || !content.end(1).text().ends_with("]") {
        return false;
    }
    let whole = content.whole();
    let text = whole.text();
    text.find(b']') == text.len().checked_sub(1)
        && text.find(b'\n').is_none()
        && (holds_whole(text) || content.starts_with_any(&BARE_MARKERS))
}

/// Return true if a text may hold a marker, so that it can't tell what the whole result said: if the tool failed, or what
/// it read.
pub(crate) fn may_hold_marker<'a, V: Value<'a>>(content: &Content<'a, V>) -> bool {
    match content.spelling() {
        Spelling::Json(bytes) | Spelling::Text(Text::Latin1(bytes)) => FIND_START.find(bytes).is_some(),
        Spelling::Text(Text::Ucs2(units)) => find_ascii(units, MARKER_START, 0, 0).is_some(),
        Spelling::Text(Text::Ucs4(units)) => find_ascii(units, MARKER_START, 0, 0).is_some(),
    }
}

/// Return true if a text names the reference of the full text.
fn holds_whole(text: Text<'_>) -> bool {
    let mut rest = text;
    while let Some(at) = rest.find(b';') {
        rest = rest.slice(at, rest.len());
        if rest.starts_with(MARKER_WHOLE) {
            return true;
        }
        rest = rest.slice(1, rest.len());
    }
    false
}

/// Return a reference at least as long as any that the call may get.
///
/// Calls that one projection removes are not numbered in the next one, so `t1#2` may become `t1`. Decisions on whether
/// a marker is worth it, and how much room it leaves, use this longest reference, so that both projections decide
/// alike. A call without an id may get one from the repair, which the next projection reads: all of these have one
/// longest reference.
pub(crate) fn widest(reference: &str) -> String {
    if reference.is_empty() {
        return String::new(); // the marker names none
    }
    let stem = stem_of_reference(reference);
    let mut widest = if is_made_up(stem) { MOST_MADE_UP } else { stem }.to_owned();
    widest.push_str(MOST_NUMBER);
    if widest.len() < reference.len() { reference.to_owned() } else { widest }
}

/// Return the beginning of an id in characters that every provider accepts, or a made-up one if it has none.
pub(crate) fn plain_id(call_id: Text<'_>) -> String {
    let units = (0..call_id.len().min(LONGEST_STEM)).filter_map(|index| call_id.get(index));
    let plain = units.map(|unit| match u8::try_from(unit) {
        Ok(byte) if byte.is_ascii_alphanumeric() || byte == b'-' => char::from(byte),
        _ => '_',
    });
    let plain: String = plain.collect();
    let stem = plain.trim_matches('_');
    if stem.is_empty() { MADE_UP_ID } else { stem }.to_owned()
}

/// Return true for no id, and for one that the repair gives to a call without an id.
fn is_made_up(stem: &str) -> bool {
    let rest = stem.strip_prefix(MADE_UP_ID).unwrap_or(stem);
    let number = rest.strip_prefix('_').filter(|_| rest.len() < stem.len()).unwrap_or(rest);
    number.bytes().all(|byte| byte.is_ascii_digit()) && (rest.is_empty() || number.len() < rest.len())
}

/// Return the number of characters that [`widest`] adds.
pub(crate) fn slack(reference: &str) -> usize {
    widest(reference).len() - reference.len()
}

/// Return a reference without the `#` numbers at its end.
pub(crate) fn stem_of_reference(reference: &str) -> &str {
    let mut stem = reference;
    loop {
        let named = stem.trim_end_matches(|digit: char| digit.is_ascii_digit());
        match named.strip_suffix('#') {
            Some(rest) if named.len() < stem.len() => stem = rest,
            _ => return stem,
        }
    }
}

/// Generates references for calls in the order of the conversation, so that later calls don't change earlier
/// references.
#[derive(Debug, Default)]
pub(crate) struct References<'a> {
    /// The references that contain a number.
    given: AHashSet<Cow<'a, str>>,
    counts: AHashMap<&'a str, usize>,
}

impl<'a> References<'a> {
    /// Create references with room for a number of calls.
    pub(crate) fn with_room(calls: usize) -> Self {
        Self { given: AHashSet::new(), counts: AHashMap::with_capacity(calls) }
    }

    /// Return the reference of the next call.
    pub(crate) fn add(&mut self, call_id: Text<'a>) -> Cow<'a, str> {
        let stem = stem_of(call_id);
        let counted = self.counts.entry(stem).or_default();
        let mut count = *counted + 1;
        let is_first = count == 1 && !stem.is_empty();
        if is_first && !stem.contains('#') {
            *counted = count;
            return Cow::Borrowed(stem); // can't equal a reference with a number
        }
        let mut reference = if is_first { Cow::Borrowed(stem) } else { Cow::Owned(format!("{stem}#{count}")) };
        while self.given.contains(&reference) {
            count += 1;
            reference = Cow::Owned(format!("{stem}#{count}"));
        }
        *counted = count;
        self.given.insert(reference.clone());
        reference
    }
}

/// Return the id if it can be written in a marker unchanged: printable ASCII without brackets and semicolons, and not
/// too long. Otherwise return an empty text.
fn stem_of(call_id: Text<'_>) -> &str {
    let Text::Latin1(units) = call_id else { return "" };
    let is_plain = |unit: &u8| matches!(unit, b'!'..=b'~') && !matches!(unit, b'[' | b']' | b';');
    if units.len() > MOST_ID || !units.iter().all(is_plain) {
        return "";
    }
    std::str::from_utf8(units).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{References, is_marker, slack, widest};
    use crate::content::Content;
    use crate::json::scanned::Scanned;
    use crate::text::Text;
    use crate::text::piece::Piece;

    #[test]
    fn a_reference_names_one_call() {
        let mut references = References::default();
        let found = ["a", "a", "", "b", "a#2", "x y"].map(|call_id| references.add(Text::ascii(call_id)));
        assert_eq!(found, ["a", "a#2", "#1", "b", "a#2#2", "#2"]);
    }

    #[test]
    fn the_widest_reference_is_the_same_for_all_of_an_id() {
        let found = ["t1", "t1#2", "#12", "a#2#3", "t#123456789"].map(widest);
        assert_eq!(found, ["t1#999999", "t1#999999", "call_999#999999", "a#999999", "t#123456789"]);
        assert!(["call", "call_2", "call_2#3"].iter().all(|reference| widest(reference) == widest("#1")));
        for reference in ["t1", "t1#2", "#12", "a#2#3", "t#123456789"] {
            assert_eq!(slack(reference), widest(reference).len() - reference.len());
        }
    }

    #[test]
    fn only_a_whole_line_is_a_marker() {
        let check = |text: &str| is_marker(&Content::<Scanned<'_>>::Piece(Piece::ascii(text)));
        let marker = "[toolcarry: cleared, 5,000 characters; whole: a]";
        assert!(check(marker));
        for bare in ["superseded by call t2", "left out by a rule", "cleared, 5,000 characters"] {
            assert!(check(&format!("[toolcarry: {bare}]")), "{bare}");
        }
        for text in ["", "[toolcarry: a]", &format!("{marker}\n"), &format!("x{marker}"), &marker.repeat(2)] {
            assert!(!check(text), "{text}");
        }
    }
}
