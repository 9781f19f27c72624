//! The wire shapes, a reader for each family that a request path meets, and those of Claude Code and Codex.
//!
//! A new one is a file here and a line in this list; its twin is in `_pure/shapes/`. What other producers write is
//! imported, in Python: `toolcarry.importers`.

use crate::said::{Said, Shape, Spoken, ToolCall, ToolResult};
use crate::value::Value;

pub(crate) use self::chat::Chat;

/// Declare the families, and ask them in their order. All of it is compiled into the walk: no reader is called through
/// a pointer.
macro_rules! families {
    (others: $($other:ident::$Other:ident)+; with content: $($module:ident::$Shape:ident)+;) => {
        $(mod $other;)+
        $(mod $module;)+

        /// Take in what a message says that has a role and a content.
        pub(crate) fn read_with_content<'a, V: Value<'a>>(
            message: V,
            role: Option<V>,
            said: &mut Said<'a, V>,
        ) -> Option<&'static str> {
            None$(.or_else(|| $module::$Shape::read(message, role, said)))+
        }

        /// Take in what a message says that has them elsewhere.
        pub(crate) fn read_others<'a, V: Value<'a>>(
            message: V,
            role: Option<V>,
            said: &mut Said<'a, V>,
        ) -> Option<&'static str> {
            None$(.or_else(|| $other::$Other::read(message, role, said)))+
        }

        /// What a call says that stands by itself.
        pub(crate) fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
            None$(.or_else(|| $other::$Other::call(wire)))+$(.or_else(|| $module::$Shape::call(wire)))+
        }

        /// What a result says that stands by itself.
        pub(crate) fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
            None$(.or_else(|| $other::$Other::result(wire)))+$(.or_else(|| $module::$Shape::result(wire)))+
        }

        /// What is spoken in a message whose speaker and content have places of their own.
        pub(crate) fn spoken<'a, V: Value<'a>>(message: V) -> Option<Spoken<'a, V>> {
            None$(.or_else(|| $other::$Other::spoken(message)))+$(.or_else(|| $module::$Shape::spoken(message)))+
        }
    };
}

// A file and the reader in it, in the order in which they are asked; of a message with a role and a content, only those
// that have both. Before these, an importer has its say. Chat stands before Anthropic, since its messages may hold Anthropic's blocks as well.
families! {
    others:
        gemini::Gemini
        responses::Responses
        codex::Codex;
    with content:
        chat::Chat
        anthropic::Anthropic
        bedrock::Bedrock;
}
