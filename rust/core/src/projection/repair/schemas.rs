//! The members of a request around its messages: those that a destination does not know, and the schemas of tools.

use super::destinations::Destination;
use super::found::members_of_part;
use super::frame::{Frame, Step};
use super::parts::others_of;
use super::report::Mends;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::Json;
use crate::text::Text;
use crate::text::piece::Piece;

const SYSTEM: Key<'static> = Key::of("system");
const PROPERTIES: Key<'static> = Key::new("properties");

/// Remove the members of a request that its destination does not know, and write the schemas of tools as it asks.
pub(super) fn mend_frame<'a, V: Value<'a>>(frame: &mut Frame<'a, V>, destination: &Destination, mends: &mut Mends<'a>) {
    let mut changes: Vec<(Vec<Step>, Option<Json<'a>>)> = Vec::new();
    for pattern in destination.rules.refused_places {
        let Some(last) = pattern.last() else { continue };
        frame.visit(pattern, &mut |path, _| {
            mends.add_with("refused_member", None, Text::ascii(""), Piece::Borrowed(last.name));
            changes.push((path.to_vec(), None));
        });
    }
    for pattern in destination.mark_paths.iter().filter(|pattern| pattern.first() == Some(&SYSTEM)) {
        frame.visit(pattern, &mut |path, part| {
            let Some(part) = part.object() else { return };
            let known = members_of_part(part, text_or_empty(part.get(names::TYPE)), destination);
            let others = known.map(|known| others_of(part, known)).unwrap_or_default();
            if others.is_empty() {
                return;
            }
            let (mut others, mut members) = (others.into_iter().peekable(), Vec::new());
            part.members(&mut |name, member| {
                if others.next_if_eq(&name).is_some() {
                    mends.add_with("refused_member", None, Text::ascii(""), Piece::Borrowed(name));
                } else {
                    members.push((Piece::Borrowed(name), Json::Source(Piece::own(member.json()))));
                }
                true
            });
            changes.push((path.to_vec(), Some(Json::Object(members))));
        });
    }
    for pattern in destination.schema_paths {
        let Some((key, holders)) = pattern.split_last() else { continue };
        frame.visit(holders, &mut |path, tool| {
            let Some(tool) = tool.object() else { return };
            let new = match tool.get(*key).and_then(Value::object) {
                Some(schema) => new_schema(schema, destination.rules.root_members),
                None => is_bare(tool, destination).then(|| Json::object([("type", Json::ascii("object"))])),
            };
            if let Some(new) = new {
                let name = Piece::Borrowed(text_or_empty(tool.get(names::NAME)));
                mends.add_with("refused_schema", None, Text::ascii(""), name);
                changes.push(([path, &[Step::Member(*key)]].concat(), Some(new)));
            }
        });
    }
    for (path, new) in changes {
        frame.change(path, new);
    }
}

/// Return true if a tool lacks a schema: it has a name, and is not one of the provider's own.
fn is_bare<'a, V: Value<'a>>(tool: V, destination: &Destination) -> bool {
    let kind = text_or_empty(tool.get(names::TYPE));
    destination.rules.needs_schema && (kind.is_empty() || kind.is("custom")) && tool.has(names::NAME)
}

/// Return a schema without these members at its root; `None` if it has none of them.
///
/// The properties of the schemas in them become optional ones of the root, so that the model still knows of them.
fn new_schema<'a, V: Value<'a>>(schema: V, refused: &[Key<'static>]) -> Option<Json<'a>> {
    if !schema.has_any_name(refused) {
        return None;
    }
    let mut properties: Vec<(Piece<'a>, Json<'a>)> = Vec::new();
    let mut add = |schema: V| {
        if let Some(own) = schema.get(PROPERTIES).and_then(Value::object) {
            own.members(&mut |name, property| {
                if !properties.iter().any(|(known, _)| known.text() == name) {
                    properties.push((Piece::Borrowed(name), Json::Source(Piece::own(property.json()))));
                }
                true
            });
        }
    };
    add(schema);
    for key in refused {
        schema.get(*key).and_then(Value::list).into_iter().flat_map(items).filter_map(Value::object).for_each(&mut add);
    }
    let mut members = vec![(Piece::Borrowed(names::TYPE.name), Json::ascii("object"))];
    schema.members(&mut |name, member| {
        if name != names::TYPE.name && name != PROPERTIES.name && !refused.iter().any(|key| key.name == name) {
            members.push((Piece::Borrowed(name), Json::Source(Piece::own(member.json()))));
        }
        true
    });
    members.push((Piece::Borrowed(PROPERTIES.name), Json::Object(properties)));
    Some(Json::Object(members))
}
