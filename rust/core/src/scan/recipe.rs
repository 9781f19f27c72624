//! What is left of a context when all is let go of that it was made with: little stands beside it while it is written.

use std::ops::Range;

use super::signed::write_signed;
use super::unescape::write_unescaped;
use crate::grouped::{grouped_size, write_grouped};
use crate::kept::Kept;
use crate::output::Output;
use crate::phrases::Phrase;
use crate::pieces::Part;
use crate::shorthand::{LONGEST_WORD, Listener, Reading, Shorthand, tell};
use crate::text::Text;

/// How a context is put together of text of our own and of parts of the data that a conversation stands in.
#[derive(Debug)]
pub struct Recipe {
    said: Shorthand,
    /// What the context takes in UTF-8.
    size: usize,
}

impl Recipe {
    /// The recipe for an output. What stands in the data is not made now.
    #[must_use]
    pub fn of(output: &Output<'_>) -> Self {
        let made =
            output.insets().filter(|part| found_in(output, part).is_none()).map(|part| LONGEST_WORD + part.utf8_len());
        let room = output.said_len() + LONGEST_WORD * output.insets().len() + made.sum::<usize>();
        let (mut said, mut size) = (Shorthand::with_room(room), output.len());
        output.see(&mut |kept| match kept {
            Kept::Said(own) => said.add(own),
            Kept::Text(own) => said.spell(own),
            Kept::Part(part) => {
                let written = part.utf8_len();
                size = size - part.len() + written;
                match found_in(output, part) {
                    Some((start, size, reading)) => said.say_part(start, size, reading),
                    None => said.write(written, |room| _ = part.write_utf8(room)),
                }
            }
        });
        said.shrink();
        Self { said, size }
    }

    /// How many bytes the context takes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.size
    }

    /// Whether there is no context.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Write the context into room for [`Recipe::len`] bytes, all of which are written. The data is what the conversation
    /// was read from.
    pub fn write(&self, data: &[u8], room: &mut [u8]) {
        let mut writing = Writing { data, room, at: 0 };
        tell(self.said.get(0..self.said.len()), &mut writing);
        // A file may have been written to since it was measured: then there is too little, or there was too much.
        writing.rest().fill(b' ');
    }
}

/// A context in the making.
struct Writing<'w> {
    data: &'w [u8],
    room: &'w mut [u8],
    at: usize,
}

impl Writing<'_> {
    #[inline(always)]
    fn rest(&mut self) -> &mut [u8] {
        self.room.get_mut(self.at..).unwrap_or_default()
    }

    /// Write what takes so many bytes.
    #[inline(always)]
    fn write(&mut self, size: usize, write: impl FnOnce(&mut [u8])) {
        let rest = self.rest();
        match rest.get_mut(..size) {
            Some(own) => write(own),
            None => rest.fill(b' '), // there is too much
        }
        self.at += size;
    }
}

impl Listener for Writing<'_> {
    #[inline(always)]
    fn text(&mut self, text: &[u8]) {
        self.write(text.len(), |room| room.copy_from_slice(text));
    }

    #[inline(always)]
    fn phrase(&mut self, phrase: Phrase) {
        self.at += phrase.write(self.rest());
    }

    #[inline(always)]
    fn number(&mut self, number: usize) {
        self.write(grouped_size(number), |room| write_grouped(number, room));
    }

    #[inline(always)]
    fn part(&mut self, range: Range<usize>, reading: Reading) {
        let part = self.data.get(range).unwrap_or_default();
        match reading {
            Reading::AsItStands => self.text(part),
            Reading::Escaped => self.at += write_unescaped(part, self.rest()),
            Reading::Signed(sign) => self.at += write_signed(part, sign, self.rest()),
        }
    }
}

/// Where a part stands in the data, if it does, what it takes there, and how it is read.
fn found_in(output: &Output<'_>, part: &Part<'_>) -> Option<(u32, usize, Reading)> {
    let (written, reading) = match part {
        Part::Plain(plain) => (plain.written(), Reading::Escaped),
        Part::Signed(lines) => (lines.lines().written(), Reading::Signed(lines.sign())),
        Part::Piece(piece) => match piece.text() {
            Text::Latin1(units) => (units, Reading::AsItStands),
            _ => return None,
        },
    };
    let start = output.start_of(written)?;
    // What has characters of more than one byte each stands there in UTF-8.
    (reading != Reading::AsItStands || written.is_ascii()).then_some((start, written.len(), reading))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use super::super::{Conversation, room_for};
    use super::*;
    use crate::carry::carry;
    use crate::pieces::Piece;
    use crate::rules::RuleSet;
    use crate::settings::Settings;

    /// The context of a body, written by its recipe, and what that takes.
    fn written(body: &str) -> (String, usize) {
        let body = body.to_owned(); // not far from what is made of it
        let room = room_for(body.as_bytes());
        let conversation = Conversation::open(body.as_bytes(), &room).unwrap();
        let settings = Settings { framing: false, ..Settings::default() };
        let carried = carry(&conversation, &Piece::ascii(""), &settings, RuleSet::built_in(), false).unwrap();
        let recipe = Recipe::of(&carried.output);
        let mut context = vec![0; recipe.len()];
        recipe.write(body.as_bytes(), &mut context);
        assert_eq!(context, carried.output.to_bytes());
        (String::from_utf8(context).unwrap(), recipe.said.len())
    }

    /// A file is mapped, and what is written to it meanwhile is read.
    #[test]
    fn data_that_changed_since_it_was_measured_stops_nothing() {
        for data in ["abcdef", "\\n\\n\\n", "\\\\\\n\\n", "\\u4e00", ""] {
            for size in 0..30 {
                let mut said = Shorthand::default();
                for _ in 0..3 {
                    said.say(b"### a.txt\n");
                    said.say_part(0, 6, Reading::Escaped);
                }
                let mut room = vec![b'?'; size];
                Recipe { said, size }.write(data.as_bytes(), &mut room);
                assert!(!room.contains(&b'?'), "{data}: {size}");
            }
        }
    }

    #[test]
    fn what_stands_in_arguments_that_are_a_text_of_their_own_is_made() {
        let body = r#"[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"Write",
            "arguments":"{\"file_path\":\"a.txt\",\"content\":\"one\\ntwo\"}"}}]},{"role":"tool","tool_call_id":"c",
            "content":"done"}]"#;
        let (context, own) = written(body);
        assert!(context.contains("### a.txt\n```\none\ntwo\n```\n"), "{context}");
        assert!(own > "one\ntwo".len(), "{own}");
    }

    #[test]
    fn what_stands_in_the_body_is_not_made() {
        let body = r#"[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"Read","input":{"file_path":"a.txt"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"say \"\u4e00\" or \"一\""}]},
            {"role":"assistant","content":[{"type":"tool_use","id":"d","name":"Read","input":{"file_path":"b.txt"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"d","content":"say \"一\"\n"}]}]"#;
        let (context, own) = written(body);
        assert!(context.contains("\nsay \"一\" or \"一\"\n"), "{context}");
        assert!(own < 100, "{own}");
    }
}
