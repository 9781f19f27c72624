//! The tokens of a script: the state of the scan, and the meaning of each character in that state.
//!
//! Every step moves the position forwards, and an unclosed construct extends to the end of the text. A command inside
//! another does not change the outer one. Nested scripts (backticks) and texts that may contain scripts (arithmetic)
//! are collected and scanned later. Aliases, shell options and values are ignored: a placeholder takes the place of a
//! value.

use std::collections::HashMap;
use std::mem::take;

use super::programs::{OPERATORS, is_query, program_name};

/// The innermost open bracket or quote. `Code` and `Text` can also be the whole script.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// Commands: the script, a substitution, a subshell.
    Code,
    /// A here-document's body or arithmetic: only substitutions in it are code.
    Text,
    /// `"..."` that is part of a word.
    Quote,
    /// `"..."` inside `${...}` or a list in parentheses.
    InnerQuote,
    /// `${...}`
    Brace,
    /// `${...}` in which a single quote is an ordinary character.
    QuotedBrace,
    /// The list of an array or of an extended pattern.
    Paren,
}

/// A here-document whose body begins after the next newline.
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    pub(super) is_quoted: bool,
    pub(super) has_tabs: bool,
    pub(super) is_code: bool,
    pub(super) is_sql: bool,
}

/// The standard input of a command, as far as the line shows it: indices of here-documents, and texts. `is_hidden` is
/// true if there is more: a file, or the output of another program.
#[derive(Default)]
pub(super) struct Feed {
    pub(super) heredocs: Vec<usize>,
    pub(super) texts: Vec<String>,
    pub(super) is_hidden: bool,
}

impl Feed {
    /// Return what the command with these words writes to a pipe if this is its input.
    pub(super) fn passed_on(self, words: &[String]) -> Self {
        let Some((first, arguments)) = words.split_first() else {
            return self;
        };
        match program_name(first) {
            "cat" => {
                let has_files = arguments.iter().any(|word| !word.starts_with('-'));
                Self { is_hidden: self.is_hidden || has_files, ..self }
            }
            "echo" | "printf" => {
                let texts = arguments.iter().filter(|word| !word.starts_with('-'));
                let text = texts.map(String::as_str).collect::<Vec<_>>().join(" ").replace("\\n", "\n");
                Self { texts: vec![text], ..Self::default() }
            }
            _ => Self { is_hidden: true, ..Self::default() },
        }
    }
}

/// A command while it is read: its words so far, the current word, the redirection that waits for its target, and the
/// state of an open `case`.
#[derive(Default)]
pub(super) struct Code {
    pub(super) words: Vec<String>,
    pub(super) word: Option<String>,
    pub(super) is_quoted: bool,
    pub(super) operator: &'static str,
    pub(super) stdin: Feed,
    pub(super) piped: Feed,
    pub(super) cases: usize,
    pub(super) is_pattern: bool,
}

impl Code {
    /// Return true if an open `[[` makes operators plain text.
    pub(super) fn is_test(&self) -> bool {
        self.words.first().is_some_and(|word| word == "[[")
    }

    /// Return true if the word before a redirection is its number (`2>`) or its variable (`{fd}>`).
    pub(super) fn has_descriptor(&self) -> bool {
        let word = self.word.as_deref().unwrap_or_default();
        if self.is_quoted || word.is_empty() {
            return false;
        }
        word.bytes().all(|byte| byte.is_ascii_digit()) || (word.starts_with('{') && word.ends_with('}'))
    }
}

