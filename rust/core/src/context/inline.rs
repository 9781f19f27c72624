//! Foreign text in a line of markdown: HTML, images and links in it are shown as text, and don't act.
//!
//! A backslash is put only before what would act: a `<` that may open a tag or an automatic link, and the `]` between a
//! link's text and its destination. All else stays, so that most headings are the text itself.

use super::output::{Output, OutputPosition};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, Unit};

const BACKSLASH: u32 = 0x5C;

/// Return the markdown that shows `line`.
#[must_use]
pub fn inert<'a>(line: &Piece<'a>) -> Piece<'a> {
    let escaped = match line.text() {
        text if !may_act(text) => None,
        Text::Latin1(units) => Some(OwnedText::Latin1(escaped(units))),
        Text::Ucs2(units) => Some(OwnedText::Ucs2(escaped(units))),
        Text::Ucs4(units) => Some(OwnedText::Ucs4(escaped(units))),
    };
    escaped.map_or_else(|| line.clone(), Piece::own)
}

/// Make a line inert that was kept in the output from `start` on.
pub(crate) fn make_inert(output: &mut Output<'_>, start: OutputPosition) {
    let line = start..output.end();
    let mut is_active = false;
    output.see_parts(&line, &mut |part| part.with_text(|text| is_active |= may_act(text)));
    if is_active {
        let line = Piece::own(output.kept(line));
        output.go_back(start);
        output.keep(inert(&line).into());
    }
}

/// Return the markdown of a list item that shows `line`, and begins no block of markdown.
#[must_use]
pub fn inert_item<'a>(line: &Piece<'a>) -> Piece<'a> {
    let shown = inert(line);
    let first = shown.text().get(0).and_then(char::from_u32);
    if first.is_none_or(|first| !first.is_ascii() || first.is_ascii_alphabetic() || matches!(first, '_' | '\\')) {
        return shown;
    }
    let mut escaped = OwnedText::default();
    escaped.push_ascii("\\");
    escaped.push(shown.text());
    Piece::own(escaped)
}

fn may_act(text: Text<'_>) -> bool {
    text.find(b'<').is_some() || text.find(b']').is_some()
}

fn escaped<C: Unit>(units: &[C]) -> Vec<C> {
    let is = |at: usize, wanted: &[u8]| {
        units.get(at).is_some_and(|unit| wanted.iter().any(|byte| unit.code_point() == u32::from(*byte)))
    };
    let last = units.iter().rposition(|unit| unit.code_point() == u32::from(b'>')).unwrap_or_default();
    let opens_tag = |at: usize| {
        let next = units.get(at + 1).and_then(|unit| char::from_u32(unit.code_point()));
        let is_html = next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'));
        is_html && at + 1 < last || is_address(units.get(at + 1..).unwrap_or_default())
    };
    let mut out = Vec::with_capacity(units.len() + 16);
    let mut backslashes = 0;
    for (at, unit) in units.iter().enumerate() {
        if (is(at, b"<") && opens_tag(at)) || (is(at, b"]") && is(at + 1, b"([")) {
            // Backslashes before it would escape the one that is put in, and are doubled.
            out.extend((0..=backslashes).map(|_| C::from_code_point(BACKSLASH)));
        }
        backslashes = if unit.code_point() == BACKSLASH { backslashes + 1 } else { 0 };
        out.push(*unit);
    }
    out
}

/// Return true if the text goes on as `name@example.org>`.
fn is_address<C: Unit>(rest: &[C]) -> bool {
    let mut has_at = false;
    for unit in rest {
        match char::from_u32(unit.code_point()) {
            Some('>') => return has_at,
            Some(' ' | '<') => return false,
            found => has_at |= found == Some('@'),
        }
    }
    false
}
