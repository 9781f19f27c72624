//! The messages of a projection: messages as they stand, messages of which some members are replaced, and new ones.
//!
//! A draft holds the value that it is made from, and where that stands. So the same plan is carried out on objects, in the
//! binding, and on the bytes that they were read from, in [`super::splice`].

use crate::content::Content;
use crate::json::value::{Key, Value, names};
use crate::text::piece::Piece;

/// Where a message keeps its parts; in the order of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartsKey {
    /// `content`
    Content,
    /// `parts`
    Parts,
    /// `tool_calls`
    ToolCalls,
}

impl PartsKey {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Content, Self::Parts, Self::ToolCalls];

    /// The member's name.
    #[must_use]
    pub const fn key(self) -> Key<'static> {
        match self {
            Self::Content => names::CONTENT,
            Self::Parts => names::PARTS,
            Self::ToolCalls => names::TOOL_CALLS,
        }
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Path {
    /// The message at a position.
    Message(usize),
    /// A part of a message.
    Part(usize, PartsKey, usize),
    /// A part of what the draft around it is made from.
    Inner(usize),
}

/// A list that drafts may stand in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// The messages.
    Messages,
    /// The parts of a message.
    Message(usize, PartsKey),
    /// A list in what the draft around it is made from.
    Inner,
}

impl Path {
    /// The position of the message that the value is, or stands in.
    #[must_use]
    pub fn position(self) -> usize {
        match self {
            Self::Message(position) | Self::Part(position, ..) => position,
            Self::Inner(_) => 0,
        }
    }

    /// The value's place in a list, where it stands there.
    #[must_use]
    pub fn index_in(self, home: Home) -> Option<usize> {
        match (self, home) {
            (Self::Message(index), Home::Messages) | (Self::Inner(index), Home::Inner) => Some(index),
            (Self::Part(own, own_key, index), Home::Message(position, key)) => {
                (own == position && own_key == key).then_some(index)
            }
            _ => None,
        }
    }
}

/// What stands in a list.
#[derive(Clone, Debug)]
pub enum Draft<'a, V> {
    /// A value as it stands.
    Kept(Path, V),
    /// An object of which some members change.
    Changed(Changed<'a, V>),
    /// A new value.
    Made(Json<'a>),
}

impl<V> Draft<'_, V> {
    /// Where the value stands that the draft is made from.
    #[must_use]
    pub fn path(&self) -> Option<Path> {
        match self {
            Self::Kept(path, _) => Some(*path),
            Self::Changed(changed) => changed.path,
            Self::Made(_) => None,
        }
    }

    /// Return whether the draft is what stands at a path.
    pub(crate) fn is_kept_at(&self, path: Path) -> bool {
        matches!(self, Self::Kept(own, _) if *own == path)
    }
}

/// An object, with some members replaced, added or (`None`) removed; of nothing, a new object.
#[derive(Clone, Debug)]
pub struct Changed<'a, V> {
    /// Where the object stands, as a part of a list.
    pub path: Option<Path>,
    /// The object.
    pub of: Option<V>,
    /// The members that change, in the order in which they are added.
    pub members: Members<'a, V>,
}

/// Members that change; each name once.
pub type Members<'a, V> = Vec<(Key<'static>, Option<Edit<'a, V>>)>;

/// What a member becomes.
#[derive(Clone, Debug)]
pub enum Edit<'a, V> {
    /// A new value.
    Made(Json<'a>),
    /// A list of drafts.
    Parts(Parts<'a, V>),
    /// An object of which some members change.
    Changed(Changed<'a, V>),
}

/// A list made of drafts; of nothing, a new list.
#[derive(Clone, Debug)]
pub struct Parts<'a, V> {
    /// The list, and where it stands.
    pub of: Option<(Home, V)>,
    /// What it holds.
    pub items: Vec<Draft<'a, V>>,
}

/// A new value.
#[derive(Clone, Debug)]
pub enum Json<'a> {
    /// A text.
    Text(Piece<'a>),
    /// A text made of parts.
    Joined(Vec<TextPart<'a>>),
    /// A whole number.
    Number(i64),
    /// `true`
    True,
    /// A list.
    List(Vec<Json<'a>>),
    /// An object: its members in their order.
    Object(Vec<(Piece<'a>, Json<'a>)>),
}

/// A part of a new text.
#[derive(Clone, Debug)]
pub enum TextPart<'a> {
    /// As text.
    Text(Piece<'a>),
    /// As it is written in a JSON string, in UTF-8 and with its escapes.
    Written(&'a [u8]),
}

impl<'a> TextPart<'a> {
    /// A text, as it is written where it is part of a body.
    pub(crate) fn of<V: Value<'a>>(text: &Content<'a, V>) -> Self {
        let written = match text {
            Content::Value(value) => value.between_quotes(),
            Content::Piece(_) => None,
        };
        written.map_or_else(|| Self::Text(text.whole()), Self::Written)
    }
}

impl<'a> Json<'a> {
    /// A text of ASCII.
    pub(crate) const fn ascii(literal: &'a str) -> Self {
        Self::Text(Piece::ascii(literal))
    }

    /// An object with members of these names.
    pub(crate) fn object<const N: usize>(members: [(&'a str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (Piece::ascii(name), value)).collect())
    }
}

/// How the messages that drafts describe are made, and how much they were.
pub trait Door<'a> {
    /// A value of the messages.
    type Item: Value<'a>;

    /// The message that a draft describes. What does not change is the caller's own.
    fn build(&self, draft: &Draft<'a, Self::Item>) -> Option<Self::Item>;

    /// The bytes of the messages from one position to another.
    fn weigh(&self, start: usize, end: usize) -> usize;
}

/// Set a member that changes; what was set for its name goes.
pub(crate) fn set_member<'a, V>(members: &mut Members<'a, V>, key: Key<'static>, value: Option<Edit<'a, V>>) {
    match members.iter_mut().find(|(own, _)| *own == key) {
        Some((_, own)) => *own = value,
        None => members.push((key, value)),
    }
}
