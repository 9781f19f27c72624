//! Count and cut by the tokens of `OpenAI`'s encodings, exactly and in linear time.
//!
//! A text is split into pieces ([`split`]), each of which is encoded by itself ([`encoder`]): most are a token
//! ([`vocabulary`]), the others are merged from their bytes ([`merge`]). Many came by before ([`cache`]), and words are
//! counted some at a time ([`count`]).
//!
//! Guaranteed: the tokens are those of tiktoken, where what looks like a special token is text; the time is
//! proportional to the text whatever is in it; nothing panics, UTF-8 or not.
//!
//! Left out: decoding, special tokens, and the data. The vocabularies are handed in as
//! `python/toolcarry/_data/vocabularies` has them packed.

mod cache;
mod classes;
mod count;
mod encoder;
mod encoding;
mod memo;
mod merge;
pub mod messages;
mod split;
mod truncate;
mod vocabulary;

#[cfg(test)]
#[path = "../../tests/tokens/random.rs"]
mod random;

pub use self::count::Tally;
pub use self::encoding::{BadVocabulary, Encoding, EncodingName};
pub use self::memo::Memo;
pub use self::truncate::CutPlan;
