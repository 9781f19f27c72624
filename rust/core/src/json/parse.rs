//! Documents as values of scanned JSON.

use bumpalo::Bump;

use super::error::{Fault, Refused};
use super::nodes::{Building, Origin, Stacks};
use super::scanned::Scanned;
use crate::simd::dispatch;
use crate::text::escaped::EscapedText;

impl<'a> Scanned<'a> {
    /// Parse one document of less than 4 GiB. An error has the offset of the first wrong byte.
    pub fn parse(data: &'a [u8], bump: &'a Bump) -> Result<Self, Refused> {
        Document { at: 0, checks_utf8: true, keeps: None }.read(data, bump)
    }

    /// Parse one document that may begin with a byte order mark.
    pub(crate) fn document(data: &'a [u8], bump: &'a Bump) -> Result<Self, Refused> {
        Document { at: mark_len(data), checks_utf8: true, keeps: None }.read(data, bump)
    }

    /// Parse a document as [`Scanned::document`] does, but leave arrays and objects empty in the members that `keeps`
    /// rejects.
    pub(crate) fn document_of(
        data: &'a [u8],
        keeps: fn(EscapedText<'a>) -> bool,
        bump: &'a Bump,
    ) -> Result<Self, Refused> {
        Document { at: mark_len(data), checks_utf8: true, keeps: Some(keeps) }.read(data, bump)
    }

    /// Parse a document in a string that was decoded before, and may hold lone surrogates.
    pub(crate) fn decoded(data: &'a [u8], bump: &'a Bump) -> Result<Self, Refused> {
        Document { at: 0, checks_utf8: false, keeps: None }.read(data, bump)
    }
}

/// The byte order mark, which may precede a document.
pub(crate) const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Return the length of the byte order mark, or 0.
fn mark_len(data: &[u8]) -> usize {
    if data.starts_with(MARK) { MARK.len() } else { 0 }
}

/// The options for reading a document.
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
