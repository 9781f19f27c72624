//! The request that a projection is made from: its messages, the replacements in them, and the parts to remove.

use std::collections::hash_map::Entry;

use ahash::{AHashMap, AHashSet};

use super::blocks::Block;
use super::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, PartsKey, Path, set_member};
use crate::json::value::{Key, Value, names, text_or_empty};
use crate::text::piece::Piece;

/// The messages of a request, with the changes to their parts.
pub(crate) struct EditedMessages<'a, 'm, V> {
    pub(crate) messages: &'m [V],
    pub(crate) blocks: &'m [Block<'a, V>],
    /// The positions of the messages that a repair leaves alone.
    pub(crate) guard: &'m AHashSet<usize>,
    /// The positions of the messages that a repair makes the user's.
    pub(crate) users: AHashSet<usize>,
    /// True if no thought is left out, since nothing else may tell that the format is not that of the named destination.
    pub(crate) keeps_thoughts: bool,
    /// True if the destination was named, and not inferred.
    pub(crate) is_named: bool,
    /// True if a text may have a lone surrogate, or if a number is NaN or an infinity.
    pub(crate) may_be_broken: bool,
    edits: AHashMap<Path, Members<'a, V>>,
    gone: AHashSet<Path>,
    /// The parts that others take the place of.
    replaced: AHashMap<Path, Json<'a>>,
    /// For each message, one flag per list in which something changes.
    touched: AHashMap<usize, [bool; PartsKey::ALL.len()]>,
}

