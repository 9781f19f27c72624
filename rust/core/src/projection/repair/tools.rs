//! The tools of a request: how many are defined, and what names one of them: the choice, and references in results.

use ahash::AHashSet;

use super::destinations::Destination;
use super::found::{Found, SEARCH_RESULT};
use super::frame::{Frame, Step};
use super::message_parts::parts_of;
use super::pairs::Pairs;
use super::parts::text_part;
use super::report::Mends;
use crate::json::value::{Key, Value, items, names, text_or_empty};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Parts, PartsKey, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::piece::Piece;

/// The step of a pattern that stands for each item of a list.
const EACH: Text<'static> = Text::ascii("*");
const DEFER_LOADING: Key<'static> = Key::new("defer_loading");
const TOOL_NAME: Key<'static> = Key::new("tool_name");
const REFERENCES: Key<'static> = Key::new("tool_references");
/// The type of a part that refers to a tool.
const REFERENCE: &str = "tool_reference";
/// The members and the types of tools that stand for others, whose names are not in the request.
const MCP_SERVERS: Key<'static> = Key::new("mcp_servers");
const OTHERS: [&str; 4] = ["mcp", "mcp_toolset", "namespace", "tool_search"];
/// The types of a choice that names tools of the request.
const NAMED: [&str; 5] = ["", "tool", "function", "custom", "allowed_tools"];

/// The tools that a request defines.
struct Defined<'a> {
    names: AHashSet<Text<'a>>,
    count: usize,
    /// True if the names of some tools are not in the request, as those of an MCP server.
    has_others: bool,
}

