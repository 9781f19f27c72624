//! Tell whether a shell command line has side effects: whether any simple command in it writes.
//!
//! What it does: `lex` reads the line as a POSIX shell with the common bash additions would
//! (quotes, expansions, redirections, here-documents, keywords), without running or expanding
//! anything, and hands every simple command to `commands`. Code inside code (backticks,
//! `bash -c`, `eval`, a here-document for a shell) is read as a script of its own, from an
//! explicit stack.
//!
//! What it guarantees: any text has an answer, in time linear in its length, without recursion
//! and without a panic. Only ASCII characters mean anything. The twin of `_pure/shell.py`.
//!
//! What it leaves out: values of variables, aliases, functions called later, the insides of
//! programs in other languages. What is unknown reads. So does what is nested deeper than
//! `MAX_SCRIPTS` scripts, `MAX_FRAMES` brackets in one script, or `MAX_HOPS` wrappers around one
//! command.

mod commands;
mod lex;

use commands::{judge, program_name, writes_file};
use lex::find_arithmetic;
use std::collections::HashMap;
use std::mem::take;

const MAX_SCRIPTS: usize = 16;
const MAX_FRAMES: usize = 100;
const RESERVED: [&str; 14] =
    ["if", "then", "elif", "else", "fi", "do", "done", "while", "until", "{", "}", "!", "esac", "coproc"];

/// What the innermost open bracket or quote is. `Code` and `Text` can also be the whole script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
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
    /// `${...}` where a single quote is no quote.
    QuotedBrace,
    /// The list of an array or of an extended pattern.
    Paren,
}

/// A here-document whose body stands after the next newline.
struct Heredoc {
    delimiter: String,
    is_quoted: bool,
    has_tabs: bool,
    is_code: bool,
}

/// What goes into a command's standard input, as far as the line itself shows it: numbers of
/// here-documents, and texts.
#[derive(Default)]
struct Feed {
    heredocs: Vec<usize>,
    texts: Vec<String>,
}

impl Feed {
    /// What the command of these words, fed with this, writes into a pipe.
    fn passed_on(self, words: &[String]) -> Self {
        let Some((first, arguments)) = words.split_first() else {
            return self;
        };
        match program_name(first) {
            "cat" => self,
            "echo" | "printf" => {
                let texts = arguments.iter().filter(|word| !word.starts_with('-'));
                let text = texts.map(String::as_str).collect::<Vec<_>>().join(" ").replace("\\n", "\n");
                Self { heredocs: Vec::new(), texts: vec![text] }
            }
            _ => Self::default(),
        }
    }
}

/// A command while it is being read: its words so far, the word being read, the redirection that
/// waits for its target, and where in a `case` it stands.
#[derive(Default)]
struct Code {
    words: Vec<String>,
    word: Option<String>,
    is_quoted: bool,
    operator: &'static str,
    stdin: Feed,
    piped: Feed,
    cases: usize,
    is_pattern: bool,
}

impl Code {
    /// Whether an open `[[` makes operators plain text.
    fn is_test(&self) -> bool {
        self.words.first().is_some_and(|word| word == "[[")
    }

    /// Whether the word before a redirection is its number (`2>`) or its variable (`{fd}>`).
    fn has_descriptor(&self) -> bool {
        let word = self.word.as_deref().unwrap_or_default();
        if self.is_quoted || word.is_empty() {
            return false;
        }
        word.bytes().all(|byte| byte.is_ascii_digit()) || (word.starts_with('{') && word.ends_with('}'))
    }
}

/// One pass over one script. `nested` collects the texts to scan next, each with whether it is
/// code (true) or text with substitutions in it (false).
struct Scan<'a> {
    text: &'a str,
    frame: Frame,
    frames: Vec<Frame>,
    arithmetic: HashMap<usize, usize>,
    position: usize,
    code: Code,
    outer: Vec<Code>,
    heredocs: Vec<Heredoc>,
    heredocs_read: usize,
    nested: Vec<(String, bool)>,
    writes: bool,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str, frame: Frame) -> Self {
        Self {
            text,
            frame,
            frames: Vec::new(),
            arithmetic: find_arithmetic(text),
            position: 0,
            code: Code::default(),
            outer: Vec::new(),
            heredocs: Vec::new(),
            heredocs_read: 0,
            nested: Vec::new(),
            writes: false,
        }
    }

    /// Read the whole script and say whether a command in it writes.
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

    /// Put the finished word where it belongs.
    fn end_word(&mut self) {
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
    fn end_command(&mut self, is_pipe: bool) {
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

/// Whether any simple command in a shell command line writes.
#[must_use]
pub fn has_side_effects(command: &str) -> bool {
    let mut waiting = vec![(command.to_owned(), true, 0_usize)];
    while let Some((text, is_code, depth)) = waiting.pop() {
        let frame = if is_code { Frame::Code } else { Frame::Text };
        let mut scan = Scan::new(&text, frame);
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

#[cfg(test)]
mod tests {
    use super::has_side_effects;

    const TABLE: &str = include_str!("../../../../tests/cases/shell.txt");

    /// The value of a JSON string, as far as the table uses JSON's escapes.
    fn decode(literal: &str) -> Option<String> {
        let mut decoded = String::new();
        let mut characters = literal.strip_prefix('"')?.strip_suffix('"')?.chars();
        while let Some(character) = characters.next() {
            if character != '\\' {
                decoded.push(character);
                continue;
            }
            match characters.next()? {
                'n' => decoded.push('\n'),
                't' => decoded.push('\t'),
                'r' => decoded.push('\r'),
                'u' => {
                    let digits: String = characters.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok()?;
                    decoded.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                }
                other => decoded.push(other),
            }
        }
        Some(decoded)
    }

    #[test]
    fn every_case_of_the_table() {
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut count = 0;
        for line in lines {
            let (expected, literal) = line.split_once(' ').unwrap_or((line, ""));
            let command = decode(literal);
            assert!(command.is_some(), "not a case: {line}");
            let command = command.unwrap_or_default();
            assert_eq!(has_side_effects(&command), expected == "W", "{line}");
            count += 1;
        }
        assert!(count >= 180, "only {count} cases");
    }

    #[test]
    fn long_and_deep_input_has_an_answer() {
        for piece in ["(", "$(", "`", "\"", "'", ";", "<<a\n", "${", "((", "a=(", "sudo ", "\\", "\u{e9}"] {
            let _ = has_side_effects(&piece.repeat(100_000));
        }
    }
}
