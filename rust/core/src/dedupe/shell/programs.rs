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
    CURL_OPTIONS, CURL_WRITING, DEVICES, GIT_BRANCH_OPTIONS, GIT_BRANCH_WRITING, GIT_OPTIONS, GIT_TAG_DELETING,
    GIT_TAG_LISTING, GIT_TAG_OPTIONS, GIT_WRITING, MAKE_OPTIONS, MAKE_WRITING, MANAGERS, PACKAGE_SHORT,
    PACKAGE_SHORTENING, PACKAGE_WRITING, PACKAGERS, PERL_OPTIONS, PERL_WRITING, PLAIN, READING, READING_STEMS,
    SED_OPTIONS, SED_WRITING, SENDING, Spec, VERSIONED, WGET_OPTIONS, WGET_SENDING, WRITERS, find,
};

/// A program's name without its folder and, for a few, its version.
pub(super) fn program_name(word: &str) -> &str {
    let name = word.rsplit_once('/').map_or(word, |(_, name)| name);
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if VERSIONED.contains(&base) { base } else { name }
}

/// Whether a program that runs no other writes with these arguments.
pub(super) fn writes(name: &str, arguments: &[&str]) -> bool {
    if WRITERS.contains(&name) {
        return true;
    }
    if let Some(spec) = find(PACKAGERS, name) {
        return package_writes(name, arguments, spec);
    }
    if let Some(spec) = find(MANAGERS, name) {
        let (verb, _) = verb_of(arguments, spec);
        return !verb.is_empty() && !is_reading(verb);
    }
    match name {
        "git" => git_writes(arguments),
        "sed" | "gsed" => has_option(arguments, &SED_OPTIONS, SED_WRITING),
        "perl" => has_any(&parse(arguments, &PERL_OPTIONS, true).0, PERL_WRITING),
        "curl" => curl_writes(arguments),
        "wget" => wget_writes(arguments),
        "make" | "gmake" => {
            let (_, targets) = parse(arguments, &MAKE_OPTIONS, false);
            targets.iter().any(|target| MAKE_WRITING.contains(target))
        }
        _ => false,
    }
}

/// A package manager, by its verb.
fn package_writes(name: &str, arguments: &[&str], spec: &Spec) -> bool {
    let (verb, _) = verb_of(arguments, spec);
    PACKAGE_WRITING.contains(&verb) || (PACKAGE_SHORTENING.contains(&name) && PACKAGE_SHORT.contains(&verb))
}

/// Whether a verb of docker and its like reads; `list-units` counts as `list`.
fn is_reading(verb: &str) -> bool {
    let stem = verb.split_once('-').map_or(verb, |(stem, _)| stem);
    READING.contains(&verb) || READING_STEMS.contains(&stem)
}

/// Git, by its verb; the verbs that also list, by what follows.
fn git_writes(arguments: &[&str]) -> bool {
    let (verb, rest) = verb_of(arguments, &GIT_OPTIONS);
    match verb {
        "branch" => has_option(&rest, &GIT_BRANCH_OPTIONS, GIT_BRANCH_WRITING),
        "tag" => git_tag_writes(&rest),
        "stash" => !matches!(verb_of(&rest, &PLAIN).0, "list" | "show"),
        "worktree" => !matches!(verb_of(&rest, &PLAIN).0, "" | "list"),
        _ => GIT_WRITING.contains(&verb),
    }
}

/// `git tag` lists without a name or with an option that only a list takes.
fn git_tag_writes(arguments: &[&str]) -> bool {
    let (options, names) = parse(arguments, &GIT_TAG_OPTIONS, false);
    has_any(&options, GIT_TAG_DELETING) || (!names.is_empty() && !has_any(&options, GIT_TAG_LISTING))
}

/// Whether curl sends something or saves to a file.
fn curl_writes(arguments: &[&str]) -> bool {
    let (options, _) = parse(arguments, &CURL_OPTIONS, false);
    let (mut has_data, mut is_get) = (false, false);
    for (option, value) in options {
        match option {
            "X" | "--request" if SENDING.contains(&value) => return true,
            "o" | "--output" if value != "-" && writes_file(value) => return true,
            _ if CURL_WRITING.contains(&option) => return true,
            "G" | "--get" => is_get = true,
            _ => has_data |= matches!(option, "d" | "--json") || option.starts_with("--data"),
        }
    }
    has_data && !is_get
}

/// Whether wget sends something or saves to a file, which it does unless told otherwise.
fn wget_writes(arguments: &[&str]) -> bool {
    let (options, _) = parse(arguments, &WGET_OPTIONS, false);
    let mut saves = true;
    for (option, value) in options {
        match option {
            "--method" if SENDING.contains(&value) => return true,
            _ if WGET_SENDING.contains(&option) => return true,
            "O" | "--output-document" => saves = value != "-" && writes_file(value),
            "--spider" => saves = false,
            _ => {}
        }
    }
    saves
}

/// Whether writing to a target changes a file; a process substitution reads as `>()`.
pub(super) fn writes_file(target: &str) -> bool {
    !DEVICES.contains(&target) && target != ">()" && !target.starts_with("/dev/fd/")
}