/// One pass over one script. `nested` collects the texts to scan next, each with a flag: true for code, false for text
/// with substitutions in it.
pub(super) struct Scan<'a> {
    pub(super) text: &'a str,
    pub(super) frame: Frame,
    pub(super) frames: Vec<Frame>,
    pub(super) arithmetic: HashMap<usize, usize>,
    pub(super) position: usize,
    pub(super) code: Code,
    pub(super) outer: Vec<Code>,
    pub(super) heredocs: Vec<Heredoc>,
    pub(super) heredocs_read: usize,
    pub(super) nested: Vec<(String, bool)>,
    pub(super) writes: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str, frame: Frame, arithmetic: HashMap<usize, usize>) -> Self {
        Self {
            text,
            frame,
            frames: Vec::new(),
            arithmetic,
            position: 0,
            code: Code::default(),
            outer: Vec::new(),
            heredocs: Vec::new(),
            heredocs_read: 0,
            nested: Vec::new(),
            writes: false,
        }
    }

    /// Add to the current word; an empty text begins one.
    pub(super) fn add(&mut self, text: &str) {
        self.code.word.get_or_insert_default().push_str(text);
    }

    /// Add a placeholder for a value, unless the text around it is not kept.
    pub(super) fn add_expansion(&mut self, placeholder: &str) {
        if matches!(self.frame, Frame::Code | Frame::Quote) {
            self.add(placeholder);
        }
    }

    /// Enter a frame whose opening is `size` characters long.
    pub(super) fn open(&mut self, frame: Frame, size: usize) {
        self.position += size;
        self.frames.push(self.frame);
        self.frame = frame;
    }

    /// Enter a frame of commands; the command around it waits.
    pub(super) fn open_code(&mut self, size: usize) {
        self.open(Frame::Code, size);
        self.outer.push(take(&mut self.code));
    }

    /// Read the closing character of a frame of text, and leave the frame.
    pub(super) fn close(&mut self) {
        self.position += 1;
        self.frame = self.frames.pop().unwrap_or(Frame::Code);
    }

    /// Collect a string that is scanned later, as a script of its own.
    pub(super) fn nest(&mut self, text: &str, is_code: bool) {
        if !text.is_empty() {
            self.nested.push((text.to_owned(), is_code));
        }
    }

    /// Return the text that begins `ahead` bytes after the position.
    pub(super) fn rest(&self, ahead: usize) -> &'a str {
        slice(self.text, self.position + ahead, self.text.len())
    }
}

/// Return a part of the text; empty if the bounds are invalid.
pub(super) fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// Return the first character; empty at the end.
fn first_character(text: &str) -> &str {
    slice(text, 0, text.chars().next().map_or(0, char::len_utf8))
}

const LIST_OPENERS: [char; 6] = ['=', '?', '*', '+', '@', '!'];
const CODE_SPECIAL: &[u8] = b" \t\r\n\\'\"`$#<>&|;()";
const TEXT_SPECIAL: &[u8] = b"\\'\"`$}()";

