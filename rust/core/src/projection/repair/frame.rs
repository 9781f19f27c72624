//! The frame of a request: its members besides the messages, such as the system prompt, the tools and the settings.

use ahash::AHashMap;

use crate::json::value::{Key, Value, items};
use crate::projection::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, Path};
use crate::text::Text;

/// The step of a pattern that stands for each item of a list.
const EACH: Text<'static> = Text::ascii("*");

/// A step to a value inside the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Member(Key<'static>),
    Item(usize),
}

/// The members of a request besides its messages, and their changes. A list of messages has none.
pub(crate) struct Frame<'a, V> {
    pub(crate) members: V,
    /// The new values by path; `None` for one that is removed.
    changes: Vec<(Vec<Step>, Option<Json<'a>>)>,
    /// True if the policy names the destination.
    pub(crate) is_named: bool,
}

impl<'a, V: Value<'a>> Frame<'a, V> {
    pub(crate) fn new(members: V, is_named: bool) -> Self {
        Self { members, changes: Vec::new(), is_named }
    }

    /// Visit the values at the places of a pattern, in which `*` stands for each item of a list.
    pub(crate) fn visit(&self, pattern: &[Key<'static>], visit: &mut dyn FnMut(&[Step], V)) {
        visit_in(self.members, pattern, &mut Vec::new(), visit);
    }

    /// Replace the value at a path, or remove it (`None`). An item after the last one of a list is added.
    pub(crate) fn change(&mut self, path: Vec<Step>, new: Option<Json<'a>>) {
        self.changes.push((path, new));
    }

    /// Return true if a member, or something in it, changes.
    pub(crate) fn is_changed(&self, key: Key<'static>) -> bool {
        self.changes.iter().any(|(path, _)| path.first() == Some(&Step::Member(key)))
    }

    /// Return the members that change.
    pub(crate) fn edits(self) -> Members<'a, V> {
        if self.changes.is_empty() {
            return Vec::new();
        }
        let all = self.changes.iter().map(|(path, new)| (&**path, new)).collect();
        match edited(Some(self.members), all) {
            Some(Edit::Changed(changed)) => changed.members,
            _ => Vec::new(),
        }
    }
}

fn visit_in<'a, V: Value<'a>>(
    value: V,
    pattern: &[Key<'static>],
    path: &mut Vec<Step>,
    visit: &mut dyn FnMut(&[Step], V),
) {
    let Some((step, rest)) = pattern.split_first() else { return visit(path, value) };
    if step.name == EACH {
        for (index, item) in value.list().into_iter().flat_map(items).enumerate() {
            path.push(Step::Item(index));
            visit_in(item, rest, path, visit);
            path.pop();
        }
    } else if let Some(inner) = value.object().and_then(|held| held.get(*step)) {
        path.push(Step::Member(*step));
        visit_in(inner, rest, path, visit);
        path.pop();
    }
}

type Changes<'c, 'a> = Vec<(&'c [Step], &'c Option<Json<'a>>)>;

/// Return a value with changes inside it; `None` if it is removed.
fn edited<'a, V: Value<'a>>(value: Option<V>, all: Changes<'_, 'a>) -> Option<Edit<'a, V>> {
    if let Some((_, new)) = all.iter().find(|(rest, _)| rest.is_empty()) {
        return (*new).clone().map(Edit::NewValue);
    }
    if let Some(list) = value.and_then(Value::list) {
        let mut inner: AHashMap<usize, Changes<'_, 'a>> = AHashMap::new();
        for (rest, new) in all {
            if let Some((Step::Item(index), rest)) = rest.split_first() {
                inner.entry(*index).or_default().push((rest, new));
            }
        }
        let draft = |(index, item)| {
            let path = Path::Inner(index);
            let Some(own) = inner.remove(&index) else { return Some(Draft::Original(path, item)) };
            match edited(Some(item), own)? {
                Edit::NewValue(value) => Some(Draft::NewValue(value)),
                Edit::Changed(changed) => Some(Draft::Changed(Changed { path: Some(path), ..changed })),
                Edit::Parts(_) => None,
            }
        };
        let mut drafts: Vec<Draft<'a, V>> = items(list).enumerate().filter_map(draft).collect();
        let mut added: Vec<_> = inner.into_iter().collect();
        added.sort_unstable_by_key(|(index, _)| *index);
        let new = added.into_iter().flat_map(|(_, own)| own).filter_map(|(_, new)| new.clone());
        drafts.extend(new.map(Draft::NewValue));
        return Some(Edit::Parts(Parts { of: Some((DraftList::Inner, list)), items: drafts }));
    }
    let held = value.and_then(Value::object);
    let mut inner: Vec<(Key<'static>, Changes<'_, 'a>)> = Vec::new();
    for (rest, new) in all {
        let Some((Step::Member(key), rest)) = rest.split_first() else { continue };
        match inner.iter_mut().find(|(own, _)| own == key) {
            Some((_, own)) => own.push((rest, new)),
            None => inner.push((*key, vec![(rest, new)])),
        }
    }
    let change = |(key, own)| (key, edited(held.and_then(|held| held.get(key)), own));
    let members = inner.into_iter().map(change).collect();
    Some(Edit::Changed(Changed { path: None, of: held, members }))
}
