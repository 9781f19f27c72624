//! Images beyond a limit of the destination: too many pixels, characters or images, or a request that is too large.
//!
//! A line of text takes the place of such an image. If there are too many, or the request is too large, the oldest images
//! go first, several at once: each one that goes breaks the prompt cache.

use super::destinations::Destination;
use super::media::{IMAGE_PARTS, Measured, measured};
use super::message_parts::{kind_of, parts_of};
use super::parts::{by_role, marked_at, text_part};
use super::prompt::is_systems;
use super::report::Mends;
use crate::content::part_text;
use crate::json::value::{Value, items, names};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Parts, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;

/// What goes at once is a multiple of a limit's thirty-second part, so that few later requests lose more.
const STEPS: usize = 32;

/// An image in a request.
struct Image<V> {
    part: V,
    measured: Measured,
    path: Path,
    /// Its index in the content of a result.
    index: Option<usize>,
    is_gone: bool,
}

/// Put lines in the place of images that are over a limit. `size` returns the bytes of the request.
pub(crate) fn limit_images<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &'static Destination,
    size: &dyn Fn() -> usize,
    mends: &mut Mends<'a>,
) {
    let rules = &destination.rules;
    if [rules.image_side, rules.image_chars, rules.most_images, rules.request_bytes] == [0; 4] {
        return;
    }
    let mut images = images_of(edited, destination);
    images.sort_by_key(|image| image.path.position());
    for image in &mut images {
        let is_wide = rules.image_side > 0 && image.measured.side > rules.image_side;
        image.is_gone = is_wide || (rules.image_chars > 0 && image.measured.chars > rules.image_chars);
    }
    let mut count = images.iter().filter(|image| !image.is_gone).count();
    for image in images.iter_mut().filter(|image| !image.is_gone) {
        if rules.many_images > 0 && count > rules.many_images && image.measured.side > rules.side_of_many {
            image.is_gone = true;
            count -= 1;
        }
    }
    if rules.most_images > 0 {
        let over = excess(count, rules.most_images);
        images.iter_mut().filter(|image| !image.is_gone).take(over).for_each(|image| image.is_gone = true);
    }
    let sum: usize = images.iter().filter(|image| !image.is_gone).map(|image| image.measured.chars).sum();
    if rules.request_bytes > 0 && sum > rules.request_bytes / 2 {
        let gone: usize = images.iter().filter(|image| image.is_gone).map(|image| image.measured.chars).sum();
        let mut over = excess(size().saturating_sub(gone), rules.request_bytes);
        for image in images.iter_mut().filter(|image| !image.is_gone) {
            if over == 0 {
                break;
            }
            image.is_gone = true;
            over = over.saturating_sub(image.measured.chars);
        }
    }
    images.retain(|image| image.is_gone);
    for image in &images {
        let words = part_text(image.part, 0);
        mends.add_with("oversized_image", Some(image.path.position()), Text::ascii(""), words.clone());
        if image.index.is_none() {
            let new = marked_at(destination, image.part, text_part(destination, words));
            if let Some(message) = edited.message_at(image.path.position()) {
                edited.replace(image.path, by_role(new, message, destination));
            }
        }
    }
    for block in edited.blocks {
        let Some(slot) = block.slot else { continue };
        let own: Vec<&Image<V>> =
            images.iter().filter(|image| image.index.is_some() && image.path == slot.path).collect();
        let Some(list) = slot.content.and_then(Value::list).filter(|_| !own.is_empty()) else { continue };
        let Some(mut drafts) = parts_of(edited, slot.path, (*slot.key, Some(list))) else { continue };
        for image in own {
            let new = text_part(destination, part_text(image.part, 0));
            if let Some(draft) = image.index.and_then(|index| drafts.get_mut(index)) {
                *draft = Draft::NewValue(marked_at(destination, image.part, new));
            }
        }
        let parts = Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: drafts });
        edited.edit(slot.path, slot.holding(parts));
    }
}

/// Return how much has to go of what may be `most`, in whole steps.
fn excess(size: usize, most: usize) -> usize {
    size.saturating_sub(most).next_multiple_of((most / STEPS).max(1))
}

/// Return the images of a request that may be replaced, in results and elsewhere.
fn images_of<'a, V: Value<'a>>(edited: &EditedMessages<'a, '_, V>, destination: &Destination) -> Vec<Image<V>> {
    let mut found = Vec::new();
    let mut push = |part: V, path, index| {
        let measured = part.object().and_then(measured);
        found.extend(measured.map(|measured| Image { part, measured, path, index, is_gone: false }));
    };
    for block in edited.blocks {
        let Some(slot) = block.slot.filter(|slot| *slot.key != names::RESPONSE) else { continue };
        let list = slot.content.and_then(Value::list);
        let is_kept = edited.guard.contains(&slot.path.position()) || edited.is_gone(slot.path);
        let Some(list) = list.filter(|_| !is_kept) else { continue };
        for (index, draft) in parts_of(edited, slot.path, (*slot.key, Some(list))).into_iter().flatten().enumerate() {
            match draft {
                Draft::Original(_, part) | Draft::Changed(Changed { of: Some(part), .. }) => {
                    push(part, slot.path, Some(index));
                }
                // A part of the Model Context Protocol is an image now.
                new if IMAGE_PARTS.iter().any(|name| kind_of(&new).text().is(name)) => {
                    list.item(index).into_iter().for_each(|part| push(part, slot.path, Some(index)));
                }
                _ => {}
            }
        }
    }
    let key = if destination.key == PartsKey::Parts { PartsKey::Parts } else { PartsKey::Content };
    for (position, message) in edited.messages.iter().enumerate() {
        let parts = message.get(key.key()).and_then(Value::list);
        let is_kept = || edited.guard.contains(&position) || is_systems(*message) || destination.is_result(*message);
        let Some(parts) = parts.filter(|_| !is_kept()) else { continue };
        for (index, part) in items(parts).enumerate() {
            let path = Path::Part(position, key, index);
            if !edited.is_gone(path) && !edited.is_gone(Path::Message(position)) && !edited.is_text_now(path) {
                push(part, path, None);
            }
        }
    }
    found
}
