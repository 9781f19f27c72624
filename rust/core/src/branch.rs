//! The active branch of a session file, followed upward as its records come by, from the last one on.
//!
//! A job that stops early need not look at the beginning of the file for that, as [`crate::session::Session`] does.
//! Most records tell their place as they come by; where one doesn't, or where an ancestor that is waited for may not
//! be there at all, the branch is lost, and the job begins again with a look at all records. The twin is
//! `_pure/branch.py`.

use ahash::AHashSet;

use crate::input::messages::Record;
use crate::text::Text;

/// What is known of the active branch from the records that came by.
#[derive(Debug, Default)]
pub struct Branch<'a> {
    seen: AHashSet<Text<'a>>,
    /// The ancestor that comes next: `None` until the last message came by, empty behind the root.
    above: Option<Text<'a>>,
    /// Of the messages on the branch.
    message_ids: AHashSet<Text<'a>>,
    /// Whether a message was passed by while an ancestor was waited for, which may be missing.
    is_in_doubt: bool,
    is_lost: bool,
}

/// Where a record stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// In a scope; whether on the active branch.
    At(Text<'a>, bool),
    /// It is written again later, where it counts.
    Repeated,
    /// Only a look at all records tells.
    Unknown,
}

const OFF: Place<'static> = Place::At(Text::ascii(""), false);

impl<'a> Branch<'a> {
    /// Where the next record of this name stands.
    pub fn place(&mut self, uuid: Text<'a>, record: &Record<'a>) -> Place<'a> {
        if !self.seen.insert(uuid) {
            return Place::Repeated;
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
            return if record.agent.is_empty() { self.lose() } else { Place::At(record.agent, false) };
        }
        let is_below_root = self.above.is_some_and(|above| !above.is_empty());
        if !message_id.is_empty() && (is_below_root || self.message_ids.contains(&message_id)) {
            return self.lose(); // it may be a part of a message on the branch
        }
        self.is_in_doubt |= is_below_root;
        OFF
    }

    fn go_up(&mut self, record: &Record<'a>) -> Place<'a> {
        self.is_in_doubt = false;
        self.message_ids.extend(record.message_id);
        self.above = Some(record.parent);
        if self.seen.contains(&record.parent) { self.lose() } else { Place::At(Text::ascii(""), true) }
    }

    fn lose(&mut self) -> Place<'a> {
        self.is_lost = true;
        Place::Unknown
    }

    /// Whether a record did not tell its place.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Whether all places that were told are right, however the records before go on.
    #[must_use]
    pub fn is_sure(&self) -> bool {
        !self.is_lost && !self.is_in_doubt
    }
}
