//! The members of calls: names that a destination accepts, arguments in its form, and types.

use ahash::{AHashMap, AHashSet};

use super::destinations::Destination;
use super::frame::Frame;
use super::ids::id_member;
use super::message_parts::without_surrogates;
use super::pairs::Pairs;
use super::parts::others_of;
use super::report::Mends;
use super::rules::{ArgumentsAt, ArgumentsForm};
use super::tool_names::new_names;
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::projection::arguments::with_markers;
use crate::projection::edits::{Changed, Edit, Json, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

/// Give each tool a name that the destination accepts, in its definition and in its calls.
///
/// Equal names stay equal, and different ones different. A call without a name stays without one. The definitions come
/// first, so that a later call changes no name that was sent before.
pub(crate) fn mend_names<'a, V: Value<'a>>(
    (edited, frame): (&mut EditedMessages<'a, '_, V>, Option<&mut Frame<'a, V>>),
    destination: &Destination,
    pairs: &mut Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    let mut defined: Vec<Text<'a>> = Vec::new();
    for pattern in destination.name_paths {
        if let Some(frame) = frame.as_deref() {
            frame.visit(pattern, &mut |_, name| defined.extend(name.text()));
        }
    }
    let calls: Vec<(Path, usize, Text<'a>)> = pairs
        .calls()
        .map(|(path, number)| {
            let call = edited.at(path).and_then(Value::object);
            (path, number, call.map_or(Text::ascii(""), |call| destination.call_name.text(call)))
        })
        .collect();
    let names: Vec<Text<'a>> = defined.into_iter().chain(calls.iter().map(|(.., name)| *name)).collect();
    let renamed = new_names(&names, destination);
    if renamed.is_empty() {
        return;
    }
    mends.names.extend(renamed.iter().map(|(name, new)| (new.clone(), *name)));
    let renamed: AHashMap<Text<'a>, Piece<'a>> = renamed.into_iter().collect();
    if let Some(frame) = frame {
        let mut told: AHashSet<Text<'a>> = AHashSet::new();
        let mut changes = Vec::new();
        for pattern in destination.name_paths {
            frame.visit(pattern, &mut |path, name| {
                let Some((name, new)) = name.text().and_then(|name| Some((name, renamed.get(&name)?))) else {
                    return;
                };
                changes.push((path.to_vec(), new.clone()));
                if told.insert(name) {
                    mends.add_with("refused_name", None, Text::ascii(""), new.clone());
                }
            });
        }
        for (path, new) in changes {
            frame.change(path, Some(Json::Text(new)));
        }
    }
    for (path, number, name) in calls {
        let Some(new) = renamed.get(&name) else { continue };
        let wire = edited.at(path).and_then(Value::object);
        edited.edit(path, id_member(destination.call_name, wire, new.clone()));
        pairs.rename(number, new.clone());
        let Some(block) = edited.blocks.get(number) else { continue };
        mends.add_with("refused_name", Some(block.entry.position), block.entry.call_id, new.clone());
    }
}

/// Give each call an object as its arguments, or the text of one. Anything else is kept as its only member.
pub(crate) fn mend_arguments<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    let place = &destination.rules.arguments;
    for (path, number) in pairs.calls() {
        let Some(call) = edited.at(path).and_then(Value::object) else { continue };
        let mut held = place.holders.iter().filter_map(|holder| Some((*holder, call.get(*holder)?.object()?)));
        let holder = held.next();
        let is_of_type = || {
            let kind = text_or_empty(call.get(names::TYPE));
            place.types.iter().any(|own| kind.is(own))
        };
        if (!place.holders.is_empty() && holder.is_none()) || (!place.types.is_empty() && !is_of_type()) {
            continue;
        }
        let value = holder.map_or(call, |(_, held)| held).get(place.key);
        let Some(new) = new_arguments(value, place) else { continue };
        let Some(block) = edited.blocks.get(number) else { continue };
        let cleared = block.cleared();
        let new = match new {
            Json::Text(json) if !cleared.is_empty() => Json::Text(with_markers(json.text(), &cleared)),
            Json::Source(json) if !cleared.is_empty() => Json::Source(with_markers(json.text(), &cleared)),
            new => new,
        };
        let members = vec![(place.key, Some(Edit::NewValue(new)))];
        let members = match holder {
            Some((holder, held)) => {
                vec![(holder, Some(Edit::Changed(Changed { path: None, of: Some(held), members })))]
            }
            None => members,
        };
        edited.edit(path, members);
        mends.add("mended_arguments", Some(block.entry.position), block.entry.call_id);
    }
}

/// Give each call a type, if the destination refuses one without it.
pub(crate) fn mend_call_types<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    if !destination.rules.typed_calls {
        return;
    }
    for (path, number) in pairs.calls() {
        let Some(call) = edited.at(path).and_then(Value::object) else { continue };
        if !text_or_empty(call.get(names::TYPE)).is_empty() {
            continue;
        }
        let held = |holder: &&Key<'static>| call.get(**holder).is_some_and(|held| held.object().is_some());
        let holders = destination.call_name.holders;
        let kind = holders.iter().find(held).or_else(|| holders.first().filter(|holder| call.has(**holder)));
        let (Some(kind), Some(block)) = (kind, edited.blocks.get(number)) else { continue };
        let name = Piece::Borrowed(kind.name);
        edited.edit(path, vec![(names::TYPE, Some(Edit::NewValue(Json::Text(name.clone()))))]);
        mends.add_with("call_type", Some(block.entry.position), block.entry.call_id, name);
    }
}

/// Return arguments in the form that their place asks for; `None` if they have it.
fn new_arguments<'a, V: Value<'a>>(value: Option<V>, place: &ArgumentsAt) -> Option<Json<'a>> {
    let is_text = place.form == ArgumentsForm::Text;
    let json: OwnedText = match value {
        None if place.is_optional => return None,
        None => OwnedText::from("{}".to_owned()),
        Some(value) if !is_text && value.object().is_some() => return None,
        Some(value) => {
            let object = value.object().unwrap_or_else(|| value.arguments());
            match value.text().filter(|text| !text.is_empty()) {
                None => object.json(),
                Some(text) => {
                    let is_wrapped = object.size() == 1 && text_or_empty(object.get(names::ARGUMENTS)) == text;
                    match is_braced(text) && !is_wrapped {
                        true if is_text => return None,
                        true => object.json(),
                        false => value.under(names::ARGUMENTS).json(),
                    }
                }
            }
        }
    };
    let json = Piece::own(if is_text { json } else { without_surrogates(json) });
    Some(if is_text { Json::Text(json) } else { Json::Source(json) })
}

