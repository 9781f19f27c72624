//! The last plan of the work: items with their states, by the structure of the call, whatever the tool is called.

use std::borrow::Cow;

use ahash::{AHashMap, AHashSet};

use super::chars::{clean, inert_line, is_blank, piece_of, strip};
use super::clean::without_keys;
use super::kinds::{
    ACTIVE, DONE, DROPPED, HEADINGS, ITEM_STATES, ITEM_TEXTS, StepKind, TASK_KEYS, first_text, is_part_of_plan,
    items_of, member,
};
use super::steps::{State, Step};
use crate::context::fence;
use crate::dedupe::rules::{Rule, bare_name};
use crate::json::value::{Key, Value, names};
use crate::pairing::block::Entry;
use crate::text::Text;

const BOXES: [(&str, Mark); 7] = [
    ("[x]", Mark::Done),
    ("[X]", Mark::Done),
    ("[>]", Mark::Active),
    ("[-]", Mark::Active),
    ("[~]", Mark::Active),
    ("[/]", Mark::Active),
    ("[ ]", Mark::Open),
];
const LONGEST_ITEM: usize = 300;
const CREATED: char = '#';
const SUBJECT: Key<'static> = Key::new("subject");
const DESCRIPTION: Key<'static> = Key::new("description");
const PLAN: Key<'static> = Key::new("plan");

/// The state of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Done,
    Active,
    Open,
    Dropped,
}

impl Mark {
    /// The sign in the box of the item.
    pub(super) const fn sign(self) -> char {
        match self {
            Self::Done => 'x',
            Self::Active => '>',
            Self::Open => ' ',
            Self::Dropped => '-',
        }
    }

    /// Return the state with this name.
    fn named(name: &str) -> Self {
        let name = name.to_lowercase().replace(' ', "_");
        let named = [(DONE, Self::Done), (ACTIVE, Self::Active), (DROPPED, Self::Dropped)];
        let found = named.into_iter().find(|(names, _)| names.contains(&&*name));
        found.map_or(Self::Open, |(_, mark)| mark)
    }
}

/// An item of a plan.
#[derive(Clone, Debug)]
pub(super) struct Item<'s> {
    pub(super) mark: Mark,
    pub(super) text: Cow<'s, str>,
}

/// The last plan: its items, or its text; and the number of the call that wrote it last.
#[derive(Debug)]
pub(super) struct Plan<'s> {
    pub(super) items: Vec<Item<'s>>,
    pub(super) text: Cow<'s, str>,
    pub(super) number: usize,
    /// The numbers of all calls about plans, which a context shows by the last one.
    pub(super) numbers: AHashSet<usize>,
}

impl Plan<'_> {
    /// Return the items, each with its line.
    pub(super) fn lines(&self) -> Vec<(Mark, String)> {
        let line = |item: &Item<'_>| {
            (item.mark, format!("- [{}] {}\n", item.mark.sign(), inert_line(&item.text, LONGEST_ITEM)))
        };
        self.items.iter().map(line).collect()
    }
}

