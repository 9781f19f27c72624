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
    /// Of GPT-4o and what came after it.
    O200kBase,
    /// Of GPT-4 and GPT-3.5.
    Cl100kBase,
}

impl EncodingName {
    /// The encoding that tiktoken calls by this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "o200k_base" => Some(Self::O200kBase),
            "cl100k_base" => Some(Self::Cl100kBase),
            _ => None,
        }
    }
}

/// A vocabulary that is cut off or not packed as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadVocabulary;

impl fmt::Display for BadVocabulary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("not a packed vocabulary")
    }
}

impl std::error::Error for BadVocabulary {}

/// An encoding with its vocabulary. It is used by any number of threads at once.
pub struct Encoding {
    pub(super) vocabulary: Vocabulary,
    pub(super) classes: &'static Classes,
    pub(super) grammar: Grammar,
    /// What a thread knows it by.
    number: u64,
}

impl fmt::Debug for Encoding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Encoding").field("grammar", &self.grammar).finish_non_exhaustive()
    }
}

impl Encoding {
    /// The encoding with its packed vocabulary: a byte of length and the bytes of each token, in the order of the ranks.
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

    /// Visit where the pieces start and end, from a place on where one starts, until the visitor breaks off.
    #[inline(always)]
    pub(super) fn split<L: Lanes, B>(
        &self,
        text: &[u8],
        from: usize,
        visit: impl FnMut(usize, usize) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.splitter(text).pieces::<L, B>(self.grammar, from, visit)
    }
}
