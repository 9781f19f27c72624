//! The tree of a session file: which records belong to the active branch, to another branch, or to a side chain.
//!
//! A Claude Code record has an id (`uuid`) and names its parent (`parentUuid`). The active branch is the last message
//! with its ancestors. If the chain breaks (a lost or malformed record), file order replaces it, so that nothing before
//! the gap is lost. If a record is written twice, only the last copy counts. In the stream of the Agent SDK, records
//! don't have the member `parentUuid`: each continues the one before it, and `parent_tool_use_id` names the call whose
//! sub-agent wrote it. A turn that Codex rolled back is not on the active branch.
//!
//! [`RecordTree`] reads all records first. A job that stops early avoids that with a [`Branch`], which follows the parents
//! while records arrive from the last to the first. Most records can be placed at once. If one can't, or if the
//! expected parent may be missing, the branch is lost, and the job starts again with a [`RecordTree`].

use std::collections::VecDeque;

use ahash::{AHashMap, AHashSet};

use crate::content::spoken_text;
use crate::formats::{CLIENT_TEXTS, DIRECTORY_RECORDS, is_imported, is_known};
use crate::input::messages::{Halt, Messages, Record, held_message};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::Text;

/// A message with its scope and branch.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a, V> {
    /// The object in the list or on the line: the message, or the record around it.
    pub record: V,
    /// The message; for a record of a session file, the message inside it.
    pub message: V,
    /// Its role.
    pub role: Option<V>,
    /// The side chain; empty for the main conversation.
    pub scope: Text<'a>,
    /// True if it is on the active branch.
    pub is_active: bool,
}

/// The scope and branch of each message, found while messages are read from the last to the first. Unless it follows a
/// [`Branch`], the first record with a `uuid` makes it read all records before that one.
#[derive(Debug, Default)]
pub struct Places<'a> {
    /// The number of records skipped because a later copy exists.
    pub repeated_records: usize,
    /// The number of messages and records whose place was asked for.
    pub walked: usize,
    branch: Option<Branch<'a>>,
    session: Option<RecordTree<'a>>,
    rolled_back: RolledBack,
}

const ATTACHMENT: Key<'static> = Key::new("attachment");
const NUM_TURNS: Key<'static> = Key::new("num_turns");

/// Return the attachment of a record that holds what the user typed while Claude Code worked; it is nowhere else.
pub(crate) fn queued_text<'a, V: Value<'a>>(record: V) -> Option<V> {
    let attachment = record.get(ATTACHMENT).and_then(Value::object)?;
    text_or_empty(attachment.get(names::TYPE)).is("queued_command").then_some(attachment)
}

/// Return true for a record of iFlow, which only the importer can place among the others.
///
/// It repeats calls of the records before it, and its parent is the message of the user.
fn is_repeating<'a, V: Value<'a>>(record: V, message: V) -> bool {
    let has_id = text_or_empty(message.get(names::ID)).starts_with(REPEATING);
    has_id && record.get(names::UUID).is_some_and(|uuid| uuid.text_len().is_some()) && !is_imported(record)
}

/// The beginning of the ids of iFlow's messages.
const REPEATING: &str = "response-";

/// The turns of a Codex rollout that a later record takes back, as records are read from the last one on.
#[derive(Debug, Default)]
struct RolledBack {
    turns: usize,
}

impl RolledBack {
    /// Return true unless a record belongs to a turn that was rolled back.
    fn is_active<'a, V: Value<'a>>(&mut self, record: V) -> bool {
        let kind = text_or_empty(record.get(names::TYPE));
        let payload = || record.get(names::PAYLOAD).and_then(Value::object);
        if kind.is("event_msg")
            && let Some(payload) = payload()
            && text_or_empty(payload.get(names::TYPE)).is("thread_rolled_back")
        {
            let count = payload.get(NUM_TURNS).and_then(Value::integer).and_then(|count| usize::try_from(count).ok());
            self.turns = self.turns.saturating_add(count.unwrap_or(0));
        }
        if self.turns == 0 || !kind.is("response_item") {
            return true;
        }
        if payload().is_some_and(is_prompt) {
            self.turns -= 1;
        }
        false
    }
}

/// Return true for a message of the user, which begins a turn.
fn is_prompt<'a, V: Value<'a>>(item: V) -> bool {
    if !text_or_empty(item.get(names::TYPE)).is("message") || !text_or_empty(item.get(names::ROLE)).is("user") {
        return false;
    }
    !is_client_text(item.get(names::CONTENT))
}

