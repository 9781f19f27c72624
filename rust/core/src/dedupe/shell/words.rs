//! Finish words and commands: keywords, redirections, and what goes into a pipe.
//!
//! What it does: puts a finished word where it belongs (a keyword, a redirection's target, an
//! argument), and hands a finished command to `judge`. The twin of `_pure/shell/words.py`.
//!
//! What it guarantees: a command is judged once, and a file that is written to is noticed whatever
//! the command is.
//!
//! What it leaves out: functions called later, and input that the line does not show.

use super::judge::judge;
use super::programs::writes_file;
use super::scan::{Feed, Heredoc, Scan};
use super::tables::RESERVED;
use std::mem::take;

impl Scan<'_> {
    /// End the word, and the command too where an operator is one.
    pub(super) fn separate(&mut self, is_pipe: bool) {
        self.end_word();
        if !self.code.is_test() && !self.code.is_pattern {
            self.end_command(is_pipe);
        }
    }

    /// Put the finished word where it belongs.
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

    /// Leave the head of a `case`, a function's name, or a `[[ ... ]]` behind.
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
                self.heredocs.push(Heredoc { delimiter: word, is_quoted, has_tabs: operator == "<<-", is_code: false });
            }
            "<<<" => code.stdin.texts.push(word),
            ">&" => {
                let is_number = word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                self.writes |= !is_number && !word.starts_with('$') && writes_file(&word);
            }
            "<" | "<&" => {}
            _ => self.writes |= writes_file(&word),
        }
    }

    /// Judge the finished command and pass on what it feeds into a pipe.
    pub(super) fn end_command(&mut self, is_pipe: bool) {
        self.end_word();
        self.code.operator = "";
        let words = take(&mut self.code.words);
        let stdin = take(&mut self.code.stdin);
        if words.is_empty() {
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
        self.code.piped = if is_pipe { stdin.passed_on(&words) } else { Feed::default() };
    }

    /// Count what a shell reads from its standard input as code.
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
}