impl<'a, 'm, V: Value<'a>> EditedMessages<'a, 'm, V> {
    /// Collect the changes that follow from the decisions about the blocks.
    pub(crate) fn new(messages: &'m [V], blocks: &'m [Block<'a, V>], guard: &'m AHashSet<usize>) -> Self {
        let decided = blocks.iter().filter(|block| block.decision.is_some()).count();
        let (edits, gone, replaced) = (AHashMap::with_capacity(decided), AHashSet::new(), AHashMap::new());
        let touched = AHashMap::with_capacity(decided);
        let users = AHashSet::new();
        let mut edited = Self {
            messages,
            blocks,
            guard,
            users,
            keeps_thoughts: false,
            is_named: false,
            may_be_broken: false,
            edits,
            gone,
            replaced,
            touched,
        };
        for block in blocks {
            if let (Some(decision), Some(slot), Some(new)) = (&block.decision, block.slot, &block.new) {
                edited.edit(slot.path, slot.replaced(new, !decision.fate.is_partial()));
            }
            let cleared = block.cleared();
            if let Some(arguments) = block.arguments.filter(|_| !cleared.is_empty()) {
                edited.edit(arguments.path, arguments.members(&cleared));
            }
            if block.is_dropped {
                edited.drop(block);
            }
        }
        edited
    }

    /// Leave out a call with the whole message that contains it, the reasoning before it, and its results.
    ///
    /// A provider refuses reasoning without the call that it led to.
    fn drop(&mut self, block: &Block<'a, V>) {
        let mut position = block.entry.position;
        self.take_out(Path::Message(position));
        while let Some(before) = position.checked_sub(1).filter(|before| self.is_reasoning(*before)) {
            position = before;
            self.take_out(Path::Message(position));
        }
        for path in block.result_path.iter().chain(&block.second_paths) {
            self.take_out(*path);
        }
    }

    /// Replace members of the object at a path. Changes to the same inner object are merged.
    pub(crate) fn edit(&mut self, path: Path, members: Members<'a, V>) {
        self.touch(path);
        if let Some(Json::Object(new)) = self.replaced.get_mut(&path) {
            for (key, value) in members {
                new.retain(|(name, _)| name.text() != key.name);
                if let Some(Edit::NewValue(value)) = value {
                    new.push((Piece::Borrowed(key.name), value));
                }
            }
            return;
        }
        let edits = match self.edits.entry(path) {
            Entry::Occupied(edits) => edits.into_mut(),
            Entry::Vacant(place) => {
                place.insert(members);
                return;
            }
        };
        let count = edits.len(); // a name is given once
        for (key, value) in members {
            let known = edits.iter_mut().take(count).find(|(own, _)| *own == key);
            match (known, value) {
                (Some((_, Some(Edit::Changed(known)))), Some(Edit::Changed(value))) => {
                    for (key, value) in value.members {
                        set_member(&mut known.members, key, value);
                    }
                }
                (Some((_, known)), value) => *known = value,
                (None, value) => edits.push((key, value)),
            }
        }
    }

    fn is_reasoning(&self, position: usize) -> bool {
        let message = self.message_at(position);
        message.is_some_and(|message| text_or_empty(message.get(names::TYPE)).is("reasoning"))
    }

    /// Leave out a message or a part of one.
    pub(crate) fn take_out(&mut self, path: Path) {
        self.gone.insert(path);
        self.touch(path);
    }

    /// Put another part in the place of one.
    pub(crate) fn replace(&mut self, path: Path, new: Json<'a>) {
        self.touch(path);
        self.edits.remove(&path);
        self.replaced.insert(path, new);
    }

    /// Return true if a text takes the place of the part at a path.
    pub(crate) fn is_text_now(&self, path: Path) -> bool {
        let Some(Json::Object(new)) = self.replaced.get(&path) else { return false };
        new.iter().any(|(name, _)| name.text() == names::TEXT.name)
    }

    fn touch(&mut self, path: Path) {
        if let Path::Part(position, key, _) = path {
            let touched = self.touched.entry(position).or_default();
            for (own, is_touched) in PartsKey::ALL.iter().zip(touched) {
                *is_touched |= *own == key;
            }
        }
    }

    pub(crate) fn is_gone(&self, path: Path) -> bool {
        self.gone.contains(&path)
    }

    /// Return the new content of a result, which is under `content_key`; `None` if it is unchanged.
    pub(crate) fn new_content(&self, path: Path, content_key: Key<'_>) -> Option<&Edit<'a, V>> {
        let edits = self.edits.get(&path)?;
        let held = edits.iter().filter_map(|(_, edit)| match edit {
            Some(Edit::Changed(changed)) => Some(&changed.members),
            _ => None,
        });
        let mut members = std::iter::once(edits).chain(held).flatten();
        members.find_map(|(key, edit)| edit.as_ref().filter(|_| *key == content_key))
    }

    /// Return the message at a position.
    pub(crate) fn message_at(&self, position: usize) -> Option<V> {
        self.messages.get(position).copied()
    }

    /// Return the parts of a message, if they are a list.
    pub(crate) fn list(&self, position: usize, key: PartsKey) -> Option<V> {
        self.message_at(position)?.get(key.key())?.list()
    }

    /// Return the value at a path.
    pub(crate) fn at(&self, path: Path) -> Option<V> {
        match path {
            Path::Message(position) => self.message_at(position),
            Path::Part(position, key, index) => self.list(position, key)?.item(index),
            Path::Inner(_) => None,
        }
    }

    /// Make the draft of a part, or of a message whose parts are unchanged. The changes are moved into the draft, so
    /// each path can be requested only once.
    pub(crate) fn draft(&mut self, path: Path) -> Option<Draft<'a, V>> {
        if !self.replaced.is_empty()
            && let Some(new) = self.replaced.remove(&path)
        {
            return Some(Draft::NewValue(new));
        }
        let value = self.at(path)?;
        Some(match self.taken(path) {
            None => Draft::Original(path, value),
            Some(members) => Draft::Changed(Changed { path: Some(path), of: Some(value), members }),
        })
    }

    fn taken(&mut self, path: Path) -> Option<Members<'a, V>> {
        if self.edits.is_empty() { None } else { self.edits.remove(&path) }
    }

    /// Take the changed members of the object at a path.
    pub(crate) fn members(&mut self, path: Path) -> Members<'a, V> {
        self.taken(path).unwrap_or_default()
    }

    /// Make the drafts of the parts of a message that stay.
    fn parts(&mut self, position: usize, key: PartsKey) -> Vec<Draft<'a, V>> {
        let count = self.list(position, key).map_or(0, Value::count);
        let mut parts = Vec::with_capacity(count);
        for index in 0..count {
            let path = Path::Part(position, key, index);
            if !self.is_gone(path) {
                parts.extend(self.draft(path));
            }
        }
        parts
    }

    /// Make the draft of a message and take its changes; `None` if nothing is left of it.
    pub(crate) fn message(&mut self, position: usize) -> Option<Draft<'a, V>> {
        let path = Path::Message(position);
        if self.is_gone(path) {
            return None;
        }
        let Some(touched) = self.touched.get(&position).copied() else { return self.draft(path) };
        let mut members = self.members(path);
        for (key, _) in PartsKey::ALL.into_iter().zip(touched).filter(|(_, is_touched)| *is_touched) {
            let items = self.parts(position, key);
            if items.is_empty() && key != PartsKey::ToolCalls {
                return None;
            }
            let of = self.list(position, key).map(|list| (DraftList::Message(position, key), list));
            set_member(&mut members, key.key(), Some(Edit::Parts(Parts { of, items })));
        }
        Some(Draft::Changed(Changed { path: Some(path), of: self.message_at(position), members }))
    }

    /// Make the drafts of all messages, in order.
    pub(crate) fn all_messages(mut self) -> Vec<Draft<'a, V>> {
        let mut drafts = Vec::with_capacity(self.messages.len());
        drafts.extend((0..self.messages.len()).filter_map(|position| self.message(position)));
        drafts
    }
}

/// Return true if a block has its call or its result in a message that a repair leaves alone.
pub(crate) fn is_guarded<V>(block: &Block<'_, V>, guard: &AHashSet<usize>) -> bool {
    !guard.is_empty() && (guard.contains(&block.entry.position) || guard.contains(&block.entry.result_position))
}

/// Return true if the drafts are exactly the `count` original messages, unchanged.
pub(crate) fn is_original<V>(drafts: &[Draft<'_, V>], count: usize) -> bool {
    let mut places = drafts.iter().enumerate();
    drafts.len() == count && places.all(|(position, draft)| draft.is_kept_at(Path::Message(position)))
}
