//! Scripts, and the scripts inside them: `$(...)`, `bash -c`, `eval`, a here-document for a shell, arithmetic.
//!
//! A script is read to its end, and then the scripts found inside it, from an explicit stack. A finished word becomes a
//! keyword, the target of a redirection, or an argument; a finished command goes to [`super::judge`] once. A
//! redirection to a file counts as writing, whatever the command is. Code in more than `MAX_SCRIPTS` nested scripts, or
//! in more than `MAX_FRAMES` brackets of one script, is ignored.

use std::mem::take;

use super::judge::judge;
use super::lexer::{Feed, Frame, Heredoc, Scan, find_arithmetic};
use super::programs::{DEVICES, RESERVED, is_query, writes_file};

const MAX_SCRIPTS: usize = 16;
const MAX_FRAMES: usize = 100;

impl Scan<'_> {
    /// Read the whole script; return true if a command in it writes.
    fn run(&mut self) -> bool {
        while !self.writes && self.frames.len() < MAX_FRAMES {
            let Some(&byte) = self.text.as_bytes().get(self.position) else {
                break;
            };
            if self.frame == Frame::Code {
                self.step_code(byte);
            } else {
                self.step_text(byte);
            }
        }
        self.end_command(false);
        while !self.writes {
            let Some(code) = self.outer.pop() else { break };
            self.code = code;
            self.end_command(false);
        }
        self.writes
    }
}

/// Return true if any simple command in a shell command line writes.
#[must_use]
pub fn has_side_effects(command: &str) -> bool {
    let mut waiting = vec![(command.to_owned(), true, 0_usize)];
    while let Some((text, is_code, depth)) = waiting.pop() {
        let frame = if is_code { Frame::Code } else { Frame::Text };
        let mut scan = Scan::new(&text, frame, find_arithmetic(&text));
        if scan.run() {
            return true;
        }
        if depth < MAX_SCRIPTS {
            let nested = scan.nested.into_iter();
            waiting.extend(nested.map(|(inner, is_code)| (inner, is_code, depth + 1)));
        }
    }
    false
}

impl Scan<'_> {
    /// End the word, and the command too, unless operators are plain text here.
    pub(super) fn separate(&mut self, is_pipe: bool) {
        self.end_word();
        if !self.code.is_test() && !self.code.is_pattern {
            self.end_command(is_pipe);
        }
    }

    /// Use the finished word as the target of a redirection, a keyword, or an argument.
    pub(super) fn end_word(&mut self) {
        let code = &mut self.code;
        let Some(word) = code.word.take() else { return };
        let is_quoted = take(&mut code.is_quoted);
        let is_head = code.words.is_empty() || code.words == ["time"];
        if !code.operator.is_empty() {
            self.redirect(word, is_quoted);
        } else if code.is_pattern {
            if word == "esac" && !is_quoted {
                code.cases = code.cases.saturating_sub(1);
                code.is_pattern = false;
            }
        } else if is_head && !is_quoted && RESERVED.contains(&word.as_str()) {
            code.cases = code.cases.saturating_sub(usize::from(word == "esac"));
        } else {
            code.words.push(word);
            self.check_keyword();
        }
    }

    /// Drop the words of a finished `case ... in`, of a function's name, or of a finished `[[ ... ]]`.
    fn check_keyword(&mut self) {
        let code = &mut self.code;
        let is_test = code.is_test();
        match code.words.as_slice() {
            [first, _, third] if first == "case" && third == "in" => {
                code.cases += 1;
                code.is_pattern = true;
                code.words.clear();
            }
            [first, _] if first == "function" => code.words.clear(),
            [.., last] if is_test && last == "]]" => code.words.clear(),
            _ => {}
        }
    }

    /// Apply the pending redirection to its target.
    fn redirect(&mut self, word: String, is_quoted: bool) {
        let code = &mut self.code;
        match take(&mut code.operator) {
            operator @ ("<<" | "<<-") => {
                code.stdin.heredocs.push(self.heredocs.len());
                let has_tabs = operator == "<<-";
                self.heredocs.push(Heredoc { delimiter: word, is_quoted, has_tabs, is_code: false, is_sql: false });
            }
            "<<<" => code.stdin.texts.push(word),
            ">&" => {
                let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                self.writes |= !is_number && !word.starts_with('$') && writes_file(&word);
            }
            "<" => code.stdin.is_hidden |= !DEVICES.contains(&word.as_str()),
            "<&" => {}
            _ => self.writes |= writes_file(&word),
        }
    }

    /// Judge the finished command, and pass its output on if a pipe follows.
    pub(super) fn end_command(&mut self, is_pipe: bool) {
        self.end_word();
        self.code.operator = "";
        let words = take(&mut self.code.words);
        let stdin = take(&mut self.code.stdin);
        if words.is_empty() {
            if is_pipe {
                self.code.piped = Feed { is_hidden: true, ..Feed::default() }; // the output of a subshell, or of a loop
            }
            return;
        }
        let judgement = judge(&words);
        self.writes |= judgement.writes;
        for script in &judgement.scripts {
            self.nest(script, true);
        }
        let piped = take(&mut self.code.piped);
        if judgement.is_stdin_code {
            self.run_stdin(&stdin);
            self.run_stdin(&piped);
        }
        if judgement.is_stdin_sql {
            self.read_sql(&stdin);
            self.read_sql(&piped);
        }
        self.code.piped = if is_pipe { stdin.passed_on(&words) } else { Feed::default() };
    }

    /// Treat the standard input of a shell as code.
    fn run_stdin(&mut self, stdin: &Feed) {
        for &index in &stdin.heredocs {
            if let Some(heredoc) = self.heredocs.get_mut(index) {
                heredoc.is_code = true;
            }
        }
        for text in &stdin.texts {
            self.nest(text, true);
        }
    }

    /// Judge the standard input of a client of a database: it writes unless it is certainly a query.
    fn read_sql(&mut self, stdin: &Feed) {
        for &index in &stdin.heredocs {
            if let Some(heredoc) = self.heredocs.get_mut(index) {
                heredoc.is_sql = true;
            }
        }
        self.writes |= stdin.is_hidden || !stdin.texts.iter().all(|text| is_query(text));
    }
}
