//! The messages of a projection: unchanged messages, messages with some members replaced, and new messages.
//!
//! A draft holds the value that it is made from and the path of that value. So the same plan can be applied to objects,
//! in the binding, and to the bytes of a body, in [`super::splice`].

use crate::content::Content;
use crate::json::value::{Key, Value, names};
use crate::text::piece::Piece;

/// The member of a message that holds its parts. The variants are in the order of their names.
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
    /// All members.
    pub(crate) const ALL: [Self; 3] = [Self::Content, Self::Parts, Self::ToolCalls];

    /// Return the name of the member.
    #[must_use]
    pub const fn key(self) -> Key<'static> {
        match self {
            Self::Content => names::CONTENT,
            Self::Parts => names::PARTS,
            Self::ToolCalls => names::TOOL_CALLS,
        }
    }
}

/// The location of a value in the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Path {
    /// The message at a position.
    Message(usize),
    /// A part of a message.
    Part(usize, PartsKey, usize),
    /// An item of the list that the surrounding draft is made from.
    Inner(usize),
}

/// A list that drafts belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftList {
    /// The messages.
    Messages,
    /// The parts of a message.
    Message(usize, PartsKey),
    /// A list inside the value that the surrounding draft is made from.
    Inner,
}

impl Path {
    /// Return the position of the message that is the value or contains it.
    #[must_use]
    pub fn position(self) -> usize {
        match self {
            Self::Message(position) | Self::Part(position, ..) => position,
            Self::Inner(_) => 0,
        }
    }

    /// Return the index of the value in a list; `None` if it is not in that list.
    #[must_use]
    pub fn index_in(self, home: DraftList) -> Option<usize> {
        match (self, home) {
            (Self::Message(index), DraftList::Messages) | (Self::Inner(index), DraftList::Inner) => Some(index),
            (Self::Part(own, own_key, index), DraftList::Message(position, key)) => {
                (own == position && own_key == key).then_some(index)
            }
            _ => None,
        }
    }
}

/// An item of a new list.
#[derive(Clone, Debug)]
pub enum Draft<'a, V> {
    /// An unchanged value.
    Original(Path, V),
    /// An object with some members changed.
    Changed(Changed<'a, V>),
    /// A new value.
    NewValue(Json<'a>),
}

impl<V> Draft<'_, V> {
    /// Return the path of the value that the draft is made from; `None` for a new value.
    #[must_use]
    pub fn path(&self) -> Option<Path> {
        match self {
            Self::Original(path, _) => Some(*path),
            Self::Changed(changed) => changed.path,
            Self::NewValue(_) => None,
        }
    }

    /// Return true if the draft is the unchanged value at a path.
    pub(crate) fn is_kept_at(&self, path: Path) -> bool {
        matches!(self, Self::Original(own, _) if *own == path)
    }
}

/// An object with some members replaced, added or removed (`None`). Without an original, it is a new object.
#[derive(Clone, Debug)]
pub struct Changed<'a, V> {
    /// The path of the object, if it is an item of a list.
    pub path: Option<Path>,
    /// The original object.
    pub of: Option<V>,
    /// The members that change. New ones are added in this order.
    pub members: Members<'a, V>,
}

/// The members that change, each name once.
pub type Members<'a, V> = Vec<(Key<'a>, Option<Edit<'a, V>>)>;

/// The new value of a member.
#[derive(Clone, Debug)]
pub enum Edit<'a, V> {
    /// A new value.
    NewValue(Json<'a>),
    /// A list of drafts.
    Parts(Parts<'a, V>),
    /// An object with some members changed.
    Changed(Changed<'a, V>),
}

/// A list made of drafts. Without an original, it is a new list.
#[derive(Clone, Debug)]
pub struct Parts<'a, V> {
    /// The original list and its location.
    pub of: Option<(DraftList, V)>,
    /// The items.
    pub items: Vec<Draft<'a, V>>,
}

/// A new value.
#[derive(Clone, Debug)]
pub enum Json<'a> {
    /// A text.
    Text(Piece<'a>),
    /// A text joined from parts.
    Joined(Vec<TextPart<'a>>),
    /// A value, as its JSON text.
    Source(Piece<'a>),
    /// A whole number.
    Number(i64),
    /// `true`
    True,
    /// A list.
    List(Vec<Json<'a>>),
    /// An object, as its members in order.
    Object(Vec<(Piece<'a>, Json<'a>)>),
}

/// A part of a new text.
#[derive(Clone, Debug)]
pub enum TextPart<'a> {
    /// A decoded text.
    Text(Piece<'a>),
    /// A slice of a JSON string in a body, in UTF-8 and with its escapes.
    Written(&'a [u8]),
}

impl<'a> TextPart<'a> {
    /// Make a part of a text, as a slice of the body if possible.
    pub(crate) fn of<V: Value<'a>>(text: &Content<'a, V>) -> Self {
        let written = match text {
            Content::Value(value) => value.between_quotes(),
            Content::Piece(_) => None,
        };
        written.map_or_else(|| Self::Text(text.whole()), Self::Written)
    }
}

impl<'a> Json<'a> {
    /// Make an ASCII text.
    pub(crate) const fn ascii(literal: &'a str) -> Self {
        Self::Text(Piece::ascii(literal))
    }

    /// Make an object with these members.
    pub(crate) fn object<const N: usize>(members: [(&'a str, Self); N]) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (Piece::ascii(name), value)).collect())
    }
}

/// The source of a request: builds the messages that drafts describe, and measures the original ones.
pub trait RequestSource<'a> {
    /// The type of a value in the messages.
    type Item: Value<'a>;

    /// Build the message that a draft describes. Unchanged values are the caller's own.
    fn build(&self, draft: &Draft<'a, Self::Item>) -> Option<Self::Item>;

    /// Return the request with all of its members; `None` if it is a list of messages.
    fn frame(&self) -> Option<Self::Item> {
        None
    }

    /// Return true if a text of the request may have a lone surrogate, or if a number is NaN or an infinity.
    fn may_be_broken(&self) -> bool;

    /// Return the number of bytes of the request, or of the texts in a list of messages.
    fn size(&self) -> usize;

    /// Return the number of bytes of the messages from `start` up to `end`.
    fn weigh(&self, start: usize, end: usize) -> usize;
}

/// Set the change of a member, replacing any earlier change.
pub(crate) fn set_member<'a, V>(members: &mut Members<'a, V>, key: Key<'a>, value: Option<Edit<'a, V>>) {
    match members.iter_mut().find(|(own, _)| *own == key) {
        Some((_, own)) => *own = value,
        None => members.push((key, value)),
    }
}
