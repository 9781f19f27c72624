//! The plan of a projection, and the size of the request's unchanged prefix.
//!
//! A prompt cache keeps that prefix. Its size is estimated from the bytes of the messages, which their source reports.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::Arc;

use ahash::AHashSet;

use super::blocks::{Block, Blocks, CallFacts, read_blocks, turns_of};
use super::decide::{BYTES_PER_TOKEN, Total, protect, repeat, replace};
use super::early::has_early;
use super::edits::{Draft, Members, Path, RequestSource};
use super::fingerprint::signs_of;
use super::first_sight::set_limits;
use super::inputs::{are_wanted, read_inputs};
use super::mended::{adopt, count_mends, counts};
use super::older_images::{OlderImage, OlderImages, leave_out_older};
use super::policy::{ClearInputs, Decision, DecisionKind, Mend, Previous, Savings, Settings, Sign};
use super::prefix::{CurrentDecisions, Prefix, prefix_of};
use super::price::Sent;
use super::repair::destinations::Destination;
use super::repair::frame::Frame as RequestFrame;
use super::repair::guard::{REFERENCE, callers, guarded, place_of, references};
use super::repair::repair_messages;
use super::repair::report::Mends;
use super::repair::settings::Build;
use super::request::{EditedMessages, is_original};
use super::shapes::{VERSION, form_of, is_mixed, shapes_of, speaks_chat, speaks_to_anthropic};
use super::shortened::excerpts_of;
use super::window::RequestSize;
use crate::context::limits::room_of;
use crate::input::messages::Halt;
use crate::json::value::{Key, Value};
use crate::pairing::Unread;
use crate::text::Text;
use crate::text::piece::Piece;

/// The properties of a request besides its messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame<'r> {
    /// The tokens of everything but the messages.
    pub tokens: usize,
    /// The bytes behind the messages, if they are known.
    pub bytes: usize,
    /// The bytes before the messages, if they are known. They are part of the first one's weight.
    pub before: usize,
    /// The member by which the request continues what a server holds. Calls and results may be there that are not here,
    /// so the request is never repaired.
    pub continued_by: Option<&'static [Key<'static>]>,
    /// Facts about each block that the messages don't contain, oldest first.
    pub known: Option<&'r [CallFacts]>,
    /// The name of the model, if the request says it.
    pub model: Option<Text<'r>>,
    /// True if an importer read the messages: no provider accepts them, so they are never repaired.
    pub is_foreign: bool,
}

impl Frame<'_> {
    /// Return true if the messages are the whole conversation in a provider's format.
    fn is_whole(&self) -> bool {
        !self.is_foreign && self.continued_by.is_none()
    }
}

/// The properties of a request that its messages have together.
#[derive(Clone, Copy, Debug)]
struct Given<'s> {
    frame: Frame<'s>,
    /// The formats, if the request is to be repaired.
    shapes: &'s [&'static str],
    /// The positions of the messages that no repair may touch.
    guard: &'s AHashSet<usize>,
    /// The number of messages at the beginning that are as they were sent, if a request was.
    sent: Option<usize>,
}

/// The result of a projection.
#[derive(Clone, Debug)]
pub struct Projection<'a, V> {
    /// The new messages; `None` if they are unchanged.
    pub drafts: Option<Vec<Draft<'a, V>>>,
    /// The other members of the request that change.
    pub frame: Members<'a, V>,
    /// The report of the projection.
    pub outcome: Outcome<'a>,
    /// The decisions, for the next projection.
    pub decisions: Decisions<'a>,
}

