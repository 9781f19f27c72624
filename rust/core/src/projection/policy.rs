//! The settings of a projection, and what the projection before this one decided.

use std::borrow::Cow;

use ahash::{AHashMap, AHashSet};

use crate::content::Content;
use crate::context::limits::Limits;
use crate::dedupe::rules::RuleSet;
use crate::json::value::Value;
use crate::text::OwnedText;
use crate::text::piece::Piece;
use crate::text::truncate::Keep;
use crate::tokens::{Encoding, Memo};

/// What a projection makes of a request.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'r> {
    /// What all results together may take, where that is limited.
    pub total: Option<usize>,
    /// True if the total counts tokens.
    pub total_in_tokens: bool,
    /// The limits on one result.
    pub limits: Limits,
    /// The part of an over-long text that stays; `None`: what suits the kind of tool.
    pub keep: Option<Keep>,
    /// What supersedes what.
    pub rules: &'r RuleSet,
    /// The limit on the whole request, in tokens.
    pub max_request_tokens: Option<usize>,
    /// True if what the provider would refuse is mended.
    pub repair: bool,
    /// The number of tokens that must be won at once for what was sent before to change.
    pub clear_at_least: usize,
    /// Rules of which the first names the tools whose results are never touched.
    pub excluded: Option<&'r RuleSet>,
    /// How many of the last results are never touched.
    pub keep_last_results: usize,
    /// Of how many of the model's last turns the results are never touched.
    pub keep_last_turns: usize,
    /// What counts tokens, where any are counted.
    pub counter: Option<Counter<'r>>,
}

/// What counts tokens, and remembers them.
#[derive(Clone, Copy, Debug)]
pub struct Counter<'r> {
    /// The encoding.
    pub encoding: &'static Encoding,
    /// What was counted before.
    pub memo: &'r Memo,
}

impl Counter<'_> {
    /// The number of tokens a text has.
    pub(crate) fn count<'a, V: Value<'a>>(self, text: &Content<'a, V>) -> usize {
        self.memo.count(text, self.encoding)
    }
}

/// What becomes of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Another call's result replaces it.
    Superseded,
    /// A rule keeps nothing of its tool.
    Rule,
    /// It goes for want of room.
    Cleared,
    /// A part is cut out.
    Cut,
}

impl Fate {
    /// Its name in decisions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Superseded => "superseded",
            Self::Rule => "rule",
            Self::Cleared => "cleared",
            Self::Cut => "cut",
        }
    }

    /// The fate of this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "superseded" => Self::Superseded,
            "rule" => Self::Rule,
            "cleared" => Self::Cleared,
            _ => Self::Cut,
        }
    }
}

/// What becomes of a result: of one that is superseded, by which reference; of one that is cut, where the head that stays
/// ends, and where the tail begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// What becomes of it.
    pub fate: Fate,
    /// The reference of what supersedes it.
    pub by: Cow<'a, str>,
    /// Where the head ends.
    pub head: usize,
    /// Where the tail begins.
    pub tail: usize,
}

impl Decision<'_> {
    pub(crate) const CLEARED: Self = Self { fate: Fate::Cleared, by: Cow::Borrowed(""), head: 0, tail: 0 };
    pub(crate) const RULED_OUT: Self = Self { fate: Fate::Rule, ..Self::CLEARED };

    /// To cut out what stands between a head and a tail.
    pub(crate) const fn cut(head: usize, tail: usize) -> Self {
        Self { fate: Fate::Cut, by: Cow::Borrowed(""), head, tail }
    }
}

/// By what a result is known again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sign {
    /// A checksum of its call.
    pub call: u32,
    /// The number of characters it has.
    pub size: usize,
    /// A checksum of its ends.
    pub ends: u32,
}

/// What was mended: in which message, of which call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mend<'a> {
    /// What kind of mend.
    pub kind: Cow<'a, str>,
    /// The message; none where it is a new one.
    pub position: Option<usize>,
    /// The id of the call; may be empty.
    pub call_id: Piece<'a>,
    /// What else there is to tell.
    pub detail: Piece<'a>,
}

/// What the projection before this one decided.
#[derive(Clone, Debug, Default)]
pub struct Previous {
    /// The number of messages before.
    pub messages: usize,
    /// What becomes of results, by reference.
    pub made: AHashMap<String, Decision<'static>>,
    /// The references of what was dropped.
    pub dropped: AHashSet<String>,
    /// What was mended.
    pub mends: Vec<OwnMend>,
    /// The signs of all calls and results that decisions name, by reference.
    pub signs: AHashMap<String, Sign>,
}

/// A [`Mend`] that borrows nothing.
#[derive(Clone, Debug)]
pub struct OwnMend {
    /// What kind of mend.
    pub kind: String,
    /// The message.
    pub position: Option<usize>,
    /// The id of the call.
    pub call_id: OwnedText,
    /// What else there is to tell.
    pub detail: OwnedText,
}

impl OwnMend {
    pub(crate) fn mend(&self) -> Mend<'_> {
        Mend {
            kind: Cow::Borrowed(&self.kind),
            position: self.position,
            call_id: Piece::Borrowed(self.call_id.as_text()),
            detail: Piece::Borrowed(self.detail.as_text()),
        }
    }
}
