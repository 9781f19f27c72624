//! Hold what is known in the middle of a script: the open brackets, and the command being read.
//!
//! What it does: keeps the state that `lex`, `quotes` and `words` share, with the few moves that
//! all of them make. The twin of `_pure/shell/scan.py`.
//!
//! What it guarantees: a command inside another leaves that one as it was.
//!
//! What it leaves out: what any character means.

use super::programs::program_name;
use std::collections::HashMap;
use std::mem::take;

/// What the innermost open bracket or quote is. `Code` and `Text` can also be the whole script.
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
    /// `${...}` where a single quote is no quote.
    QuotedBrace,
    /// The list of an array or of an extended pattern.
    Paren,
}

/// A here-document whose body stands after the next newline.
pub(super) struct Heredoc {
    pub(super) delimiter: String,
    pub(super) is_quoted: bool,
    pub(super) has_tabs: bool,
    pub(super) is_code: bool,
}

/// What goes into a command's standard input, as far as the line itself shows it: numbers of
/// here-documents, and texts.
#[derive(Default)]
pub(super) struct Feed {
    pub(super) heredocs: Vec<usize>,
    pub(super) texts: Vec<String>,
}

impl Feed {
    /// What the command of these words, fed with this, writes into a pipe.
    pub(super) fn passed_on(self, words: &[String]) -> Self {
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
    /// Whether an open `[[` makes operators plain text.
    pub(super) fn is_test(&self) -> bool {
        self.words.first().is_some_and(|word| word == "[[")
    }

    /// Whether the word before a redirection is its number (`2>`) or its variable (`{fd}>`).
    pub(super) fn has_descriptor(&self) -> bool {
        let word = self.word.as_deref().unwrap_or_default();
        if self.is_quoted || word.is_empty() {
            return false;
        }
        word.bytes().all(|byte| byte.is_ascii_digit()) || (word.starts_with('{') && word.ends_with('}'))
    }
}

/// One pass over one script. `nested` collects the texts to scan next, each with whether it is
/// code (true) or text with substitutions in it (false).
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

    /// Add to the word being read; an empty text begins one.
    pub(super) fn add(&mut self, text: &str) {
        self.code.word.get_or_insert_default().push_str(text);
    }

    /// Put a placeholder where a value will stand, unless the text around it is not kept.
    pub(super) fn add_expansion(&mut self, placeholder: &str) {
        if matches!(self.frame, Frame::Code | Frame::Quote) {
            self.add(placeholder);
        }
    }

    /// Enter a frame whose opening has `size` characters.
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

    /// Leave a frame of text by its closing character.
    pub(super) fn close(&mut self) {
        self.position += 1;
        self.frame = self.frames.pop().unwrap_or(Frame::Code);
    }

    /// Put a text aside to be scanned by itself.
    pub(super) fn nest(&mut self, text: &str, is_code: bool) {
        if !text.is_empty() {
            self.nested.push((text.to_owned(), is_code));
        }
    }

    /// What is left of the text, from `ahead` bytes on.
    pub(super) fn rest(&self, ahead: usize) -> &'a str {
        slice(self.text, self.position + ahead, self.text.len())
    }
}

/// A part of the text; empty where the bounds are no bounds of it.
pub(super) fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// The first character, empty at the end.
pub(super) fn first_character(text: &str) -> &str {
    slice(text, 0, text.chars().next().map_or(0, char::len_utf8))
}
