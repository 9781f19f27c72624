//! Values in a form that tests can compare, and the messages of a document in that form.

use bumpalo::Bump;
use toolcarry::input::Conversation;
use toolcarry::input::messages::Messages;
use toolcarry::json::error::Refused;
use toolcarry::json::scanned::{Scanned, Written};
use toolcarry::json::value::Value;
use toolcarry::text::Text;

/// A value in the form that tests compare.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Number(String),
    Text(Vec<u32>),
    List(Vec<Tree>),
    Object(Vec<(Vec<u32>, Tree)>),
}

pub(crate) fn code_points(text: Text<'_>) -> Vec<u32> {
    (0..text.len()).filter_map(|index| text.get(index)).collect()
}

pub(crate) fn tree_of(value: Scanned<'_>) -> Tree {
    match value.written() {
        Written::Null => Tree::Null,
        Written::Bool(value) => Tree::Bool(value),
        Written::Number(digits) => Tree::Number(String::from_utf8(digits.to_vec()).unwrap()),
        Written::Text => Tree::Text(code_points(value.text().unwrap())),
        Written::List => Tree::List((0..value.count()).map(|index| tree_of(value.item(index).unwrap())).collect()),
        Written::Object => {
            let mut members = Vec::new();
            value.members(&mut |name, value| {
                members.push((code_points(name), tree_of(value)));
                true
            });
            assert_eq!(members.len(), value.size());
            Tree::Object(members)
        }
    }
}

pub(crate) fn parse(data: &[u8]) -> Result<Tree, Refused> {
    Scanned::parse(data, &Bump::new()).map(tree_of)
}

/// The messages of a conversation with their positions, oldest first.
pub(crate) fn messages_of<'a>(messages: &Conversation<'a>) -> Result<Vec<(usize, Scanned<'a>)>, Refused> {
    let (mut found, mut position) = (Vec::new(), None);
    while let Some((place, item)) = messages.before(position)? {
        found.push((place, item));
        position = Some(place);
    }
    found.reverse();
    Ok(found)
}

/// The messages of a conversation.
pub(crate) fn open(data: &[u8]) -> Result<Vec<Tree>, Refused> {
    let bump = Bump::new();
    let messages = Conversation::open(data, &bump)?;
    Ok(messages_of(&messages)?.into_iter().map(|(_, item)| tree_of(item)).collect())
}
