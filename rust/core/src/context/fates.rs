//! What becomes of blocks, and why.

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