/// The decisions of a projection, which the next projection of the same conversation receives.
#[derive(Clone, Debug)]
pub struct Decisions<'a> {
    /// The number of messages.
    pub messages: usize,
    /// The decisions by reference, in the order of the blocks.
    pub made: Vec<(Cow<'a, str>, Decision<'a>)>,
    /// The excerpts of the shortened results, by reference.
    pub excerpts: Vec<(Cow<'a, str>, Arc<[u8]>)>,
    /// The references of dropped results.
    pub dropped: Vec<Cow<'a, str>>,
    /// The fingerprints of all calls and results that decisions name, by reference.
    pub signs: Vec<(Cow<'a, str>, Sign)>,
    /// What the conversation has saved, this request included.
    pub savings: Savings,
}

/// A result that a marker replaces, or that was dropped with its call.
#[derive(Clone, Debug)]
pub struct Replacement<'a> {
    /// The position of the message that contains the result.
    pub position: usize,
    /// The reference of the full text.
    pub reference: Cow<'a, str>,
    /// The name of the tool.
    pub name: Text<'a>,
    /// The reason.
    pub reason: &'static str,
    /// The number of characters before and after.
    pub sizes: (usize, usize),
    /// The range of characters that was removed.
    pub range: (usize, usize),
}

/// The report of a projection.
#[derive(Clone, Debug, Default)]
pub struct Outcome<'a> {
    /// The number of blocks.
    pub blocks: usize,
    /// The replaced results.
    pub replacements: Vec<Replacement<'a>>,
    /// The images that lines took the place of, since newer ones are kept.
    pub older_images: Vec<OlderImage<'a>>,
    /// The corrections made by the repair.
    pub mends: Vec<Mend<'a>>,
    /// The number of calls without a result.
    pub orphan_calls: usize,
    /// The number of results without a call.
    pub orphan_results: usize,
    /// The number of results for calls that already have one.
    pub duplicate_results: usize,
    /// The number of blocks whose result is a failure.
    pub errors: usize,
    /// True if there are results, and none of them has a place for a marker.
    pub is_fixed: bool,
    /// The characters of all results before the projection.
    pub chars_before: usize,
    /// The characters of all results after it.
    pub chars_after: usize,
    /// The tokens of the request before and after, if they were counted.
    pub tokens: Option<(usize, isize)>,
    /// The excess of the results over their total.
    pub over_budget: usize,
    /// The excess of the request over its limit.
    pub over_request: usize,
    /// The formats, or the kinds of calls and results, that could not be repaired.
    pub not_repaired: String,
    /// The new names of tools, with the old ones.
    pub names: Vec<(Piece<'a>, Text<'a>)>,
    /// The unknown structures.
    pub unread: Unread,
    /// The estimated tokens of the unchanged prefix.
    pub stable_prefix_tokens: usize,
    /// The estimated tokens that were sent before and have to be read again.
    pub cache_break_tokens: usize,
    /// The estimated tokens that are not written into the cache with this request, and those that are not read from it,
    /// against sending the conversation unchanged.
    pub saved_tokens: (isize, isize),
    /// The estimated tokens that are written into the cache with this request, those that are read from it, and those of
    /// the unchanged request.
    pub paid_tokens: [usize; 3],
}

/// The new messages as drafts, with the corrections made by the repair.
struct Assembled<'a, V> {
    drafts: Vec<Draft<'a, V>>,
    mends: Mends<'a>,
    not_repaired: String,
    is_same: bool,
    frame: Members<'a, V>,
    images: OlderImages<'a>,
}

/// The messages with all decisions, and the counts.
struct Decided<'s, 'r, 'a, V> {
    put: Assembled<'a, V>,
    total: Total<'s, 'r>,
    request: Option<RequestSize<'s, 'r>>,
    /// The number of messages at the beginning that are as they were sent.
    standing: usize,
}

/// Plan the projection of a request.
pub fn plan<'a, D: RequestSource<'a>>(
    (messages, request_source): (&[D::Item], &D),
    settings: &Settings<'_>,
    previous: Option<&Previous>,
    frame: Frame<'_>,
) -> Result<Projection<'a, D::Item>, Halt<Infallible>> {
    let repair = settings.repair || is_too_large((messages, request_source), settings);
    plan_with((messages, request_source), &Settings { repair, ..*settings }, previous, (frame, settings.repair))
}

