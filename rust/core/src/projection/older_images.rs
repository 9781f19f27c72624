//! The newest images of a request: as many as the policy keeps. Lines of text take the place of older ones.
//!
//! The request alone decides which images are older, so a projection need not know the one before it.

use std::borrow::Cow;

use ahash::{AHashMap, AHashSet};

use super::edits::{Changed, Draft, DraftList, Edit, Json, Parts, PartsKey, Path, TextPart};
use super::repair::media::{IMAGE_PARTS, measured, type_of};
use super::repair::message_parts::parts_of;
use super::repair::parts::marked;
use super::request::EditedMessages;
use super::result_slot::ResultSlot;
use crate::content::part_text;
use crate::json::base64::sized_line;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::text::Text;
use crate::text::piece::Piece;

/// The images of a message of Ollama.
const IMAGES: Key<'static> = Key::new("images");
/// The member of a function response of Gemini for the lines of images that stood next to it.
const LEFT_OUT: Key<'static> = Key::new("older_images");
const IMAGE_TYPE: &str = "image/";

/// An image that a line took the place of.
#[derive(Clone, Debug)]
pub struct OlderImage<'a> {
    /// The position of its message.
    pub position: usize,
    /// The reference of the result that holds it; empty in any other message.
    pub reference: Cow<'a, str>,
    /// The line.
    pub line: Piece<'a>,
}

/// The images of a request that lines took the place of.
#[derive(Clone, Debug, Default)]
pub(super) struct OlderImages<'a> {
    pub(super) all: Vec<OlderImage<'a>>,
    /// The first position at which the request before had an image that is gone now.
    pub(super) changed: Option<usize>,
}

/// The list in which an image stands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ImagePlace {
    /// The parts of a message.
    Message(PartsKey),
    /// The images of a message of Ollama.
    Images,
    /// The content of a result, by the number of its block.
    Result(usize),
    /// The parts next to the answer in a function response.
    Response(usize),
}

/// An image in a request.
#[derive(Clone, Copy)]
struct Image<V> {
    /// The path of the part, or of the result or message that holds it.
    path: Path,
    place: ImagePlace,
    /// The index in the list.
    index: usize,
    value: V,
}

impl<'a, V: Value<'a>> Image<V> {
    /// Return the index of the part that it is, or that holds it.
    const fn part(&self) -> usize {
        match self.path {
            Path::Part(_, _, index) => index,
            _ => 0,
        }
    }

    /// Return the line that takes its place.
    fn line(&self) -> Piece<'a> {
        match self.value.text() {
            Some(data) => sized_line(Text::ascii("image"), type_of(data).map(Text::ascii), data),
            None => part_text(self.value, 0),
        }
    }
}

/// Put lines in the place of all images but the newest ones. Those in results and messages that never change count as
/// well. `sent` is the number of messages at the beginning that are as they were sent, if a request was.
pub(super) fn leave_out_older<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    keep: usize,
    sent: Option<usize>,
) -> OlderImages<'a> {
    let mut images = images_of(edited);
    images.sort_by_key(|image| (image.path.position(), image.part(), image.place, image.index));
    let is_sent = |image: &&Image<V>| sent.is_some_and(|sent| image.path.position() < sent);
    let known = images.iter().filter(is_sent).count().saturating_sub(keep);
    images.truncate(images.len().saturating_sub(keep));
    let blocks = edited.blocks;
    let is_kept = |place| match place {
        ImagePlace::Result(number) | ImagePlace::Response(number) => {
            blocks.get(number).is_some_and(|block| block.is_kept)
        }
        _ => false,
    };
    let may_go = |image: &&Image<V>| !edited.guard.contains(&image.path.position()) && !is_kept(image.place);
    let changed = images.iter().skip(known).find(may_go).map(|image| image.path.position());
    let images: Vec<Image<V>> = images.iter().filter(may_go).copied().collect();
    for own in images.chunk_by(|one, other| one.path == other.path && one.place == other.place) {
        let Some(Image { path, place, value, .. }) = own.first() else { continue };
        match *place {
            ImagePlace::Message(_) => edited.replace(*path, marked(*value, line_part(*value))),
            ImagePlace::Images => leave_out_listed(edited, *path, own),
            ImagePlace::Result(number) | ImagePlace::Response(number) => {
                if let Some(slot) = blocks.get(number).and_then(|block| block.slot) {
                    leave_out_inner(edited, &slot, own);
                }
            }
        }
    }
    let reference = |place| match place {
        ImagePlace::Result(number) | ImagePlace::Response(number) => {
            blocks.get(number).map(|block| block.reference.clone())
        }
        _ => None,
    };
    let told = |image: &Image<V>| OlderImage {
        position: image.path.position(),
        reference: reference(image.place).unwrap_or_default(),
        line: image.line(),
    };
    OlderImages { all: images.iter().map(told).collect(), changed }
}

