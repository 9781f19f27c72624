//! Texts cut to a number of tokens, compared with cuts that encode and count the whole text.

use std::fs;

use toolcarry::text::OwnedText;
use toolcarry::text::graphemes::{ceil_boundary, floor_boundary};
use toolcarry::text::truncate::Keep;
use toolcarry::tokens::CutPlan;

use crate::peer::{PAIRS, Pair};
use crate::random::Random;
use crate::texts::{PARTS, files, mixed};

/// Cut by encoding the whole text and counting it again, exactly as the documentation of a cut describes it.
fn plain_cut(pair: &Pair, text: &str, limit: usize, keep: Keep, marker: &str) -> (usize, usize) {
    let units: Vec<u32> = text.chars().map(u32::from).collect();
    let tokens = pair.ours.encode(text.as_bytes());
    if tokens.len() <= limit {
        return (units.len(), units.len());
    }
    let mut ends = vec![0];
    ends.extend(tokens.iter().scan(0, |end, token| {
        *end += pair.other.bpe.token_len(*token);
        Some(*end)
    }));
    let before =
        |at: usize| text.char_indices().filter(|(index, character)| index + character.len_utf8() <= at).count();
    let characters_before = |at: usize| text.char_indices().filter(|(index, _)| *index < at).count();
    let allowed = limit + pair.ours.count(marker.as_bytes());
    for size in (1..=limit).rev() {
        let first = [size, 0, size / 2][keep as usize];
        let head = floor_boundary(&units, before(ends[first]));
        let last = if keep == Keep::Head { 0 } else { size - first };
        let tail = ceil_boundary(&units, characters_before(ends[tokens.len() - last]));
        let part = |from: usize, to: usize| text.chars().skip(from).take(to - from).collect::<String>();
        let joined = part(0, head) + marker + &part(tail, units.len());
        if pair.ours.count(joined.as_bytes()) <= allowed {
            return (head, tail);
        }
    }
    (0, units.len())
}

#[test]
fn cuts_keep_as_many_tokens_as_they_may() {
    let mut random = Random(11);
    let files: Vec<String> = files().iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    for round in 0..6_000 {
        let parts = 1 + random.below(300);
        let mut text = mixed(&mut random, parts);
        if round % 3 == 0 {
            let file = &files[random.below(files.len())];
            let from = random.below(file.len().max(1));
            text = file.chars().skip(from.min(20_000)).take(random.below(3_000)).collect();
        } else if round % 30 == 1 {
            let part = PARTS[random.below(PARTS.len())];
            text = part.repeat(1 + random.below(2_000));
        }
        let marker = *random.pick(&[&"", &"... [truncated]", &" ", &"\n", &"a", &"1", &"\u{301}", &"中", &"🇩"]);
        let keep = [Keep::Head, Keep::Tail, Keep::Ends][random.below(3)];
        let (own, own_marker) = (OwnedText::from_utf8(&text), OwnedText::from_utf8(marker));
        for pair in &*PAIRS {
            let count = pair.ours.count(text.as_bytes());
            let limit = if round % 5 == 0 { random.below(8) } else { random.below(count + 3) };
            let expected = plain_cut(pair, &text, limit, keep, marker);
            let found = pair.ours.cut(own.as_text(), limit, keep, own_marker.as_text());
            assert_eq!(found, expected, "{} {keep:?} {limit} {marker:?} {text:?}", pair.name);
            let part = |from: usize, to: usize| text.chars().skip(from).take(to - from).collect::<String>();
            match pair.ours.keep(own.as_text(), limit, keep, own_marker.as_text()) {
                Ok(tokens) => assert_eq!(tokens, count),
                Err(CutPlan { head, tail, head_tokens, tail_tokens }) => {
                    assert_eq!(head_tokens, pair.ours.count(part(0, head).as_bytes()));
                    assert_eq!(tail_tokens, pair.ours.count(part(tail, own.as_text().len()).as_bytes()));
                }
            }
        }
    }
}
