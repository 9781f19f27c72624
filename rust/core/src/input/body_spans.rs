//! The offsets of the members of a request body, and of its messages.

use std::ops::Range;

use bumpalo::Bump;

use super::REQUEST_LISTS;
use crate::json::error::Refused;
use crate::json::scanned::Scanned;
use crate::json::value::{Value, items};
use crate::text::Text;

/// The members of a body, each name once; the name of the one that holds the messages, if there is one; and the messages.
#[derive(Debug)]
pub struct BodySpans<'a> {
    /// The members and their values.
    pub members: Vec<(Text<'a>, Range<usize>)>,
    /// The name of the list.
    pub key: Text<'static>,
    /// The items of the list.
    pub items: Vec<Range<usize>>,
}

/// Return the offsets in a body; `None` if it is not an object.
pub fn split_body<'a>(data: &'a [u8], bump: &'a Bump) -> Result<Option<BodySpans<'a>>, Refused> {
    let Some(document) = Scanned::document(data, bump)?.object() else { return Ok(None) };
    let mut members = Vec::with_capacity(document.size());
    document.members(&mut |name, value| {
        members.push((name, value.span(data)));
        true
    });
    let list = REQUEST_LISTS.iter().find_map(|key| Some((key.name, document.get(*key)?.list()?)));
    let (key, items) = list
        .map_or((Text::ascii(""), Vec::new()), |(key, list)| (key, items(list).map(|item| item.span(data)).collect()));
    Ok(Some(BodySpans { members, key, items }))
}