/// Correct the definitions of tools, and what names a tool that is not defined.
pub(super) fn mend_tools<'a, V: Value<'a>>(
    (edited, frame): (&mut EditedMessages<'a, '_, V>, &mut Frame<'a, V>),
    (destination, pairs, found): (&'static Destination, &Pairs<'a>, &Found),
    mends: &mut Mends<'a>,
) {
    let mut defined = Defined { names: AHashSet::new(), count: 0, has_others: false };
    for list in destination.tool_lists {
        frame.visit(&[*list, &[Key::named(EACH)]].concat(), &mut |_, tool| {
            defined.count += 1;
            let kind = text_or_empty(tool.get(names::TYPE));
            defined.has_others |= OTHERS.iter().any(|other| kind.is(other)) && !tool.has(names::NAME);
        });
        for pattern in definition_names(destination, list) {
            frame.visit(pattern, &mut |_, name| defined.names.extend(name.text()));
        }
    }
    defined.has_others |= frame.members.has_name(MCP_SERVERS);
    if destination.rules.most_tools > 0 && defined.count > destination.rules.most_tools {
        drop_tools(frame, (&*edited, destination, pairs), &mut defined, mends);
    }
    if destination.rules.needs_loaded && defined.count > 0 {
        load_tool(frame, destination, mends);
    }
    if destination.rules.defined_choice || destination.rules.choice_needs_tools {
        mend_choice(frame, destination, &defined, mends);
    }
    // Without any, the body is perhaps no whole request.
    let may_refer = found.has_odd_parts && destination.rules.defined_references;
    if may_refer && !defined.has_others && defined.count > 0 {
        mend_references(edited, destination, &defined, mends);
    }
}

/// Return the places of the names of the tools in a list.
fn definition_names(
    destination: &'static Destination,
    list: &'static [Key<'static>],
) -> impl Iterator<Item = &'static [Key<'static>]> {
    let is_of_list = move |path: &&&[Key<'static>]| path.starts_with(list) && path.len() > list.len();
    destination.name_paths.iter().filter(is_of_list).copied()
}

/// Leave out the last definitions beyond the allowed number, but none of a tool that is called or chosen.
fn drop_tools<'a, V: Value<'a>>(
    frame: &mut Frame<'a, V>,
    (edited, destination, pairs): (&EditedMessages<'a, '_, V>, &'static Destination, &Pairs<'a>),
    defined: &mut Defined<'a>,
    mends: &mut Mends<'a>,
) {
    let mut needed: AHashSet<Text<'a>> = AHashSet::new();
    for (path, _) in pairs.calls() {
        needed.extend(edited.at(path).and_then(Value::object).map(|call| destination.call_name.text(call)));
    }
    for pattern in choice_names(destination) {
        frame.visit(pattern, &mut |_, name| needed.extend(name.text()));
    }
    let mut free: Vec<(Vec<Step>, Text<'a>)> = Vec::new();
    for list in destination.tool_lists {
        let depth = list.len();
        for pattern in definition_names(destination, list) {
            frame.visit(pattern, &mut |path, name| {
                let name = text_or_empty(Some(name));
                let end = path.iter().rposition(|step| matches!(step, Step::Item(_))).unwrap_or(depth);
                if let Some(path) = path.get(..=end).filter(|_| !needed.contains(&name)) {
                    free.push((path.to_vec(), name));
                }
            });
        }
    }
    let over = defined.count - destination.rules.most_tools;
    if over > free.len() {
        mends.open_kinds.insert(format!("{} tools", defined.count - free.len()).into());
    }
    let kept = free.len().saturating_sub(over);
    for (path, name) in free.split_off(kept) {
        defined.names.remove(&name);
        mends.add_with("dropped_tool", None, Text::ascii(""), Piece::Borrowed(name));
        frame.change(path, None);
    }
}

/// Return the places of names in the choice of a tool.
fn choice_names(destination: &'static Destination) -> impl Iterator<Item = &'static [Key<'static>]> {
    let is_choice = |path: &&&[Key<'static>]| destination.choice_paths.iter().any(|choice| path.starts_with(choice));
    destination.name_paths.iter().filter(is_choice).copied()
}

/// Load one tool if the loading of all is deferred: the one that searches, or else the first.
fn load_tool<'a, V: Value<'a>>(frame: &mut Frame<'a, V>, destination: &'static Destination, mends: &mut Mends<'a>) {
    let mut deferred: Vec<(Vec<Step>, bool)> = Vec::new();
    let mut has_loaded = false;
    for list in destination.tool_lists {
        frame.visit(&[*list, &[Key::named(EACH)]].concat(), &mut |path, tool| match tool
            .get(DEFER_LOADING)
            .filter(|flag| flag.is_true())
        {
            Some(_) => {
                let kind = text_or_empty(tool.get(names::TYPE));
                deferred.push((path.to_vec(), kind.starts_with("tool_search_tool")));
            }
            None => has_loaded = true,
        });
    }
    if has_loaded {
        return;
    }
    let place = deferred.iter().position(|(_, searches)| *searches).unwrap_or(0);
    if let Some((mut path, _)) = deferred.into_iter().nth(place) {
        path.push(Step::Member(DEFER_LOADING));
        mends.add_with("refused_member", None, Text::ascii(""), Piece::Borrowed(DEFER_LOADING.name));
        frame.change(path, None);
    }
}

/// Leave out the choice of a tool that is not defined, and any choice in a request that defines none.
fn mend_choice<'a, V: Value<'a>>(
    frame: &mut Frame<'a, V>,
    destination: &'static Destination,
    defined: &Defined<'a>,
    mends: &mut Mends<'a>,
) {
    let mut gone: Vec<(Vec<Step>, Piece<'a>)> = Vec::new();
    for choice in destination.choice_paths {
        frame.visit(choice, &mut |path, chosen| {
            let kind = chosen.text().or_else(|| chosen.get(names::TYPE).and_then(Value::text));
            let choices = destination.rules.choices;
            if !choices.is_empty() && !kind.is_some_and(|kind| choices.iter().any(|own| kind.is(own))) {
                gone.push((path.to_vec(), Piece::Borrowed(kind.unwrap_or(Text::ascii("")))));
                return;
            }
            if defined.has_others {
                return;
            }
            if defined.count == 0 && destination.rules.choice_needs_tools && !kind.is_some_and(|kind| kind.is("none")) {
                gone.push((path.to_vec(), Piece::default()));
                return;
            }
            if !NAMED.iter().any(|one| kind.unwrap_or(Text::ascii("")).is(one)) {
                return;
            }
            for pattern in choice_names(destination).filter(|pattern| pattern.starts_with(choice)) {
                let mut unknown: Vec<(Vec<Step>, Text<'a>)> = Vec::new();
                frame.visit(pattern, &mut |path, name| {
                    let name = name.text().filter(|name| !defined.names.contains(name));
                    unknown.extend(name.map(|name| (path.to_vec(), name)));
                });
                let mut count = 0;
                let list = pattern
                    .iter()
                    .position(|step| step.name == EACH)
                    .and_then(|end| pattern.get(..=end))
                    .unwrap_or(pattern);
                frame.visit(list, &mut |_, _| count += 1);
                let is_all = count == unknown.len();
                for (own, name) in unknown {
                    let item = own.iter().rposition(|step| matches!(step, Step::Item(_)));
                    let item = item.filter(|_| !is_all).and_then(|end| own.get(..=end));
                    gone.push((item.unwrap_or(path).to_vec(), Piece::Borrowed(name)));
                }
            }
        });
    }
    for (path, name) in gone {
        mends.add_with("undefined_tool", None, Text::ascii(""), name);
        frame.change(path, None);
    }
}

/// Leave out references to tools that are not defined, in results and in those of a server's search.
fn mend_references<'a, V: Value<'a>>(
    edited: &mut EditedMessages<'a, '_, V>,
    destination: &'static Destination,
    defined: &Defined<'a>,
    mends: &mut Mends<'a>,
) {
    let unknown = |part: V| {
        let part = part.object().filter(|part| text_or_empty(part.get(names::TYPE)).is(REFERENCE))?;
        Some(text_or_empty(part.get(TOOL_NAME))).filter(|name| !defined.names.contains(name))
    };
    for block in edited.blocks {
        let Some(slot) = block.slot.filter(|slot| *slot.key != names::RESPONSE) else { continue };
        let list = slot.content.and_then(Value::list);
        let is_kept = || edited.guard.contains(&slot.path.position()) || edited.is_gone(slot.path);
        let Some(list) = list.filter(|list| items(*list).any(|part| unknown(part).is_some()) && !is_kept()) else {
            continue;
        };
        let Some(mut drafts) = parts_of(edited, slot.path, (*slot.key, Some(list))) else { continue };
        let mut lines = Vec::new();
        drafts.retain(|draft| {
            let name = match draft {
                Draft::Original(_, part) | Draft::Changed(Changed { of: Some(part), .. }) => unknown(*part),
                _ => None,
            };
            lines.extend(name);
            name.is_none()
        });
        let position = Some(slot.path.position());
        for name in &lines {
            mends.add_with("undefined_tool", position, block.entry.call_id, Piece::Borrowed(*name));
        }
        if drafts.is_empty() {
            let told: Vec<String> = lines.iter().map(|name| format!("[{REFERENCE}: {}]", name.to_utf8())).collect();
            drafts.push(Draft::NewValue(text_part(destination, Piece::own(told.join("\n").into()))));
        }
        let parts = Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: drafts });
        edited.edit(slot.path, slot.holding(parts));
    }
    for (position, message) in edited.messages.iter().enumerate() {
        let parts = message.get(names::CONTENT).and_then(Value::list).into_iter().flat_map(items).enumerate();
        for (index, part) in parts.filter(|_| !edited.guard.contains(&position)) {
            let found = part.object().filter(|part| text_or_empty(part.get(names::TYPE)).is(SEARCH_RESULT));
            let Some(found) = found.and_then(|part| part.get(names::CONTENT)?.object()) else { continue };
            let Some(list) = found.get(REFERENCES).and_then(Value::list) else { continue };
            let unknown_names: Vec<Text<'a>> = items(list).filter_map(unknown).collect();
            if unknown_names.is_empty() {
                continue;
            }
            let rest = items(list).enumerate().filter(|(_, part)| unknown(*part).is_none());
            let rest = rest.map(|(index, part)| Draft::Original(Path::Inner(index), part)).collect();
            let parts = Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: rest });
            let new = Changed { path: None, of: Some(found), members: vec![(REFERENCES, Some(parts))] };
            let path = Path::Part(position, PartsKey::Content, index);
            edited.edit(path, vec![(names::CONTENT, Some(Edit::Changed(new)))]);
            for name in unknown_names {
                mends.add_with("undefined_tool", Some(position), Text::ascii(""), Piece::Borrowed(name));
            }
        }
    }
}
