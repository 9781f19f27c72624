//! The state shared by the repairs of all forms of requests.

use super::destinations::Destination;
use super::ids::AssignedIds;
use super::pairs::Pairs;
use super::report::Mends;
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::{Draft, Path};
use crate::projection::request::EditedMessages;
use crate::text::Text;
use crate::text::constants::INTERRUPTED;

/// The input and the report of a repair.
pub(crate) struct Repair<'t, 'a, 'm, V> {
    pub(crate) edited: &'t mut EditedMessages<'a, 'm, V>,
    pub(crate) destination: &'static Destination,
    pub(crate) pairs: &'t Pairs<'a>,
    /// The new ids of calls.
    pub(crate) ids: &'t AssignedIds<'a>,
    pub(crate) mends: &'t mut Mends<'a>,
}

impl<'a, V: Value<'a>> Repair<'_, 'a, '_, V> {
    /// Return the original id of a block's call.
    pub(crate) fn call_id(&self, number: Option<usize>) -> Text<'a> {
        let block = number.and_then(|number| self.edited.blocks.get(number));
        block.map_or(Text::ascii(""), |block| block.entry.call_id)
    }

    /// Make a result for the call of a block without one; `None` if no result can be made for that type of call.
    pub(crate) fn answer(&mut self, number: usize) -> Option<Draft<'a, V>> {
        let block = self.edited.blocks.get(number)?;
        let entry = &block.entry;
        let call_id = self.ids.get(&number).cloned().unwrap_or_default();
        let Some(made) = self.destination.make(&call_id, self.pairs.name_of(number, block), entry.call) else {
            let kind = text_or_empty(entry.call.and_then(|call| call.get(names::TYPE)));
            self.mends.open_kinds.insert(kind.to_utf8().into());
            return None;
        };
        self.mends.add("missing_result", Some(entry.position), entry.call_id);
        self.mends.texts.insert(entry.order, INTERRUPTED);
        Some(Draft::NewValue(made))
    }

    /// Report a removed result. It answers no call, or a call that already has a result.
    pub(crate) fn report_stray(&mut self, path: Path, call_id: Text<'a>) {
        let is_second = !call_id.is_empty() && self.pairs.ids.contains(&call_id);
        let kind = if is_second { "duplicate_result" } else { "orphan_result" };
        self.mends.add(kind, Some(path.position()), call_id);
        self.mends.left_out.insert(path);
    }
}
