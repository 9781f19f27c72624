//! The main job of the library: format the tool results of a conversation as context for another model backend.

pub mod block;
pub mod budget;
pub mod dialogue;
pub mod fence;
pub mod handover;
pub mod inline;
pub mod limits;
pub mod output;
pub mod policy;
pub mod summary;

use ahash::AHashMap;

use self::budget::{Fill, ROOM};
use self::handover::{HandedOver, NumberedCall, Spoken, hand_over, is_about_plan, plan_section, spoken_in};
use self::output::Output;
use self::policy::{Layout, Reasons, Settings, Trace};
use crate::dedupe::Judging;
use crate::dedupe::rules::{KeepBlock, Rule, RuleSet};
use crate::input::messages::{Halt, Messages};
use crate::json::value::Value;
use crate::pairing::block::Entry;
use crate::pairing::{Unread, Walk};
use crate::text::OwnedText;
use crate::text::piece::Piece;

/// The number of blocks by outcome, and the sizes before and after.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of blocks walked.
    pub walked: usize,
    /// True if the walk reached the beginning of the conversation.
    pub walked_all: bool,
    /// The number of blocks shown.
    pub shown: usize,
    /// The number of shown blocks that are cut.
    pub cut: usize,
    /// The number of blocks left out for lack of room.
    pub left_out: usize,
    /// The number of superseded blocks, by reason.
    pub superseded: Reasons,
    /// The number of excluded blocks, by reason.
    pub excluded: Reasons,
    /// The number of calls without a result.
    pub orphan_calls: usize,
    /// The number of results without a call.
    pub orphan_results: usize,
    /// The number of results for calls that already have one.
    pub duplicate_results: usize,
    /// The unknown structures in the walked messages.
    pub unread: Unread,
    /// The number of records that the session file repeats.
    pub repeated_records: usize,
    /// The number of blocks whose result is a failure.
    pub errors: usize,
    /// The characters of the results of all walked blocks.
    pub chars_before: usize,
    /// The characters of the context.
    pub chars_after: usize,
    /// True if the summary was cut.
    pub summary_cut: bool,
    /// True if the total was too small: nothing was shown, or the summary had no room.
    pub budget_too_small: bool,
    /// The tokens of the context, if the total counts tokens.
    pub tokens_after: Option<usize>,
    /// The position of each shown block's message and the block's tokens, in the order of the context.
    pub block_tokens: Vec<(usize, usize)>,
    /// The calls of a hand-over and where each is shown, oldest first.
    pub steps: Vec<NumberedCall>,
}

/// A context, its counts, and the fate of each block if a trace was requested.
#[derive(Debug)]
pub struct Carried<'a> {
    /// The context.
    pub output: Output<'a>,
    /// The counts of blocks and sizes.
    pub counts: Counts,
    /// The fate of each block.
    pub trace: Trace,
}

/// Format the tool results of a conversation as a context.
pub fn carry<'a, M: Messages<'a>>(
    messages: M,
    summary: &Piece<'_>,
    settings: &Settings,
    rules: &RuleSet,
    is_traced: bool,
) -> Result<Carried<'a>, Halt<M::Error>> {
    let mut carried = if settings.layout == Layout::Sections {
        carry_newest(&messages, summary, settings, rules, is_traced)?
    } else {
        carry_whole(&messages, summary, settings, rules, is_traced)?
    };
    number_positions(&mut carried.counts, &messages);
    Ok(carried)
}

/// Return the newest blocks in sections.
///
/// The first attempt follows the active branch upwards and can stop early. If that walk is not sure about the branch,
/// the conversation is walked again in full.
fn carry_newest<'a, M: Messages<'a>>(
    messages: &M,
    summary: &Piece<'_>,
    settings: &Settings,
    rules: &RuleSet,
    is_traced: bool,
) -> Result<Carried<'a>, Halt<M::Error>> {
    let mut following = Walk::following(messages);
    let carried = carry_walked(&mut following, summary, settings, rules, is_traced)?;
    if following.is_sure() {
        return Ok(carried);
    }
    carry_walked(&mut Walk::new(messages), summary, settings, rules, is_traced)
}

/// Replace the positions of messages in a report with their numbers.
fn number_positions<'a, M: Messages<'a>>(counts: &mut Counts, messages: &M) {
    for (position, _) in &mut counts.block_tokens {
        *position = messages.number(*position);
    }
    for step in &mut counts.steps {
        step.position = messages.number(step.position);
    }
}

