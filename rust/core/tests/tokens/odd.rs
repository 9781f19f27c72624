//! Invalid UTF-8, lone surrogates, special tokens, and invalid vocabularies.

use toolcarry::text::{OwnedText, Text};
use toolcarry::tokens::{BadVocabulary, Encoding, EncodingName};

use crate::peer::{PAIRS, packed};
use crate::random::Random;
use crate::texts::{mixed, random_character};

#[test]
fn wider_texts_count_like_their_bytes() {
    let mut random = Random(5);
    for round in 0..400 {
        let parts = if round % 20 == 0 { 30_000 } else { 1 + random.below(40) };
        let text = mixed(&mut random, parts);
        let own = OwnedText::from_utf8(&text);
        for pair in &*PAIRS {
            assert_eq!(pair.ours.count_tokens(own.as_text()), pair.ours.count(text.as_bytes()), "{}", pair.name);
        }
    }
    for part in ["é", "中", "🙂", "中。", " é", "\n\u{A0}", "中 ", "\n中", "/é\n", "'sé"] {
        let text = part.repeat(40_000);
        for pair in &*PAIRS {
            let own = OwnedText::from_utf8(&text);
            assert_eq!(pair.ours.count_tokens(own.as_text()), pair.ours.count(text.as_bytes()), "{part:?}");
        }
    }
}

#[test]
fn lone_surrogates_count_as_replacement_characters() {
    let units: &[u16] = &[0x61, 0xD83D, 0x20, 0xDE00, 0x62];
    for pair in &*PAIRS {
        let expected = pair.ours.count("a\u{FFFD} \u{FFFD}b".as_bytes());
        assert_eq!(pair.ours.count_tokens(Text::Ucs2(units)), expected);
    }
}

#[test]
fn special_tokens_are_text() {
    for pair in &*PAIRS {
        assert!(pair.ours.count(b"<|endoftext|>") > 3);
    }
}

#[test]
fn invalid_utf8_does_not_panic() {
    let mut random = Random(13);
    for _ in 0..3_000 {
        let bytes: Vec<u8> = (0..random.below(200)).map(|_| u8::try_from(random.below(256)).unwrap()).collect();
        for pair in &*PAIRS {
            let tokens = pair.ours.encode(&bytes);
            assert_eq!(tokens.iter().map(|token| pair.other.bpe.token_len(*token)).sum::<usize>(), bytes.len());
        }
    }
}

#[test]
fn invalid_utf8_has_as_many_tokens_as_are_encoded() {
    let mut random = Random(19);
    for _ in 0..20_000 {
        let mut bytes = Vec::new();
        for _ in 0..random.below(20) {
            let character = random_character(&mut random).to_string();
            let kept = character.len() - usize::from(random.below(4) == 0);
            bytes.extend_from_slice(&character.as_bytes()[..kept]);
        }
        for pair in &*PAIRS {
            assert_eq!(pair.ours.count(&bytes), pair.ours.encode(&bytes).len(), "{} {bytes:X?}", pair.name);
        }
    }
}

#[test]
fn a_truncated_vocabulary_is_refused() {
    let packed = packed("cl100k_base");
    for wrong in [&[][..], &packed[..100], &packed[..packed.len() - 1], &[0; 3], b"\x01a"] {
        assert_eq!(Encoding::parse(EncodingName::Cl100kBase, wrong).unwrap_err(), BadVocabulary);
    }
    assert_eq!(EncodingName::parse("p50k_base"), None);
}
