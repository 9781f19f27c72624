//! JSON values as the steps see them, wherever they live: in Python, or in bytes.
//!
//! The same walk reads Python's objects in place and parsed JSON; a door implements [`Value`].

use crate::text::segment::Plain;
use crate::text::{OwnedText, Text};

/// The name of a member. Those that the readers know have a number, so that a door can keep them at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'k> {
    /// The member's name.
    pub name: Text<'k>,
    /// The key's place in [`KNOWN`].
    pub number: Option<usize>,
}

/// How a text stands in its source. Texts that are spelled alike are the same; one text may be spelled in several ways.
#[derive(Clone, Copy, Debug)]
pub enum Spelling<'a> {
    /// As it is.
    Text(Text<'a>),
    /// As JSON has it, in UTF-8 and with its escapes.
    Json(&'a [u8]),
}

impl Key<'static> {
    /// A key without a number, for what one family asks for and no other: it is declared in the file of that family.
    /// A door finds it more slowly, so that a member that is asked for in every message or part stands in the list below.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name: Text::ascii(name), number: None }
    }

    /// The key of this name, with its number if the readers know it: for the tables of names that are data.
    #[allow(clippy::indexing_slicing)] // this runs in the compiler, and what is wrong does not compile
    pub(crate) const fn of(name: &'static str) -> Self {
        let (mut number, bytes) = (0, name.as_bytes());
        while number < KNOWN.len() {
            if let Text::Latin1(known) = KNOWN[number].name
                && known.len() == bytes.len()
            {
                let mut at = 0;
                while at < bytes.len() && known[at] == bytes[at] {
                    at += 1;
                }
                if at == bytes.len() {
                    return KNOWN[number];
                }
            }
            number += 1;
        }
        Self::new(name)
    }
}

impl<'k> Key<'k> {
    const fn known(name: &'k str, number: usize) -> Self {
        Self { name: Text::ascii(name), number: Some(number) }
    }

    /// The key of this name.
    #[must_use]
    pub fn named(name: Text<'k>) -> Self {
        let number = KNOWN.iter().position(|key| key.name == name);
        Self { name, number }
    }
}