/// Return true if the content of a message of the user begins with a text that the client wrote.
pub(crate) fn is_client_text<'a, V: Value<'a>>(content: Option<V>) -> bool {
    let text = match content.and_then(Value::list) {
        Some(parts) => parts.item(0).and_then(Value::object).and_then(|part| part.get(names::TEXT)),
        None => content,
    };
    let text = text_or_empty(text);
    CLIENT_TEXTS.iter().any(|start| text.starts_with(start))
}

/// The type of the records of Claude Code's queue.
pub(crate) const QUEUE: &str = "queue-operation";

/// Texts that the user typed while Claude Code worked, as records are read from the last one on.
///
/// Claude Code writes a record when a text enters its queue and another one when it leaves it. Then the text is in a
/// message of the user, or in an attachment; older versions wrote neither if the model got the text within a turn.
#[derive(Debug)]
pub(crate) struct TypedAhead<'a, V> {
    later: VecDeque<Option<V>>,
    taken_back: AHashSet<Text<'a>>,
    is_emptied: bool,
}

impl<V> Default for TypedAhead<'_, V> {
    fn default() -> Self {
        Self { later: VecDeque::new(), taken_back: AHashSet::new(), is_emptied: false }
    }
}

/// The number of messages of the user, after a text in the queue, that may hold it.
const NEAR: usize = 32;
const OPERATION: Key<'static> = Key::new("operation");

impl<'a, V: Value<'a>> TypedAhead<'a, V> {
    /// Note what a message of the user says.
    pub(crate) fn note(&mut self, content: Option<V>) {
        if self.later.len() == NEAR {
            self.later.pop_front();
        }
        self.later.push_back(content);
    }

    /// Return the text that a record of the queue adds and that stands nowhere else.
    pub(crate) fn text_in(&mut self, record: V) -> Option<V> {
        let content = record.get(names::CONTENT);
        let text = text_or_empty(content);
        let operation = text_or_empty(record.get(OPERATION));
        if operation.is("popAll") {
            self.taken_back.insert(text); // back into the field where it was typed
            self.is_emptied |= text.is_empty();
        }
        let is_new = operation.is("enqueue") && !self.is_emptied && !self.taken_back.contains(&text);
        if !is_new || text.is_empty() || CLIENT_TEXTS.iter().any(|start| text.starts_with(start)) {
            return None;
        }
        let typed = text.as_utf8();
        let is_later = |&content: &Option<V>| spoken_text(content).whole().text().as_utf8().contains(&*typed);
        if self.later.iter().any(is_later) { None } else { content }
    }
}

impl<'a> Places<'a> {
    /// Create one that follows the active branch from its last message to the root.
    #[must_use]
    pub fn following() -> Self {
        Self { branch: Some(Branch::default()), ..Self::default() }
    }

    /// The branch that is followed, if any.
    #[must_use]
    pub fn branch(&self) -> Option<&Branch<'a>> {
        self.branch.as_ref()
    }

    /// Return the message in an item with its place; `None` if the item has no message, if a later copy exists, or if
    /// the branch is lost. An item of unknown structure is its own message, so that it is reported as unread.
    pub fn place<M: Messages<'a>>(
        &mut self,
        messages: &M,
        position: usize,
        item: M::Item,
    ) -> Result<Option<Placed<'a, M::Item>>, Halt<M::Error>> {
        let Some(message) = item.object() else {
            return Err(Halt::NotAnObject { number: messages.number(position), type_name: item.type_name() });
        };
        self.walked += usize::from(message.size() > 0); // an empty object replaces a line that was skipped
        let role = message.get(names::ROLE);
        let mut placed = Placed { record: message, message, role, scope: Text::ascii(""), is_active: true };
        if role.is_some() {
            return Ok(Some(placed));
        }
        if !message.has(names::UUID) && !message.has(names::MESSAGE) {
            placed.is_active = self.rolled_back.is_active(message);
            return Ok(Some(placed));
        }
        let inner = held_message(message);
        if inner.is_some_and(|inner| is_repeating(message, inner)) {
            return Err(Halt::NeedsImport);
        }
        if let Some(uuid) = message.get(names::UUID).and_then(Value::text) {
            match self.place_record(messages, position, (uuid, message))? {
                RecordPlace::At(scope, is_active) => (placed.scope, placed.is_active) = (scope, is_active),
                RecordPlace::Repeated => {
                    self.repeated_records += 1;
                    return Ok(None);
                }
                RecordPlace::Unknown => return Ok(None),
            }
        }
        let is_record = message.get(names::UUID).is_some_and(|uuid| uuid.text_len().is_some());
        match inner {
            Some(inner) => Ok(Some(Placed { message: inner, role: inner.get(names::ROLE), ..placed })),
            None if is_record => Ok(match queued_text(message) {
                Some(held) => Some(Placed { message: held, role: None, ..placed }),
                None => Some(placed).filter(|_| !is_known(message, None)),
            }),
            None => Ok(Some(placed)),
        }
    }

    fn place_record<M: Messages<'a>>(
        &mut self,
        messages: &M,
        position: usize,
        (uuid, record): (Text<'a>, M::Item),
    ) -> Result<RecordPlace<'a>, Halt<M::Error>> {
        if let Some(branch) = &mut self.branch {
            return Ok(Record::of(record).map_or(RecordPlace::Unknown, |record| branch.place(uuid, &record)));
        }
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(RecordTree::new(&messages.records(position).map_err(Halt::Source)?)),
        };
        Ok(session.place(messages.number(position)))
    }
}

