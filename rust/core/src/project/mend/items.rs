//! `OpenAI` Responses: calls, results and reasoning are items of their own.
//! The twin is `_pure/project/mend/items.py`.

use super::dialects::Dialect;
use super::ids::GivenIds;
use super::mends::Mends;
use super::pairs::Pairs;
use crate::project::drafts::{Draft, Path};
use crate::project::material::Material;
use crate::text::Text;
use crate::value::{Value, names, text_or_empty};

/// The items, so that each call has one result behind it, and each reasoning what it led to. A result that is missing
/// stands behind the calls that its call is one of.
pub(crate) fn mend_items<'a, V: Value<'a>>(
    material: &Material<'a, '_, V>,
    dialect: &Dialect,
    (pairs, ids): (&Pairs<'a>, &GivenIds<'a>),
    mends: &mut Mends<'a>,
) -> Vec<Draft<'a, V>> {
    let leads = leading_on(material.messages);
    let mut drafts = Vec::with_capacity(material.messages.len());
    let mut missing = Vec::new();
    for ((position, item), leads_on) in material.messages.iter().copied().enumerate().zip(leads) {
        let path = Path::Message(position);
        if material.is_gone(path) {
            continue;
        }
        let call = pairs.call_at(path);
        if call.is_none() {
            drafts.append(&mut missing);
        }
        if dialect.is_result(item) && !pairs.has_result(path) && !material.is_continued {
            let call_id = text_or_empty(item.get(names::CALL_ID));
            let kind = if pairs.ids.contains(&call_id) { "duplicate_result" } else { "orphan_result" };
            mends.add(kind, Some(position), call_id);
            continue;
        }
        if is_reasoning(item) && !leads_on {
            mends.add("trailing_thought", Some(position), Text::ascii(""));
            continue;
        }
        drafts.extend(material.draft(path));
        if let Some(number) = call.filter(|number| pairs.result_of(*number).is_none())
            && let Some(block) = material.blocks.get(number)
        {
            let call_id = ids.get(&number).cloned().unwrap_or_default();
            missing.push(Draft::Made(dialect.make(&call_id, block.entry.tool_name, Some(item))));
            mends.add("missing_result", Some(position), block.entry.call_id);
        }
    }
    drafts.append(&mut missing);
    drafts
}

fn is_reasoning<'a, V: Value<'a>>(item: V) -> bool {
    text_or_empty(item.get(names::TYPE)).is("reasoning")
}

/// Whether something of the model's follows on what it thought, for each item.
fn leading_on<'a, V: Value<'a>>(items: &[V]) -> Vec<bool> {
    let mut leads = vec![false; items.len()];
    let mut follows = false;
    for (item, leads_on) in items.iter().zip(&mut leads).rev() {
        *leads_on = follows;
        if !is_reasoning(*item) {
            let role = item.get(names::ROLE);
            let is_output = || text_or_empty(item.get(names::TYPE)).ends_with("_output");
            follows = if role.is_some() { text_or_empty(role).is("assistant") } else { !is_output() };
        }
    }
    leads
}