/// Return the images of a request, in no order.
fn images_of<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>) -> Vec<Image<V>> {
    let mut found = Vec::new();
    let mut results: AHashSet<usize> = AHashSet::new();
    for (number, block) in edited.blocks.iter().enumerate() {
        let Some(slot) = block.slot else { continue };
        if let Path::Message(position) = slot.path {
            results.insert(position);
        }
        if edited.is_gone(slot.path) || edited.is_gone(Path::Message(slot.path.position())) {
            continue;
        }
        let is_cleared = block.decision.as_ref().is_some_and(|decision| !decision.fate.is_partial());
        for (index, value) in slot.response_parts().filter(|_| !is_cleared).into_iter().flat_map(items).enumerate() {
            if is_image(value) {
                found.push(Image { path: slot.path, place: ImagePlace::Response(number), index, value });
            }
        }
        if *slot.key == names::RESPONSE {
            continue;
        }
        let parts = parts_of(edited, slot.path, (*slot.key, slot.content));
        for (index, draft) in parts.into_iter().flatten().enumerate() {
            if let Draft::Original(_, value) | Draft::Changed(Changed { of: Some(value), .. }) = draft
                && is_image(value)
            {
                found.push(Image { path: slot.path, place: ImagePlace::Result(number), index, value });
            }
        }
    }
    for (position, message) in edited.messages.iter().enumerate() {
        if edited.is_gone(Path::Message(position)) {
            continue;
        }
        for (index, value) in message.get(IMAGES).and_then(Value::list).into_iter().flat_map(items).enumerate() {
            if value.text().is_some() {
                found.push(Image { path: Path::Message(position), place: ImagePlace::Images, index, value });
            }
        }
        for key in [PartsKey::Content, PartsKey::Parts] {
            let parts = edited.list(position, key).filter(|_| !results.contains(&position));
            for (index, value) in parts.into_iter().flat_map(items).enumerate() {
                let path = Path::Part(position, key, index);
                if !edited.is_gone(path) && is_image(value) {
                    found.push(Image { path, place: ImagePlace::Message(key), index, value });
                }
            }
        }
    }
    found
}

/// Return true if a part is an image, wherever its bytes are.
fn is_image<'a, V: Value<'a>>(part: V) -> bool {
    let Some(part) = part.object() else { return false };
    if part.has(names::TYPE) {
        let kind = text_or_empty(part.get(names::TYPE));
        return IMAGE_PARTS.iter().any(|name| kind.is(name)) || measured(part).is_some();
    }
    let file = part.get(names::FILE_DATA_CAMEL).or_else(|| part.get(names::FILE_DATA)).and_then(Value::object);
    let is_image_file = file.is_some_and(|file| {
        let stated = file.get(names::MIME_TYPE).or_else(|| file.get(names::MIME_TYPE_SNAKE));
        text_or_empty(stated).starts_with(IMAGE_TYPE)
    });
    is_image_file || measured(part).is_some() || part.get(names::IMAGE).and_then(Value::object).is_some()
}

/// Return the line of an image as a part of the same provider.
fn line_part<'a, V: Value<'a>>(part: V) -> Json<'a> {
    let text = ("text", Json::Text(part_text(part, 0)));
    let kind = text_or_empty(part.get(names::TYPE));
    match () {
        () if kind.is_empty() => Json::object([text]),
        () if kind.is("input_image") => Json::object([("type", Json::ascii("input_text")), text]),
        () => Json::object([("type", Json::ascii("text")), text]),
    }
}

/// Put lines in the place of images in the content of a result, or next to it.
fn leave_out_inner<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    slot: &ResultSlot<V>,
    images: &[Image<V>],
) {
    if images.iter().any(|image| matches!(image.place, ImagePlace::Response(_))) {
        if edited.new_content(slot.path, names::PARTS).is_none() {
            let has_room = edited.new_content(slot.path, names::RESPONSE).is_none();
            let gone: Vec<usize> = images.iter().map(|image| image.index).collect();
            edited.edit(slot.path, slot.without_parts(&gone, has_room.then(|| (LEFT_OUT, lines_of(images)))));
        }
        return;
    }
    let Some(mut drafts) = parts_of(edited, slot.path, (*slot.key, slot.content)) else { return };
    for image in images {
        if let Some(draft) = drafts.get_mut(image.index) {
            *draft = Draft::NewValue(marked(image.value, line_part(image.value)));
        }
    }
    let of = slot.content.and_then(Value::list).map(|list| (DraftList::Inner, list));
    edited.edit(slot.path, slot.holding(Edit::Parts(Parts { of, items: drafts })));
}

/// Put lines after the text of a message in the place of images in its list of images.
fn leave_out_listed<'a, V: Value<'a>>(edited: &mut EditedMessages<'a, '_, V>, path: Path, images: &[Image<V>]) {
    let message = edited.at(path);
    let Some(list) = message.and_then(|message| message.get(IMAGES)?.list()) else { return };
    let gone: AHashMap<usize, &Image<V>> = images.iter().map(|image| (image.index, image)).collect();
    let rest = items(list).enumerate().filter(|(index, _)| !gone.contains_key(index));
    let rest: Vec<Draft<'a, V>> = rest.map(|(index, value)| Draft::Original(Path::Inner(index), value)).collect();
    let parts = Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: rest });
    let mut members = vec![(IMAGES, (gone.len() < list.count()).then_some(parts))];
    if edited.new_content(path, names::CONTENT).is_none() {
        let own = text_or_empty(message.and_then(|message| message.get(names::CONTENT)));
        let gap = if own.is_empty() { "" } else { "\n" };
        let words = [Piece::Borrowed(own), Piece::ascii(gap), lines_of(images)];
        let words = Json::Joined(words.into_iter().map(TextPart::Text).collect());
        members.push((names::CONTENT, Some(Edit::NewValue(words))));
    }
    edited.edit(path, members);
}

/// Return the lines of images as one text.
fn lines_of<'a, V: Value<'a>>(images: &[Image<V>]) -> Piece<'a> {
    let lines: Vec<String> = images.iter().map(|image| image.line().text().to_utf8()).collect();
    Piece::own(lines.join("\n").into())
}
