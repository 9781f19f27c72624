//! Tell the tokens of a script: what every character means where it stands.
//!
//! What it does: takes one token, or a part of one, from the current position on: operators,
//! comments, brackets, here-documents. Quotes and expansions are `quotes`' work; what a finished
//! word or command means is `words`'. The twin of `_pure/shell/lex.py`.
//!
//! What it guarantees: every step moves the position forwards.
//!
//! What it leaves out: aliases and options of the shell, which could change what a token is.

use super::scan::{Frame, Scan, slice};

const OPERATORS: [&str; 10] = ["<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"];
const LIST_OPENERS: [char; 6] = ['=', '?', '*', '+', '@', '!'];
const CODE_SPECIAL: &[u8] = b" \t\r\n\\'\"`$#<>&|;()";
const TEXT_SPECIAL: &[u8] = b"\\'\"`$}()";

impl Scan<'_> {
    /// Take the next token, or a part of one, of commands.
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

    /// Take a comment where a word could begin.
    fn take_hash(&mut self) {
        if self.code.word.is_some() {
            self.add("#");
            self.position += 1;
            return;
        }
        let rest = self.rest(0);
        self.position += rest.find('\n').unwrap_or(rest.len());
    }

    /// End the command, then read the here-documents that begin on the next line.
    fn take_newline(&mut self) {
        self.position += 1;
        self.separate(false);
        while self.heredocs_read < self.heredocs.len() {
            self.read_heredoc(self.heredocs_read);
            self.heredocs_read += 1;
        }
    }

    /// Read one body up to its delimiter: code for a shell, else text, else nothing.
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
        let is_code = heredoc.is_code;
        if is_code || !heredoc.is_quoted {
            self.nest(slice(self.text, start, line), is_code);
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
        if let Some(operator) = OPERATORS.into_iter().find(|operator| rest.starts_with(operator)) {
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

    /// Take `;`, or the end of a `case` branch, after which a pattern stands.
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

/// Where the run of plain characters from `position` on ends; it has one at least.
fn end_of(special: &[u8], text: &str, position: usize) -> usize {
    let rest = text.as_bytes().get(position..).unwrap_or_default();
    let size = rest.iter().position(|byte| special.contains(byte));
    position + size.unwrap_or(rest.len()).max(1)
}
