//! The settings of a projection, and the decisions of the previous one.

use std::borrow::Cow;
use std::sync::Arc;

use ahash::{AHashMap, AHashSet};

use crate::content::Content;
use crate::context::limits::Limits;
use crate::dedupe::rules::RuleSet;
use crate::json::value::Value;
use crate::projection::repair::destinations::Destination;
use crate::shorten::Kinds;
use crate::text::OwnedText;
use crate::text::piece::Piece;
use crate::text::truncate::Keep;
use crate::tokens::{Encoding, Memo};

/// The settings of a projection.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'r> {
    /// The limit on all results together, if there is one.
    pub total: Option<usize>,
    /// True if the total counts tokens.
    pub total_in_tokens: bool,
    /// The limits on one result.
    pub limits: Limits,
    /// Set if results are shortened when they are first sent.
    pub first_sight: Option<FirstSight>,
    /// The part of an over-long text that stays; if `None`, it depends on the kind of tool.
    pub keep: Option<Keep>,
    /// The rules that decide which results supersede others.
    pub rules: &'r RuleSet,
    /// The limit on the whole request, in tokens.
    pub max_request_tokens: Option<usize>,
    /// True to correct what the provider would refuse.
    pub repair: bool,
    /// The destination of the request, unless its messages and its model tell.
    pub destination: Option<&'static Destination>,
    /// The tokens that have to be saved at once before messages that were sent before are changed; if `None`, they are
    /// changed if that pays and is covered at all `prices`.
    pub clear_at_least: Option<usize>,
    /// The prices that the provider may charge.
    pub prices: &'r [Price],
    /// The cases in which arguments of old calls that hold nothing new are replaced.
    pub clear_inputs: ClearInputs,
    /// Rules whose first entry matches the tools whose arguments may be replaced; `None` for all.
    pub input_tools: Option<&'r RuleSet>,
    /// Rules whose first entry matches the tools whose results are never changed.
    pub excluded: Option<&'r RuleSet>,
    /// The number of last results that are never changed.
    pub keep_last_results: usize,
    /// The number of last turns whose results are never changed.
    pub keep_last_turns: usize,
    /// The number of newest images that stay; `None` for all.
    pub keep_images: Option<usize>,
    /// The kinds of texts that are shortened by what they are.
    pub content: Kinds,
    /// True to name in a marker the call whose result is whole elsewhere.
    pub references: bool,
    /// The encoding in which replacements are measured.
    pub encoding: &'static Encoding,
    /// The token counter, if a limit counts tokens.
    pub counter: Option<Counter<'r>>,
}

impl Settings<'_> {
    /// Return the settings of a projection that changes nothing but superseded results.
    #[must_use]
    pub fn new(encoding: &'static Encoding) -> Self {
        Self {
            total: None,
            total_in_tokens: false,
            limits: Limits::NONE,
            first_sight: None,
            keep: None,
            rules: RuleSet::built_in(),
            max_request_tokens: None,
            repair: false,
            destination: None,
            clear_at_least: Some(0),
            prices: &[],
            clear_inputs: ClearInputs::Never,
            input_tools: None,
            excluded: None,
            keep_last_results: 0,
            keep_last_turns: 0,
            keep_images: None,
            content: Kinds::NONE,
            references: true,
            encoding,
            counter: None,
        }
    }
}

/// The settings for shortening a result when it is first sent.
#[derive(Clone, Copy, Debug)]
pub struct FirstSight {
    /// The window in tokens, if it is known.
    pub window: Option<usize>,
}

/// The prices of tokens that are written into a provider's cache and read from it, in ten-thousandths of the price of a
/// token that no cache has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// The price of a token that is written.
    pub write: isize,
    /// The price of a token that is read.
    pub read: isize,
}

/// What a conversation has saved against sending it unchanged, in bytes. Negative if it was dearer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    /// The bytes that were not written into the provider's cache.
    pub written: isize,
    /// The bytes that were not read from it.
    pub read: isize,
}

impl Savings {
    /// Return what was saved at a price.
    pub(crate) const fn at(self, price: Price) -> isize {
        price.write.saturating_mul(self.written).saturating_add(price.read.saturating_mul(self.read))
    }

    /// Return both savings together.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self { written: self.written.saturating_add(other.written), read: self.read.saturating_add(other.read) }
    }
}

/// The cases in which arguments of old calls that hold nothing new are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClearInputs {
    /// Never.
    Never,
    /// If the request is over its limit.
    IfOver,
    /// Always.
    Always,
}

/// A token counter with a memory.
#[derive(Clone, Copy, Debug)]
pub struct Counter<'r> {
    /// The encoding.
    pub encoding: &'static Encoding,
    /// The counts of earlier texts.
    pub memo: &'r Memo,
}

