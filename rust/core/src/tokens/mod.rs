//! Count and cut by the tokens of `OpenAI`'s encodings, exactly and in linear time.
//!
//! A text is split into pieces ([`split`]), each of which is encoded by itself ([`pieces`]): most are a token
//! ([`vocabulary`]), the others are merged from their bytes ([`merge`], [`long`]). Many came by before ([`remembered`]),
//! and words are counted some at a time ([`batch`]).
//!
//! Guaranteed: the tokens are those of tiktoken, where what looks like a special token is text; the time is
//! proportional to the text whatever is in it; nothing panics, UTF-8 or not.
//!
//! Left out: decoding, special tokens, and the data. The vocabularies are handed in as
//! `python/toolcarry/_data/vocabularies` has them packed.

mod batch;
mod cache;
mod characters;
mod classes;
mod count;
mod encoder;
mod keys;
mod long;
mod memo;
mod merge;
pub mod messages;
mod part;
mod safe;
mod short;
mod split;
mod tally;
mod truncate;
mod vocabulary;
mod window;

#[cfg(test)]
#[path = "../../tests/tokens/random.rs"]
mod random;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use self::classes::Classes;
use self::encoder::Encoder;
use self::split::{Grammar, Splitter};
use self::vocabulary::Vocabulary;

pub use self::memo::Memo;
pub use self::tally::Tally;
pub use self::truncate::Kept;

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
    vocabulary: Vocabulary,
    classes: &'static Classes,
    grammar: Grammar,
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

    fn encoder(&self) -> Encoder<'_> {
        Encoder::new(&self.vocabulary, self.number)
    }

    fn splitter<'a>(&'a self, text: &'a [u8]) -> Splitter<'a> {
        Splitter { text, classes: self.classes }
    }
}