/// Return the section of the last plan; empty if there is none. `found` are the calls about plans, oldest first.
pub(crate) fn plan_section<'a, V: Value<'a>>(found: Vec<(Entry<'a, V>, &Rule)>) -> String {
    let step = |(number, (entry, rule)): (usize, (Entry<'a, V>, &Rule))| Step::new(entry, number + 1, 0, rule);
    let steps: Vec<Step<'a, V>> = found.into_iter().enumerate().map(step).collect();
    let Some(plan) = find_plan(&steps) else { return String::new() };
    if !plan.items.is_empty() {
        let lines: String = plan.lines().into_iter().map(|(_, line)| line).collect();
        return format!("{}{lines}\n", HEADINGS.plan);
    }
    let text = without_keys(&plan.text);
    let text = clean(&text);
    let text = piece_of(Cow::Borrowed(text.trim_matches('\n')));
    let mark = fence::mark_of(|character| fence::longest_run_in(text.text(), character));
    let mark = mark.as_deref().unwrap_or("```");
    format!("{}{mark}text\n{}\n{mark}\n\n", HEADINGS.plan, text.text().to_utf8())
}

/// Return the last plan that a call wrote; `None` if there is none.
pub(super) fn find_plan<'a, V: Value<'a>>(steps: &[Step<'a, V>]) -> Option<Plan<'a>> {
    let is_about =
        |step: &&Step<'a, V>| step.kind == StepKind::Plan && matches!(step.state, State::Said | State::Missing);
    let calls: Vec<&Step<'a, V>> = steps.iter().filter(is_about).collect();
    let numbers = calls.iter().map(|step| step.number).collect();
    let mut parts = Parts::default();
    let mut last = 0;
    for step in &calls {
        if is_part_of_plan(&bare_name(step.entry.tool_name)) && parts.add(step) {
            last = step.number;
        }
    }
    for step in calls.iter().rev().take_while(|step| step.number > last) {
        if let Some((items, text)) = plan_in(step.entry.given) {
            return Some(Plan { items, text, number: step.number, numbers });
        }
    }
    let items: Vec<Item<'a>> = parts.items.into_iter().filter(|item| item.mark != Mark::Dropped).collect();
    (!items.is_empty()).then_some(Plan { items, text: Cow::Borrowed(""), number: last, numbers })
}

/// Return the items or the text of the plan in the arguments of a call.
fn plan_in<'a, V: Value<'a>>(given: Option<V>) -> Option<(Vec<Item<'a>>, Cow<'a, str>)> {
    let listed = items_of(given);
    if !listed.is_empty() {
        let item = |item: V| Item { mark: mark_of(Some(item)), text: first_text(Some(item), ITEM_TEXTS) };
        return Some((listed.into_iter().map(item).collect(), Cow::Borrowed("")));
    }
    let mut found = Vec::new();
    given?.members(&mut |_, value| {
        if let Some(text) = value.text().filter(|text| text.find(b'[').is_some()) {
            found = items_in(&text.as_utf8());
        }
        found.is_empty()
    });
    if !found.is_empty() {
        return Some((found, Cow::Borrowed("")));
    }
    let text = first_text(given, &[PLAN]);
    (!text.is_empty()).then_some((Vec::new(), text))
}

fn mark_of<'a, V: Value<'a>>(item: Option<V>) -> Mark {
    Mark::named(&first_text(item, ITEM_STATES))
}

/// Return the items of a list with boxes, as in `- [x] done`.
fn items_in<'s>(text: &str) -> Vec<Item<'s>> {
    let item = |line: &str| {
        let line = strip(line);
        let line = line.strip_prefix("- ").unwrap_or(line);
        let line = line.strip_prefix("* ").unwrap_or(line);
        let (mark, text) = BOXES.iter().find_map(|(sign, mark)| Some((*mark, line.strip_prefix(sign)?)))?;
        (!is_blank(text)).then(|| Item { mark, text: Cow::Owned(strip(text).to_owned()) })
    };
    text.split('\n').filter_map(item).collect()
}

/// Return the name of the item that the arguments are about; empty if they have none.
pub(super) fn item_name<'a, V: Value<'a>>(given: Option<V>) -> String {
    let named = TASK_KEYS.iter().find_map(|key| member(given, *key));
    named.map_or_else(String::new, |name| name.text().map_or_else(|| name.json().as_text().to_utf8(), Text::to_utf8))
}

/// The items that calls write one by one, in the order in which they were made, by their names.
#[derive(Default)]
struct Parts<'a> {
    items: Vec<Item<'a>>,
    places: AHashMap<String, usize>,
}

impl<'a> Parts<'a> {
    /// Add or change the item that a call is about; return true if it did.
    fn add<V: Value<'a>>(&mut self, step: &Step<'a, V>) -> bool {
        let given = step.entry.given;
        let name = item_name(given);
        if !name.is_empty() {
            let known = self.places.get(&name).and_then(|place| self.items.get(*place));
            let mut text = first_text(given, &[SUBJECT, names::TITLE]);
            if text.is_empty() {
                text = known.map_or(Cow::Borrowed(""), |known| known.text.clone());
            }
            let state = first_text(given, ITEM_STATES);
            let own = if state.is_empty() { known.map_or(Mark::Open, |known| known.mark) } else { Mark::named(&state) };
            return self.set(name, Item { mark: own, text });
        }
        let text = first_text(given, &[SUBJECT, names::TITLE, DESCRIPTION]);
        let said = step.text().split_once(CREATED).map_or("", |(_, rest)| rest);
        let digits = said.bytes().take_while(u8::is_ascii_digit).count();
        let name = said.get(..digits).unwrap_or_default().to_owned();
        !name.is_empty() && self.set(name, Item { mark: Mark::Open, text })
    }

    /// Set an item, if it has a text.
    fn set(&mut self, name: String, item: Item<'a>) -> bool {
        if item.text.is_empty() {
            return false;
        }
        let place = *self.places.entry(name).or_insert(self.items.len());
        match self.items.get_mut(place) {
            Some(known) => *known = item,
            None => self.items.push(item),
        }
        true
    }
}
