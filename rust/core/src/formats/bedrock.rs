//! Bedrock Converse: blocks of the content that hold `toolUse` or `toolResult`.

use super::message::{Format, MessageParts, ToolCall, ToolResult};
use crate::json::value::objects;
use crate::json::value::{Value, names, text_or_empty};
use crate::text::Text;

const NAME: &str = "bedrock";

pub(crate) struct Bedrock;

impl Format for Bedrock {
    fn read<'a, V: Value<'a>>(
        message: V,
        _: Option<V>,
        message_parts: &mut MessageParts<'a, V>,
    ) -> Option<&'static str> {
        for block in objects(message.get(names::CONTENT)).filter(|block| !block.has(names::TYPE)) {
            message_parts.calls.extend(Self::call(block));
            message_parts.results.extend(Self::result(block));
        }
        (!message_parts.is_empty()).then_some(NAME)
    }

    fn call<'a, V: Value<'a>>(wire: V) -> Option<ToolCall<'a, V>> {
        let used = wire.get(names::TOOL_USE_CAMEL)?.object()?;
        Some(ToolCall {
            wire,
            call_id: text_or_empty(used.get(names::TOOL_USE_ID_CAMEL)),
            name: text_or_empty(used.get(names::NAME)),
            arguments: used.get(names::INPUT),
            server: Text::ascii(""),
        })
    }

    fn result<'a, V: Value<'a>>(wire: V) -> Option<ToolResult<'a, V>> {
        let given = wire.get(names::TOOL_RESULT_CAMEL)?.object()?;
        Some(ToolResult {
            wire,
            call_id: text_or_empty(given.get(names::TOOL_USE_ID_CAMEL)),
            name: Text::ascii(""),
            content: given.get(names::CONTENT),
            is_error: text_or_empty(given.get(names::STATUS)).is("error"),
        })
    }
}
