//! Count and cut by the tokens of `OpenAI`'s encodings, exactly and in linear time.
//!
//! A string is split into pieces ([`split`]), each of which is encoded by itself ([`encoder`]): most are a token
//! ([`vocabulary`]), the others are merged from their bytes ([`merge`]). Many occurred before ([`cache`]), and words are
//! counted in groups ([`count`]).
//!
//! Guaranteed: the tokens are those of tiktoken, with special tokens read as text; the time is proportional to the
//! length of any text; no input panics, valid UTF-8 or not.
//!
//! Left out: decoding, special tokens, and the data. The caller passes the packed vocabularies of
//! `python/toolcarry/_data/vocabularies`.

mod cache;
mod characters;
pub(crate) mod classes;
mod count;
mod encoder;
mod encoding;
mod memo;
mod merge;
pub mod messages;
mod split;
mod truncate;
mod vocabulary;
pub(crate) mod words;

#[cfg(test)]
#[path = "../../tests/tokens/random.rs"]
mod random;

pub use self::count::Tally;
pub use self::encoding::{BadVocabulary, Encoding, EncodingName};
pub use self::memo::Memo;
pub use self::truncate::CutPlan;