/// Return true if the first character that is not JSON's white space opens an object.
fn is_braced(text: Text<'_>) -> bool {
    let mut units = (0..text.len()).filter_map(|index| text.get(index));
    units.find(|unit| ![0x20, 0x09, 0x0D, 0x0A].contains(unit)) == Some(u32::from(b'{'))
}

/// Leave out the members of calls in `tool_calls` that the destination does not know.
pub(crate) fn leave_out_in_calls<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &Destination,
    pairs: &Pairs<'a>,
    mends: &mut Mends<'a>,
) {
    let held = destination.rules.held_members.iter();
    let Some((_, known)) = held.into_iter().find(|(holder, _)| names::TOOL_CALLS.name.is(holder)) else { return };
    for (path, number) in pairs.calls().filter(|(path, _)| matches!(path, Path::Part(_, PartsKey::ToolCalls, _))) {
        let Some(call) = edited.at(path).and_then(Value::object) else { continue };
        let Some(block) = edited.blocks.get(number) else { continue };
        let others = others_of(call, known);
        if others.is_empty() {
            continue;
        }
        edited.edit(path, others.iter().map(|name| (Key::named(*name), None)).collect());
        for name in others {
            mends.add_with("refused_member", Some(block.entry.position), block.entry.call_id, Piece::Borrowed(name));
        }
    }
}
