//! Where values stand in the data that was scanned, so that what stays of a document can be copied as it is written.

use std::ops::Range;

use super::grammar::skip_space;
use super::nodes::{Member, Node};

impl Node<'_> {
    /// What is written for the value, quotes and brackets included.
    pub(crate) fn span(&self, data: &[u8]) -> Range<usize> {
        self.start(data)..self.end(data)
    }

    /// Where it begins.
    pub(crate) fn start(&self, data: &[u8]) -> usize {
        match self {
            Self::Null(at) | Self::Bool(_, at) | Self::List(_, at) | Self::Object(_, at) => *at as usize,
            Self::Number(digits) => place(digits, data),
            Self::Text { bytes, .. } => place(bytes, data).saturating_sub(1),
            Self::Made(_) => 0,
        }
    }

    /// Down to the last value that holds no other, then out of all that it stands in, bracket by bracket.
    fn end(&self, data: &[u8]) -> usize {
        let (mut last, mut open) = (self, 0);
        let mut end = loop {
            let inner = match last {
                Self::Null(at) | Self::Bool(true, at) => break *at as usize + 4,
                Self::Bool(false, at) => break *at as usize + 5,
                Self::Number(digits) => break place(digits, data) + digits.len(),
                Self::Text { bytes, .. } => break place(bytes, data) + bytes.len() + 1,
                Self::List(items, _) => items.last(),
                Self::Object(members, _) => members.last().map(|member| &member.value),
                Self::Made(_) => break 0,
            };
            open += 1;
            match inner {
                Some(inner) => last = inner,
                None => break last.start(data) + 1,
            }
        };
        for _ in 0..open {
            end = skip_space(data, end) + 1;
        }
        end
    }
}

impl Member<'_> {
    /// What is written for the member, from the quote of its name to the end of its value.
    pub(crate) fn span(&self, data: &[u8]) -> Range<usize> {
        self.name.start().saturating_sub(1)..self.value.end(data)
    }
}

/// Where a part of the data stands in it.
pub(crate) fn span_of(part: &[u8], data: &[u8]) -> Range<usize> {
    let start = place(part, data);
    start..start + part.len()
}

/// Where a part of the data begins.
fn place(part: &[u8], data: &[u8]) -> usize {
    part.as_ptr().addr().saturating_sub(data.as_ptr().addr())
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use bumpalo::Bump;

    use super::*;
    use crate::input::Conversation;
    use crate::input::messages::Messages;
    use crate::json::scanned::Scanned;
    use crate::json::value::Value;

    /// Check a value's span, and those of all that it holds: what stands there is the value, and nothing else.
    fn check(value: Scanned<'_>, data: &[u8]) {
        let span = value.span(data);
        let written = &data[span.clone()];
        assert!(!written[0].is_ascii_whitespace() && !written[written.len() - 1].is_ascii_whitespace());
        let bump = Bump::new();
        let again = Scanned::parse(written, &bump).unwrap();
        assert_eq!(again.json().as_text().to_utf8(), value.json().as_text().to_utf8());
        assert_eq!(again.span(written), 0..written.len());
        let mut parts = Vec::new();
        for index in 0..value.count() {
            let item = value.item(index).unwrap();
            check(item, data);
            parts.push(item.span(data));
        }
        for member in value.raw_members() {
            check(value.with(&member.value), data);
            let span = member.span(data);
            assert_eq!(span.end, member.value.span(data).end);
            let alone = [b"{", &data[span.clone()], b"}"].concat();
            let again = Scanned::parse(&alone, &bump).unwrap();
            assert_eq!(again.raw_members()[0].name.raw(&alone).utf8(), member.name.raw(data).utf8());
            parts.push(span);
        }
        if value.list().is_some() || value.object().is_some() {
            check_between(&parts, &data[span.start + 1..span.end - 1], span.start + 1);
        }
    }

    /// Between the parts of a container stand commas and white space, before and behind them white space.
    fn check_between(parts: &[Range<usize>], inside: &[u8], start: usize) {
        let mut end = start;
        let gaps = parts.iter().map(|part| (part.start, part.end)).chain([(start + inside.len(), 0)]);
        for (number, (next, behind)) in gaps.enumerate() {
            let gap = inside[end - start..next - start].trim_ascii();
            let is_between = (1..parts.len()).contains(&number);
            assert_eq!(gap, if is_between { &b","[..] } else { b"" });
            end = behind;
        }
    }

    #[test]
    fn every_value_is_found_as_it_is_written() {
        for written in [
            "null",
            " true\n",
            "\tfalse ",
            " -0.5e+3 ",
            r#" "" "#,
            r#""a\"b\\" "#,
            "\r\n[ ]\r\n",
            " { \n } ",
            "[[],[[ ] ],[ [[]] , [] ]]",
            r#"{"":{},"a":{"b":{ }},"c":[{"d":[]} ] }"#,
            "[null,true , false,\n0\t,-1.5E5,\"\"]",
            r#" { "a" : null , "b":true,"c" :false, "d": 12 , "e":"x" } "#,
            r#"{"a":1,"a": 2,"\u0061":[3 ]}"#,
            "{\"\u{e9}\u{1f600}\": [\"\u{20ac}\", \"\\ud83d\\ude00\\n\", \"\\ud800\"\n]\n}\n",
            r#"["]", "}", {"]}": "[{\"" }, ",", "\\" ]"#,
        ] {
            for (before, behind) in [("", ""), (" \n\t\r", "\r\n  "), ("[", "]"), ("{\"k\" :\n", "\n}")] {
                let data = format!("{before}{written}{behind}");
                let bump = Bump::new();
                check(Scanned::parse(data.as_bytes(), &bump).unwrap(), data.as_bytes());
            }
        }
    }

    #[test]
    fn deep_and_long_values_are_found() {
        let deep = format!("{}{}", "[ {\"a\" :".repeat(64), " } ]".repeat(64)).replace(": ", ": 0 ");
        let long = format!("[{{\"a\": \"{}\"}} , \"{}\" ]", "x".repeat(700), "\u{20ac}\\n".repeat(300));
        for data in [deep, long] {
            let bump = Bump::new();
            check(Scanned::parse(data.as_bytes(), &bump).unwrap(), data.as_bytes());
        }
    }

    #[test]
    fn messages_are_found_in_their_document() {
        let said = format!("{{ \"role\":\"user\" , \"content\" : [ \"{}\" ,{{}} ] }}", "\\\"x".repeat(200));
        let bodies = [
            format!(" [ {said} ,\n{said}] "),
            format!("{{\"model\": null, \"messages\" :[{said},{said}\n], \"x\": []}}"),
            format!("\u{feff}[{said},\n\n{said}]"),
            format!("{said}\r\n\n  {said} \n"),
        ];
        for data in bodies {
            let bump = Bump::new();
            let conversation = Conversation::open(data.as_bytes(), &bump).unwrap();
            let (mut found, mut position) = (0, None);
            while let Some((place, message)) = conversation.before(position).unwrap() {
                check(message, data.as_bytes());
                assert_eq!(&data[message.span(data.as_bytes())], said);
                (found, position) = (found + 1, Some(place));
            }
            assert_eq!(found, 2);
        }
    }

    #[test]
    fn what_the_scan_makes_itself_has_no_place_but_stops_nothing() {
        let bump = Bump::new();
        let data = br#"["{\"a\": [1]}", 3]"#;
        let list = Scanned::parse(data, &bump).unwrap();
        for made in [list.empty(), list.item(0).unwrap().arguments(), list.item(1).unwrap().arguments()] {
            let _ = made.span(data);
        }
    }
}