impl Scan<'_> {
    /// Take the next token of a command, or a part of it.
    pub(super) fn step_code(&mut self, byte: u8) {
        match byte {
            b' ' | b'\t' | b'\r' => {
                self.end_word();
                self.position += 1;
            }
            b'\n' => self.take_newline(),
            b'\\' => self.take_escape(),
            b'\'' => self.take_single_quote(),
            b'"' => {
                self.add("");
                self.code.is_quoted = true;
                self.open(Frame::Quote, 1);
            }
            b'`' => self.take_backticks(),
            b'$' => self.take_dollar(),
            b'#' => self.take_hash(),
            b'<' | b'>' => self.take_angle(),
            b'&' => self.take_ampersand(),
            b'|' => self.take_bar(),
            b';' => self.take_semicolon(),
            b'(' => self.take_open(),
            b')' => self.take_close(),
            _ => {
                let end = end_of(CODE_SPECIAL, self.text, self.position);
                self.add(slice(self.text, self.position, end));
                self.position = end;
            }
        }
    }

    /// Take the next part of quoted or bracketed text.
    pub(super) fn step_text(&mut self, byte: u8) {
        use Frame::{Brace, InnerQuote, Paren, Quote, QuotedBrace};
        match (byte, self.frame) {
            (b'\\', _) => self.take_text_escape(),
            (b'`', _) => self.take_backticks(),
            (b'$', _) => self.take_dollar(),
            (b'"', Quote | InnerQuote) | (b'}', Brace | QuotedBrace) | (b')', Paren) => {
                self.close();
            }
            (b'"', Brace | QuotedBrace | Paren) => self.open(InnerQuote, 1),
            (b'\'', Brace | Paren) => self.take_single_quote(),
            (b'(', Paren) => self.open(Paren, 1),
            (b'"' | b'\'' | b'}' | b'(' | b')', _) => self.take_text(self.position + 1),
            _ => self.take_text(end_of(TEXT_SPECIAL, self.text, self.position)),
        }
    }

    /// Take plain text, keeping it only in a quote that is part of a word.
    fn take_text(&mut self, end: usize) {
        if self.frame == Frame::Quote {
            self.add(slice(self.text, self.position, end));
        }
        self.position = end;
    }

    /// Take a `#`: a comment if a word could begin here, else a part of the word.
    fn take_hash(&mut self) {
        if self.code.word.is_some() {
            self.add("#");
            self.position += 1;
            return;
        }
        let rest = self.rest(0);
        self.position += rest.find('\n').unwrap_or(rest.len());
    }

    /// Take a newline: end the command, then read the here-documents that begin on the next line.
    fn take_newline(&mut self) {
        self.position += 1;
        self.separate(false);
        while self.heredocs_read < self.heredocs.len() {
            self.read_heredoc(self.heredocs_read);
            self.heredocs_read += 1;
        }
    }

    /// Read one body up to its delimiter. It is code if a shell reads it, SQL if a client does, text if its delimiter is
    /// unquoted, and ignored otherwise.
    fn read_heredoc(&mut self, index: usize) {
        let Some(heredoc) = self.heredocs.get(index) else {
            return;
        };
        let start = self.position;
        let mut line = start;
        for content in self.rest(0).split_inclusive('\n') {
            self.position += content.len();
            let content = content.strip_suffix('\n').unwrap_or(content).trim_end_matches('\r');
            let unindented = content.trim_start_matches('\t');
            if heredoc.delimiter == if heredoc.has_tabs { unindented } else { content } {
                break;
            }
            line = self.position;
        }
        let (is_code, body) = (heredoc.is_code, slice(self.text, start, line));
        self.writes |= heredoc.is_sql && !is_query(body);
        if is_code || !heredoc.is_quoted {
            self.nest(body, is_code);
        }
    }

    /// Take a redirection's operator or open a process substitution.
    fn take_angle(&mut self) {
        if self.code.is_test() {
            self.end_word();
            self.position += 1;
            return;
        }
        if self.rest(1).starts_with('(') {
            self.add(">()");
            self.open_code(2);
            return;
        }
        if self.code.has_descriptor() {
            self.code.word = None;
        }
        self.end_word();
        let rest = self.rest(0);
        if let Some(operator) = OPERATORS.iter().find(|operator| rest.starts_with(**operator)) {
            self.code.operator = operator;
            self.position += operator.len();
        }
    }

    /// Take `&>`, `&>>`, `&&` or `&`.
    fn take_ampersand(&mut self) {
        let rest = self.rest(1);
        if rest.starts_with('>') && !self.code.is_test() {
            self.end_word();
            self.code.operator = ">";
            self.position += if rest.starts_with(">>") { 3 } else { 2 };
            return;
        }
        self.position += if rest.starts_with('&') { 2 } else { 1 };
        self.separate(false);
    }

    /// Take `|`, `|&` or `||`.
    fn take_bar(&mut self) {
        let rest = self.rest(1);
        let is_or = rest.starts_with('|');
        self.position += if is_or || rest.starts_with('&') { 2 } else { 1 };
        self.separate(!is_or);
    }

    /// Take `;`, or the end of a `case` branch, which a pattern follows.
    fn take_semicolon(&mut self) {
        self.position += 1;
        let is_branch_end = self.rest(0).starts_with([';', '&']);
        self.position += usize::from(is_branch_end);
        self.separate(false);
        if is_branch_end && self.code.cases > 0 {
            self.code.is_pattern = true;
        }
    }

    /// Take an opening parenthesis: arithmetic, a list, a function's `()`, or a subshell.
    fn take_open(&mut self) {
        let word = self.code.word.as_deref();
        let is_head = self.code.words.is_empty();
        if word.is_some_and(|word| word.ends_with(LIST_OPENERS) && !(is_head && word == "!")) {
            self.add("()");
            self.open(Frame::Paren, 1);
        } else if self.code.is_test() || self.code.is_pattern {
            self.end_word();
            self.position += 1;
        } else if self.rest(1).starts_with(')') && !(is_head && word.is_none_or(str::is_empty)) {
            self.code.words.clear();
            self.code.word = None;
            self.position += 2;
        } else if word.is_some() || !self.take_arithmetic(self.position) {
            self.end_command(false);
            self.open_code(1);
        }
    }

    /// Take a closing parenthesis: the end of a pattern or of a frame of commands.
    fn take_close(&mut self) {
        self.position += 1;
        self.end_word();
        if self.code.is_test() {
            return;
        }
        if self.code.is_pattern {
            self.code.is_pattern = false;
            return;
        }
        self.end_command(false);
        if let Some(code) = self.outer.pop() {
            self.frame = self.frames.pop().unwrap_or(Frame::Code);
            self.code = code;
        }
    }
}

