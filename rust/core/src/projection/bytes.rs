//! The projection of a body in bytes: the body is scanned once, and unchanged parts are copied verbatim.

use bumpalo::Bump;

use super::edits::{Changed, Draft, DraftList, Edit, Members, Parts, RequestSource};
use super::plan::{Decisions, Frame, Outcome, Projection, plan};
use super::policy::{Previous, Settings};
use super::repair::texts::has_lone_escape;
use super::splice::{Writer, Written};
use crate::content::Content;
use crate::input::messages::Halt;
use crate::input::{CONTINUED_PATHS, MODEL_KEYS, holds_conversations, is_imported_whole, messages_of};
use crate::json::scanned::Scanned;
use crate::json::strings::SAW_HALF;
use crate::json::value::{Key, Value, items};
use crate::text::Text;
use crate::text::piece::Piece;

const GZIP: &[u8] = b"\x1F\x8B";

/// The result of projecting a body.
#[derive(Debug)]
pub struct ProjectedBytes<'a> {
    /// The new body; `None` if it is unchanged.
    pub body: Option<Written<'a>>,
    /// The report of the projection.
    pub outcome: Outcome<'a>,
    /// The decisions, for the next projection.
    pub decisions: Decisions<'a>,
}

/// The reason why a body could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is compressed.
    Compressed,
    /// The scan refuses it.
    Refused,
    /// One of its messages needs an importer.
    NeedsImport,
    /// It has no messages.
    NoMessages,
    /// It is a list of conversations.
    ManyConversations,
    /// The message with this number is not an object.
    NotAnObject(usize),
}

impl Unread {
    /// Return the reason for the report; `None` if the scan refuses the body, since only Python's decoder finds the
    /// position at which all JSON readers stop, or if it needs an importer.
    #[must_use]
    pub fn reason(self) -> Option<String> {
        match self {
            Self::Compressed => Some("compressed".to_owned()),
            Self::Refused | Self::NeedsImport => None,
            Self::NoMessages => Some("no messages".to_owned()),
            Self::ManyConversations => Some("many conversations".to_owned()),
            Self::NotAnObject(number) => Some(format!("message {number} is not an object")),
        }
    }
}

/// The messages of a body.
struct Messages<'a, 'm> {
    data: &'a [u8],
    bump: &'a Bump,
    all: &'m [Scanned<'a>],
    frame: Option<Scanned<'a>>,
    /// True if the body may have an escape of a lone surrogate.
    saw_half: bool,
}

impl Messages<'_, '_> {
    /// Return the offset of a message. The first has offset 0, so that everything before it counts as part of it.
    fn place(&self, position: usize) -> usize {
        match self.all.get(position) {
            _ if position == 0 => 0,
            Some(message) => message.span(self.data).start,
            None => self.all.last().map_or(0, |message| message.span(self.data).end),
        }
    }
}

impl<'a> RequestSource<'a> for Messages<'a, '_> {
    type Item = Scanned<'a>;

    fn build(&self, draft: &Draft<'a, Scanned<'a>>) -> Option<Scanned<'a>> {
        if let Draft::Original(_, value) = draft {
            return Some(*value);
        }
        let written = Writer::new(self.data).message(draft.clone());
        let room = self.bump.alloc_slice_fill_copy(written.len(), 0);
        written.write(room);
        Scanned::parse(room, self.bump).ok()
    }

    fn frame(&self) -> Option<Scanned<'a>> {
        self.frame
    }

    fn may_be_broken(&self) -> bool {
        self.saw_half && has_lone_escape(self.data)
    }

    fn size(&self) -> usize {
        self.data.len()
    }

    fn weigh(&self, start: usize, end: usize) -> usize {
        self.place(end).saturating_sub(self.place(start))
    }
}

/// Project a request body.
pub fn project_body<'a>(
    data: &'a [u8],
    settings: &Settings<'_>,
    previous: Option<&Previous>,
    bump: &'a Bump,
) -> Result<ProjectedBytes<'a>, Unread> {
    if data.starts_with(GZIP) {
        return Err(Unread::Compressed);
    }
    SAW_HALF.set(false);
    let document = Scanned::document(data, bump).map_err(|_| Unread::Refused)?;
    let saw_half = SAW_HALF.get();
    let (list, key) = Some(document)
        .filter(|document| !is_imported_whole(*document))
        .and_then(messages_of)
        .ok_or(Unread::NoMessages)?;
    if key.is_none() && holds_conversations(list) {
        return Err(Unread::ManyConversations);
    }
    let mut messages: Vec<Scanned<'a>> = Vec::with_capacity(list.count());
    messages.extend(items(list));
    if let Some(number) = messages.iter().position(|message| message.object().is_none()) {
        return Err(Unread::NotAnObject(number));
    }
    let request_source = Messages { data, bump, all: &messages, frame: key.map(|_| document), saw_half };
    let bytes = data.len().saturating_sub(request_source.weigh(0, messages.len()));
    let before = messages.first().map_or(0, |first| first.span(data).start);
    let frame = Frame { bytes, before, ..frame_of(document, key, settings) };
    let Projection { drafts, frame, outcome, decisions } =
        plan((&messages, &request_source), settings, previous, frame).map_err(|halt| match halt {
            Halt::NotAnObject { number, .. } => Unread::NotAnObject(number),
            Halt::NeedsImport => Unread::NeedsImport,
            Halt::Source(never) => match never {},
        })?;
    let body = written((document, list, key), drafts, frame, data);
    Ok(ProjectedBytes { body, outcome, decisions })
}

