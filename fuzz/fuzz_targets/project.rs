//! Any bytes as a request, with any policy. Its projection must be
//!
//! - well-formed;
//! - not longer than the request, unless it was repaired or shows an image;
//! - not repaired again if it is projected again;
//! - the same if its decisions are repeated;
//! - unchanged if it is projected again, unless the policy also counts the repaired results, an id gets shorter, or the
//!   limits were not met.
//!
//! A request that could not be repaired may become repairable once a marker replaces the obstacle; then the same holds
//! for its projection.
//!
//! The settings follow the last byte 0xFF, which is in no UTF-8 text: flags, the limit on one result, and the total.

#![no_main]

use std::borrow::Cow;
use std::fs;
use std::sync::LazyLock;

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use toolcarry::context::limits::Limits;
use toolcarry::context::policy::NO_LIMIT;
use toolcarry::json::scanned::Scanned;
use toolcarry::projection::{
    ClearInputs, Decision, Decisions, Mend, OwnMend, Previous, Price, ProjectedBytes, Settings, project_body,
};
use toolcarry::shorten::Kinds;
use toolcarry::text::OwnedText;
use toolcarry::text::truncate::Keep;
use toolcarry::tokens::{Encoding, EncodingName};

static ENCODING: LazyLock<Encoding> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../python/toolcarry/_data/vocabularies/o200k_base.bpe");
    Encoding::parse(EncodingName::O200kBase, &fs::read(path).unwrap()).unwrap()
});
const MARK: &[u8] = b"\xEF\xBB\xBF";

fuzz_target!(|data: &[u8]| {
    let end = data.iter().rposition(|byte| *byte == 0xFF).unwrap_or(data.len());
    let (body, settings) = (&data[..end], asked(data.get(end + 1..).unwrap_or_default()));
    let bump = Bump::new();
    let Ok(once) = project_body(body, &settings, None, &bump) else { return };
    let previous = previous(&once);
    let new = bytes(&once).unwrap_or_else(|| body.to_vec());
    assert!(Scanned::parse(new.strip_prefix(MARK).unwrap_or(&new), &bump).is_ok());
    // An image counts with its cost instead of its length, so its marker may be longer than its JSON.
    let longer: usize = once.outcome.replacements.iter().map(|found| found.sizes.1.saturating_sub(found.sizes.0)).sum();
    assert!(longer == 0 || may_show(body), "{:?}", once.outcome);
    // Parts that become text get escaped quotes: in a body without escapes, each of them is one byte longer.
    let escapes = new.windows(2).filter(|pair| pair == b"\\\"").count();
    let most = body.len() + longer + escapes;
    assert!(new.len() <= most || !once.outcome.mends.is_empty() || !body.is_ascii() || body.contains(&b'\\'));
    let twice = project_body(&new, &settings, None, &bump).unwrap();
    let is_one_request = once.outcome.not_repaired.is_empty();
    if is_one_request {
        assert!(twice.outcome.mends.is_empty(), "{:?} then {:?}", once.outcome, twice.outcome);
    } else if twice.outcome.not_repaired.is_empty() {
        let new = bytes(&twice).unwrap_or_else(|| new.clone());
        let thrice = project_body(&new, &settings, None, &bump).unwrap();
        assert!(thrice.outcome.mends.is_empty(), "{:?} then {:?}", twice.outcome, thrice.outcome);
    }
    let keeps = settings.keep_last_results + settings.keep_last_turns > 0;
    // With a shorter id, the marker of a result is shorter, and may now be shorter than the result.
    let is_renamed = once.outcome.mends.iter().any(|mend| mend.kind == "renamed_id" && is_shorter(mend));
    let may_differ = settings.repair && (settings.total.is_some() || keeps || is_renamed || !is_one_request);
    assert!(
        twice.body.is_none() || may_differ || once.outcome.over_budget > 0,
        "{:?} then {:?}",
        once.outcome,
        twice.outcome
    );
    let again = project_body(body, &settings, Some(&previous), &bump).unwrap();
    assert_eq!(bytes(&again), bytes(&once));
    assert_eq!(again.outcome.cache_break_tokens, 0);
});

/// Return true if the body may contain an image or another part that is not text.
fn may_show(body: &[u8]) -> bool {
    let holds = |kind: &&str| body.windows(kind.len()).any(|part| part.eq_ignore_ascii_case(kind.as_bytes()));
    let kinds =
        ["image", "screenshot", "audio", "video", "document", "file", "data", "blob", "bytes", "base64", "encrypted"];
    kinds.iter().any(holds)
}

fn is_shorter(mend: &Mend<'_>) -> bool {
    mend.detail.len() < mend.call_id.len()
}

/// Decode the settings.
fn asked(tail: &[u8]) -> Settings<'static> {
    let byte = |index: usize| tail.get(index).copied().map(usize::from);
    let flags = byte(0).unwrap_or(0);
    Settings {
        total: byte(2).map(|total| 8 * total),
        limits: Limits::of_chars(byte(1).unwrap_or(NO_LIMIT)),
        keep: [None, Some(Keep::Head), Some(Keep::Tail), Some(Keep::Ends)][flags & 3],
        repair: flags & 4 != 0,
        clear_at_least: if flags & 8 == 0 { Some(0) } else { None },
        prices: &[Price { write: 10_000, read: 10_000 }, Price { write: 20_000, read: 250 }],
        clear_inputs: if flags >> 6 & 1 == 0 { ClearInputs::Never } else { ClearInputs::Always },
        keep_last_results: flags >> 4 & 1,
        keep_last_turns: flags >> 5 & 1,
        content: Kinds::of(["json", "logs", "tests"]),
        references: flags >> 7 & 1 == 0,
        ..Settings::new(&ENCODING)
    }
}

fn bytes(projected: &ProjectedBytes<'_>) -> Option<Vec<u8>> {
    projected.body.as_ref().map(|body| {
        let mut room = vec![0; body.len()];
        body.write(&mut room);
        room
    })
}

/// The decisions of a projection, in the form that the next one takes.
fn previous(projected: &ProjectedBytes<'_>) -> Previous {
    let Decisions { messages, made, dropped, signs, savings, excerpts } = &projected.decisions;
    let own = |decision: &Decision<'_>| Decision { by: Cow::Owned(decision.by.to_string()), ..decision.clone() };
    Previous {
        messages: *messages,
        savings: *savings,
        made: made.iter().map(|(reference, decision)| (reference.to_string(), own(decision))).collect(),
        excerpts: excerpts.iter().map(|(reference, kept)| (reference.to_string(), kept.clone())).collect(),
        dropped: dropped.iter().map(ToString::to_string).collect(),
        signs: signs.iter().map(|(reference, sign)| (reference.to_string(), *sign)).collect(),
        mends: projected
            .outcome
            .mends
            .iter()
            .map(|mend| OwnMend {
                kind: mend.kind.to_string(),
                position: mend.position,
                call_id: OwnedText::from(mend.call_id.text()),
                detail: OwnedText::from(mend.detail.text()),
            })
            .collect(),
    }
}