/// Return the end of the plain characters from `position` on; there is at least one.
fn end_of(special: &[u8], text: &str, position: usize) -> usize {
    let rest = text.as_bytes().get(position..).unwrap_or_default();
    let size = rest.iter().position(|byte| special.contains(byte));
    position + size.unwrap_or(rest.len()).max(1)
}

impl Scan<'_> {
    /// Take a backslash in a command: a continued line, or a literal character.
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

    /// Take a backslash in text, where it is literal before most characters.
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

    /// Take `'...'`, or the rest of the text if the quote is never closed.
    pub(super) fn take_single_quote(&mut self) {
        let rest = self.rest(1);
        let body = rest.split_once('\'').map_or(rest, |(body, _)| body);
        if self.frame == Frame::Code {
            self.add(body);
            self.code.is_quoted = true;
        }
        self.position += body.len() + 2;
    }

    /// Take `$'...'`, and decode its line breaks and tabs.
    fn take_ansi_quote(&mut self) {
        let (body, end) = unescape(self.text, self.position + 2, '\'', "");
        self.position = end;
        if self.frame == Frame::Code {
            self.add(&body);
            self.code.is_quoted = true;
        }
    }

    /// Take `` `...` ``, and collect the script in it.
    pub(super) fn take_backticks(&mut self) {
        let is_quoted = matches!(self.frame, Frame::Quote | Frame::InnerQuote);
        let escapes = if is_quoted { "`\\$\"" } else { "`\\$" };
        let (body, end) = unescape(self.text, self.position + 1, '`', escapes);
        self.position = end;
        self.nest(&body, true);
        self.add_expansion("$()");
    }

    /// Take a dollar sign, with the opening of the expansion that it begins.
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

    /// Take `((...))` if one begins at `start`; only substitutions in it are code.
    pub(super) fn take_arithmetic(&mut self, start: usize) -> bool {
        let Some(&end) = self.arithmetic.get(&start) else {
            return false;
        };
        self.nest(slice(self.text, start + 2, end.saturating_sub(1)), false);
        self.position = end + 1;
        true
    }
}

/// Return the text from `start` up to the character `end`, unescaped, and the position after it. Backslashes before the
/// characters in `escapes` are removed; if `escapes` is empty, all are removed, and `\n` and `\t` are decoded.
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

/// Return the start and the end of each `((...))`, judged by the parentheses alone. They are found before the scan, so
/// that the scan never has to go back when `((` turns out to be two subshells.
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
