//! Make `rust/core/src/tokens/classes.txt`, what the grammars of the encodings call a letter, a number, a space:
//!
//! ```sh
//! cargo run -p toolcarry --example make_token_classes > rust/core/src/tokens/classes.txt
//! ```
//!
//! The data is that of the crate regex-syntax, which tiktoken's regular expressions use. tiktoken 0.14 has
//! its tables of Unicode 16; build the table again only when tiktoken has newer ones.

#![allow(clippy::panic, clippy::expect_used)] // a tool fails by panicking

use regex_syntax::hir::{Class, HirKind};

const HEADER: &str = "\
# The characters that the grammars of o200k_base and cl100k_base tell apart.
# Made by rust/tools/make_token_classes.rs; do not edit.
#
# Unicode 16.0.0, from the crate regex-syntax, as tiktoken's regular expressions have them.
#
# A line is a range of code points in hex, ends included, and its class:
#   U Lu Lt    L Ll    B Lm Lo    M marks    N numbers    S white space
# What no line names is none of these.
#
";

const CLASSES: [(&str, char); 6] = [
    (r"[\p{Lu}\p{Lt}]", 'U'),
    (r"\p{Ll}", 'L'),
    (r"[\p{Lm}\p{Lo}]", 'B'),
    (r"\p{M}", 'M'),
    (r"\p{N}", 'N'),
    (r"\s", 'S'),
];

fn main() {
    let mut ranges: Vec<(u32, u32, char)> = Vec::new();
    for (pattern, letter) in CLASSES {
        let parsed = regex_syntax::parse(pattern).expect("a pattern");
        let HirKind::Class(Class::Unicode(class)) = parsed.kind() else { panic!("no class: {pattern}") };
        ranges.extend(class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()), letter)));
    }
    ranges.sort_unstable();
    print!("{HEADER}");
    for (first, last, letter) in ranges {
        if first == last {
            println!("{first:04X} {letter}");
        } else {
            println!("{first:04X}..{last:04X} {letter}");
        }
    }
}
