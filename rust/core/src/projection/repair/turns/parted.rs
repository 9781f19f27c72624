//! Results alone in their turn: some models refuse other parts after them.

use crate::json::value::Value;
use crate::projection::edits::{Draft, Json};
use crate::projection::repair::cache_marks::is_point;
use crate::projection::repair::destinations::Destination;
use crate::projection::repair::message_parts::{MessageDraft, Side, source_of};
use crate::projection::repair::report::Mends;
use crate::text::Text;
use crate::text::constants::added;

/// Return a message, or that of its results, one of the model, and that of its other parts.
pub(super) fn parted<'a, V: Value<'a>>(
    mut message_draft: MessageDraft<'a, V>,
    destination: &Destination,
    mends: &mut Mends<'a>,
) -> Vec<MessageDraft<'a, V>> {
    let items = message_draft.items.as_mut().filter(|_| message_draft.side == Side::User);
    let split = items.and_then(|items| {
        let count = items.iter().take_while(|item| is_answer(item, destination)).count();
        (count > 0 && count < items.len()).then(|| items.split_off(count))
    });
    let Some(rest) = split else { return vec![message_draft] };
    mends.add("missing_model", message_draft.position, Text::ascii(""));
    let words = Draft::NewValue(destination.text(Text::ascii(added("missing_model"))));
    let between = MessageDraft::new(None, Side::Model, Some(vec![words]));
    vec![message_draft, between, MessageDraft::new(None, Side::User, Some(rest))]
}

/// Return true if a part is a result, or a mark for the prompt cache after one.
fn is_answer<'a, V: Value<'a>>(item: &Draft<'a, V>, destination: &Destination) -> bool {
    match item {
        Draft::NewValue(Json::Object(members)) => {
            let holders = destination.result_id.holders;
            members.iter().any(|(name, _)| holders.iter().any(|holder| holder.name == name.text()))
        }
        item => source_of(item).is_some_and(|part| is_point(part) || destination.is_result(part)),
    }
}
