//! The excerpt that is sent for a shortened result: parts of its text, and the words between them.
//!
//! The next request of the conversation puts the same text together without reading the result again. An excerpt counts
//! only for the text, and the settings, that it was made of: a checksum of these and of its own parts says so.
//!
//! ```text
//! version  1 byte
//! check    8 bytes
//! sizes    the characters and the bytes without the marker
//! parts    a number each, four times its size and its kind:
//!          0  a part of the result, and how far behind the one before it begins
//!          1  words, which follow
//!          2  the marker
//! ```
//!
//! Sizes are numbers of seven bits a byte, the lowest first. Those of a part count what the source consists of: bytes of
//! a body, or code units of a string.

use std::ops::Range;

use memchr::{memchr, memchr3_iter, memmem};
use twox_hash::XxHash3_128;
use zerocopy::IntoBytes;

use super::edits::TextPart;
use crate::content::Content;
use crate::json::value::Value;
use crate::text::escaped::{EscapedText, escape_at};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

const VERSION: u8 = 1;
/// The version and the checksum.
const HEAD: usize = 9;
/// The most bytes of an excerpt that decisions keep. A longer one costs more to keep than to make again.
pub(crate) const MOST_KEPT: usize = 2_048;
/// A part of the result of fewer bytes is written as words, which takes no more room.
const LEAST_PART: usize = 4;
/// A passage may be part of a line from this size on.
const LEAST_PASSAGE: usize = 8;
/// The passages of a text that may be looked for in vain, so that the time stays linear.
const MOST_MISSES: usize = 64;
/// The beginning of the words for what is left out.
const GAP: &str = "...";
/// The line for what is left out of a text of no known kind.
const LINE_GAP: &str = "...\n";

/// The text of a result, as its source holds it.
pub(crate) enum Source<'a> {
    /// A string in a body, in UTF-8 and with its escapes.
    Written(&'a [u8]),
    /// A decoded text.
    Text(Piece<'a>),
}

impl<'a> Source<'a> {
    pub(crate) fn of<V: Value<'a>>(text: &Content<'a, V>) -> Self {
        match TextPart::of(text) {
            TextPart::Written(bytes) => Self::Written(bytes),
            TextPart::Text(piece) => Self::Text(piece),
        }
    }

    /// Return what the source holds as bytes, and the kind of these: 0 for a string in a body, or the width of units.
    pub(crate) fn bytes(&self) -> (&[u8], u64) {
        match self {
            Self::Written(bytes) => (bytes, 0),
            Self::Text(piece) => bytes_of(piece.text()),
        }
    }

    /// Return the checksum of the text with that of the settings and of parts.
    fn check(&self, settings: u64, parts: &[u8]) -> u64 {
        let (bytes, kind) = self.bytes();
        let sums = [hash(bytes), kind, settings, hash(parts)];
        hash(sums.as_bytes())
    }

    /// Return a part of the text; `None` if it has no such part.
    fn part(&self, range: Range<usize>) -> Option<TextPart<'a>> {
        match self {
            Self::Written(bytes) => bytes.get(range).map(TextPart::Written),
            Self::Text(piece) => {
                (range.end <= piece.len()).then(|| TextPart::Text(piece.slice(range.start, range.end)))
            }
        }
    }

    /// Return the ranges in the source of ranges in the decoded text in UTF-8, in order.
    fn ranges(&self, ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
        let mut walk = Places { own: 0, decoded: 0 };
        ranges.map(|range| walk.to(self, range.start)..walk.to(self, range.end)).collect()
    }
}

/// A place in a source, and in its decoded text in UTF-8.
struct Places {
    own: usize,
    decoded: usize,
}

impl Places {
    /// Go on to a place of the decoded text, and return that of the source.
    fn to(&mut self, source: &Source<'_>, wanted: usize) -> usize {
        match source {
            Source::Written(bytes) => self.go_to_byte(bytes, wanted),
            Source::Text(piece) => self.go_to_unit(piece.text(), wanted),
        }
        self.own
    }

    fn go_to_byte(&mut self, bytes: &[u8], wanted: usize) {
        while self.decoded < wanted {
            let rest = bytes.get(self.own..).unwrap_or_default();
            let plain = memchr(b'\\', rest).unwrap_or(rest.len()).min(wanted - self.decoded);
            (self.own, self.decoded) = (self.own + plain, self.decoded + plain);
            if self.decoded == wanted || self.own >= bytes.len() {
                return;
            }
            let (code_point, size) = escape_at(bytes, self.own);
            (self.own, self.decoded) = (self.own + size, self.decoded + utf8_size(code_point));
        }
    }

    fn go_to_unit(&mut self, text: Text<'_>, wanted: usize) {
        while self.decoded < wanted {
            let Some(code_point) = text.get(self.own) else { return };
            (self.own, self.decoded) = (self.own + 1, self.decoded + utf8_size(code_point));
        }
    }
}

fn utf8_size(code_point: u32) -> usize {
    char::from_u32(code_point).map_or(3, char::len_utf8)
}

