//! One document as a value: all of it is read, and becomes nodes.

use bumpalo::Bump;

use super::error::{Fault, Refused};
use super::nodes::{Building, Origin, Stacks};
use super::scanned::Scanned;
use crate::simd::dispatch;
use crate::text::escaped::EscapedText;

impl<'a> Scanned<'a> {
    /// One document, of less than 4 GiB. An error tells the first byte that is wrong.
    pub fn parse(data: &'a [u8], bump: &'a Bump) -> Result<Self, Refused> {
        Document { at: 0, checks_utf8: true, keeps: None }.read(data, bump)
    }

    /// One document that may begin with a byte order mark.
    pub(crate) fn document(data: &'a [u8], bump: &'a Bump) -> Result<Self, Refused> {
        Document { at: mark_len(data), checks_utf8: true, keeps: None }.read(data, bump)
    }

    /// The same, but arrays and objects are empty in those of its members that are not kept.
    pub(crate) fn document_of(
        data: &'a [u8],
        keeps: fn(EscapedText<'a>) -> bool,
        bump: &'a Bump,
    ) -> Result<Self, Refused> {
        Document { at: mark_len(data), checks_utf8: true, keeps: Some(keeps) }.read(data, bump)
    }

    /// A document in a text that was decoded before: it may hold lone surrogates.
    pub(crate) fn decoded(data: &'a [u8], bump: &'a Bump) -> Result<Self, Refused> {
        Document { at: 0, checks_utf8: false, keeps: None }.read(data, bump)
    }
}

/// A byte order mark, which may stand before a document.
pub(crate) const MARK: &[u8] = b"\xEF\xBB\xBF";

/// How long the mark is before a document, if there is one.
fn mark_len(data: &[u8]) -> usize {
    if data.starts_with(MARK) { MARK.len() } else { 0 }
}

/// How a document is read.
struct Document<'a> {
    at: usize,
    checks_utf8: bool,
    keeps: Option<fn(EscapedText<'a>) -> bool>,
}

impl<'a> Document<'a> {
    fn read(self, data: &'a [u8], bump: &'a Bump) -> Result<Scanned<'a>, Refused> {
        let Self { at, checks_utf8, keeps } = self;
        if u32::try_from(data.len()).is_err() {
            return Err(Refused { at: 0, fault: Fault::TooLong });
        }
        let (origin, stacks) = (bump.alloc(Origin { data, bump }), &mut Stacks::default());
        let building = Building { origin, at, depth: 0, long: &[], is_all: true, checks_utf8, keeps, stacks };
        Ok(Scanned::new(dispatch(building)?, origin))
    }
}
