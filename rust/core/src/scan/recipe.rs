//! What is left of a context when all is let go of that it was made with: where texts are plain, little stands beside the
//! output then.

use std::ops::Range;

use super::spans::span_of;
use super::unescape::write_unescaped;
use crate::output::Output;
use crate::pieces::Part;

/// How a context is put together of its own text, which is no part of the data that was scanned, and of parts of the data.
/// It borrows nothing but the data.
#[derive(Debug)]
pub struct Recipe<'d> {
    data: &'d [u8],
    steps: Vec<Step>,
    /// What the own text takes in UTF-8.
    own_len: usize,
    /// What the parts of the data take without their escapes.
    parts_len: usize,
}

/// A part of the data, as it is written, and where the own text before it ends.
#[derive(Debug)]
struct Step {
    own_end: usize,
    start: u32,
    end: u32,
}

impl<'d> Recipe<'d> {
    /// The recipe for an output. What is plain in it and stands in the data is not made now.
    #[must_use]
    pub fn of(output: &Output<'_>, data: &'d [u8]) -> Self {
        let mut recipe = Self { data, steps: Vec::with_capacity(output.inset_count()), own_len: 0, parts_len: 0 };
        output.see(|part| match range_of(part, data) {
            Some(Range { start, end }) => {
                recipe.steps.push(Step { own_end: recipe.own_len, start, end });
                recipe.parts_len += part.utf8_len();
            }
            None => recipe.own_len += part.utf8_len(),
        });
        recipe
    }

    /// How many bytes the own text takes.
    #[must_use]
    pub fn own_len(&self) -> usize {
        self.own_len
    }

    /// Write the own text of the output that the recipe is for into room for [`Recipe::own_len`] bytes.
    pub fn write_own(&self, output: &Output<'_>, room: &mut [u8]) {
        let mut at = 0;
        output.see(|part| {
            if range_of(part, self.data).is_none() {
                at += part.write_utf8(room.get_mut(at..).unwrap_or_default());
            }
        });
    }

    /// How many bytes the context takes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.own_len + self.parts_len
    }

    /// Whether there is no context.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Write the context into room for [`Recipe::len`] bytes, which begins with the own text: so there is no room beside
    /// it for either. The own text waits at the end; before it there is always room for what is still to come of the data.
    pub fn write(&self, room: &mut [u8]) {
        let (mut waiting, mut at, mut taken) = (self.parts_len, 0, 0);
        room.copy_within(..self.own_len, waiting);
        for Step { own_end, start, end } in &self.steps {
            let size = own_end - taken;
            room.copy_within(waiting..waiting + size, at);
            (waiting, at, taken) = (waiting + size, at + size, *own_end);
            let part = self.data.get(*start as usize..*end as usize).unwrap_or_default();
            let size = write_unescaped(part, room.get_mut(at..waiting).unwrap_or_default());
            // A file may have been written to since it was measured.
            at += size.min(waiting - at);
        }
    }
}

/// Where a part of an output stands in the data, if it does.
fn range_of(part: &Part<'_>, data: &[u8]) -> Option<Range<u32>> {
    match part {
        Part::Plain(plain) => range_in(plain.written(), data),
        Part::Piece(_) => None,
    }
}

/// Where some bytes stand in the data, if they do.
fn range_in(bytes: &[u8], data: &[u8]) -> Option<Range<u32>> {
    if !data.as_ptr_range().contains(&bytes.as_ptr()) {
        return None;
    }
    let Range { start, end } = span_of(bytes, data);
    Some(u32::try_from(start).ok()?..u32::try_from(end).ok()?)
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

    /// The context of a body, written by its recipe, and how much of it is own text.
    fn written(body: &str) -> (String, usize) {
        let body = body.to_owned(); // not far from what is made of it
        let room = room_for(body.as_bytes());
        let conversation = Conversation::open(body.as_bytes(), &room).unwrap();
        let settings = Settings { framing: false, ..Settings::default() };
        let carried = carry(&conversation, &Piece::ascii(""), &settings, RuleSet::built_in(), false).unwrap();
        let recipe = Recipe::of(&carried.output, body.as_bytes());
        let mut context = vec![0; recipe.own_len()];
        recipe.write_own(&carried.output, &mut context);
        context.resize(recipe.len(), 0);
        recipe.write(&mut context);
        assert_eq!(context, carried.output.to_bytes());
        (String::from_utf8(context).unwrap(), recipe.own_len())
    }

    /// A file is mapped, and what is written to it meanwhile is read.
    #[test]
    fn data_that_changed_since_it_was_measured_stops_nothing() {
        for data in ["abcdef", "\\n\\n\\n", "\\\\\\n\\n", "\\u4e00", ""] {
            for measured in 0..10 {
                let steps = [1, 2, 3].map(|own_end| Step { own_end, start: 0, end: 6 });
                let recipe = Recipe { data: data.as_bytes(), steps: steps.into(), own_len: 4, parts_len: 3 * measured };
                recipe.write(&mut vec![b'x'; recipe.len()]);
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
        assert_eq!(own, context.len());
    }

    #[test]
    fn what_stands_in_the_body_is_not_made() {
        let body = r#"[{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"Read","input":{"file_path":"a.txt"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"say \"\u4e00\" or \"一\""}]},
            {"role":"assistant","content":[{"type":"tool_use","id":"d","name":"Read","input":{"file_path":"b.txt"}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"d","content":"say \"一\"\n"}]}]"#;
        let (context, own) = written(body);
        assert!(context.contains("\nsay \"一\" or \"一\"\n"), "{context}");
        assert_eq!(own, context.len() - "say \"一\"\n".len(), "an escape of a number is made");
    }
}
