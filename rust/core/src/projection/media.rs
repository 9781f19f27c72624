//! The images, documents and sounds in a result: they stay whole, or are cleared with the result.
//!
//! A limit on a result counts the line that stands for a medium in a context, without the address of the medium. Part of
//! such a line, or of a URL, would be of no use to anybody, so only the text next to media is cut. A data URL that a tool
//! returned as text is a medium, too, but its provider receives all of its characters: a limit in characters counts
//! those, and a limit in tokens counts an image.

use super::result_slot::{ResultSlot, Said, data_url_of, line_of};
use crate::content::{is_media, part_text};
use crate::json::value::{Value, items};
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, grouped};
use crate::tokens::messages::MEDIA_TOKENS;

/// The media of a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct Media<'a> {
    /// Their kinds, such as `image, document`; empty without media.
    labels: String,
    /// The lines of those that stay if the text is cut.
    pub(crate) beside: Piece<'a>,
    /// True if the text consists of such lines, and can't be cut.
    pub(crate) is_whole: bool,
    /// The characters by which data URLs are longer than their lines.
    pub(crate) url_chars: usize,
    /// The tokens of the images that data URLs are.
    pub(crate) url_tokens: usize,
}

impl Media<'_> {
    /// Return what a marker says of a cleared result of `chars` characters; empty without media.
    pub(crate) fn cleared(&self, chars: usize) -> String {
        if self.labels.is_empty() || self.is_whole {
            return self.labels.clone();
        }
        format!("{} characters and {}", grouped(chars), self.labels)
    }
}

/// Return the media in the content of a result.
pub(crate) fn media_of<'a, V: Value<'a>>(slot: Option<ResultSlot<V>>) -> Media<'a> {
    let Some(slot) = slot.filter(|slot| !slot.is_json()) else { return Media::default() };
    let content = slot.answer();
    let parts = content.and_then(Value::list);
    let only = content.filter(|_| parts.is_none());
    let said = || parts.into_iter().flat_map(items).map(|part| slot.said(part));
    let inner = || only.into_iter().chain(said().filter_map(Said::part));
    let own: Vec<Piece<'a>> = lines_of(inner());
    let rest = lines_of(slot.response_parts().into_iter().flat_map(items));
    if own.is_empty() && rest.is_empty() {
        return Media::default();
    }
    let is_whole = !own.is_empty() && !only.map(Said::Part).into_iter().chain(said()).any(Said::has_words);
    let mut labels: Vec<String> = Vec::new();
    for line in own.iter().chain(&rest) {
        let label = label_of(line.text());
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let mut beside = OwnedText::default();
    let stay = own.iter().filter(|_| !is_whole).chain(&rest);
    for (number, line) in stay.enumerate() {
        if number > 0 {
            beside.push_ascii("\n");
        }
        beside.push(line.text());
    }
    let urls = || inner().filter_map(data_url_of);
    let chars: usize = urls().filter_map(Value::text_len).sum();
    let line_chars: usize = urls().map(|url| part_text(url, 0).len()).sum();
    Media {
        labels: labels.join(", "),
        beside: Piece::own(beside),
        is_whole,
        url_chars: chars.saturating_sub(line_chars),
        url_tokens: MEDIA_TOKENS * urls().count(),
    }
}

/// Return the lines of the media among the parts of a result. A data URL is one.
fn lines_of<'a, V: Value<'a>>(parts: impl Iterator<Item = V>) -> Vec<Piece<'a>> {
    let is_medium = |part: &V| data_url_of(*part).is_some() || part.object().is_some_and(is_media);
    parts.filter(is_medium).map(line_of).collect()
}

/// Return the kind of a medium.
fn label_of(line: Text<'_>) -> String {
    let end = line.find(b':').or_else(|| line.find(b']')).unwrap_or(line.len());
    line.slice(1, end).to_utf8()
}