/// Return the bytes of a text, and the width of its units.
fn bytes_of(text: Text<'_>) -> (&[u8], u64) {
    match text {
        Text::Latin1(units) => (units, 1),
        Text::Ucs2(units) => (units.as_bytes(), 2),
        Text::Ucs4(units) => (units.as_bytes(), 4),
    }
}

/// Return the lower half of the checksum of bytes.
fn hash(bytes: &[u8]) -> u64 {
    u64::try_from(XxHash3_128::oneshot(bytes) & u128::from(u64::MAX)).unwrap_or_default()
}

/// Return the checksum of what an excerpt depends on besides the text.
pub(crate) fn settings_sign(texts: [&str; 2], choices: [u64; 3], limits: [u64; 3]) -> u64 {
    let texts = texts.map(|text| hash(text.as_bytes()));
    hash([&texts[..], &choices, &limits].concat().as_bytes())
}

/// A text that an excerpt says, put together again.
#[derive(Clone, Debug)]
pub(crate) struct Excerpted<'a> {
    pub(crate) parts: Vec<TextPart<'a>>,
    /// The number of characters.
    pub(crate) chars: usize,
    /// The number of bytes in UTF-8.
    pub(crate) bytes: usize,
}

impl Excerpted<'_> {
    /// Return the whole text.
    pub(crate) fn text(&self) -> OwnedText {
        let mut text = OwnedText::default();
        for part in &self.parts {
            match part {
                TextPart::Text(piece) => text.push(piece.text()),
                TextPart::Written(bytes) => text.push(decoded(bytes).as_text()),
            }
        }
        text
    }
}

/// Put a text together by an excerpt; `None` if it was made of another text, or with other settings than these.
pub(crate) fn excerpted<'a, V: Value<'a>>(
    excerpt: &[u8],
    text: &Content<'a, V>,
    settings: u64,
    marker: &str,
) -> Option<Excerpted<'a>> {
    let (head, rest) = excerpt.split_at_checked(HEAD)?;
    let source = Source::of(text);
    if head == head_of(source.check(settings, rest)) { together(&source, rest, marker) } else { None }
}

/// Put a text together by an excerpt that is known to be made of it, and with the same settings.
pub(crate) fn excerpted_again<'a, V: Value<'a>>(
    excerpt: &[u8],
    text: &Content<'a, V>,
    marker: &str,
) -> Option<Excerpted<'a>> {
    together(&Source::of(text), excerpt.get(HEAD..)?, marker)
}

fn together<'a>(source: &Source<'a>, mut rest: &[u8], marker: &str) -> Option<Excerpted<'a>> {
    let (chars, bytes) = (take_number(&mut rest)?, take_number(&mut rest)?);
    let mut found = Excerpted { parts: Vec::with_capacity(rest.len() / LEAST_PART), chars, bytes };
    let mut at = 0;
    while !rest.is_empty() {
        let number = take_number(&mut rest)?;
        let size = number >> 2;
        found.parts.push(match number & 3 {
            0 => {
                let start = at + take_number(&mut rest)?;
                at = start + size;
                source.part(start..at)?
            }
            1 => {
                let (words, others) = rest.split_at_checked(size)?;
                rest = others;
                TextPart::Text(words_of(std::str::from_utf8(words).ok()?))
            }
            _ => {
                (found.chars, found.bytes) = (found.chars + marker.len(), found.bytes + marker.len());
                TextPart::Text(words_of(marker))
            }
        });
    }
    Some(found)
}

/// Return words as a part of a text. Those for most gaps are borrowed.
fn words_of<'a>(words: &str) -> Piece<'a> {
    match words {
        LINE_GAP => Piece::ascii(LINE_GAP),
        "\n" => Piece::ascii("\n"),
        _ => Piece::own(OwnedText::from_utf8(words)),
    }
}

/// Return the text of a part of a body.
fn decoded(bytes: &[u8]) -> OwnedText {
    let written = EscapedText { bytes, chars: u32::MAX, has_escapes: true, is_ascii: bytes.is_ascii() };
    OwnedText::from_bytes(&written.utf8())
}

fn head_of(check: u64) -> [u8; HEAD] {
    let mut head = [VERSION; HEAD];
    if let Some(place) = head.last_chunk_mut() {
        *place = check.to_le_bytes();
    }
    head
}

/// Return the excerpt of a result that became this text, in two parts if a marker stands between them; `None` if the
/// text can't be put together of parts of the result.
pub(crate) fn excerpt_of<'a, V: Value<'a>>(
    text: &Content<'a, V>,
    settings: u64,
    (before, after): (&str, Option<&str>),
) -> Option<Vec<u8>> {
    let whole = text.brief();
    let whole = whole.text().as_utf8();
    let mut found = Alignment { whole: &whole, at: 0, misses: 0, parts: Vec::new() };
    found.add(before)?;
    if let Some(after) = after {
        found.parts.push(Part::Marker);
        found.add(after)?;
    }
    let source = Source::of(text);
    let taken =
        found.parts.iter().filter_map(|part| if let Part::Taken(range) = part { Some(range.clone()) } else { None });
    let mut ranges = source.ranges(taken).into_iter();
    let both = || [before, after.unwrap_or_default()].into_iter();
    let mut rest = Vec::new();
    push_number(&mut rest, both().map(|text| text.chars().count()).sum());
    push_number(&mut rest, both().map(str::len).sum());
    let mut at = 0;
    for part in &found.parts {
        match part {
            Part::Taken(_) => {
                let range = ranges.next()?;
                push_number(&mut rest, range.len() << 2);
                push_number(&mut rest, range.start.checked_sub(at)?);
                at = range.end;
            }
            Part::Words(words) => {
                push_number(&mut rest, words.len() << 2 | 1);
                rest.extend(words.as_bytes());
            }
            Part::Marker => push_number(&mut rest, 2),
        }
    }
    Some([&head_of(source.check(settings, &rest))[..], &rest].concat())
}

