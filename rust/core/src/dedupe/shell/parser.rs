//! Read a script and every script inside it.
//!
//! What it does: scans one script to its end, then what the scan put aside (backticks, `bash -c`,
//! `eval`, a here-document for a shell, arithmetic), from an explicit stack. The twin of
//! `_pure/shell/script.py`.
//!
//! What it guarantees: an answer for any text, without recursion.
//!
//! What it leaves out: what is nested deeper than `MAX_SCRIPTS` scripts, or `MAX_FRAMES` brackets
//! in one script.

use super::quotes::find_arithmetic;
use super::scan::{Frame, Scan};

const MAX_SCRIPTS: usize = 16;
const MAX_FRAMES: usize = 100;

impl Scan<'_> {
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
}

/// Whether any simple command in a shell command line writes.
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
