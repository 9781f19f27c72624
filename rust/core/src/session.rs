//! Session files: which records form the conversation, and which belong to a side chain or another branch.
//!
//! A Claude Code record names itself (`uuid`) and its parent (`parentUuid`). The active branch is the last message
//! with its ancestors. Where the chain breaks (a lost or malformed record) file order stands in, so that nothing
//! before the gap is lost. The twin is `_pure/session.py`.

use ahash::{AHashMap, AHashSet};

use crate::text::Text;
use crate::value::{Value, names, text_or_empty};

/// What is known of the first records of an input.
#[derive(Debug)]
pub struct Session<'a> {
    is_active: Vec<bool>,
    is_repeated: Vec<bool>,
    scopes: AHashMap<usize, Text<'a>>,
    parents: Vec<Text<'a>>,
    message_ids: Vec<(usize, Text<'a>)>,
    index: AHashMap<Text<'a>, usize>,
    tree: Vec<usize>,
    last: Option<usize>,
}

impl<'a> Session<'a> {
    /// Look at the first `count` records.
    pub fn new<V: Value<'a>>(records: V, count: usize) -> Self {
        let mut session = Self {
            is_active: vec![false; count],
            is_repeated: vec![false; count],
            scopes: AHashMap::new(),
            parents: vec![Text::ascii(""); count],
            message_ids: Vec::new(),
            index: AHashMap::new(),
            tree: Vec::new(),
            last: None,
        };
        let mut last_side = None;
        for position in 0..count {
            let Some(record) = records.item(position).and_then(Value::object) else { continue };
            if session.add(position, record) {
                let last = if session.scopes.contains_key(&position) { &mut last_side } else { &mut session.last };
                *last = Some(position);
            }
        }
        if session.last.is_none() && session.scopes.values().collect::<AHashSet<_>>().len() == 1 {
            session.last = last_side;
        }
        session.mark_ancestors();
        session.mark_split_messages();
        session
    }

    /// Whether a record stands on the active branch.
    #[must_use]
    pub fn is_active(&self, position: usize) -> bool {
        self.is_active.get(position).copied().unwrap_or(true)
    }

    /// Whether a record was written before.
    #[must_use]
    pub fn is_repeated(&self, position: usize) -> bool {
        self.is_repeated.get(position).copied().unwrap_or(false)
    }

    /// The side chain that a record belongs to; empty for the main conversation.
    #[must_use]
    pub fn scope(&self, position: usize) -> Text<'a> {
        self.scopes.get(&position).copied().unwrap_or(Text::ascii(""))
    }

    /// Note one record; whether it holds a message that belongs to the tree.
    fn add<V: Value<'a>>(&mut self, position: usize, record: V) -> bool {
        let message = record.get(names::MESSAGE).and_then(Value::object);
        let Some(uuid) = record.get(names::UUID).and_then(Value::text) else {
            set(&mut self.is_active, position);
            return false;
        };
        if self.index.contains_key(&uuid) {
            set(&mut self.is_repeated, position);
            return false;
        }
        self.index.insert(uuid, position);
        self.tree.push(position);
        let mut parent = text_or_empty(record.get(names::PARENT_UUID));
        if parent.is_empty() {
            parent = text_or_empty(record.get(names::LOGICAL_PARENT_UUID));
        }
        if let Some(slot) = self.parents.get_mut(position) {
            *slot = parent;
        }
        if record.get(names::IS_SIDECHAIN).is_some_and(Value::is_true) {
            let agent = text_or_empty(record.get(names::AGENT_ID));
            let inherited =
                || self.index.get(&parent).and_then(|above| self.scopes.get(above)).copied().unwrap_or(uuid);
            let scope = if agent.is_empty() { inherited() } else { agent };
            self.scopes.insert(position, scope);
        }
        let Some(message) = message else { return false };
        let message_id = text_or_empty(message.get(names::ID));
        if !message_id.is_empty() {
            self.message_ids.push((position, message_id));
        }
        true
    }

    /// Walk from the last message to its root; where the way is lost, go on in file order.
    fn mark_ancestors(&mut self) {
        let Some(last) = self.last else { return };
        let lane = self.scope(last);
        let order: Vec<usize> = self.tree.iter().copied().filter(|position| self.scope(*position) == lane).collect();
        let place: AHashMap<usize, usize> =
            order.iter().enumerate().map(|(number, position)| (*position, number)).collect();
        let mut position = last;
        let mut lowest = order.len();
        loop {
            set(&mut self.is_active, position);
            lowest = lowest.min(place.get(&position).copied().unwrap_or(lowest));
            let parent = self.parents.get(position).copied().unwrap_or(Text::ascii(""));
            if parent.is_empty() {
                return;
            }
            let above = self.index.get(&parent).copied();
            position = match above {
                Some(above) if !self.is_active(above) && place.contains_key(&above) => above,
                _ => match lowest.checked_sub(1).and_then(|number| order.get(number)) {
                    Some(earlier) => *earlier,
                    None => return,
                },
            };
        }
    }

    /// Take in the other records of an active message, where their parent is active too.
    fn mark_split_messages(&mut self) {
        let Some(last) = self.last else { return };
        let lane = self.scope(last);
        let active: AHashSet<Text<'a>> =
            self.message_ids.iter().filter(|(position, _)| self.is_active(*position)).map(|(_, name)| *name).collect();
        for (position, name) in std::mem::take(&mut self.message_ids) {
            if !active.contains(&name) || self.is_active(position) || self.scope(position) != lane {
                continue;
            }
            let above = self.parents.get(position).and_then(|parent| self.index.get(parent));
            if above.is_some_and(|above| self.is_active(*above)) {
                set(&mut self.is_active, position);
            }
        }
    }
}

fn set(flags: &mut [bool], position: usize) {
    if let Some(flag) = flags.get_mut(position) {
        *flag = true;
    }
}
