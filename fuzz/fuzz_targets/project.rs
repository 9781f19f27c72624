//! Any bytes as a request, with any policy: what comes out is well-formed, no longer than what came in unless it was
//! mended or shows an image, not mended any more when it is projected again, and the same when its decisions are made
//! again. Without a policy to which the results that were mended count, too, without ids that get shorter, and where its
//! limits hold, projecting it again changes nothing. A request that could not be mended may be another one once what was
//! in the way is a marker; for that one the same holds.
//!
//! Behind the last byte 0xFF, which no text holds, stand the settings: flags, the limit on one result, and the total.

#![no_main]

use std::borrow::Cow;

use bumpalo::Bump;
use libfuzzer_sys::fuzz_target;
use toolcarry::context::limits::Limits;
use toolcarry::context::policy::NO_LIMIT;
use toolcarry::dedupe::rules::RuleSet;
use toolcarry::json::scanned::Scanned;
use toolcarry::projection::{Decision, Decisions, Mend, OwnMend, Previous, Projected, Settings, project_body};
use toolcarry::text::OwnedText;
use toolcarry::text::truncate::Keep;

const MARK: &[u8] = b"\xEF\xBB\xBF";

fuzz_target!(|data: &[u8]| {
    let end = data.iter().rposition(|byte| *byte == 0xFF).unwrap_or(data.len());
    let (body, settings) = (&data[..end], asked(data.get(end + 1..).unwrap_or_default()));
    let bump = Bump::new();
    let Ok(once) = project_body(body, &settings, None, &bump) else { return };
    let previous = previous(&once);
    let new = bytes(&once).unwrap_or_else(|| body.to_vec());
    assert!(Scanned::parse(new.strip_prefix(MARK).unwrap_or(&new), &bump).is_ok());
    // An image counts as much as it costs, so that a marker may be longer than what is written of one.
    let longer: usize = once.outcome.replacements.iter().map(|found| found.sizes.1.saturating_sub(found.sizes.0)).sum();
    assert!(longer == 0 || may_show(body), "{:?}", once.outcome);
    // Of parts that become text the quotes are escaped: in a body without escapes, each of them is one byte more.
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
    // With a shorter id, the marker of a result is shorter, and may be worth it.
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

/// Whether there may be an image, or another part that is no text.
fn may_show(body: &[u8]) -> bool {
    let holds = |kind: &&str| body.windows(kind.len()).any(|part| part.eq_ignore_ascii_case(kind.as_bytes()));
    let kinds =
        ["image", "screenshot", "audio", "video", "document", "file", "data", "blob", "bytes", "base64", "encrypted"];
    kinds.iter().any(holds)
}

fn is_shorter(mend: &Mend<'_>) -> bool {
    mend.detail.len() < mend.call_id.len()
}

/// The settings that bytes stand for.
fn asked(tail: &[u8]) -> Settings<'static> {
    let byte = |index: usize| tail.get(index).copied().map(usize::from);
    let flags = byte(0).unwrap_or(0);
    Settings {
        total: byte(2).map(|total| 8 * total),
        total_in_tokens: false,
        limits: Limits::of_chars(byte(1).unwrap_or(NO_LIMIT)),
        keep: [None, Some(Keep::Head), Some(Keep::Tail), Some(Keep::Ends)][flags & 3],
        rules: RuleSet::built_in(),
        max_request_tokens: None,
        repair: flags & 4 != 0,
        clear_at_least: if flags & 8 == 0 { 0 } else { 2_000 },
        excluded: None,
        keep_last_results: flags >> 4 & 1,
        keep_last_turns: flags >> 5 & 1,
        counter: None,
    }
}

fn bytes(projected: &Projected<'_>) -> Option<Vec<u8>> {
    projected.body.as_ref().map(|body| {
        let mut room = vec![0; body.len()];
        body.write(&mut room);
        room
    })
}

/// What a projection decided, as the next one is given it.
fn previous(projected: &Projected<'_>) -> Previous {
    let Decisions { messages, made, dropped, signs } = &projected.decisions;
    let own = |decision: &Decision<'_>| Decision { by: Cow::Owned(decision.by.to_string()), ..decision.clone() };
    Previous {
        messages: *messages,
        made: made.iter().map(|(reference, decision)| (reference.to_string(), own(decision))).collect(),
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
