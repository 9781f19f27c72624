//! List the programs, verbs and options that the classifier knows.
//!
//! What it does: holds the data of `_data/shell.json`, and the shape of it. The twin of `_pure/shell/tables.py`.
//!
//! What it leaves out: every program that only reads; nobody has to list those.

include!(concat!(env!("OUT_DIR"), "/shell.rs"));

/// A list of words.
pub(super) type Words = &'static [&'static str];

/// How a program reads options: the letters that take a value (attached or the next word), the
/// letters whose value is always attached, the long names that take the next word, and the first
/// words after which the next one is the verb.
pub(super) struct Spec {
    pub(super) valued: &'static str,
    pub(super) attached: &'static str,
    pub(super) names: Words,
    pub(super) groups: Words,
}

/// How a program reads options that nobody described: each stands for itself.
pub(super) const PLAIN: Spec = Spec { valued: "", attached: "", names: &[], groups: &[] };

/// What a list says of a program.
pub(super) fn find(programs: &'static [(&'static str, Spec)], name: &str) -> Option<&'static Spec> {
    programs.iter().find(|(own, _)| *own == name).map(|(_, spec)| spec)
}
