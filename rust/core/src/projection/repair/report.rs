//! The report of a repair: its corrections.

use std::borrow::Cow;
use std::collections::BTreeSet;

use ahash::{AHashMap, AHashSet};

use crate::projection::edits::Path;
use crate::projection::policy::Mend;
use crate::text::Text;
use crate::text::piece::Piece;

/// The corrections of a request, in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Mends<'a> {
    pub(crate) made: Vec<Mend<'a>>,
    /// The paths of the results that were left out.
    pub(crate) left_out: AHashSet<Path>,
    /// The calls that were left out, by the order of the entry.
    pub(crate) gone_calls: AHashSet<usize>,
    /// The new texts of results that were missing or empty, by the order of the entry.
    pub(crate) texts: AHashMap<usize, &'static str>,
    /// The positions of the messages that are in the system prompt now.
    pub(crate) moved: Vec<usize>,
    /// True if a call has other arguments now, or a result another content, so that they must be judged again.
    pub(crate) must_read_again: bool,
    /// The new names of tools, with the old ones.
    pub(crate) names: Vec<(Piece<'a>, Text<'a>)>,
    /// The problems that remain: types of calls for which no result can be made, and calls and results of server tools
    /// that have no counterpart.
    pub(crate) open_kinds: BTreeSet<Cow<'static, str>>,
}

impl<'a> Mends<'a> {
    /// Return true if the result at a path was left out.
    pub(crate) fn is_left_out(&self, path: Option<Path>) -> bool {
        path.is_some_and(|path| self.left_out.contains(&path))
    }

    /// Add a correction.
    pub(crate) fn add(&mut self, kind: &'static str, position: Option<usize>, call_id: Text<'a>) {
        self.add_with(kind, position, call_id, Piece::default());
    }

    /// Add a correction with further details.
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
