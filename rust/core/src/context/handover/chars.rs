//! Text by characters: counted, sliced, and stripped of white space as the reference does it.

use std::borrow::Cow;

use super::super::inline::inert;
use crate::content::{Content, is_white};
use crate::text::piece::Piece;
use crate::text::sanitize;
use crate::text::truncate::Keep;
use crate::text::{OwnedText, Text};
use crate::tokens::classes::{Classes, LETTER};

/// The sign in place of the middle of a line. It is in no command.
const GAP: &str = " […] ";
/// The characters that a cut may leave out so that it splits no word.
const LONGEST_WORD: usize = 16;

/// Return the number of characters.
pub(super) fn size(text: &str) -> usize {
    text.chars().count()
}

/// Return true if a text has more than `most` characters.
pub(super) fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && size(text) > most
}

/// Return the index of the byte at which a character begins, or the end of a shorter text.
fn place_of(text: &str, count: usize) -> usize {
    if text.len() <= count {
        return text.len();
    }
    if text.as_bytes().get(..count).is_some_and(<[u8]>::is_ascii) {
        return count;
    }
    text.char_indices().nth(count).map_or(text.len(), |(place, _)| place)
}

/// Return the first `count` characters, or all.
pub(super) fn head(text: &str, count: usize) -> &str {
    text.get(..place_of(text, count)).unwrap_or(text)
}

/// Return true for a character that Python takes for white space.
pub(super) fn is_space(character: char) -> bool {
    is_white(u32::from(character))
}

/// Return a text without white space around it.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Return true if a text has nothing but white space.
pub(super) fn is_blank(text: &str) -> bool {
    // The first character that is no plain blank decides for most lines.
    match text.bytes().find(|byte| !matches!(byte, b' ' | b'\t')) {
        Some(byte) if byte.is_ascii_graphic() => false,
        None => true,
        Some(_) => text.chars().all(is_space),
    }
}

/// Return the words of a text, without the white space between them.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Return the words of a text with one space between them.
pub(super) fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in words(text) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Return true for a letter of any script.
pub(super) fn is_letter(character: char) -> bool {
    character.is_ascii_alphabetic() || (!character.is_ascii() && Classes::load().of(u32::from(character)) & LETTER != 0)
}

/// Return the lines of a text, as `split` does.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    ends.map(move |end| {
        let line = text.get(start..end).unwrap_or_default();
        start = end + 1;
        line
    })
}

/// Return the number of line feeds.
pub(super) fn breaks(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// Return what follows the last `/` of a text.
pub(super) fn after_slash(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}

/// Return a text as a piece. ASCII that is borrowed is not copied.
pub(super) fn piece_of(text: Cow<'_, str>) -> Piece<'_> {
    match text {
        Cow::Borrowed(text) if text.is_ascii() => Piece::Borrowed(Text::ascii(text)),
        Cow::Borrowed(text) => Piece::own(OwnedText::from_utf8(text)),
        Cow::Owned(text) => Piece::own(OwnedText::from(text)),
    }
}

/// Return a piece as a string. ASCII that is borrowed is not copied.
pub(super) fn string_of<'a>(piece: &Piece<'a>) -> Cow<'a, str> {
    match piece {
        Piece::Borrowed(text) => text.as_utf8(),
        Piece::Shared(..) => Cow::Owned(piece.text().to_utf8()),
    }
}

/// Return a text as the content of a result.
pub(super) fn content_of<V>(text: Cow<'_, str>) -> Content<'_, V> {
    Content::Piece(piece_of(text))
}

/// Return `text` as one clean line of at most `longest` characters. Of a longer one most of the beginning is shown, and its
/// end.
pub(super) fn short_line(text: &str, longest: usize) -> Cow<'_, str> {
    let is_plain = text.len() <= longest && text.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b']');
    if is_plain {
        return Cow::Borrowed(text);
    }
    let mut line = piece_of(Cow::Borrowed(text));
    if line.len() > 4 * longest {
        line = without_middle(&line, 4 * longest);
    }
    let line = sanitize::clean_line(&line, usize::MAX / 4);
    let line = if line.len() > longest { without_middle(&line, longest) } else { line };
    Cow::Owned(line.text().to_utf8())
}

/// Return the beginning and the end of a line, with a sign between. No word is split if a blank is near.
fn without_middle(line: &Piece<'_>, longest: usize) -> Piece<'static> {
    let text = line.text();
    let room = longest.saturating_sub(GAP.chars().count());
    let (mut end, _) = sanitize::cut_text(text, room - room / 3, Keep::Head);
    let (_, mut start) = sanitize::cut_text(text, room / 3, Keep::Tail);
    let is_blank = |place: &usize| text.get(*place) == Some(u32::from(b' '));
    end = (end.saturating_sub(LONGEST_WORD).max(1)..=end).rev().find(is_blank).unwrap_or(end);
    start = (start.saturating_sub(1)..start + LONGEST_WORD).find(is_blank).map_or(start, |blank| blank + 1);
    let mut short = OwnedText::default();
    short.push(text.slice(0, end));
    short.push(OwnedText::from_utf8(GAP).as_text());
    short.push(text.slice(start.min(text.len()), text.len()));
    Piece::own(short)
}

/// Return a text as one line in which no markdown acts.
pub(super) fn inert_line(text: &str, longest: usize) -> Cow<'_, str> {
    inert_text(short_line(text, longest))
}

/// Return the markdown that shows a line.
pub(super) fn inert_text(line: Cow<'_, str>) -> Cow<'_, str> {
    if !line.bytes().any(|byte| matches!(byte, b'<' | b']')) {
        return line;
    }
    let shown = inert(&piece_of(Cow::Borrowed(&*line))).text().to_utf8();
    Cow::Owned(shown)
}

/// Return a text without anything that a context may not contain.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let piece = piece_of(Cow::Borrowed(text));
    if sanitize::is_clean(piece.text()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(sanitize::clean(&piece).text().to_utf8())
}