/// Return true if a request has more bytes than its provider takes, and has to fit into a limit: one in tokens does not
/// see the bytes of images.
fn is_too_large<'a, D: RequestSource<'a>>(
    (messages, request_source): (&[D::Item], &D),
    settings: &Settings<'_>,
) -> bool {
    let least = settings.destination.map_or_else(Destination::least_bytes, |wanted| wanted.rules.request_bytes);
    if settings.max_request_tokens.is_none() || request_source.size() <= least {
        return false;
    }
    let shapes = shapes_of(messages.iter().copied(), &[], settings);
    let own =
        form_of(&shapes).map(|own| settings.destination.filter(|wanted| wanted.shape == own.shape).unwrap_or(own));
    own.is_some_and(|own| own.rules.request_bytes > 0 && request_source.size() > own.rules.request_bytes)
}

/// Plan the projection of a request, and say what was not repaired if a repair `is_asked` for.
fn plan_with<'a, D: RequestSource<'a>>(
    (messages, request_source): (&[D::Item], &D),
    settings: &Settings<'_>,
    previous: Option<&Previous>,
    (frame, is_asked): (Frame<'_>, bool),
) -> Result<Projection<'a, D::Item>, Halt<Infallible>> {
    // An import writes the arguments of calls in another form, so that a change of them has no place in the original.
    let clear_inputs = if frame.is_foreign { ClearInputs::Never } else { settings.clear_inputs };
    let settings = &Settings { repair: settings.repair && frame.continued_by.is_none(), clear_inputs, ..*settings };
    let Blocks { all: mut blocks, duplicate_results, second_positions, mut unread_positions, unread, read_messages } =
        read_blocks(messages, settings, frame.known, None)?;
    let wants_inputs = are_wanted(settings, previous);
    let all = || messages.iter().copied();
    let mut shapes = if settings.repair { shapes_of(all(), &read_messages, settings) } else { Vec::new() };
    if shapes.is_empty() && settings.repair && speaks_to_anthropic(messages, request_source.frame(), frame.model) {
        shapes.push("anthropic");
    }
    if shapes.is_empty() && settings.repair && speaks_chat(messages, frame.model) {
        shapes.push("openai-chat");
    }
    unread_positions.append(&mut callers(messages, &blocks));
    let references = references(messages);
    let hidden = &unread_positions | &references;
    let may_be_early = frame.known.is_none() && hidden.is_empty();
    let early = form_of(&shapes).filter(|_| may_be_early && has_early(blocks.iter().map(|block| &block.entry)));
    if early.is_some() {
        blocks = read_blocks(messages, settings, None, early)?.all;
    }
    if wants_inputs {
        read_inputs(&mut blocks, messages, settings);
    }
    let mut guard = if is_mixed(&shapes) || frame.continued_by.is_some() {
        (0..messages.len()).collect() // without the turns of one provider, the rest would be repaired as the other's
    } else {
        guarded(messages, &blocks, &hidden, &second_positions)
    };
    if frame.is_foreign {
        // What can't be shortened is not dropped as a whole either.
        guard.extend(blocks.iter().filter(|block| block.slot.is_none()).map(|block| block.entry.position));
    }
    let given = Given { frame, shapes: &shapes, guard: &guard, sent: None };
    let turns = if wants_inputs || asks_for_turns(settings, previous) { turns_of(&blocks) } else { Vec::new() };
    let mut decided = decide((messages, request_source), (&mut blocks, &turns), (settings, previous), given);
    // Without turns that are dropped, a request that was corrected before stays so.
    let was_corrected = settings.max_request_tokens.is_some() && frame.is_whole();
    let was_corrected = was_corrected && previous.is_some_and(|previous| !previous.mends.is_empty());
    if !settings.repair && (was_corrected || !decided.put.mends.made.is_empty()) {
        // Where dropped turns have to be joined, the request is corrected, and so it is judged as that leaves it.
        let settings = &Settings { repair: true, ..*settings };
        return plan_with((messages, request_source), settings, previous, (frame, false));
    }
    // Few requests need a correction, so that the others are read and put together once.
    let mends = &decided.put.mends;
    let is_corrected = settings.repair && (!mends.made.is_empty() || drops(&blocks));
    if is_corrected && (counts(settings) || is_missed(&blocks, mends)) {
        let mut fresh = read_blocks(messages, settings, frame.known, early)?.all;
        if wants_inputs {
            read_inputs(&mut fresh, messages, settings);
        }
        let first = put_together((messages, request_source), &fresh, settings, given);
        if !first.mends.made.is_empty() {
            let mended: Vec<D::Item> = first.drafts.iter().filter_map(|draft| request_source.build(draft)).collect();
            let turns = adopt(&mut fresh, &mended, &first.mends, (settings, frame.known))?;
            decided = decide((messages, request_source), (&mut fresh, &turns), (settings, previous), given);
            blocks = fresh;
        }
    }
    let Decided { put, mut total, request, standing } = decided;
    if total.over() > 0 {
        // The excess is smaller if results were dropped or left out since.
        total.count_again(blocks.iter().filter(|block| !put.mends.is_left_out(block.result_path)));
    }
    let (messages, without_image) = (messages.len(), put.images.changed);
    let now = CurrentDecisions { blocks: &blocks, messages, mends: &put.mends, standing, without_image };
    let weigh = |start, end| request_source.weigh(start, end);
    let Prefix { stable, broken, saved, paid } = prefix_of(&now, previous, weigh, frame.bytes);
    let told = outcome_of(&blocks, &put.mends);
    let continued = frame.continued_by.map(|path| format!("continued by {}", dotted(path)));
    let open = Some(put.not_repaired).filter(|open| !open.is_empty());
    let places = [place_of(REFERENCE, &references), place_of("unread", &unread_positions)];
    let reasons: Vec<String> = [open, continued].into_iter().chain(places).flatten().filter(|_| is_asked).collect();
    let outcome = Outcome {
        mends: put.mends.made,
        older_images: put.images.all,
        names: put.mends.names,
        duplicate_results,
        tokens: request.as_ref().map(|request| (request.before, request.tokens)),
        over_budget: total.over(),
        over_request: request.as_ref().map_or(0, RequestSize::over),
        not_repaired: reasons.join(", "),
        unread,
        stable_prefix_tokens: room_of(stable) / BYTES_PER_TOKEN,
        cache_break_tokens: room_of(broken) / BYTES_PER_TOKEN,
        saved_tokens: (in_tokens(saved.written), in_tokens(saved.read)),
        paid_tokens: paid.map(|bytes| room_of(bytes) / BYTES_PER_TOKEN),
        ..told
    };
    let made = decisions_of(&blocks);
    let dropped = blocks.iter().filter(|block| block.is_dropped).map(|block| block.reference.clone());
    let dropped = dropped.collect();
    let before = previous.map_or_else(Savings::default, |previous| previous.savings);
    let savings = before.and(saved);
    let excerpts = excerpts_of(&blocks);
    let decisions = Decisions { messages, made, excerpts, dropped, signs: signs_of(&blocks), savings };
    Ok(Projection { drafts: (!put.is_same).then_some(put.drafts), frame: put.frame, outcome, decisions })
}

