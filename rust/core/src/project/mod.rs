//! The projection of a request: which results are replaced, what is mended, and how it is put together again.
//!
//! The same request with short markers where results are superseded or too long, and valid if asked for. What stays is
//! the caller's own: in objects the same objects, in bytes the same bytes. The twin is `_pure/project/`; that of its
//! `objects.py` is in the binding.

mod blocks;
mod body;
mod choose;
mod drafts;
mod markers;
mod material;
mod mend;
mod plan;
mod request;
mod settings;
mod signs;
mod sites;
mod sizes;
mod spans;

pub use self::blocks::Known;
pub use self::body::{Projected, Unread, project_body};
pub use self::drafts::{Changed, Door, Draft, Edit, Home, Json, Members, Parts, PartsKey, Path, TextPart};
pub use self::plan::{Decisions, Frame, Outcome, Projection, Replacement, plan};
pub use self::settings::{Counter, Decision, Fate, Mend, OwnMend, Previous, Settings, Sign};
pub use self::spans::Written;