/// Return the hand-over, for which the whole conversation is read; by default, sections if everything fits.
fn carry_whole<'a, M: Messages<'a>>(
    messages: &M,
    summary: &Piece<'_>,
    settings: &Settings,
    rules: &RuleSet,
    is_traced: bool,
) -> Result<Carried<'a>, Halt<M::Error>> {
    let mut walk = Walk::new(messages);
    let mut entries = Vec::new();
    while let Some(entry) = walk.next_entry()? {
        entries.push(entry);
    }
    if settings.layout == Layout::Auto
        && let Some(carried) = carry_sections(&entries, &walk, summary, settings, rules, is_traced)
    {
        return Ok(carried);
    }
    let turns = dialogue::turns_of(messages, false)?;
    let spoken = spoken_in(&turns, |position| messages.number(position));
    Ok(carry_handover(entries, &walk, &spoken, summary, settings, rules, is_traced))
}

/// Return the sections of all entries; `None` if not everything fits.
fn carry_sections<'a, M: Messages<'a>>(
    entries: &[Entry<'a, M::Item>],
    walk: &Walk<'a, M>,
    summary: &Piece<'_>,
    settings: &Settings,
    rules: &RuleSet,
    is_traced: bool,
) -> Option<Carried<'a>> {
    let mut job = Job::new(summary, settings, rules, is_traced);
    let mut given = Vec::new();
    for entry in entries {
        let mut entry = entry.clone();
        if !job.watch(&mut entry) {
            continue;
        }
        if rules.keeps_first {
            given.push(entry);
            continue;
        }
        job.take(entry);
        if job.fill.is_spent {
            return None;
        }
    }
    job.judging.find_firsts(&mut given);
    for entry in given {
        job.take(entry);
        if job.fill.is_spent {
            return None;
        }
    }
    add_plan(&mut job.fill, entries.iter().rev(), &job.judging);
    (!job.fill.is_spent).then(|| job.finish(walk))
}

/// Show the last plan of entries, oldest first.
fn add_plan<'a: 'e, 'e, V: Value<'a> + 'e>(
    fill: &mut Fill<'a, '_, V>,
    entries: impl Iterator<Item = &'e Entry<'a, V>>,
    judging: &Judging<'a, '_>,
) {
    let mut found = Vec::new();
    for entry in entries.filter(|entry| entry.is_active && is_about_plan(entry)) {
        let mut entry = entry.clone();
        let rule = judging.prepare(&mut entry);
        if is_about_plan(&entry) && excluding_reason(fill, &entry, rule).is_none() {
            found.push((entry, rule));
        }
    }
    fill.add_plan(plan_section(found));
}

/// Return the hand-over of all entries, newest first.
fn carry_handover<'a, M: Messages<'a>>(
    entries: Vec<Entry<'a, M::Item>>,
    walk: &Walk<'a, M>,
    spoken: &Spoken<'a>,
    summary: &Piece<'_>,
    settings: &Settings,
    rules: &RuleSet,
    is_traced: bool,
) -> Carried<'a> {
    let mut job = Job::new(summary, settings, rules, is_traced);
    let mut found = Vec::with_capacity(entries.len());
    for mut entry in entries {
        if !job.watch(&mut entry) {
            continue;
        }
        let rule = job.judging.prepare(&mut entry);
        job.counts.errors += usize::from(entry.is_error());
        match excluding_reason(&job.fill, &entry, rule) {
            Some(reason) => job.fill.exclude(entry.age, reason),
            None => found.push((entry, rule)),
        }
    }
    found.reverse();
    let handed = hand_over(found, spoken, summary, settings);
    job.hand(handed, walk)
}

/// Return why no hand-over shows a block: a rule, its branch, or a setting; `None` if it may be shown.
fn excluding_reason<'a, V: Value<'a>>(
    fill: &Fill<'a, '_, V>,
    entry: &Entry<'a, V>,
    rule: &Rule,
) -> Option<&'static str> {
    match () {
        () if rule.keep == KeepBlock::None => Some("rule"),
        () if entry.is_active => fill.excluding_setting(entry),
        () => Some(inactive_reason(entry)),
    }
}

/// Build the context from one walk.
fn carry_walked<'a, M: Messages<'a>>(
    walk: &mut Walk<'a, M>,
    summary: &Piece<'_>,
    settings: &Settings,
    rules: &RuleSet,
    is_traced: bool,
) -> Result<Carried<'a>, Halt<M::Error>> {
    let mut job = Job::new(summary, settings, rules, is_traced);
    if rules.keeps_first {
        let mut entries = Vec::new();
        while let Some(mut entry) = walk.next_entry()? {
            if job.watch(&mut entry) {
                entries.push(entry);
            }
        }
        job.judging.find_firsts(&mut entries);
        let mut entries = entries.into_iter();
        for entry in entries.by_ref() {
            job.take(entry);
            if job.fill.is_done {
                break;
            }
        }
        job.counts.errors += entries.filter(Entry::is_error).count();
    } else {
        while let Some(mut entry) = walk.next_entry()? {
            if job.watch(&mut entry) {
                job.take(entry);
                if job.fill.is_done {
                    break;
                }
            }
        }
    }
    Ok(job.finish(walk))
}