/// Decide about all results, and put the messages together.
fn decide<'s, 'r, 'a, D: RequestSource<'a>>(
    (messages, request_source): (&[D::Item], &D),
    (blocks, turns): (&mut Vec<Block<'a, D::Item>>, &[Vec<usize>]),
    (settings, previous): (&'s Settings<'r>, Option<&Previous>),
    given: Given<'s>,
) -> Decided<'s, 'r, 'a, D::Item> {
    let standing = previous.map_or(0, |previous| repeat(blocks, turns, previous));
    let given = Given { sent: previous.map(|_| standing), ..given };
    protect(blocks, turns, settings);
    if let Some(first_sight) = settings.first_sight {
        set_limits(first_sight, blocks, given.frame.before + given.frame.bytes);
    }
    let sent = Sent {
        messages: standing,
        savings: previous.map_or_else(Savings::default, |previous| previous.savings),
        frame: given.frame.bytes,
        weigh: &|start, end| request_source.weigh(start, end),
    };
    replace(blocks, settings, &sent);
    let last = turns.last().map_or(&[][..], Vec::as_slice);
    let mut total = Total::new(blocks, settings);
    // What is over a limit changes anyway, so that all other changes are made with it, and first.
    let at_once = Settings { clear_at_least: Some(0), ..*settings };
    let has_waiting = settings.clear_at_least.is_none();
    if has_waiting && total.over() > 0 {
        replace(blocks, &at_once, &sent);
        total.count_again(blocks.iter());
        total.is_clearing = true;
    }
    total.clear(blocks, last);
    let size_of = |blocks: &[Block<'a, D::Item>]| {
        let limit = settings.counter.zip(settings.max_request_tokens);
        limit.map(|limit| RequestSize::new(messages, (blocks, turns, given.guard), given.frame.tokens, limit, settings))
    };
    let mut request = size_of(blocks);
    if has_waiting && request.as_ref().is_some_and(|request| request.over() > 0) {
        replace(blocks, &at_once, &sent);
        total.count_again(blocks.iter());
        request = size_of(blocks);
        if let Some(request) = &mut request {
            request.is_clearing = true;
        }
    }
    // With repair, this waits until the parts that the repair removes are no longer counted. So do older images.
    if let Some(request) = request.as_mut().filter(|_| !settings.repair && settings.keep_images.is_none())
        && request.fit(blocks, turns)
    {
        total.count_again(blocks.iter());
        total.clear(blocks, last);
    }
    loop {
        let put = put_together((messages, request_source), blocks, settings, given);
        // Only a request from which turns were dropped may need other corrections than before.
        let mut is_changed = drops(blocks) && count_mends(blocks, &put.mends);
        if let Some(request) = &mut request {
            request.count_again(&put.drafts, &put.mends.moved, request_source);
            is_changed |= request.fit(blocks, turns);
        }
        if !is_changed {
            return Decided { put, total, request, standing };
        }
        // The marker of a cleared image may be longer than its line.
        total.count_again(blocks.iter());
        total.clear(blocks, last);
    }
}