macro_rules! known_keys {
    ($($constant:ident $name:literal)*) => {
        /// The keys' numbers.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)] // they are named as their keys are
        enum Number { $($constant),* }

        /// The keys that the readers know, by their numbers.
        pub static KNOWN: &[Key<'static>] = &[$(names::$constant),*];

        /// The keys that the readers know.
        pub mod names {
            use super::{Key, Number};
            $(
                #[doc = concat!("`", $name, "`")]
                pub const $constant: Key<'static> = Key::known($name, Number::$constant as usize);
            )*
        }
    };
}

known_keys! {
    CONTENT "content"
    TYPE "type"
    ROLE "role"
    TEXT "text"
    ID "id"
    NAME "name"
    INPUT "input"
    TOOL_USE_ID "tool_use_id"
    IS_ERROR "is_error"
    TOOL_CALLS "tool_calls"
    FUNCTION_CALL "function_call"
    FUNCTION "function"
    ARGUMENTS "arguments"
    TOOL_CALL_ID "tool_call_id"
    TOOL_NAME "tool_name"
    MESSAGES "messages"
    MESSAGE "message"
    UUID "uuid"
    PARENT_UUID "parentUuid"
    LOGICAL_PARENT_UUID "logicalParentUuid"
    IS_SIDECHAIN "isSidechain"
    AGENT_ID "agentId"
    // The key arguments of tools: no reader names them, but the rules do, and `Key::named` finds their numbers.
    FILE_PATH "file_path"
    PATH "path"
    FILE_PATH_CAMEL "filePath"
    TARGET_FILE "target_file"
    NOTEBOOK_PATH "notebook_path"
    FILENAME "filename"
    COMMAND "command"
    CMD "cmd"
    // What a range, an edit and its content are called in the arguments of tools.
    OFFSET "offset"
    LIMIT "limit"
    START_LINE "start_line"
    END_LINE "end_line"
    VIEW_RANGE "view_range"
    EDITS "edits"
    OLD_STRING "old_string"
    OLD_STR "old_str"
    NEW_STRING "new_string"
    NEW_STR "new_str"
    INSERT_TEXT "insert_text"
    DIFF "diff"
    PATCH "patch"
    FILE_TEXT "file_text"
    CONTENTS "contents"
    NEW_SOURCE "new_source"
    SOURCE "source"
    URL "url"
    DATA "data"
    MEDIA_TYPE "media_type"
    MIME_TYPE "mimeType"
    FORMAT "format"
    ENCRYPTED_CONTENT "encrypted_content"
    BLOB "blob"
    FILE_DATA "file_data"
    PAGES "pages"
    CALL_ID "call_id"
    ARGS "args"
    ACTION "action"
    OUTPUT "output"
    RESULT "result"
    RESULTS "results"
    RESPONSE "response"
    ERROR "error"
    STATUS "status"
    PAYLOAD "payload"
    PARTS "parts"
    KIND "kind"
    CUSTOM "custom"
    // Keys that importers know: no reader names them, but `foreign` does, by the list of the importers.
    STEP_ID "step_id"
    OBSERVATION "observation"
    TOOL_CALL_IDS "tool_call_ids"
    MESSAGE_TYPE "message_type"
    FUNCTION_NAME "function_name"
    SOURCE_CALL_ID "source_call_id"
    TOOL_USE_CAMEL "toolUse"
    TOOL_USE_ID_CAMEL "toolUseId"
    TOOL_RESULT_CAMEL "toolResult"
    FUNCTION_CALL_CAMEL "functionCall"
    FUNCTION_RESPONSE_CAMEL "functionResponse"
    FUNCTION_RESPONSE "function_response"
    TOOL_CALL_CAMEL "toolCall"
    TOOL_RESPONSE_CAMEL "toolResponse"
    TOOL_TYPE "toolType"
    EXECUTABLE_CODE_CAMEL "executableCode"
    EXECUTABLE_CODE "executable_code"
    CODE_EXECUTION_RESULT_CAMEL "codeExecutionResult"
    CODE_EXECUTION_RESULT "code_execution_result"
    OTEL_MESSAGES "gen_ai.input.messages"
    HISTORY "history"
    TRAJECTORY "trajectory"
    STEPS "steps"
    THOUGHT "thought"
    THOUGHT_SIGNATURE "thoughtSignature"
    CACHE_CONTROL "cache_control"
    IS_ERROR_CAMEL "isError"
    STRUCTURED_CONTENT "structuredContent"
    META "_meta"
    STDOUT "stdout"
    STDERR "stderr"
    BASE64 "base64"
    TITLE "title"
    JSON "json"
    BYTES "bytes"
    URI "uri"
    IMAGE_URL "image_url"
    FILE_URI_CAMEL "fileUri"
    FILE_URI "file_uri"
    MIME_TYPE_SNAKE "mime_type"
    IMAGE "image"
    MEDIA_TYPE_CAMEL "mediaType"
    MODALITY "modality"
    DOCUMENT "document"
    VIDEO "video"
    AUDIO "audio"
    INLINE_DATA_CAMEL "inlineData"
    INLINE_DATA "inline_data"
    FILE_DATA_CAMEL "fileData"
    REFUSAL "refusal"
    REASONING_CONTENT_CAMEL "reasoningContent"
    // Of a host's own calls, and of its messages.
    TURN_ID "turn_id"
    POSITION "position"
}

/// A value of the input.
///
/// Nothing here fails: a door that meets an error of its own remembers it, answers as if nothing were there,
/// and raises it when the job is done.
pub trait Value<'a>: Copy + 'a {
    /// A member of an object, unless it is null.
    fn get(self, key: Key<'_>) -> Option<Self>;
    /// Return whether an object has a member, null or not.
    fn has(self, key: Key<'_>) -> bool;
    /// The value as text.
    fn text(self) -> Option<Text<'a>>;
    /// How the value stands in its source, where it is text.
    fn spelling(self) -> Option<Spelling<'a>> {
        self.text().map(Spelling::Text)
    }
    /// What is written of the value between the quotes of a JSON string, where it stands in one.
    fn between_quotes(self) -> Option<&'a [u8]> {
        None
    }
    /// The number of code points the value has as text.
    fn text_len(self) -> Option<usize> {
        self.text().map(Text::len)
    }
    /// The number of bytes the value has as text, in UTF-8; a lone surrogate has three.
    fn utf8_len(self) -> Option<usize> {
        self.text().map(Text::utf8_len)
    }
    /// The first code points of the value as text: so many, or all.
    fn text_start(self, count: usize) -> Option<Text<'a>> {
        self.text().map(|text| text.slice(0, count))
    }
    /// The first code points of the value as text, so many or all, where none has to be made: where they and the next one
    /// are plain, and may be parted.
    fn plain_start(self, _count: usize) -> Option<Plain<'a>> {
        None
    }
    /// The last code points of the value as text, so many or all, where none has to be made: where they and so many before
    /// them are plain, and may be parted.
    fn plain_end(self, _count: usize, _before: usize) -> Option<Plain<'a>> {
        None
    }
    /// Ask for the memory of both ends of the value's text to be there soon.
    fn fetch(self) {}
    /// The last code points of the value as text: so many or more, or all.
    fn text_end(self, count: usize) -> Option<Text<'a>> {
        self.text().map(|text| text.slice(text.len().saturating_sub(count), text.len()))
    }
    /// The first code points of the value as text, so many, as a value by themselves; nothing where that is no shorter
    /// way to them than [`Value::text_start`].
    fn first(self, _count: usize) -> Option<Self> {
        None
    }
    /// The last code points of the value as text, so many, as a value by themselves; nothing where that is no shorter
    /// way to them than [`Value::text_end`].
    fn last(self, _count: usize) -> Option<Self> {
        None
    }
    /// The value where it is an object, or can be made one.
    fn object(self) -> Option<Self>;
    /// The value where it is a list.
    fn list(self) -> Option<Self>;
    /// The number of items a list has.
    fn count(self) -> usize;
    /// An item of a list.
    fn item(self, index: usize) -> Option<Self>;
    /// Return whether the value is true.
    fn is_true(self) -> bool;
    /// The value as a whole number.
    fn integer(self) -> Option<i64>;
    /// The number of members an object has.
    fn size(self) -> usize;
    /// Visit an object's members in their order, until the visitor says false.
    fn members(self, visit: &mut dyn FnMut(Text<'a>, Self) -> bool);
    /// The value as compact JSON.
    fn json(self) -> OwnedText;
    /// The value as compact JSON in which base64 is a line that names it.
    fn answer_json(self) -> OwnedText;
    /// A call's arguments as an object: parsed, or under `arguments` where they are none.
    #[must_use]
    fn arguments(self) -> Self;
    /// An empty object.
    #[must_use]
    fn empty(self) -> Self;
    /// An object that holds the value under a name.
    #[must_use]
    fn under(self, key: Key<'static>) -> Self;
    /// What the value's type is called where it came from.
    fn type_name(self) -> String;
    /// What tells one object of the input from all others: the same however often one looks into what holds it. A
    /// message that is read again may be another object.
    #[must_use]
    fn identity(self) -> usize;
}

/// The text of a member; empty where it is none.
pub(crate) fn text_or_empty<'a, V: Value<'a>>(value: Option<V>) -> Text<'a> {
    value.and_then(Value::text).unwrap_or(Text::ascii(""))
}

/// The items of a list.
pub(crate) fn items<'a, V: Value<'a>>(list: V) -> impl Iterator<Item = V> {
    (0..list.count()).filter_map(move |index| list.item(index))
}

/// The objects of a list that a member is.
pub(crate) fn objects<'a, V: Value<'a>>(list: Option<V>) -> impl Iterator<Item = V> {
    list.and_then(Value::list).into_iter().flat_map(items).filter_map(Value::object)
}

/// The text of the first of two members that is there.
pub(crate) fn first_text<'a, V: Value<'a>>(object: V, [first, second]: [Key<'_>; 2]) -> Text<'a> {
    text_or_empty(object.get(first).or_else(|| object.get(second)))
}
