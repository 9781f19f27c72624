//! The settings of a context: the blocks it may carry, and how much of them; and what can become of a block.

use super::limits::{Limits, Measure};
use crate::text::truncate::Keep;

pub use super::limits::NO_LIMIT;

/// What is carried, and how much of it.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The total of the context.
    pub total: usize,
    /// What the total counts.
    pub measure: Measure,
    /// The limits on one result.
    pub limits: Limits,
    /// The part of an over-long text that stays; `None`: what suits the kind of tool.
    pub keep: Option<Keep>,
    /// True if the summary is carried.
    pub include_summary: bool,
    /// True if reads are carried.
    pub include_files: bool,
    /// True if edits are carried.
    pub include_changes: bool,
    /// True if commands are carried.
    pub include_commands: bool,
    /// True if other tools are carried.
    pub include_others: bool,
    /// True if failures are carried.
    pub include_failed: bool,
    /// True if calls without result are carried.
    pub include_interrupted: bool,
    /// True if a line says that the context is data.
    pub framing: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            total: 60_000,
            measure: Measure::Characters,
            limits: Limits::NONE,
            keep: None,
            include_summary: true,
            include_files: true,
            include_changes: true,
            include_commands: true,
            include_others: true,
            include_failed: true,
            include_interrupted: true,
            framing: true,
        }
    }
}

/// What became of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is shown whole, up to the limit on one result.
    Shown,
    /// It is shown, but a limit shortened it.
    Cut,
    /// There was no room for it.
    LeftOut,
    /// Another block says it better.
    Superseded,
    /// A setting, its branch or its scope keeps it out.
    Excluded,
}

impl Fate {
    /// The fate's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Cut => "cut",
            Self::LeftOut => "left_out",
            Self::Superseded => "superseded",
            Self::Excluded => "excluded",
        }
    }
}

/// The age, the fate and the reason of blocks.
pub type Trace = Vec<(usize, Fate, &'static str)>;

/// Counts by reason, in the order in which the reasons first occurred.
pub type Reasons = Vec<(&'static str, usize)>;

/// Count a block under a reason.
pub(crate) fn count_reason(counts: &mut Reasons, reason: &'static str) {
    if let Some((_, count)) = counts.iter_mut().find(|(name, _)| *name == reason) {
        *count += 1;
    } else {
        counts.reserve_exact(1); // there are few
        counts.push((reason, 1));
    }
}
