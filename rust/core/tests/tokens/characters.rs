//! The assumption that lets characters be merged before other bytes, and the characters for which it could fail.

use std::collections::HashSet;

use crate::peer::{PAIRS, check, is_split_otherwise, packed};
use crate::random::Random;
use crate::texts::{PARTS, random_character};

/// The tokens of an encoding, in the order of their ranks.
fn tokens(packed: &[u8]) -> Vec<&[u8]> {
    let (mut tokens, mut rest) = (Vec::new(), packed);
    while let Some((size, after)) = rest.split_first() {
        let (token, after) = after.split_at(usize::from(*size));
        tokens.push(token);
        rest = after;
    }
    tokens
}

#[test]
fn every_token_is_made_of_two_before_it() {
    for pair in PAIRS.iter() {
        let packed = packed(pair.name);
        let mut seen = HashSet::new();
        for token in tokens(&packed) {
            let is_made = |at| seen.contains(&token[..at]) && seen.contains(&token[at..]);
            assert!(token.len() == 1 || (1..token.len()).any(is_made), "{} {token:X?}", pair.name);
            seen.insert(token);
        }
    }
}

/// Tokens that contain a part of a character, with different neighbours: there, characters can't be merged first.
#[test]
fn characters_that_tokens_cut_have_the_same_tokens() {
    let mut random = Random(4_101_842_887_655_102_017);
    for pair in PAIRS.iter() {
        let packed = packed(pair.name);
        let wide: Vec<_> = tokens(&packed).into_iter().filter(|token| !token.is_ascii()).collect();
        let cut: Vec<_> = wide.iter().copied().filter(|token| std::str::from_utf8(token).is_err()).collect();
        for _ in 0..30_000 {
            let some = |random: &mut Random| {
                let from = if random.below(3) == 0 { &wide } else { &cut };
                completed(from[random.below(from.len())], random)
            };
            let text: Vec<u8> = (0..=random.below(6)).flat_map(|_| some(&mut random)).collect();
            check(&String::from_utf8_lossy(&text));
        }
    }
}

/// Clauses without spaces, of characters that tokens join and of others.
#[test]
fn scripts_without_spaces_have_the_same_tokens() {
    let mut random = Random(3_202_034_522_624_059_733);
    for pair in PAIRS.iter() {
        let packed = packed(pair.name);
        let is_long = |token: &&str| token.bytes().any(|byte| byte >= 0xE0);
        let tokens: Vec<_> =
            tokens(&packed).into_iter().filter_map(|token| std::str::from_utf8(token).ok()).filter(is_long).collect();
        for round in 0..20_000 {
            let parts = if round % 200 == 0 { 600 } else { 1 + random.below(30) };
            let mut text = String::new();
            for _ in 0..parts {
                match random.below(8) {
                    0 => text.push(random_character(&mut random)),
                    1 => text.push_str(random.pick(PARTS)),
                    _ => text.push_str(random.pick(&tokens)),
                }
            }
            check(&text);
        }
    }
}

/// The token with bytes added that complete the characters at its start and its end.
fn completed(token: &[u8], random: &mut Random) -> Vec<u8> {
    let mut continuation = || 0x80 + u8::try_from(random.below(64)).unwrap();
    let missing = 2_usize.saturating_sub(token.iter().take_while(|byte| **byte & 0xC0 == 0x80).count());
    let mut found = Vec::new();
    if missing < 2 {
        found.push(0xE4 + continuation() % 6);
        found.extend((0..missing).map(|_| continuation()));
    }
    found.extend_from_slice(token);
    let lead = token.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(token.len());
    let size = match token.get(lead) {
        Some(0xF0..) => 4,
        Some(0xE0..) => 3,
        Some(0xC0..) => 2,
        _ => 0,
    };
    found.extend((token.len() - lead..size).map(|_| continuation()));
    found
}

#[test]
fn every_code_point_has_the_same_tokens_in_three_contexts() {
    for character in '\0'..=char::MAX {
        for text in [format!("a{character}b"), format!(" {character} "), format!("1{character}\n")] {
            for pair in PAIRS.iter().filter(|pair| !is_split_otherwise(pair, &text)) {
                assert_eq!(pair.ours.encode(text.as_bytes()), pair.other.encode(&*text), "{} {text:?}", pair.name);
            }
        }
    }
}
