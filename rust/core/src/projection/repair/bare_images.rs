//! Messages as Ollama has them: the content is a text, and images are a member of the message, a list of base64.

use super::destinations::Destination;
use super::media::{image_data, is_base64, without_header};
use super::report::Mends;
use super::settings::Build;
use crate::content::part_text;
use crate::json::base64::{ADDRESS, sized_line, url_line};
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::{Changed, Draft, Edit, Json, Path, TextPart, set_member};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::piece::Piece;

const IMAGES: Key<'static> = Key::new("images");

/// Write images without the header of a data URL. A line of the content takes the place of one that is not base64.
pub(super) fn mend_bare_images<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) {
    if !destination.rules.bare_images {
        return;
    }
    for (position, message) in edited.messages.iter().copied().enumerate() {
        let path = Path::Message(position);
        let given: Option<Vec<Text<'a>>> = message.get(IMAGES).and_then(Value::list).and_then(|list| {
            let texts: Vec<V> = items(list).collect();
            texts.into_iter().map(Value::text).collect()
        });
        let Some(given) = given.filter(|_| !edited.guard.contains(&position) && !edited.is_gone(path)) else {
            continue;
        };
        let (mut kept, mut lines, mut mended) = (Vec::new(), Vec::new(), 0);
        for image in given {
            let data = without_header(image);
            if is_base64(data) {
                mended += usize::from(data.len() < image.len());
                kept.push(Json::Text(Piece::Borrowed(data)));
            } else if image.starts_with(ADDRESS) {
                lines.push(url_line(Text::ascii("image"), image));
            } else {
                lines.push(sized_line(Text::ascii("image"), None, image));
            }
        }
        if mended == 0 && lines.is_empty() {
            continue;
        }
        for _ in 0..mended {
            mends.add("media_type", Some(position), Text::ascii(""));
        }
        let content = message.get(names::CONTENT).and_then(Value::text);
        let mut words = vec![TextPart::Text(content.map_or_else(Piece::default, Piece::Borrowed))];
        for line in lines {
            mends.add_with("unreadable_media", Some(position), Text::ascii(""), line.clone());
            words.extend([TextPart::Text(Piece::ascii("\n")), TextPart::Text(line)]);
        }
        if words.len() > 1 {
            let begin = usize::from(content.is_none_or(Text::is_empty)) * 2;
            let words = words.into_iter().skip(begin).collect();
            edited.edit(path, vec![(names::CONTENT, Some(Edit::NewValue(Json::Joined(words))))]);
        }
        let images = (!kept.is_empty()).then_some(Edit::NewValue(Json::List(kept)));
        edited.edit(path, vec![(IMAGES, images)]);
    }
}

/// Write contents that are lists of parts as texts, with the images among them after those of the message.
///
/// An inferred destination stays without this: a list may tell that it is another one.
pub(super) fn join_contents<'a, V: Value<'a>>(
    drafts: &mut [Draft<'a, V>],
    (edited, destination): (&EditedMessages<'a, '_, V>, &Destination),
    build: Build<'_, 'a, V>,
    mends: &mut Mends<'a>,
) {
    if !destination.rules.refuses_lists || !edited.is_named {
        return;
    }
    for draft in drafts {
        let position = draft.path().map(Path::position);
        if position.is_some_and(|position| edited.guard.contains(&position)) {
            continue;
        }
        let Some(message) = build(draft) else { continue };
        let Some(content) = message.get(names::CONTENT).and_then(Value::list) else { continue };
        let given = message.get(IMAGES).and_then(Value::list).into_iter().flat_map(items).filter_map(Value::text);
        let mut images: Vec<Text<'a>> = given.collect();
        let mut words = Vec::new();
        for part in items(content) {
            let object = part.object();
            if let Some(data) = object.and_then(image_data) {
                images.push(data);
                continue;
            }
            if !words.is_empty() {
                words.push(TextPart::Text(Piece::ascii("\n")));
            }
            let text = object.map_or_else(|| Piece::Borrowed(text_or_empty(Some(part))), |part| part_text(part, 0));
            words.push(TextPart::Text(text));
        }
        let images = images.into_iter().map(|data| Json::Text(Piece::Borrowed(data))).collect::<Vec<_>>();
        let mut members = match draft {
            Draft::Changed(changed) => std::mem::take(&mut changed.members),
            _ => Vec::new(),
        };
        set_member(&mut members, names::CONTENT, Some(Edit::NewValue(Json::Joined(words))));
        if !images.is_empty() {
            set_member(&mut members, IMAGES, Some(Edit::NewValue(Json::List(images))));
        }
        match draft {
            Draft::Changed(changed) => changed.members = members,
            _ => *draft = Draft::Changed(Changed { path: draft.path(), of: Some(message), members }),
        }
        mends.must_read_again = true;
        mends.add("joined_content", position, Text::ascii(""));
    }
}