struct Job<'a, 's, V> {
    fill: Fill<'a, 's, V>,
    judging: Judging<'a, 's>,
    counts: Counts,
}

impl<'a, 's, V: Value<'a>> Job<'a, 's, V> {
    fn new(summary: &Piece<'_>, settings: &'s Settings, rules: &'s RuleSet, is_traced: bool) -> Self {
        let fill = Fill::new(settings, summary, is_traced);
        Self { fill, judging: Judging::with_room(rules, ROOM), counts: Counts::default() }
    }

    /// Count an entry. Return true if it is on the active branch.
    fn watch(&mut self, entry: &mut Entry<'a, V>) -> bool {
        let counts = &mut self.counts;
        entry.age = counts.walked;
        counts.walked += 1;
        if entry.result.is_none() {
            counts.orphan_calls += 1;
        } else {
            counts.chars_before += entry.text.len();
            counts.orphan_results += usize::from(entry.call.is_none());
        }
        if !entry.is_active {
            counts.errors += usize::from(entry.is_error()); // its flag; it is not judged
            self.fill.exclude(entry.age, inactive_reason(entry));
        }
        entry.is_active
    }

    fn take(&mut self, mut entry: Entry<'a, V>) {
        let judgement = self.judging.judge(&mut entry);
        self.counts.errors += usize::from(entry.is_error());
        if let Some(newest) = judgement.counted_by {
            self.fill.count(newest);
        }
        match judgement.reason {
            Some(reason) => self.fill.supersede(entry.age, reason),
            None => self.fill.offer(entry),
        }
    }

    fn finish<M: Messages<'a, Item = V>>(self, walk: &Walk<'a, M>) -> Carried<'a> {
        let mut fill = self.fill;
        let output = fill.finish();
        let counts = Counts {
            walked_all: !fill.is_done,
            shown: fill.shown,
            cut: fill.cut,
            left_out: fill.left_out,
            superseded: std::mem::take(&mut fill.superseded),
            excluded: std::mem::take(&mut fill.excluded),
            duplicate_results: walk.duplicate_results,
            unread: walk.unread_report(),
            repeated_records: walk.repeated_records(),
            chars_after: output.len(),
            summary_cut: fill.summary_cut,
            budget_too_small: fill.budget_too_small,
            tokens_after: fill.tokens,
            block_tokens: std::mem::take(&mut fill.block_tokens),
            steps: Vec::new(),
            ..self.counts
        };
        Carried { output, counts, trace: fill.take_trace() }
    }

    /// Return a hand-over with its report.
    fn hand<M: Messages<'a, Item = V>>(mut self, handed: HandedOver, walk: &Walk<'a, M>) -> Carried<'a> {
        let mut output = Output::default();
        output.push(Piece::own(OwnedText::from(handed.text)));
        let mut trace = self.fill.take_trace();
        trace.extend(handed.trace);
        let counts = Counts {
            walked_all: true,
            shown: handed.shown,
            cut: handed.cut,
            left_out: handed.left_out,
            superseded: if handed.merged > 0 { vec![("merged", handed.merged)] } else { Vec::new() },
            excluded: std::mem::take(&mut self.fill.excluded),
            duplicate_results: walk.duplicate_results,
            unread: walk.unread_report(),
            repeated_records: walk.repeated_records(),
            chars_after: output.len(),
            summary_cut: handed.summary_cut,
            budget_too_small: handed.budget_too_small,
            tokens_after: handed.tokens,
            block_tokens: handed.block_tokens,
            steps: handed.calls,
            ..self.counts
        };
        Carried { output, counts, trace }
    }
}

