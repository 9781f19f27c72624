//! The settings of a context, and the possible fates of a block.

use super::limits::{Limits, Measure};
use crate::text::truncate::Keep;

pub use super::limits::NO_LIMIT;

/// The blocks to carry, and the limits on them.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The total of the context.
    pub total: usize,
    /// The unit of the total.
    pub measure: Measure,
    /// The limits on one result.
    pub limits: Limits,
    /// The part of an over-long text that stays; if `None`, it depends on the kind of tool.
    pub keep: Option<Keep>,
    /// True to include the summary.
    pub include_summary: bool,
    /// True to include reads.
    pub include_files: bool,
    /// True to include edits.
    pub include_changes: bool,
    /// True to include commands.
    pub include_commands: bool,
    /// True to include other tools.
    pub include_others: bool,
    /// True to include failures.
    pub include_failed: bool,
    /// True to include calls without a result.
    pub include_interrupted: bool,
    /// True to add a line saying that the context is data.
    pub framing: bool,
    /// The form of the context.
    pub layout: Layout,
    /// True to name in a marker the call whose result is whole elsewhere.
    pub references: bool,
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
            layout: Layout::Auto,
            references: true,
        }
    }
}

/// The form of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Sections if everything fits, else a hand-over.
    Auto,
    /// Whole results by their kind, the newest first.
    Sections,
    /// The state of the work, its files, and its latest steps in time order.
    Handover,
}

/// The outcome for a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is shown whole, up to the limit on one result.
    Shown,
    /// It is shown, but a limit shortened it.
    Cut,
    /// There was no room for it.
    LeftOut,
    /// Another block supersedes it.
    Superseded,
    /// A setting, its branch or its scope excludes it.
    Excluded,
}

impl Fate {
    /// Return the name of the fate in a report.
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

/// The age, fate and reason of each block.
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
