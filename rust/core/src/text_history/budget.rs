//! Fit a text history into a budget: cut results first, then shorten lines to their calls, then leave out messages. The
//! oldest go first each time.
//!
//! Messages are left out in whole exchanges; an exchange begins with a user message. In the last exchange, the user's
//! messages go last, and prompts (messages of any other role) go after everything else. A line begins with a bracket
//! after a line feed, where both encodings split, so the tokens of a message are the sum of those of its parts.

use super::call_line::{ResultOutcome, SEPARATOR, ToolLine};
use super::message::HistoryMessage;
use crate::context::limits::{Measure, signed};
use crate::text::Text;
use crate::text::piece::Piece;
use crate::text::sanitize::cut_text;
use crate::text::segment::Segment;
use crate::text::truncate::Keep;

/// The minimum number of characters to which a result is cut. Below that, the line is shortened to its call.
const LEAST: usize = 80;

/// A line and its size, including the separator after it.
struct Sized<'t, 'a> {
    line: &'t mut ToolLine<'a>,
    end: &'static str,
    size: usize,
    measure: Measure,
}

impl<'t, 'a> Sized<'t, 'a> {
    fn new(line: &'t mut ToolLine<'a>, is_last: bool, measure: Measure) -> Self {
        let mut sized = Self { line, end: if is_last { "" } else { SEPARATOR }, size: 0, measure };
        sized.size = sized.size_of(sized.line.parts());
        sized
    }

    /// Cut the result by the excess `over`, or as far as allowed. Return how much smaller the line became.
    fn cut(&mut self, over: isize) -> isize {
        let text = self.line.result.clone();
        if text.len() <= LEAST {
            return 0;
        }
        let (least, _) = cut_text(text.text(), LEAST, Keep::Head);
        if self.size_with(&text.slice(0, least)) >= self.size {
            return 0;
        }
        self.line.result = text.slice(0, self.longest(&text, least, signed(self.size) - over));
        self.line.fate = ResultOutcome::CutFurther;
        self.resize()
    }

    /// Shorten the line to the call. Return how much smaller it became.
    fn shorten(&mut self) -> isize {
        if self.size_of(vec![self.line.call.clone().into()]) >= self.size {
            return 0;
        }
        self.line.fate = ResultOutcome::Shortened;
        self.resize()
    }

    fn resize(&mut self) -> isize {
        let size = self.size_of(self.line.parts());
        let won = signed(self.size) - signed(size);
        self.size = size;
        won
    }

    /// Return the number of characters of a result that may stay so that the line's size is at most `allowed`; never
    /// fewer than `least`.
    fn longest(&self, text: &Piece<'a>, least: usize, allowed: isize) -> usize {
        let mut limit = allowed - signed(self.size_with(&Piece::default()));
        while let Some(room) = usize::try_from(limit).ok().filter(|room| *room > 0) {
            let (head, _) = match self.measure {
                Measure::Characters => cut_text(text.text(), room, Keep::Head),
                Measure::Tokens(encoding) => encoding.cut(text.text(), room, Keep::Head, Text::ascii("")),
            };
            if head <= least {
                break;
            }
            let excess = signed(self.size_with(&text.slice(0, head))) - allowed;
            if excess <= 0 {
                return head;
            }
            limit -= excess;
        }
        least
    }

    fn size_with(&self, result: &Piece<'a>) -> usize {
        self.size_of(self.line.with_result(result, true))
    }

    fn size_of(&self, mut parts: Vec<Segment<'a>>) -> usize {
        parts.push(Piece::ascii(self.end).into());
        self.measure.size_of(&parts)
    }
}

/// The messages that fit a total, those that don't, and the size of the first.
pub(super) struct Shrunk<'a> {
    pub(super) kept: Vec<HistoryMessage<'a>>,
    pub(super) gone: Vec<HistoryMessage<'a>>,
    pub(super) size: usize,
}

/// Fit messages into a total.
pub(super) fn shrink<'a>(mut history_messages: Vec<HistoryMessage<'a>>, total: usize, measure: Measure) -> Shrunk<'a> {
    let mut sizes: Vec<usize> =
        history_messages.iter().map(|message| measure.size_of(&message.text_before_lines())).collect();
    let mut lines: Vec<(usize, Sized<'_, 'a>)> = Vec::new();
    for (number, message) in history_messages.iter_mut().enumerate() {
        let last = message.lines.len().saturating_sub(1);
        let own = message.lines.iter_mut().enumerate();
        lines.extend(own.map(|(index, line)| (number, Sized::new(line, index == last, measure))));
    }
    let all = sizes.iter().sum::<usize>() + lines.iter().map(|(_, line)| line.size).sum::<usize>();
    let mut over = signed(all) - signed(total);
    for (_, line) in &mut lines {
        if over > 0 {
            over -= line.cut(over);
        }
    }
    for (_, line) in &mut lines {
        if over > 0 {
            over -= line.shorten();
        }
    }
    for (number, line) in lines {
        if let Some(size) = sizes.get_mut(number) {
            *size += line.size;
        }
    }
    let mut is_gone = vec![false; history_messages.len()];
    for unit in units(&history_messages) {
        if over <= 0 {
            break;
        }
        for number in unit {
            if let (Some(flag), Some(size)) = (is_gone.get_mut(number), sizes.get_mut(number)) {
                *flag = true;
                over -= signed(std::mem::take(size));
            }
        }
    }
    let mut flags = is_gone.into_iter();
    let (gone, kept) = history_messages.into_iter().partition(|_| flags.next().unwrap_or(false));
    Shrunk { kept, gone, size: sizes.iter().sum() }
}

/// Group the message numbers that are left out together, in the order in which the groups are left out.
fn units(history_messages: &[HistoryMessage<'_>]) -> Vec<Vec<usize>> {
    let mut exchanges = vec![Vec::new()];
    let mut prompts = Vec::new();
    for (number, message) in history_messages.iter().enumerate() {
        let is_users = message.role.is("user");
        if !is_users && !message.is_assistants() {
            prompts.push(vec![number]);
            continue;
        }
        if is_users && exchanges.last().is_some_and(|last| !last.is_empty()) {
            exchanges.push(Vec::new());
        }
        if let Some(last) = exchanges.last_mut() {
            last.push(number);
        }
    }
    let last = exchanges.pop().unwrap_or_default();
    let is_assistants = |number: &usize| history_messages.get(*number).is_some_and(HistoryMessage::is_assistants);
    let (answers, words): (Vec<usize>, Vec<usize>) = last.into_iter().partition(is_assistants);
    exchanges.extend(answers.into_iter().chain(words).map(|number| vec![number]));
    exchanges.extend(prompts);
    exchanges
}
