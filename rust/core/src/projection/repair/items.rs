//! `OpenAI` Responses: calls, results and reasoning are items of their own.

use super::pairs::Pairs;
use super::state::Repair;
use crate::formats::{FOUND_TOOLS, SEARCHING_CALL, is_program};
use crate::json::value::{Value, names, text_or_empty};
use crate::projection::edits::{Draft, Path};
use crate::text::Text;

/// Repair the items so that each call is followed by one result, and each reasoning item by an item that it led to. A
/// missing result, and one that stands before its call, come after the consecutive calls that include the call.
pub(crate) fn repair_items<'a, V: Value<'a>>(mut repair: Repair<'_, 'a, '_, V>) -> Vec<Draft<'a, V>> {
    let (destination, pairs, messages) = (repair.destination, repair.pairs, repair.edited.messages);
    if pairs.is_searching {
        repair.mends.open_kinds.insert(SEARCHING_CALL.into());
    }
    let blocks = repair.edited.blocks;
    let has_early = blocks.iter().any(|block| block.entry.result_position < block.entry.position);
    let caller = |path| if has_early { pairs.owner(path) } else { None }.and_then(|number| blocks.get(number));
    let early = |path: Path| caller(path).filter(|block| path.position() < block.entry.position);
    let leads = precede_model_items(messages, |position| early(Path::Message(position)).is_some());
    let mut drafts = Vec::with_capacity(messages.len());
    let mut missing = Vec::new();
    for ((position, item), leads_on) in messages.iter().copied().enumerate().zip(leads) {
        let path = Path::Message(position);
        if repair.edited.is_gone(path) {
            continue;
        }
        let call = pairs.call_at(path);
        if call.is_none() {
            drafts.append(&mut missing);
        }
        if repair.edited.guard.contains(&position) {
            drafts.extend(repair.edited.draft(path));
            continue;
        }
        if let Some(block) = early(path) {
            repair.mends.add("moved_result", Some(position), block.entry.call_id);
            continue;
        }
        let is_found = || text_or_empty(item.get(names::TYPE)).is(FOUND_TOOLS) && answers_other(item, pairs);
        if (destination.is_result(item) || is_found()) && !pairs.has_result(path) {
            repair.report_stray(path, id_of_call(item));
            continue;
        }
        if is_reasoning(item) && !leads_on && !repair.edited.keeps_thoughts {
            repair.mends.add("trailing_thought", Some(position), Text::ascii(""));
            continue;
        }
        drafts.extend(repair.edited.message(position));
        let Some(number) = call else { continue };
        match pairs.result_of(number) {
            None => missing.extend(repair.answer(number)),
            Some(result) if early(result).is_some() => missing.extend(repair.edited.draft(result)),
            Some(_) => {}
        }
    }
    drafts.append(&mut missing);
    drafts
}

fn id_of_call<'a, V: Value<'a>>(item: V) -> Text<'a> {
    text_or_empty(item.get(names::CALL_ID))
}

/// Return true if an item names a call that it can't answer, because the client answers it.
fn answers_other<'a, V: Value<'a>>(item: V, pairs: &Pairs<'a>) -> bool {
    let call_id = id_of_call(item);
    !call_id.is_empty() && pairs.ids.contains(&call_id)
}

fn is_reasoning<'a, V: Value<'a>>(item: V) -> bool {
    text_or_empty(item.get(names::TYPE)).is("reasoning")
}

/// Return one flag per item, true if the next item other than reasoning and results that move comes from the model.
fn precede_model_items<'a, V: Value<'a>>(items: &[V], moves: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut leads = vec![false; items.len()];
    let mut follows = false;
    for (position, (item, leads_on)) in items.iter().zip(&mut leads).enumerate().rev() {
        *leads_on = follows;
        if !is_reasoning(*item) && !moves(position) {
            let role = item.get(names::ROLE);
            let kind = text_or_empty(item.get(names::TYPE));
            let is_models = is_program(kind) || !kind.ends_with("_output");
            follows = if role.is_some() { text_or_empty(role).is("assistant") } else { is_models };
        }
    }
    leads
}
