//! Know the programs that write, by name, verb or option.
//!
//! What it does: answers for one program that runs no other. The twin of
//! `_pure/shell/programs.py`.
//!
//! What it guarantees: time linear in the arguments; no panic.
//!
//! What it leaves out: dry runs and the targets of arguments. A program or verb nobody listed
//! reads.

use super::options::{has_any, has_option, parse, verb_of};
use super::tables::{
    CURL, CURL_WRITING, DEVICES, GIT, GIT_BRANCH, GIT_BRANCH_WRITING, GIT_TAG, GIT_TAG_LISTING, GIT_WRITING, MAKE,
    MAKE_WRITING, PACKAGE_SHORT, PACKAGE_SHORTENING, PACKAGE_WRITING, PERL, PLAIN, READING, READING_STEMS, SED,
    SENDING, Spec, VERSIONED, WGET, WGET_SENDING, WRITERS, among, manager, packager,
};

/// A program's name without its folder and, for a few, its version.
pub(super) fn program_name(word: &str) -> &str {
    let name = word.rsplit_once('/').map_or(word, |(_, name)| name);
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if among(VERSIONED, base) { base } else { name }
}

/// Whether a program that runs no other writes with these arguments.
pub(super) fn writes(name: &str, arguments: &[&str]) -> bool {
    if among(WRITERS, name) {
        return true;
    }
    if let Some(spec) = packager(name) {
        return package_writes(name, arguments, &spec);
    }
    if let Some(spec) = manager(name) {
        let (verb, _) = verb_of(arguments, &spec);
        return !verb.is_empty() && !is_reading(verb);
    }
    match name {
        "git" => git_writes(arguments),
        "sed" | "gsed" => has_option(arguments, &SED, "i --in-place"),
        "perl" => has_any(&parse(arguments, &PERL, true).0, "i"),
        "curl" => curl_writes(arguments),
        "wget" => wget_writes(arguments),
        "make" | "gmake" => {
            let (_, targets) = parse(arguments, &MAKE, false);
            targets.iter().any(|target| among(MAKE_WRITING, target))
        }
        _ => false,
    }
}

/// A package manager, by its verb.
fn package_writes(name: &str, arguments: &[&str], spec: &Spec) -> bool {
    let (verb, _) = verb_of(arguments, spec);
    among(PACKAGE_WRITING, verb) || (among(PACKAGE_SHORTENING, name) && among(PACKAGE_SHORT, verb))
}

/// Whether a verb of docker and its like reads; `list-units` counts as `list`.
fn is_reading(verb: &str) -> bool {
    let stem = verb.split_once('-').map_or(verb, |(stem, _)| stem);
    among(READING, verb) || among(READING_STEMS, stem)
}

/// Git, by its verb; the verbs that also list, by what follows.
fn git_writes(arguments: &[&str]) -> bool {
    let (verb, rest) = verb_of(arguments, &GIT);
    match verb {
        "branch" => has_option(&rest, &GIT_BRANCH, GIT_BRANCH_WRITING),
        "tag" => git_tag_writes(&rest),
        "stash" => !matches!(verb_of(&rest, &PLAIN).0, "list" | "show"),
        "worktree" => !matches!(verb_of(&rest, &PLAIN).0, "" | "list"),
        _ => among(GIT_WRITING, verb),
    }
}

/// `git tag` lists without a name or with an option that only a list takes.
fn git_tag_writes(arguments: &[&str]) -> bool {
    let (options, names) = parse(arguments, &GIT_TAG, false);
    has_any(&options, "d --delete") || (!names.is_empty() && !has_any(&options, GIT_TAG_LISTING))
}

/// Whether curl sends something or saves to a file.
fn curl_writes(arguments: &[&str]) -> bool {
    let (options, _) = parse(arguments, &CURL, false);
    let (mut has_data, mut is_get) = (false, false);
    for (option, value) in options {
        match option {
            "X" | "--request" if among(SENDING, value) => return true,
            "o" | "--output" if value != "-" && writes_file(value) => return true,
            _ if among(CURL_WRITING, option) => return true,
            "G" | "--get" => is_get = true,
            _ => has_data |= matches!(option, "d" | "--json") || option.starts_with("--data"),
        }
    }
    has_data && !is_get
}

/// Whether wget sends something or saves to a file, which it does unless told otherwise.
fn wget_writes(arguments: &[&str]) -> bool {
    let (options, _) = parse(arguments, &WGET, false);
    let mut saves = true;
    for (option, value) in options {
        match option {
            "--method" if among(SENDING, value) => return true,
            _ if among(WGET_SENDING, option) => return true,
            "O" | "--output-document" => saves = value != "-" && writes_file(value),
            "--spider" => saves = false,
            _ => {}
        }
    }
    saves
}

/// Whether writing to a target changes a file; a process substitution reads as `>()`.
pub(super) fn writes_file(target: &str) -> bool {
    !among(DEVICES, target) && target != ">()" && !target.starts_with("/dev/fd/")
}