/// Return true if any turn is dropped.
fn drops<V>(blocks: &[Block<'_, V>]) -> bool {
    blocks.iter().any(|block| block.is_dropped)
}

/// Return true if a result that was left out was to supersede an older one, if one may have lost cache marks, or if what
/// supersedes what may be another, since a call has other arguments.
fn is_missed<'a, V: Value<'a>>(blocks: &[Block<'a, V>], mends: &Mends<'a>) -> bool {
    let mended: AHashSet<usize> = mends.made.iter().filter_map(|mend| mend.position).collect();
    let may_lose_marks = |block: &Block<'a, V>| mended.contains(&block.entry.result_position) && block.has_many_marks();
    if mends.must_read_again || blocks.iter().any(may_lose_marks) {
        return true;
    }
    if mends.left_out.is_empty() {
        return false;
    }
    let decided = blocks.iter().filter_map(|block| block.decision.as_ref());
    let superseded = decided.filter(|decision| decision.fate == DecisionKind::Superseded);
    let superseding: AHashSet<&str> = superseded.map(|decision| &*decision.by).collect();
    let is_lost = |block: &&Block<'a, V>| block.entry.call.is_some() && mends.is_left_out(block.result_path);
    blocks.iter().filter(is_lost).any(|block| superseding.contains(&*block.reference))
}

/// Return the decisions about results, and about arguments of calls, by reference.
fn decisions_of<'a, V: Value<'a>>(blocks: &[Block<'a, V>]) -> Vec<(Cow<'a, str>, Decision<'a>)> {
    let mut made = Vec::new();
    for block in blocks {
        made.extend(block.decision.clone().map(|decision| (block.reference.clone(), decision)));
        let cleared = block.cleared();
        made.extend(cleared.iter().map(|each| (Cow::Owned(each.reference.clone()), Decision::CLEARED)));
    }
    made
}

/// Return true if any setting or previous decision depends on the turns.
fn asks_for_turns(settings: &Settings<'_>, previous: Option<&Previous>) -> bool {
    let limits = settings.total.or(settings.max_request_tokens);
    limits.is_some() || settings.keep_last_turns > 0 || previous.is_some_and(|previous| !previous.dropped.is_empty())
}

/// Build the part of the report that follows from the blocks.
fn outcome_of<'a, V: Value<'a>>(blocks: &[Block<'a, V>], mends: &Mends<'a>) -> Outcome<'a> {
    // A result that the repair left out is not in the request, and neither is a marker for it.
    let sent = || blocks.iter().filter(|block| !mends.is_left_out(block.result_path));
    Outcome {
        blocks: blocks.len(),
        replacements: replacements(sent()),
        orphan_calls: blocks.iter().filter(|block| block.entry.result.is_none()).count(),
        orphan_results: blocks.iter().filter(|block| block.entry.call.is_none()).count(),
        errors: blocks.iter().filter(|block| block.entry.is_error()).count(),
        is_fixed: blocks.iter().any(|block| block.entry.result.is_some())
            && blocks.iter().all(|block| block.slot.is_none()),
        chars_before: blocks.iter().map(|block| block.size).sum(),
        chars_after: sent().map(Block::sent_len).sum(),
        ..Outcome::default()
    }
}

/// Put the messages together, and repair them if requested.
fn put_together<'a, 'm, D: RequestSource<'a>>(
    (messages, request_source): (&'m [D::Item], &D),
    blocks: &'m [Block<'a, D::Item>],
    settings: &Settings<'_>,
    given: Given<'m>,
) -> Assembled<'a, D::Item> {
    let drops = drops(blocks);
    let decides = drops || blocks.iter().any(|block| block.decision.is_some() || !block.cleared().is_empty());
    let keep_images = settings.keep_images.filter(|_| !given.frame.is_foreign);
    if !decides && !settings.repair && settings.max_request_tokens.is_none() && keep_images.is_none() {
        let (mends, not_repaired, images) = (Mends::default(), String::new(), OlderImages::default());
        return Assembled { drafts: Vec::new(), mends, not_repaired, is_same: true, frame: Vec::new(), images };
    }
    let mut edited = EditedMessages::new(messages, blocks, given.guard);
    let images = keep_images.map_or_else(OlderImages::default, |keep| leave_out_older(&mut edited, keep, given.sent));
    let mut mends = Mends::default();
    let mut not_repaired = String::new();
    let mut most_bytes = None;
    let mut mended = None;
    let mut edited_frame =
        request_source.frame().map(|members| RequestFrame::new(members, settings.destination.is_some()));
    if settings.repair || (drops && given.frame.is_whole()) {
        let shapes = if drops && !is_mixed(given.shapes) {
            let all = EditedMessages::new(messages, blocks, given.guard).all_messages();
            let all = all.iter().filter_map(|draft| request_source.build(draft));
            Cow::Owned(shapes_of(all, &[], settings))
        } else {
            Cow::Borrowed(given.shapes)
        };
        let call_ids = blocks.iter().filter(|block| block.entry.call.is_some()).map(|block| block.entry.call_id);
        let model = given.frame.model.unwrap_or(Text::ascii(""));
        let version = edited_frame.as_ref().and_then(|frame| frame.members.get(VERSION)).and_then(Value::text);
        let told = (model, version.unwrap_or(Text::ascii("")));
        let destination = |name: &&str| Destination::of(name, &call_ids, told, settings.destination);
        let destination = shapes.first().and_then(destination);
        match (&*shapes, destination) {
            // After dropped turns, a provider that wants alternating roles needs the messages joined.
            ([_], Some(destination)) if settings.repair || destination.rules.merges => {
                let is_other = settings.destination.is_some_and(|wanted| wanted.shape != destination.shape);
                edited.keeps_thoughts = is_other && blocks.iter().all(|block| block.entry.call.is_none());
                edited.is_named = settings.destination.is_some();
                edited.may_be_broken = settings.repair && request_source.may_be_broken();
                let build = |draft: &Draft<'a, D::Item>| request_source.build(draft);
                let size = || request_source.size();
                let frame = (edited_frame.as_mut(), &build as Build<'_, 'a, D::Item>, &size as &dyn Fn() -> usize);
                mended = Some(repair_messages(&mut edited, destination, &mut mends, frame));
                if settings.repair {
                    most_bytes = Some(destination.rules.request_bytes).filter(|most| *most > 0);
                    not_repaired = mends.open_kinds.iter().map(Cow::as_ref).collect::<Vec<_>>().join(", ");
                }
            }
            ([_], Some(_)) => {}
            _ if settings.repair => not_repaired = shapes.join(", "),
            _ => {}
        }
        let wanted = settings.destination.filter(|_| settings.repair);
        if let (Some(wanted), Some(own), true) = (wanted, destination, shapes.len() == 1)
            && own.shape != wanted.shape
        {
            let separator = if not_repaired.is_empty() { "" } else { ", " };
            not_repaired = format!("{not_repaired}{separator}{}", wanted.refusal(own.shape));
        }
    }
    let drafts = mended.unwrap_or_else(|| edited.all_messages());
    if let Some(size) = most_bytes.and_then(|most| size_beyond(most, &drafts, (messages.len(), request_source))) {
        let separator = if not_repaired.is_empty() { "" } else { ", " };
        not_repaired = format!("{not_repaired}{separator}{size} bytes");
    }
    let is_same = is_original(&drafts, messages.len());
    let frame = edited_frame.map_or_else(Vec::new, RequestFrame::edits);
    Assembled { drafts, mends, not_repaired, is_same, frame, images }
}

/// Return the bytes of a request with these messages if it has more than are allowed, as none but a request with much text
/// or large documents has.
fn size_beyond<'a, D: RequestSource<'a>>(
    most: usize,
    drafts: &[Draft<'a, D::Item>],
    (count, request_source): (usize, &D),
) -> Option<usize> {
    if request_source.frame().is_none() || request_source.size() <= most {
        return None;
    }
    let size = |draft: &Draft<'a, D::Item>| match draft {
        Draft::Original(Path::Message(position), _) => request_source.weigh(*position, position + 1),
        draft => request_source.build(draft).map_or(0, |message| message.json().as_text().len()),
    };
    let frame = request_source.size().saturating_sub(request_source.weigh(0, count));
    Some(frame + drafts.iter().map(size).sum::<usize>()).filter(|size| *size > most)
}

/// Return a path with dots between its keys.
fn dotted(path: &[Key<'_>]) -> String {
    path.iter().map(|key| key.name.to_utf8()).collect::<Vec<_>>().join(".")
}

/// List the results and arguments that markers replace, and the results dropped with their calls.
fn replacements<'a, 'b, V: Value<'a> + 'b>(blocks: impl Iterator<Item = &'b Block<'a, V>>) -> Vec<Replacement<'a>>
where
    'a: 'b,
{
    let mut found = Vec::new();
    for block in blocks {
        let (entry, size) = (&block.entry, block.size);
        for each in block.cleared() {
            let chars = each.text.len();
            found.push(Replacement {
                position: entry.position,
                reference: Cow::Owned(each.reference.clone()),
                name: entry.name(),
                reason: each.reason.unwrap_or_default(),
                sizes: (chars, each.marker.as_text().len()),
                range: (0, chars),
            });
        }
        let (reason, after, range) = match &block.decision {
            _ if block.is_dropped => ("dropped", 0, (0, size)),
            None => continue,
            Some(decision) => {
                let by_reason = block.reason.filter(|_| decision.fate == DecisionKind::Superseded);
                let reason = by_reason.map_or(decision.fate.name(), |reason| reason.name());
                let is_cut = decision.fate == DecisionKind::Cut;
                let reason = if decision.fate.cuts() && !block.media().beside.is_empty() { "cut_text" } else { reason };
                (reason, block.new_len(), if is_cut { (decision.head, decision.tail) } else { (0, size) })
            }
        };
        found.push(Replacement {
            position: entry.result_position,
            reference: block.reference.clone(),
            name: entry.name(),
            reason,
            sizes: (size, after),
            range,
        });
    }
    found
}

/// Return bytes in tokens.
const fn in_tokens(bytes: isize) -> isize {
    bytes / BYTES_PER_TOKEN.cast_signed()
}
