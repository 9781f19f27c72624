//! The projection of a request: decide which results to replace, repair the request, and put it together again.
//!
//! A projection is the same request with short markers in place of superseded and over-long results and, if requested,
//! repaired so that the provider accepts it. Everything else is the caller's own: the same objects, or the same bytes.

mod arguments;
mod blocks;
mod bytes;
mod decide;
mod early;
mod edits;
mod excerpt;
mod excerpt_memo;
mod fingerprint;
mod first_sight;
mod inputs;
mod marker;
mod media;
mod mended;
mod older_images;
mod plan;
mod policy;
mod prefix;
mod price;
mod repair;
mod request;
mod result_slot;
mod shapes;
mod shortened;
mod splice;
mod window;

pub use self::blocks::CallFacts;
pub use self::bytes::{ProjectedBytes, Unread, frame_of, project_body};
pub use self::edits::{Changed, Draft, DraftList, Edit, Json, Members, Parts, PartsKey, Path, RequestSource, TextPart};
pub use self::older_images::OlderImage;
pub use self::plan::{Decisions, Frame, Outcome, Projection, Replacement, plan};
pub use self::policy::{
    ClearInputs, Counter, Decision, DecisionKind, FirstSight, Mend, OwnMend, Previous, Price, Savings, Settings, Sign,
};
pub use self::repair::destinations::Destination;
pub use self::splice::Written;
pub use crate::text::surrogates::is_broken;
