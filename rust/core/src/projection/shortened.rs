//! Shortening a result by what it is: once, and then by its excerpt.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::{Block, Proposal};
use super::excerpt::{MOST_KEPT, Source, excerpt_of, excerpted, excerpted_again, settings_sign};
use super::excerpt_memo::{find, keep, name_of};
use super::marker::{Substitute, marker_of};
use super::policy::{Decision, DecisionKind};
use crate::content::Content;
use crate::content::terminal::has_surrogates;
use crate::context::block::printed_by;
use crate::context::handover::folded_output;
use crate::json::value::Value;
use crate::pairing::block::Kind;
use crate::shorten::{Draft, Kinds};
use crate::text::OwnedText;
use crate::text::piece::Piece;
use crate::tokens::Encoding;

impl<'a, V: Value<'a>> Block<'a, V> {
    /// Repeat a decision of the previous projection, by the excerpt if it has one for the text.
    pub(crate) fn repeat(&self, decision: Decision<'a>, excerpt: Option<&Arc<[u8]>>) -> Proposal<'a, V> {
        match excerpt.and_then(|excerpt| self.by_excerpt(&decision, excerpt)) {
            Some(new) => Proposal { decision, new },
            None => self.propose(decision),
        }
    }

    /// Return the replacement that an excerpt says; `None` if it was made of another text, or with other settings.
    fn by_excerpt(&self, decision: &Decision<'_>, excerpt: &Arc<[u8]>) -> Option<Substitute<'a, V>> {
        if !matches!(decision.fate, DecisionKind::Shortened | DecisionKind::Terminal) || self.has_quotes() {
            return None;
        }
        let marker = self.marker(decision);
        let text = excerpted(excerpt, &self.text, self.settings_sign(decision, &self.command()), &marker)?;
        Some(Substitute::Excerpted(text, Arc::clone(excerpt)))
    }

    /// Return a sign of what a decision's replacement depends on besides the text.
    fn settings_sign(&self, decision: &Decision<'_>, command: &str) -> u64 {
        let is_terminal = u64::from(decision.fate == DecisionKind::Terminal);
        let result = [is_terminal, decision.head as u64, decision.tail as u64];
        settings_sign([command, &self.widest_reference()], self.choices(), result)
    }

    /// Return what the policy chose for the text, as numbers.
    fn choices(&self) -> [u64; 3] {
        [self.kinds.number(), self.side as u64, self.encoding.id()]
    }

    /// Shorten the text by what it is to `room` characters without its marker, and with it to a limit in tokens; `None` if
    /// it can only be cut.
    pub(crate) fn shortened(&self, room: usize, tokens: Option<(usize, &Encoding)>) -> Option<Proposal<'a, V>> {
        if self.kinds == Kinds::NONE || self.has_quotes() {
            return None;
        }
        let widest = marker_of(&Decision::SHORTENED, self.size, &self.widest_reference()).as_text().to_utf8();
        let command = self.command();
        let (most, encoding) = tokens.map_or((0, 0), |(most, encoding)| (most as u64 + 1, encoding.id()));
        let sign = settings_sign([&command, &widest], self.choices(), [room as u64, most, encoding]);
        let name = name_of(Source::of(&self.text).bytes(), sign);
        match name.and_then(find) {
            Some(None) => return None,
            Some(Some((head, tail, excerpt))) => {
                let decision = Decision { head, tail, ..Decision::SHORTENED };
                if let Some(text) = excerpted_again(&excerpt, &self.text, &self.marker(&decision)) {
                    return Some(Proposal { decision, new: Substitute::Excerpted(text, excerpt) });
                }
            }
            None => {}
        }
        let draft = match Draft::of(&self.text, &command, self.kinds, self.is_drawn()) {
            Some(draft) if draft.is_of_a_kind() => Some(draft),
            draft => self.folded(&command).or(draft),
        };
        let Some((room, found)) = draft.and_then(|draft| draft.fit(room, tokens, (&widest, self.side, false))) else {
            if let Some(name) = name {
                keep(name, None);
            }
            return None;
        };
        let decision = Decision { head: room, tail: found.size(), ..Decision::SHORTENED };
        let [before, after] = found.around_marker();
        let excerpt = excerpt_of(&self.text, self.settings_sign(&decision, &command), (&before, Some(&after)));
        let text = [&*before, &self.marker(&decision), &after].concat();
        let found = self.excerpted(decision, OwnedText::from_utf8(&text), excerpt);
        if let Some((name, excerpt)) = name.zip(found.new.excerpt().cloned()) {
            keep(name, Some((found.decision.head, found.decision.tail, excerpt)));
        }
        Some(found)
    }

    /// Return what a command printed, folded, so that it can be shortened further; `None` if it has nothing to fold.
    fn folded(&self, command: &str) -> Option<Draft> {
        let shown = self.last_state().unwrap_or_else(|| self.text.whole());
        let is_output = self.entry.kind == Kind::Command && self.kinds.chooses_lines();
        if !is_output || has_surrogates(shown.text()) {
            return None;
        }
        let text = folded_output(&shown.text().as_utf8(), command)?;
        Draft::of::<V>(&Content::Piece(Piece::own(OwnedText::from_utf8(&text))), command, self.kinds, true)
    }

    /// Propose to send what a terminal shows of a result in the end.
    pub(crate) fn settled(&self, last: &Piece<'a>) -> Proposal<'a, V> {
        let decision = Decision { tail: last.len(), ..Decision::TERMINAL };
        let sign = self.settings_sign(&decision, &self.command());
        let excerpt = excerpt_of(&self.text, sign, (&last.text().as_utf8(), None));
        self.excerpted(decision, OwnedText::from(last.text()), excerpt)
    }

    /// Combine a decision with a text, spelled as its excerpt spells it: so do later requests, which know only that.
    fn excerpted(&self, decision: Decision<'a>, text: OwnedText, excerpt: Option<Vec<u8>>) -> Proposal<'a, V> {
        let said = excerpt.and_then(|excerpt| {
            let found = excerpted_again(&excerpt, &self.text, &self.marker(&decision))?;
            (found.text().as_text() == text.as_text()).then(|| Substitute::Excerpted(found, excerpt.into()))
        });
        let plain = Substitute::new(Piece::own(text));
        let new = if self.is_worth(&decision, &plain) { said.unwrap_or(plain) } else { plain };
        Proposal { decision, new }
    }

    /// Return the command or the tool that printed the text; empty for a file.
    fn command(&self) -> String {
        printed_by(&self.entry).map(|printer| printer.command()).unwrap_or_default()
    }

    /// Return the marker of a decision; empty if it has none.
    fn marker(&self, decision: &Decision<'_>) -> String {
        let marker = || marker_of(decision, self.size, self.named_reference()).as_text().to_utf8();
        if decision.fate == DecisionKind::Terminal { String::new() } else { marker() }
    }

    /// Return true if the marker can't be in a text of JSON.
    fn has_quotes(&self) -> bool {
        self.named_reference().contains(['"', '\\'])
    }
}

/// Return the excerpts of the shortened results that decisions keep, by reference.
pub(crate) fn excerpts_of<'a, V: Value<'a>>(blocks: &[Block<'a, V>]) -> Vec<(Cow<'a, str>, Arc<[u8]>)> {
    let decided = blocks.iter().filter(|block| block.decision.is_some());
    let found = decided.filter_map(|block| Some((block.reference.clone(), block.new.as_ref()?.excerpt()?.clone())));
    found.filter(|(_, excerpt)| excerpt.len() <= MOST_KEPT).collect()
}