/// The working directories of the calls in a session file, asked for from the last record to the first.
///
/// A record of Claude Code has its own (`cwd`). An item of a Codex rollout has that of the nearest record before it that
/// gives one: a `turn_context`, or the `session_meta` of the file.
#[derive(Debug)]
pub struct Directories<'a> {
    /// The position of the record that gave the directory.
    since: usize,
    directory: Text<'a>,
}

impl Default for Directories<'_> {
    fn default() -> Self {
        Self { since: usize::MAX, directory: Text::ascii("") }
    }
}

impl<'a> Directories<'a> {
    /// Return the working directory of the record at a position; empty if none is known.
    pub fn at<M: Messages<'a>>(
        &mut self,
        messages: &M,
        position: usize,
        record: M::Item,
    ) -> Result<Text<'a>, Halt<M::Error>> {
        let none = Text::ascii("");
        if record.get(names::ROLE).is_some() {
            return Ok(none);
        }
        if let Some(own) = record.get(names::CWD).and_then(Value::text) {
            return Ok(own);
        }
        if !text_or_empty(record.get(names::TYPE)).is("response_item") {
            return Ok(none);
        }
        if position < self.since {
            self.look_back(messages, position).map_err(Halt::Source)?;
        }
        Ok(self.directory)
    }

    fn look_back<M: Messages<'a>>(&mut self, messages: &M, position: usize) -> Result<(), M::Error> {
        let mut at = position;
        while let Some((earlier, item)) = messages.before(Some(at))? {
            at = earlier;
            let Some(record) = item.object() else { continue };
            let kind = text_or_empty(record.get(names::TYPE));
            if !DIRECTORY_RECORDS.iter().any(|name| kind.is(name)) {
                continue;
            }
            let payload = record.get(names::PAYLOAD).and_then(Value::object);
            if let Some(directory) = payload.and_then(|payload| payload.get(names::CWD)).and_then(Value::text) {
                (self.since, self.directory) = (earlier, directory);
                return Ok(());
            }
        }
        (self.since, self.directory) = (0, Text::ascii(""));
        Ok(())
    }
}

/// The tree of all records up to some position.
#[derive(Debug)]
pub struct RecordTree<'a> {
    is_active: Vec<bool>,
    is_repeated: Vec<bool>,
    scopes: AHashMap<usize, Text<'a>>,
    parents: Vec<Text<'a>>,
    message_ids: Vec<(usize, Text<'a>)>,
    index: AHashMap<Text<'a>, usize>,
    tree: Vec<usize>,
    last: Option<usize>,
    /// The last record of each scope so far, which a record without a parent continues.
    previous: AHashMap<Text<'a>, Text<'a>>,
}

