//! The place of a call: the server, host, session and working directory, the environment and the input of a command.
//!
//! Blocks of two places are never about the same thing. A key names the place after the value, as in
//! `command:ls @ {"directory":"/w"}`; a key without one belongs to the conversation's own, unnamed place.

use super::paths::{canonical, resolve};
use super::rules::Rule;
use crate::json::value::Value;
use crate::json::write::push_quoted;
use crate::pairing::argument_names::{ABSENT_VALUES, FILE_PARTS, PLACE_KEYS};
use crate::pairing::block::{Entry, Kind};
use crate::text::graphemes::CodePoint as _;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, on_units};

/// The part of a place that is a working directory.
const DIRECTORY: &str = "directory";
const SERVER: &str = "server";

/// Return the MCP server in a tool's name, as in `mcp__server__tool`; empty if it has none.
fn server_of(name: Text<'_>) -> Text<'_> {
    let none = Text::ascii("");
    let is_mcp = name.len() > 5
        && name.get(3) == Some(0x5F)
        && name.get(4) == Some(0x5F)
        && name.slice(0, 3).to_utf8().eq_ignore_ascii_case("mcp");
    if !is_mcp {
        return none;
    }
    let rest = name.slice(5, name.len());
    let mut from = 0;
    while let Some(found) = rest.slice(from, rest.len()).find(b'_') {
        let at = from + found;
        if rest.get(at + 1) == Some(0x5F) {
            return if rest.len() > at + 2 { rest.slice(0, at) } else { none };
        }
        from = at + 1;
    }
    none
}

/// The place of a call.
#[derive(Debug, Default)]
pub(crate) struct CallPlace<'a> {
    /// The parts, as JSON, except for the directory. One is there twice only if several arguments give it.
    parts: Vec<(&'static str, OwnedText)>,
    /// The working directory: empty if it is unknown, else its path; each path that could not be joined to the one
    /// before it follows as an item of its own.
    pub(crate) directory: Vec<Piece<'a>>,
}

impl<'a> CallPlace<'a> {
    /// Find the place of a call.
    pub(crate) fn of<V: Value<'a>>(rule: &Rule, entry: &Entry<'a, V>, given: V) -> Self {
        let mut place = Self::default();
        if rule.kind == Kind::Other {
            // Its key holds the name, and the rule chose the arguments.
            place.add_server(entry.server);
            return place;
        }
        place.add_server(if entry.server.is_empty() { server_of(entry.tool_name) } else { entry.server });
        if !entry.directory.is_empty() {
            place.enter(Piece::Borrowed(entry.directory));
        }
        place.add_arguments(rule, given);
        place
    }

    fn add_server(&mut self, server: Text<'_>) {
        if !server.is_empty() {
            let mut text = OwnedText::default();
            push_quoted(&mut text, server);
            self.parts.push((SERVER, text));
        }
    }

    /// Add the parts that the arguments give.
    fn add_arguments<V: Value<'a>>(&mut self, rule: &Rule, given: V) {
        let (is_command, mut has_directory) = (rule.kind == Kind::Command, false);
        given.members(&mut |name, value| {
            let Some((part, own)) = part_of(name) else { return true };
            let is_key = || rule.key.iter().any(|key| key.key().name.is(own));
            if !(is_command || FILE_PARTS.contains(&part)) || is_key() {
                return true;
            }
            if part == DIRECTORY
                && !has_directory
                && let Some(path) = value.text()
            {
                if !path.is_empty() {
                    self.enter(Piece::Borrowed(path));
                    has_directory = true;
                }
                return true;
            }
            let text = value.json();
            if !ABSENT_VALUES.iter().any(|absent| text.as_text().is(absent)) {
                self.parts.push((if part == DIRECTORY { "directories" } else { part }, text));
            }
            true
        });
    }

    /// Change the working directory.
    pub(crate) fn enter(&mut self, path: Piece<'a>) {
        let (path, kept) = resolve(path, &self.directory);
        self.directory.truncate(kept);
        if !path.text().is(".") {
            self.directory.push(path);
        }
    }

    /// Follow the `cd X &&` before a command, and return the rest of the command.
    ///
    /// Only where the rest runs if every `cd` succeeds, and not otherwise.
    pub(crate) fn follow(&mut self, command: Piece<'a>) -> Piece<'a> {
        if !command.text().starts_with("cd") || !is_chain(command.text()) {
            return command;
        }
        self.follow_all(command)
    }

    /// Do the same for any command: the directory is that of its first part.
    pub(crate) fn follow_all(&mut self, command: Piece<'a>) -> Piece<'a> {
        let mut rest = command;
        for _ in 0..MOST_CHANGES {
            let Some((start, end, after)) = changed_directory(rest.text()) else { break };
            self.enter(narrowed(rest.slice(start, end)));
            rest = rest.slice(after, rest.len());
        }
        narrowed(rest)
    }

    /// Return the key of a file in this working directory: its full path in the normal form, else its path with the
    /// directory that is known.
    pub(crate) fn file_key(&self, path: Piece<'a>) -> Piece<'a> {
        let (path, kept) = resolve(path, &self.directory);
        let directory = self.directory.iter().take(kept).cloned().collect();
        Self { parts: Vec::new(), directory }.key_of(path)
    }

    /// Return the key of a value in this place. No other pair of a value and a place has the same key.
    pub(crate) fn key_of(mut self, value: Piece<'a>) -> Piece<'a> {
        if let [first, others @ ..] = self.directory.as_slice() {
            let mut text = OwnedText::default();
            text.push_ascii(if others.is_empty() { "" } else { "[" });
            push_quoted(&mut text, first.text());
            for other in others {
                text.push_ascii(",");
                push_quoted(&mut text, other.text());
            }
            text.push_ascii(if others.is_empty() { "" } else { "]" });
            self.parts.push((DIRECTORY, text));
        }
        if self.parts.is_empty() && !is_ambiguous(value.text()) {
            return value;
        }
        self.parts.sort_by_key(|(part, _)| *part);
        let mut key = OwnedText::from(value.text());
        key.push_ascii(SEPARATOR);
        for (index, values) in self.parts.chunk_by(|(part, _), (other, _)| part == other).enumerate() {
            let [(part, first), others @ ..] = values else { continue };
            key.push_ascii(if index > 0 { ",\"" } else { "\"" });
            key.push_ascii(part);
            key.push_ascii(if others.is_empty() { "\":" } else { "\":[" });
            key.push(first.as_text());
            for (_, other) in others {
                key.push_ascii(",");
                key.push(other.as_text());
            }
            key.push_ascii(if others.is_empty() { "" } else { "]" });
        }
        key.push_ascii("}");
        Piece::own(canonical(key))
    }
}

/// Return the part of a place that an argument gives, and the argument's name.
fn part_of(name: Text<'_>) -> Option<(&'static str, &'static str)> {
    PLACE_KEYS.iter().find_map(|(part, names)| {
        let own = names.iter().find(|own| name.is(own))?;
        Some((*part, *own))
    })
}

const SEPARATOR: &str = " @ {";

/// Return true if a value without a place looks like the key of a value with one.
fn is_ambiguous(value: Text<'_>) -> bool {
    if !value.ends_with("}") {
        return false;
    }
    let mut rest = value;
    while let Some(at) = rest.find(b' ') {
        rest = rest.slice(at, rest.len());
        if rest.starts_with(SEPARATOR) {
            return true;
        }
        rest = rest.slice(1, rest.len());
    }
    false
}

/// Return a piece in the narrowest units.
fn narrowed(piece: Piece<'_>) -> Piece<'_> {
    match piece.text() {
        Text::Latin1(_) => piece,
        text => Piece::own(canonical(OwnedText::from(text))),
    }
}

const MOST_CHANGES: usize = 8;

/// Return the start and the end of the directory in the `cd X &&` before a command, and the start of the command.
fn changed_directory(command: Text<'_>) -> Option<(usize, usize, usize)> {
    let after = skip_blanks(command, 2);
    if !command.starts_with("cd") || after == 2 {
        return None;
    }
    let quote = command.get(after).filter(|letter| matches!(letter, 0x22 | 0x27));
    let (start, end, next) = if let Some(quote) = quote {
        let start = after + 1;
        let end = (start..command.len()).find(|at| command.get(*at) == Some(quote))?;
        (start, end, end + 1)
    } else {
        let end = (after..command.len()).find(|at| !command.get(*at).is_some_and(is_bare)).unwrap_or(command.len());
        (after, end, end)
    };
    let path = command.slice(start, end);
    let is_plain = quote != Some(0x22) || [b'$', b'`', b'\\'].iter().all(|letter| path.find(*letter).is_none());
    let next = skip_blanks(command, next);
    let is_path = !path.is_empty() && is_plain && !path.starts_with("-") && !path.starts_with("~");
    if !is_path || !command.slice(next, command.len()).starts_with("&&") {
        return None;
    }
    let rest = skip_blanks(command, next + 2);
    (rest < command.len()).then_some((start, end, rest))
}

/// Return the index of the first character, at or after `from`, that is not a blank.
fn skip_blanks(text: Text<'_>, from: usize) -> usize {
    (from..text.len()).find(|at| !matches!(text.get(*at), Some(0x20 | 0x09))).unwrap_or(text.len().max(from))
}

/// Return true if a character needs no quotes in a path.
fn is_bare(letter: u32) -> bool {
    u8::try_from(letter).is_ok_and(|byte| byte.is_ascii_alphanumeric() || b"_@%+=:,./~-".contains(&byte))
}

/// Return true if a command is parts and pipes joined by `&&` alone; quotes are not looked at.
fn is_chain(command: Text<'_>) -> bool {
    on_units!(command, units => {
        let at = |index: usize| units.get(index).map_or(0, |unit| unit.code_point());
        let mut index = 0;
        while index < units.len() {
            match (at(index), at(index + 1)) {
                (0x3B | 0x0A, _) | (0x7C, 0x7C) => return false,
                (0x26, 0x26) => index += 1,
                (0x26, next) => {
                    let before = if index > 0 { at(index - 1) } else { 0 };
                    if next != 0x3E && !matches!(before, 0x3C | 0x3E) {
                        return false;
                    }
                }
                _ => {}
            }
            index += 1;
        }
        true
    })
}
