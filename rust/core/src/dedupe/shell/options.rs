//! Tell a command's options from its other words.
//!
//! What it does: reads the arguments as getopt would, by what `tables` says of the program. The
//! twin of `_pure/shell/options.py`.
//!
//! What it guarantees: every argument is an option, an option's value, or another word.
//!
//! What it leaves out: what an option means; shortened long names.

use super::tables::{Spec, Words};

/// Options with their values: an option is a letter, or a long name with its dashes.
pub(super) type Options<'a> = Vec<(&'a str, &'a str)>;

/// The options with their values, and the other words. With `stops`, everything from the first
/// other word on is one.
pub(super) fn parse<'a>(arguments: &[&'a str], spec: &Spec, stops: bool) -> (Options<'a>, Vec<&'a str>) {
    let mut options = Vec::new();
    let mut others = Vec::new();
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if !is_option(word) && stops {
            others.push(word);
        }
        if word == "--" || (stops && !is_option(word)) {
            others.extend(words);
            break;
        }
        if !is_option(word) {
            others.push(word);
            continue;
        }
        let takes_next = if word.starts_with("--") {
            let split = word.split_once('=');
            options.push(split.unwrap_or((word, "")));
            split.is_none() && spec.names.contains(&word)
        } else {
            parse_letters(word.get(1..).unwrap_or_default(), spec, &mut options)
        };
        let value = if takes_next { words.next() } else { None };
        if let (Some(option), Some(value)) = (options.last_mut(), value) {
            option.1 = value;
        }
    }
    (options, others)
}

/// Whether a word is an option: `-x`, `--long`, `+x`.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}

/// Take a cluster of letters apart; whether the last one's value is the next word.
fn parse_letters<'a>(letters: &'a str, spec: &Spec, options: &mut Options<'a>) -> bool {
    for (index, letter) in letters.char_indices() {
        let (option, rest) =
            letters.get(index..).and_then(|tail| tail.split_at_checked(letter.len_utf8())).unwrap_or_default();
        let is_valued = spec.valued.contains(letter);
        if is_valued || spec.attached.contains(letter) {
            options.push((option, rest));
            return is_valued && rest.is_empty();
        }
        options.push((option, ""));
    }
    false
}

/// The first word that is no option, or the second where the first is a group of verbs; and the
/// words behind it.
pub(super) fn verb_of<'a>(arguments: &[&'a str], spec: &Spec) -> (&'a str, Vec<&'a str>) {
    let (_, mut others) = parse(arguments, spec, true);
    if others.first().is_some_and(|first| spec.groups.contains(first)) {
        others = parse(others.get(1..).unwrap_or_default(), spec, true).1;
    }
    match others.split_first() {
        Some((verb, rest)) => (verb, rest.to_vec()),
        None => ("", Vec::new()),
    }
}

/// Whether one of the named options is among those given.
pub(super) fn has_any(options: &Options<'_>, names: Words) -> bool {
    options.iter().any(|(option, _)| names.contains(option))
}

/// Whether one of the options is among the arguments, wherever it stands.
pub(super) fn has_option(arguments: &[&str], spec: &Spec, names: Words) -> bool {
    has_any(&parse(arguments, spec, false).0, names)
}
