//! The projection of a request: which results are replaced, what is repaired, and how it is put together again.
//!
//! The same request with short markers where results are superseded or too long, and valid if asked for. What stays is
//! the caller's own: in objects the same objects, in bytes the same bytes.

mod blocks;
mod bytes;
mod decide;
mod edits;
mod fingerprint;
mod marker;
mod plan;
mod policy;
mod repair;
mod request;
mod result_slot;
mod splice;
mod window;

pub use self::blocks::Known;
pub use self::bytes::{Projected, Unread, project_body};
pub use self::edits::{Changed, Door, Draft, Edit, Home, Json, Members, Parts, PartsKey, Path, TextPart};
pub use self::plan::{Decisions, Frame, Outcome, Projection, Replacement, plan};
pub use self::policy::{Counter, Decision, Fate, Mend, OwnMend, Previous, Settings, Sign};
pub use self::splice::Written;