/// A part of a shortened text.
enum Part<'t> {
    /// A part of the result, in UTF-8.
    Taken(Range<usize>),
    /// Words that are not in the result.
    Words(&'t str),
    Marker,
}

/// The search for the parts of a shortened text in the result, in order.
///
/// Each line, up to words for what is left out, is looked for behind the ones before. Its first place there is no later
/// than the one that it was taken from, so that what follows it is found as well.
struct Alignment<'t> {
    whole: &'t str,
    /// The place behind the last part that was found.
    at: usize,
    /// The passages that were not found.
    misses: usize,
    parts: Vec<Part<'t>>,
}

impl<'t> Alignment<'t> {
    /// Find the parts of a text; `None` if too many passages are not in the result.
    fn add(&mut self, text: &'t str) -> Option<()> {
        let (mut start, mut at) = (0, 0); // of the words, and of what comes next
        while at < text.len() {
            let rest = text.get(at..)?;
            let passage = passage_of(rest);
            let found = self.place_of(passage);
            let found = found.or_else(|| Some(self.at).filter(|at| self.same_size(*at, rest) >= LEAST_PART));
            if let Some(place) = found {
                let size = self.same_size(place, rest);
                self.push_words(text.get(start..at)?);
                self.parts.push(Part::Taken(place..place + size));
                self.at = place + size;
                at += size;
                start = at;
                continue;
            }
            self.misses += usize::from(!passage.is_empty());
            if self.misses > MOST_MISSES {
                return None;
            }
            at += step_of(rest);
        }
        self.push_words(text.get(start..)?);
        Some(())
    }

    /// Return the first place of a passage from here on.
    fn place_of(&self, passage: &str) -> Option<usize> {
        if passage.is_empty() {
            return None;
        }
        let rest = self.whole.get(self.at..)?.as_bytes();
        let find = |passage: &str| memmem::find(rest, passage.as_bytes()).map(|place| self.at + place);
        let line = passage.trim_end_matches('\n');
        find(passage)
            .or_else(|| (line.len() >= LEAST_PASSAGE && line.len() < passage.len()).then(|| find(line)).flatten())
    }

    /// Return how many bytes of the result, from a place on, a text begins with.
    fn same_size(&self, place: usize, text: &str) -> usize {
        let here = self.whole.get(place..).unwrap_or_default();
        let mut size = here.bytes().zip(text.bytes()).take_while(|(one, other)| one == other).count();
        while !text.is_char_boundary(size) {
            size -= 1;
        }
        size
    }

    fn push_words(&mut self, words: &'t str) {
        if !words.is_empty() {
            self.parts.push(Part::Words(words));
        }
    }
}

/// Return the beginning of a text that ends with its line, or before words for what is left out, which may be quoted.
fn passage_of(text: &str) -> &str {
    let size = ends_in(text).find(|end| !is_quote(text, *end)).unwrap_or(text.len());
    let passage = text.get(..size).unwrap_or_default();
    passage.strip_suffix(GAP).map_or(passage, |before| before.trim_end_matches('"'))
}

/// Return how far a part of the result may begin behind words: after a line, a quote or dots.
fn step_of(text: &str) -> usize {
    ends_in(text).next().unwrap_or(text.len())
}

/// Return the places after lines, quotes and dots.
fn ends_in(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    memchr3_iter(b'\n', b'"', b'.', bytes).filter_map(move |at| match bytes.get(at) {
        Some(b'.') => bytes.get(at..).filter(|rest| rest.starts_with(GAP.as_bytes())).map(|_| at + GAP.len()),
        _ => Some(at + 1),
    })
}

fn is_quote(text: &str, end: usize) -> bool {
    end.checked_sub(1).and_then(|last| text.as_bytes().get(last)) == Some(&b'"')
}

fn push_number(to: &mut Vec<u8>, mut number: usize) {
    let last = |number: usize| u8::try_from(number & 0x7F).unwrap_or_default();
    while number > 0x7F {
        to.push(last(number) | 0x80);
        number >>= 7;
    }
    to.push(last(number));
}

fn take_number(from: &mut &[u8]) -> Option<usize> {
    let (mut number, mut shift) = (0_usize, 0);
    loop {
        let (byte, rest) = from.split_first()?;
        *from = rest;
        number |= usize::from(byte & 0x7F).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return u32::try_from(number).ok().map(|number| number as usize);
        }
        shift += 7;
    }
}