impl<'a> RecordTree<'a> {
    /// Build the tree of these records; `None` is an item that is not a record.
    #[must_use]
    pub fn new(records: &[Option<Record<'a>>]) -> Self {
        let count = records.len();
        let mut session = Self {
            is_active: vec![false; count],
            is_repeated: vec![false; count],
            scopes: AHashMap::new(),
            parents: vec![Text::ascii(""); count],
            message_ids: Vec::new(),
            index: AHashMap::new(),
            tree: Vec::new(),
            last: None,
            previous: AHashMap::new(),
        };
        let named = || {
            let records = records.iter().enumerate();
            records.filter_map(|(position, record)| record.as_ref().and_then(|it| Some((position, it.uuid?, it))))
        };
        for (position, uuid, _) in named() {
            if let Some(earlier) = session.index.insert(uuid, position) {
                set(&mut session.is_repeated, earlier);
            }
        }
        let mut last_side = None;
        for (position, uuid, record) in named() {
            if session.add(position, uuid, record) {
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

    /// Return the place of the record with this number.
    #[must_use]
    pub fn place(&self, position: usize) -> RecordPlace<'a> {
        match self.is_repeated.get(position) {
            Some(true) => RecordPlace::Repeated,
            _ => RecordPlace::At(self.scope(position), self.is_active(position)),
        }
    }

    fn is_active(&self, position: usize) -> bool {
        self.is_active.get(position).copied().unwrap_or(true)
    }

    /// The side chain that a record belongs to; empty for the main conversation.
    fn scope(&self, position: usize) -> Text<'a> {
        self.scopes.get(&position).copied().unwrap_or(Text::ascii(""))
    }

    /// Add one record; return true if it holds a message and no later copy exists.
    fn add(&mut self, position: usize, uuid: Text<'a>, record: &Record<'a>) -> bool {
        if self.is_repeated.get(position) == Some(&true) {
            return false;
        }
        self.tree.push(position);
        if record.is_sidechain {
            let inherited = || self.index.get(&record.parent).and_then(|above| self.scopes.get(above)).copied();
            let scope = if record.agent.is_empty() { inherited().unwrap_or(uuid) } else { record.agent };
            self.scopes.insert(position, scope);
        }
        let previous = self.previous.insert(self.scope(position), uuid);
        let is_given = !record.follows || !record.parent.is_empty();
        if let Some(slot) = self.parents.get_mut(position) {
            *slot = if is_given { record.parent } else { previous.unwrap_or(Text::ascii("")) };
        }
        let Some(message_id) = record.message_id else { return false };
        if !message_id.is_empty() {
            self.message_ids.push((position, message_id));
        }
        true
    }

    /// Mark the last message and its ancestors as active; if a parent is missing, continue in file order.
    fn mark_ancestors(&mut self) {
        let Some(last) = self.last else { return };
        let scope = self.scope(last);
        let order: Vec<usize> = self.tree.iter().copied().filter(|position| self.scope(*position) == scope).collect();
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

    /// Mark the other records of an active message as active, if their parent is active too.
    fn mark_split_messages(&mut self) {
        let Some(last) = self.last else { return };
        let scope = self.scope(last);
        let active: AHashSet<Text<'a>> =
            self.message_ids.iter().filter(|(position, _)| self.is_active(*position)).map(|(_, name)| *name).collect();
        for (position, name) in std::mem::take(&mut self.message_ids) {
            if !active.contains(&name) || self.is_active(position) || self.scope(position) != scope {
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

/// The active branch, as far as the records read so far show it.
#[derive(Debug, Default)]
pub struct Branch<'a> {
    seen: AHashSet<Text<'a>>,
    /// The ancestor expected next: `None` until the last message was read, empty once the root was read.
    above: Option<Text<'a>>,
    /// The message ids on the branch.
    message_ids: AHashSet<Text<'a>>,
    /// True if a message of another branch was read while an ancestor was expected: the ancestor may be missing.
    is_in_doubt: bool,
    is_lost: bool,
}

/// The place of a record in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordPlace<'a> {
    /// Its scope, and true if it is on the active branch.
    At(Text<'a>, bool),
    /// A later copy of the record exists and counts instead.
    Repeated,
    /// Only a [`RecordTree`] can place it.
    Unknown,
}

const OFF: RecordPlace<'static> = RecordPlace::At(Text::ascii(""), false);

impl<'a> Branch<'a> {
    /// Place the next record, which has this `uuid`.
    pub fn place(&mut self, uuid: Text<'a>, record: &Record<'a>) -> RecordPlace<'a> {
        if !self.seen.insert(uuid) {
            return RecordPlace::Repeated;
        }
        let is_active = match self.above {
            None => record.message_id.is_some(),
            Some(above) => !uuid.is_empty() && uuid == above,
        };
        if is_active {
            return if record.is_sidechain { self.lose() } else { self.go_up(record) };
        }
        let Some(message_id) = record.message_id else { return OFF };
        if record.is_sidechain {
            return if record.agent.is_empty() { self.lose() } else { RecordPlace::At(record.agent, false) };
        }
        let is_below_root = self.above.is_some_and(|above| !above.is_empty());
        if !message_id.is_empty() && (is_below_root || self.message_ids.contains(&message_id)) {
            return self.lose(); // it may be a part of a message on the branch
        }
        self.is_in_doubt |= is_below_root;
        OFF
    }

    fn go_up(&mut self, record: &Record<'a>) -> RecordPlace<'a> {
        self.is_in_doubt = false;
        self.message_ids.extend(record.message_id);
        self.above = Some(record.parent);
        let is_lost = self.seen.contains(&record.parent) || (record.parent.is_empty() && record.follows);
        if is_lost { self.lose() } else { RecordPlace::At(Text::ascii(""), true) }
    }

    fn lose(&mut self) -> RecordPlace<'a> {
        self.is_lost = true;
        RecordPlace::Unknown
    }

    /// Return true if a record could not be placed.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Return true if all places returned so far are right, whatever the earlier records are.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        !self.is_lost && !self.is_in_doubt
    }
}