/// Write a body with these messages (`None`: its own) and these changes of its other members; `None` if nothing changes.
fn written<'a>(
    (document, list, key): (Scanned<'a>, Scanned<'a>, Option<Text<'static>>),
    drafts: Option<Vec<Draft<'a, Scanned<'a>>>>,
    mut frame: Members<'a, Scanned<'a>>,
    data: &'a [u8],
) -> Option<Written<'a>> {
    if frame.is_empty() {
        return drafts.map(|drafts| Writer::new(data).document(list, drafts));
    }
    if let (Some(items), Some(key)) = (drafts, key) {
        let messages = Parts { of: Some((DraftList::Messages, list)), items };
        frame.push((Key::named(key), Some(Edit::Parts(messages))));
    }
    Some(Writer::new(data).request(document, Changed { path: None, of: Some(document), members: frame }))
}

/// Read the properties of a request from its members; `key` is the name of the one with the messages.
pub fn frame_of<'a, V: Value<'a>>(document: V, key: Option<Text<'_>>, settings: &Settings<'_>) -> Frame<'a> {
    Frame {
        tokens: settings.max_request_tokens.map_or(0, |_| frame_tokens(document, key, settings)),
        continued_by: CONTINUED_PATHS.iter().copied().find(|path| has_member(document, path)),
        model: MODEL_KEYS.iter().find_map(|key| document.get(*key)?.text()),
        ..Frame::default()
    }
}

/// Return true if a document has a member at a path.
fn has_member<'a, V: Value<'a>>(document: V, path: &[Key<'_>]) -> bool {
    path.iter().try_fold(document, |holder, key| holder.get(*key)).is_some()
}

/// Return the tokens of everything but the messages: the system prompt, the tools and the settings.
fn frame_tokens<'a, V: Value<'a>>(document: V, key: Option<Text<'_>>, settings: &Settings<'_>) -> usize {
    let Some(counter) = settings.counter else { return 0 };
    let mut tokens = 0;
    document.members(&mut |name, value| {
        if Some(name) != key {
            let is_text = value.text_len().is_some();
            let content = if is_text { Content::Value(value) } else { Content::Piece(Piece::own(value.json())) };
            tokens += counter.count(&content);
        }
        true
    });
    tokens
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test fails by panicking
mod tests {
    use std::sync::LazyLock;

    use bumpalo::Bump;

    use super::{Unread, project_body};
    use crate::projection::Settings;
    use crate::tokens::{Encoding, EncodingName};

    static ENCODING: LazyLock<Encoding> = LazyLock::new(|| {
        let path = "../../python/toolcarry/_data/vocabularies/o200k_base.bpe";
        Encoding::parse(EncodingName::O200kBase, &std::fs::read(path).unwrap()).unwrap()
    });
    const SETTINGS: fn() -> Settings<'static> = || Settings { repair: true, ..Settings::new(&ENCODING) };

    /// Return the new body; `None` if it is unchanged.
    fn projected(body: &str) -> Result<Option<String>, Unread> {
        let bump = Bump::new();
        let found = project_body(body.as_bytes(), &SETTINGS(), None, &bump)?;
        Ok(found.body.map(|written| {
            let mut room = vec![0; written.len()];
            written.write(&mut room);
            String::from_utf8(room).unwrap()
        }))
    }

    fn read(call_id: &str, text: &str) -> String {
        format!(
            r#"{{"role": "assistant", "content" : [ {{"type":"tool_use","id":"{call_id}","name":"Read","input":{{"file_path":"a"}}}} ]}} ,
            {{ "role":"user","content":[{{"type":"tool_result", "tool_use_id":"{call_id}" , "content" : "{text}" , "is_error":false }}]}}"#
        )
    }

    #[test]
    fn unchanged_text_is_copied_verbatim() {
        let long = "x\\n".repeat(40);
        let body = |text: &str| {
            format!("\u{feff}{{ \"a\":[ ], \"messages\":[ {} ,{}\n] }} ", read("t1", text), read("t2", "y"))
        };
        let marker = "[toolcarry: superseded by call t2; whole: t1]";
        assert_eq!(projected(&body(&long)), Ok(Some(body(marker))));
        assert_eq!(projected(&body(marker)), Ok(None));
    }

    #[test]
    fn a_missing_result_is_added() {
        let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}"#;
        let made =
            r#"{"type":"tool_result","tool_use_id":"t","content":"[Tool use interrupted: no result]","is_error":true}"#;
        let expected = format!(r#"[ {call},{{"role":"user","content":[{made}]}}]"#);
        assert_eq!(projected(&format!("[ {call} ]")), Ok(Some(expected)));
    }

    #[test]
    fn a_document_that_is_not_a_request_is_refused() {
        let unread = |body: &str| projected(body).unwrap_err();
        assert_eq!(unread("\u{1f}"), Unread::Refused);
        assert_eq!(unread("{}"), Unread::NoMessages);
        assert_eq!(unread("[{}, 1]"), Unread::NotAnObject(1));
    }
}
