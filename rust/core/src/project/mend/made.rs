//! Results that are made up for calls that have none, and texts, as each provider writes them.
//! The twin is `_pure/project/mend/made.py`.

use super::dialects::{Dialect, Family};
use crate::pieces::Piece;
use crate::project::drafts::Json;
use crate::text::{OwnedText, Text};
use crate::texts::INTERRUPTED;
use crate::value::{Value, names, text_or_empty};

/// The call of Responses whose result is a screenshot: none can be made, since the model would believe it.
pub(crate) const SHOWN: &str = "computer_call";
pub(crate) const OUTPUT: &str = "_output";

impl Dialect {
    /// A result for a call: of an id and a tool's name, and the call itself; nothing where none can be made.
    pub(crate) fn make<'a, V: Value<'a>>(
        &self,
        call_id: &Piece<'a>,
        name: Text<'a>,
        call: Option<V>,
    ) -> Option<Json<'a>> {
        let text = || Json::ascii(INTERRUPTED);
        let id = || Json::Text(call_id.clone());
        let name = || Json::Text(Piece::Borrowed(name));
        Some(match self.family {
            Family::Anthropic => Json::object([
                ("type", Json::ascii("tool_result")),
                ("tool_use_id", id()),
                ("content", text()),
                ("is_error", Json::True),
            ]),
            Family::Bedrock => {
                let content = Json::List(vec![Json::object([("text", text())])]);
                let held = [("toolUseId", id()), ("content", content), ("status", Json::ascii("error"))];
                Json::object([("toolResult", Json::object(held))])
            }
            Family::Gemini => {
                let held = [("name", name()), ("response", Json::object([("error", text())]))];
                let own = [("id", id())].into_iter().filter(|_| !call_id.is_empty());
                Json::object([("functionResponse", object_of(own.chain(held)))])
            }
            Family::Chat => Json::object([("role", Json::ascii("tool")), ("tool_call_id", id()), ("content", text())]),
            Family::Ollama => {
                let own = [("tool_call_id", id())].into_iter().filter(|_| !call_id.is_empty());
                let first = [("role", Json::ascii("tool")), ("tool_name", name())];
                object_of(first.into_iter().chain(own).chain([("content", text())]))
            }
            Family::Responses => {
                let kind = text_or_empty(call.and_then(|call| call.get(names::TYPE)));
                return (!kind.is(SHOWN)).then(|| item_result(kind, id()));
            }
        })
    }

    /// A text part.
    pub(crate) fn text<'a>(&self, text: Text<'a>) -> Json<'a> {
        let text = ("text", Json::Text(Piece::Borrowed(text)));
        match self.family {
            Family::Bedrock | Family::Gemini => Json::object([text]),
            _ => Json::object([("type", Json::ascii("text")), text]),
        }
    }
}

fn object_of<'a>(members: impl Iterator<Item = (&'a str, Json<'a>)>) -> Json<'a> {
    Json::Object(members.map(|(name, value)| (Piece::ascii(name), value)).collect())
}

/// The item of Responses that answers a call of a type.
fn item_result<'a>(call_type: Text<'a>, call_id: Json<'a>) -> Json<'a> {
    let mut kind = OwnedText::from(call_type);
    kind.push_ascii(OUTPUT);
    let made = [("type", Json::Text(Piece::own(kind))), ("call_id", call_id)].into_iter();
    let text = Json::ascii(INTERRUPTED);
    if call_type.is("shell_call") {
        let outcome = Json::object([("type", Json::ascii("exit")), ("exit_code", Json::Number(1))]);
        let printed = [("stdout", Json::ascii("")), ("stderr", text), ("outcome", outcome)];
        return object_of(made.chain([("output", Json::List(vec![Json::object(printed)]))]));
    }
    let status = [("status", Json::ascii("failed"))].into_iter().filter(|_| call_type.is("apply_patch_call"));
    object_of(made.chain(status).chain([("output", text)]))
}
