//! The encodings compared with the crate bpe-openai, whose own tests compare it with tiktoken.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use bpe_openai::Tokenizer;
use toolcarry::tokens::{Encoding, EncodingName};

/// An encoding of this crate, the same one of the other crate, and its name.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    pub(crate) ours: Encoding,
    pub(crate) other: &'static Tokenizer,
}

pub(crate) static PAIRS: LazyLock<[Pair; 2]> =
    LazyLock::new(|| {
        [("o200k_base", bpe_openai::o200k_base()), ("cl100k_base", bpe_openai::cl100k_base())]
            .map(|(name, other)| Pair { name, ours: load(name), other })
    });

pub(crate) fn load(name: &str) -> Encoding {
    Encoding::parse(EncodingName::parse(name).unwrap(), &packed(name)).unwrap()
}

pub(crate) fn packed(name: &str) -> Vec<u8> {
    let path = format!("../../python/toolcarry/_data/vocabularies/{name}.bpe");
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Return true if the other crate splits a text by an older expression: the text ends in white space with a newline
/// that is not its last character.
pub(crate) fn is_split_otherwise(pair: &Pair, text: &str) -> bool {
    let end = &text[text.trim_end().len()..];
    pair.name == "cl100k_base" && end.contains(['\r', '\n']) && !end.ends_with(['\r', '\n'])
}

/// Check that both crates make the same tokens of a text.
pub(crate) fn check(text: &str) {
    for pair in PAIRS.iter().filter(|pair| !is_split_otherwise(pair, text)) {
        let (ours, other) = (pair.ours.encode(text.as_bytes()), pair.other.encode(text));
        if ours != other {
            let at = ours.iter().zip(&other).take_while(|(ours, other)| ours == other).count();
            let text = pair.other.decode(&other[at.saturating_sub(5)..(at + 20).min(other.len())]);
            panic!("{}: token {at}: {:?} {:?}: {text:?}", pair.name, ours.get(at), other.get(at));
        }
        assert_eq!(pair.ours.count(text.as_bytes()), other.len());
    }
}