/// Return the reason to report for a block that is not on the active branch.
pub fn inactive_reason<V>(entry: &Entry<'_, V>) -> &'static str {
    if entry.scope.is_empty() { "other_branch" } else { "side_chain" }
}

/// Format entries that are already deduplicated, newest first. Each comes with the ages of the older entries that its
/// heading counts.
#[must_use]
pub fn format_tool_context<'a, V: Value<'a>>(
    entries: Vec<(Entry<'a, V>, Vec<usize>)>,
    summary: &Piece<'_>,
    settings: &Settings,
    rules: &RuleSet,
) -> Output<'a> {
    let mut fill = Fill::new(settings, summary, false);
    let judging = Judging::new(rules);
    if settings.layout == Layout::Sections {
        fill_with(&mut fill, entries, &judging);
        return fill.finish();
    }
    if settings.layout == Layout::Auto {
        fill_with(&mut fill, entries.clone(), &judging);
        if !fill.is_spent {
            add_plan(&mut fill, entries.iter().rev().map(|(entry, _)| entry), &judging);
        }
        if !fill.is_spent {
            return fill.finish();
        }
    }
    let mut chosen = Vec::with_capacity(entries.len());
    for (mut entry, _) in entries.into_iter().rev() {
        let rule = judging.prepare(&mut entry);
        if excluding_reason(&fill, &entry, rule).is_none() {
            chosen.push((entry, rule));
        }
    }
    let mut output = Output::default();
    let handed = hand_over(chosen, &Spoken::default(), summary, settings);
    output.push(Piece::own(OwnedText::from(handed.text)));
    output
}

/// Offer entries that are already deduplicated, newest first, with the counts in their headings.
fn fill_with<'a, V: Value<'a>>(
    fill: &mut Fill<'a, '_, V>,
    entries: Vec<(Entry<'a, V>, Vec<usize>)>,
    judging: &Judging<'a, '_>,
) {
    let mut counts: Vec<(usize, usize)> =
        entries.iter().flat_map(|(entry, earlier)| earlier.iter().map(|age| (*age, entry.order))).collect();
    counts.sort_by_key(|(age, _)| *age);
    let mut counts = counts.into_iter().peekable();
    for (mut entry, _) in entries {
        while let Some((_, newest)) = counts.next_if(|(age, _)| *age <= entry.order) {
            fill.count(newest);
        }
        if entry.is_active {
            let is_stale = entry.is_stale;
            judging.prepare(&mut entry);
            entry.is_stale = is_stale;
            fill.offer(entry);
        } else {
            fill.exclude(entry.age, inactive_reason(&entry));
        }
        if fill.is_done {
            break;
        }
    }
    counts.for_each(|(_, newest)| fill.count(newest));
}

/// Visit every block of a conversation, newest first, with its kind and key, and with any further results for its call.
/// An error from the visitor stops the walk and is returned.
pub fn extract_tool_blocks<'a, M: Messages<'a>, E>(
    messages: &M,
    mut visit: impl FnMut(&Entry<'a, M::Item>, &[M::Item]) -> Result<(), E>,
) -> Result<Result<(), E>, Halt<M::Error>> {
    let mut walk = Walk::new(messages);
    let judging = Judging::new(RuleSet::built_in());
    let mut age = 0;
    while let Some(mut entry) = walk.next_entry()? {
        (entry.age, entry.position) = (age, messages.number(entry.position));
        age += 1;
        judging.prepare(&mut entry);
        let second_results = walk.second_results.get(&entry.order).map_or(&[][..], Vec::as_slice);
        if let Err(error) = visit(&entry, second_results) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

/// Return the entries that no other entry supersedes, newest first. Each comes with the orders of the older entries
/// that its heading counts.
#[must_use]
pub fn deduplicate_tools<'a, V: Value<'a>>(
    mut entries: Vec<Entry<'a, V>>,
    rules: &RuleSet,
) -> Vec<(Entry<'a, V>, Vec<usize>)> {
    let mut judging = Judging::new(rules);
    if rules.keeps_first {
        judging.find_firsts(&mut entries);
    }
    let mut earlier: AHashMap<usize, Vec<usize>> = AHashMap::new();
    let mut kept = Vec::new();
    for mut entry in entries {
        let judgement = judging.judge(&mut entry);
        if let Some(newest) = judgement.counted_by {
            earlier.entry(newest).or_default().push(entry.order);
        }
        if judgement.reason.is_none() {
            kept.push(entry);
        }
    }
    let with_earlier = |entry: Entry<'a, V>| {
        let ages = earlier.remove(&entry.order).unwrap_or_default();
        (entry, ages)
    };
    kept.into_iter().map(with_earlier).collect()
}

/// Return the block's kind and the key that distinguishes it from others of that kind, as in `read:/path`; `None` if it
/// has no such key.
#[must_use]
pub fn dedup_key<V>(entry: &Entry<'_, V>) -> Option<OwnedText> {
    let own = entry.key.as_ref()?;
    let mut key = OwnedText::default();
    key.push_ascii(entry.kind.name());
    key.push_ascii(":");
    key.push(own.text());
    Some(key)
}
