//! The report of a repair: what was mended, and where.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ahash::AHashSet;

use crate::projection::edits::Path;
use crate::projection::policy::Mend;
use crate::text::Text;
use crate::text::piece::Piece;

/// The mends of a request, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Mends<'a> {
    pub(crate) made: Vec<Mend<'a>>,
    /// Where the results stood that were left out.
    pub(crate) left_out: AHashSet<Path>,
    /// What stays as it is: kinds of calls for which no result can be made, and what stands alone of a provider's own.
    pub(crate) open_kinds: BTreeSet<Cow<'static, str>>,
}

impl<'a> Mends<'a> {
    /// Return whether the result at a path was left out.
    pub(crate) fn is_left_out(&self, path: Option<Path>) -> bool {
        path.is_some_and(|path| self.left_out.contains(&path))
    }

    /// Note a mend: of which kind, in which message, of which call.
    pub(crate) fn add(&mut self, kind: &'static str, position: Option<usize>, call_id: Text<'a>) {
        self.add_with(kind, position, call_id, Piece::default());
    }

    /// Note a mend of which there is more to tell.
    pub(crate) fn add_with(
        &mut self,
        kind: &'static str,
        position: Option<usize>,
        call_id: Text<'a>,
        detail: Piece<'a>,
    ) {
        let call_id = Piece::Borrowed(call_id);
        self.made.push(Mend { kind: Cow::Borrowed(kind), position, call_id, detail });
    }
}