impl Counter<'_> {
    /// Return the number of tokens of a text.
    pub(crate) fn count<'a, V: Value<'a>>(self, text: &Content<'a, V>) -> usize {
        self.memo.count(text, self.encoding)
    }
}

/// The kind of a decision about a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// A newer result supersedes it.
    Superseded,
    /// A rule keeps no results of its tool.
    Rule,
    /// It is removed for lack of room.
    Cleared,
    /// A part is cut out.
    Cut,
    /// It is shortened by what it is.
    Shortened,
    /// It is what a terminal shows in the end.
    Terminal,
}

impl DecisionKind {
    /// Return its name in decisions.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Superseded => "superseded",
            Self::Rule => "rule",
            Self::Cleared => "cleared",
            Self::Cut => "cut",
            Self::Shortened => "shortened",
            Self::Terminal => "terminal",
        }
    }

    /// Return true if a part of the result stays, and the media next to it.
    pub(crate) const fn is_partial(self) -> bool {
        self.cuts() || matches!(self, Self::Terminal)
    }

    /// Return true if something of the result is left out.
    pub(crate) const fn cuts(self) -> bool {
        matches!(self, Self::Cut | Self::Shortened)
    }

    /// Return the fate with this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        match name {
            "superseded" => Self::Superseded,
            "rule" => Self::Rule,
            "cleared" => Self::Cleared,
            "shortened" => Self::Shortened,
            "terminal" => Self::Terminal,
            _ => Self::Cut,
        }
    }
}

/// A decision about a result. `by` is set if it is superseded, `head` and `tail` if it is cut. If it is shortened, `head` is
/// the room, and `tail` is what is taken of it; `tail` is also the size of what a terminal shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'a> {
    /// The kind of the decision.
    pub fate: DecisionKind,
    /// The reference of the call that supersedes it.
    pub by: Cow<'a, str>,
    /// The index at which the head ends.
    pub head: usize,
    /// The index at which the tail begins.
    pub tail: usize,
}

impl Decision<'_> {
    pub(crate) const CLEARED: Self = Self { fate: DecisionKind::Cleared, by: Cow::Borrowed(""), head: 0, tail: 0 };
    pub(crate) const TERMINAL: Self = Self { fate: DecisionKind::Terminal, ..Self::CLEARED };
    pub(crate) const SHORTENED: Self = Self { fate: DecisionKind::Shortened, ..Self::CLEARED };
    pub(crate) const RULED_OUT: Self = Self { fate: DecisionKind::Rule, ..Self::CLEARED };

    /// Return the ends of the part that is cut out of a text, which may be shorter than the one that was decided about.
    pub(crate) fn ends_in(&self, size: usize) -> (usize, usize) {
        let head = self.head.min(size);
        (head, self.tail.clamp(head, size))
    }

    /// Return the decision to cut out the text between a head and a tail.
    pub(crate) const fn cut(head: usize, tail: usize) -> Self {
        Self { fate: DecisionKind::Cut, by: Cow::Borrowed(""), head, tail }
    }
}

/// The fingerprint of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sign {
    /// The checksum of its call.
    pub call: u32,
    /// The number of its characters.
    pub size: usize,
    /// The checksum of its ends.
    pub ends: u32,
}

/// A correction made by the repair.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mend<'a> {
    /// The kind of the correction.
    pub kind: Cow<'a, str>,
    /// The position of the message; `None` for a new message.
    pub position: Option<usize>,
    /// The id of the call; may be empty.
    pub call_id: Piece<'a>,
    /// Further details; may be empty.
    pub detail: Piece<'a>,
}

/// The decisions of the previous projection.
#[derive(Clone, Debug, Default)]
pub struct Previous {
    /// The number of messages.
    pub messages: usize,
    /// The decisions about results, by reference.
    pub made: AHashMap<String, Decision<'static>>,
    /// The excerpts of the shortened results, by reference.
    pub excerpts: AHashMap<String, Arc<[u8]>>,
    /// The references of dropped results.
    pub dropped: AHashSet<String>,
    /// The corrections made by the repair.
    pub mends: Vec<OwnMend>,
    /// The fingerprints of all calls and results that decisions name, by reference.
    pub signs: AHashMap<String, Sign>,
    /// What the conversation has saved so far.
    pub savings: Savings,
}

/// A [`Mend`] that borrows nothing.
#[derive(Clone, Debug)]
pub struct OwnMend {
    /// The kind of the correction.
    pub kind: String,
    /// The position of the message; `None` for a new message.
    pub position: Option<usize>,
    /// The id of the call; may be empty.
    pub call_id: OwnedText,
    /// Further details; may be empty.
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
