//! The messages of a request, as the walk asks for them. In Python a list is walked as it is.

use std::convert::Infallible;

use crate::messages::{Messages, Record};
use crate::value::Value;

/// Messages that are all there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slice<'m, V>(pub(super) &'m [V]);

impl<'a, V: Value<'a>> Messages<'a> for Slice<'_, V> {
    type Item = V;
    type Error = Infallible;

    fn before(&self, position: Option<usize>) -> Result<Option<(usize, V)>, Infallible> {
        let Some(position) = position.unwrap_or(self.0.len()).checked_sub(1) else { return Ok(None) };
        Ok(self.0.get(position).map(|item| (position, *item)))
    }

    fn number(&self, position: usize) -> usize {
        position
    }

    fn records(&self, last: usize) -> Result<Vec<Option<Record<'a>>>, Infallible> {
        Ok(self.0.iter().take(last + 1).map(|item| Record::of(*item)).collect())
    }
}
