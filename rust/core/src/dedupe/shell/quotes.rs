//! Take quotes and expansions: where they end, and what of them is text or code.
//!
//! What it does: adds quoted text to the word being read, opens the frames of `$(...)` and
//! `${...}`, and puts aside what is a script of its own (backticks) or may hold one (arithmetic).
//! The twin of `_pure/shell/quotes.py`.
//!
//! What it guarantees: what never ends reaches to the end of the text.
//!
//! What it leaves out: values. A placeholder stands where one will be.

use super::scan::{Frame, Scan, first_character, slice};
use std::collections::HashMap;

impl Scan<'_> {
    /// Take a backslash in commands: a continued line, or the next character as it is.
    pub(super) fn take_escape(&mut self) {
        let rest = self.rest(1);
        for newline in ["\n", "\r\n"] {
            if rest.starts_with(newline) {
                self.position += 1 + newline.len();
                return;
            }
        }
        let following = first_character(rest);
        self.add(if following.is_empty() { "\\" } else { following });
        self.code.is_quoted = true;
        self.position += 1 + following.len();
    }

    /// Take a backslash in text, where it stays before most characters.
    pub(super) fn take_text_escape(&mut self) {
        let following = first_character(self.rest(1));
        if self.frame == Frame::Quote && following != "\n" {
            if !matches!(following, "$" | "`" | "\"" | "\\") {
                self.add("\\");
            }
            self.add(following);
        }
        self.position += 1 + following.len();
    }

    /// Take `'...'`, or what is left where it never ends.
    pub(super) fn take_single_quote(&mut self) {
        let rest = self.rest(1);
        let body = rest.split_once('\'').map_or(rest, |(body, _)| body);
        if self.frame == Frame::Code {
            self.add(body);
            self.code.is_quoted = true;
        }
        self.position += body.len() + 2;
    }

    /// Take `$'...'`, with its line breaks and tabs decoded.
    fn take_ansi_quote(&mut self) {
        let (body, end) = unescape(self.text, self.position + 2, '\'', "");
        self.position = end;
        if self.frame == Frame::Code {
            self.add(&body);
            self.code.is_quoted = true;
        }
    }

    /// Put the command between backticks aside.
    pub(super) fn take_backticks(&mut self) {
        let is_quoted = matches!(self.frame, Frame::Quote | Frame::InnerQuote);
        let escapes = if is_quoted { "`\\$\"" } else { "`\\$" };
        let (body, end) = unescape(self.text, self.position + 1, '`', escapes);
        self.position = end;
        self.nest(&body, true);
        self.add_expansion("$()");
    }

    /// Take what a dollar sign begins.
    pub(super) fn take_dollar(&mut self) {
        let is_bare = matches!(self.frame, Frame::Code | Frame::Brace | Frame::Paren);
        match first_character(self.rest(1)) {
            "(" => {
                self.add_expansion("$()");
                if !self.take_arithmetic(self.position + 1) {
                    self.open_code(2);
                }
            }
            "{" => {
                self.add_expansion("$()");
                self.open(if is_bare { Frame::Brace } else { Frame::QuotedBrace }, 2);
            }
            "'" if is_bare => self.take_ansi_quote(),
            "\"" if self.frame == Frame::Code => self.position += 1,
            _ => {
                self.add_expansion("$");
                self.position += 1;
            }
        }
    }

    /// Take `((...))` where one begins at `start`; only substitutions in it are code.
    pub(super) fn take_arithmetic(&mut self, start: usize) -> bool {
        let Some(&end) = self.arithmetic.get(&start) else {
            return false;
        };
        self.nest(slice(self.text, start + 2, end.saturating_sub(1)), false);
        self.position = end + 1;
        true
    }
}

/// The text from `start` up to `end`, and the position behind it. A backslash before one of
/// `escapes` goes; without `escapes` every one goes, and `\n` and `\t` are what they say.
fn unescape(text: &str, start: usize, end: char, escapes: &str) -> (String, usize) {
    let mut body = String::new();
    let rest = slice(text, start, text.len());
    let mut characters = rest.char_indices();
    while let Some((index, character)) = characters.next() {
        if character == end {
            return (body, start + index + 1);
        }
        if character != '\\' {
            body.push(character);
            continue;
        }
        let following = characters.next().map(|(_, following)| following);
        body.extend(
            match following {
                Some('n') if escapes.is_empty() => [None, Some('\n')],
                Some('t') if escapes.is_empty() => [None, Some('\t')],
                Some(other) if !escapes.is_empty() && !escapes.contains(other) => [Some('\\'), following],
                None if !escapes.is_empty() => [Some('\\'), None],
                _ => [None, following],
            }
            .into_iter()
            .flatten(),
        );
    }
    (body, text.len())
}

/// Where `((...))` begins and ends, by the parentheses alone: found beforehand, so that the scan
/// never has to go back where `((` turns out to be two subshells.
pub(super) fn find_arithmetic(text: &str) -> HashMap<usize, usize> {
    let mut spans = HashMap::new();
    if !text.contains("((") {
        return spans;
    }
    let mut opened = Vec::new();
    let mut last = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((position, byte)) = bytes.next() {
        match byte {
            b'\\' => {
                bytes.next();
            }
            b'(' => opened.push(position),
            b')' => {
                if let Some(start) = opened.pop() {
                    if last == Some((start + 1, position.wrapping_sub(1))) {
                        spans.insert(start, position);
                    }
                    last = Some((start, position));
                }
            }
            _ => {}
        }
    }
    spans
}
