//! The encodings, each with its vocabulary and its grammar.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use super::classes::Classes;
use super::encoder::Encoder;
use super::split::{Grammar, Splitter};
use super::vocabulary::Vocabulary;
use crate::simd::Lanes;

/// The encodings that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EncodingName {
    /// The encoding of GPT-4o and later models.
    O200kBase,
    /// The encoding of GPT-4 and GPT-3.5.
    Cl100kBase,
}

impl EncodingName {
    /// Return the encoding with this name in tiktoken.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "o200k_base" => Some(Self::O200kBase),
            "cl100k_base" => Some(Self::Cl100kBase),
            _ => None,
        }
    }
}

/// The packed vocabulary is cut off or malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadVocabulary;

impl fmt::Display for BadVocabulary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not a packed vocabulary")
    }
}

impl std::error::Error for BadVocabulary {}

/// An encoding with its vocabulary, for use by any number of threads at once.
pub struct Encoding {
    pub(super) vocabulary: Vocabulary,
    pub(super) classes: &'static Classes,
    pub(super) grammar: Grammar,
    /// The number by which a thread finds its cache.
    number: u64,
}

impl fmt::Debug for Encoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Encoding").field("grammar", &self.grammar).finish_non_exhaustive()
    }
}

impl Encoding {
    /// Return a number that is the same for an encoding in every process.
    pub(crate) const fn id(&self) -> u64 {
        self.grammar as u64
    }

    /// Read an encoding from its packed vocabulary: for each token, in the order of ranks, a byte of length and its
    /// bytes.
    pub fn parse(name: EncodingName, packed: &[u8]) -> Result<Self, BadVocabulary> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        Ok(Self {
            vocabulary: Vocabulary::parse(packed).ok_or(BadVocabulary)?,
            classes: Classes::load(),
            grammar: match name {
                EncodingName::O200kBase => Grammar::O200k,
                EncodingName::Cl100kBase => Grammar::Cl100k,
            },
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
        })
    }

    pub(super) fn encoder(&self) -> Encoder<'_> {
        Encoder::new(&self.vocabulary, self.number)
    }

    pub(super) fn splitter<'a>(&'a self, text: &'a [u8]) -> Splitter<'a> {
        Splitter { text, classes: self.classes }
    }

    /// Visit the start and the end of each piece, from a place where a piece starts, until the visitor stops. The third
    /// argument is true if the piece is known to be ASCII.
    #[inline(always)]
    pub(super) fn split<L: Lanes, B>(
        &self,
        text: &[u8],
        from: usize,
        visit: impl FnMut(usize, usize, bool) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.splitter(text).pieces::<L, B>(self.grammar, from, visit)
    }
}
