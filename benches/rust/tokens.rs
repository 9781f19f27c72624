//! Benchmarks of the token engine against the crate bpe-openai: `cargo bench -p toolcarry --bench tokens`.
//!
//! Every document is new, because a cache would favour a tokenizer that sees a text twice. Both must return the same
//! count before they are timed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)] // it fails by panicking

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use toolcarry::text::Text;
use toolcarry::text::truncate::Keep;
use toolcarry::tokens::{Encoding, EncodingName};

fn main() {
    divan::main();
}

const DOCUMENT: usize = 16_000;
const KINDS: [&str; 6] = ["code", "log", "json", "cjk", "emoji", "base64"];

static PACKED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/toolcarry/_data/vocabularies/o200k_base.bpe");
    fs::read(path).unwrap()
});
static OURS: LazyLock<Encoding> = LazyLock::new(|| Encoding::parse(EncodingName::O200kBase, &PACKED).unwrap());

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0x2545_F491_4F6C_DD1D) };
}

fn random(below: u64) -> u64 {
    let mut seed = SEED.get();
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    SEED.set(seed);
    (seed >> 11) % below
}

fn pick<'a>(from: &[&'a str]) -> &'a str {
    from[usize::try_from(random(from.len() as u64)).unwrap()]
}

fn character(first: u32, count: u64) -> char {
    char::from_u32(first + u32::try_from(random(count)).unwrap()).unwrap()
}

/// A made-up word of syllables.
fn word() -> String {
    const SYLLABLES: [&str; 16] =
        ["re", "con", "ta", "user", "id", "er", "load", "file", "st", "in", "path", "ment", "al", "get", "o", "name"];
    (0..=random(3)).map(|_| pick(&SYLLABLES)).collect()
}

fn line(kind: &str) -> String {
    match kind {
        "code" => {
            let head = pick(&["    if ", "        return ", "    for x in ", "def ", "    self."]);
            format!("{head}{}_{}({}, \"{}\"):\n", word(), word(), word(), word())
        }
        "log" => format!(
            "2026-01-{:02}T10:{:02}:07.{:03}Z INFO [{}] {} {} took={}ms id={:016x}\n",
            random(28),
            random(60),
            random(1_000),
            word(),
            word(),
            word(),
            random(9_000),
            random(u64::MAX)
        ),
        "json" => format!("{{\"id\": {}, \"{}\": [\"{}\", \"{}\"]}},\n", random(100_000), word(), word(), word()),
        "cjk" => (0..10).map(|_| character(0x4E00, 3_000)).chain(['，']).collect(),
        "emoji" => format!("{} {}{} ", word(), character(0x1F600, 70), character(0x1F300, 200)),
        _ => (0..64)
            .map(|_| char::from(b'A' + u8::try_from(random(26)).unwrap() + 32 * u8::try_from(random(2)).unwrap()))
            .collect(),
    }
}

fn document(kind: &str) -> String {
    let mut text = String::new();
    while text.len() < DOCUMENT {
        text.push_str(&line(kind));
    }
    text
}

fn check(kind: &str) {
    let text = document(kind);
    assert_eq!(OURS.count(text.as_bytes()), bpe_openai::o200k_base().count(&*text));
}

#[divan::bench(args = KINDS)]
fn count(bencher: Bencher<'_, '_>, kind: &str) {
    check(kind);
    let documents = bencher.with_inputs(|| document(kind)).input_counter(BytesCount::of_str::<String>);
    documents.bench_refs(|text| OURS.count(black_box(text.as_bytes())));
}

#[divan::bench(args = KINDS)]
fn count_bpe_openai(bencher: Bencher<'_, '_>, kind: &str) {
    let documents = bencher.with_inputs(|| document(kind)).input_counter(BytesCount::of_str::<String>);
    documents.bench_refs(|text| bpe_openai::o200k_base().count(black_box(&**text)));
}

/// A million bytes of one character.
#[divan::bench(args = [" ", "\n", "a", "^", "=", "0", "中", "🙂"])]
fn row(bencher: Bencher<'_, '_>, character: &str) {
    let text = character.repeat(1_000_000 / character.len());
    bencher.counter(BytesCount::of_str(&text)).bench(|| OURS.count(black_box(text.as_bytes())));
}

/// The first 500 tokens of a text of `size` bytes, which must take the same time for every size.
#[divan::bench(args = [50_000, 1_000_000])]
fn head(bencher: Bencher<'_, '_>, size: usize) {
    let text: String = (0..=size / DOCUMENT).map(|_| document("code")).collect();
    bencher.bench(|| OURS.cut(black_box(Text::ascii(&text)), 500, Keep::Head, Text::ascii("")));
}

#[divan::bench(args = [50_000, 1_000_000])]
fn tail(bencher: Bencher<'_, '_>, size: usize) {
    let text: String = (0..=size / DOCUMENT).map(|_| document("code")).collect();
    bencher.bench(|| OURS.cut(black_box(Text::ascii(&text)), 500, Keep::Tail, Text::ascii("")));
}

#[divan::bench]
fn load() -> Encoding {
    Encoding::parse(EncodingName::O200kBase, black_box(&PACKED)).unwrap()
}
