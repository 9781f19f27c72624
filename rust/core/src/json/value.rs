//! JSON values as the steps see them: Python objects, or JSON in bytes.
//!
//! The same code reads Python objects in place and scanned JSON; each kind of input implements [`Value`].

use std::sync::LazyLock;

use ahash::AHashMap;

use crate::text::piece::Piece;
use crate::text::segment::Plain;
use crate::text::{OwnedText, Text};

/// The name of a member. Names that the readers know have a number, so that an input can cache them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'k> {
    /// The member's name.
    pub name: Text<'k>,
    /// The key's index in [`KNOWN`], if it is there.
    pub number: Option<usize>,
}

/// A string as its source spells it. Strings with the same spelling are equal; equal strings may have different
/// spellings.
#[derive(Clone, Copy, Debug)]
pub enum Spelling<'a> {
    /// The text itself.
    Text(Text<'a>),
    /// The text in JSON: UTF-8, with its escapes.
    Json(&'a [u8]),
}

impl Key<'static> {
    /// Create a key without a number, for a member that only one format reads. It is declared in the format's file. An
    /// input finds it more slowly, so a member that is read in every message or part belongs in the list below.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name: Text::ascii(name), number: None }
    }

    /// Return the key of this name, with its number if the readers know it. This is for constant tables of names.
    #[allow(clippy::indexing_slicing)] // this runs in the compiler, and an error stops the build
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

    /// Return the key of this name, with its number if the readers know it.
    #[must_use]
    pub fn named(name: Text<'k>) -> Self {
        let number = match name {
            Text::Latin1(units) => NUMBERS.get(units).copied(),
            wide => KNOWN.iter().position(|key| key.name == wide),
        };
        Self { name, number }
    }
}

/// The numbers of the known keys, by their names.
static NUMBERS: LazyLock<AHashMap<&'static [u8], usize>> = LazyLock::new(|| {
    let numbered = KNOWN.iter().enumerate();
    numbered
        .filter_map(|(number, key)| if let Text::Latin1(name) = key.name { Some((name, number)) } else { None })
        .collect()
});

macro_rules! known_keys {
    ($($constant:ident $name:literal)*) => {
        /// The numbers of the keys.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)] // the variants are named like the keys
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
    // Key arguments of tools. The rules use them, not the readers, and `Key::named` finds their numbers.
    FILE_PATH "file_path"
    PATH "path"
    FILE_PATH_CAMEL "filePath"
    TARGET_FILE "target_file"
    NOTEBOOK_PATH "notebook_path"
    FILENAME "filename"
    COMMAND "command"
    CMD "cmd"
    CWD "cwd"
    // Arguments of tools for a range, an edit and its content.
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
    // Keys of importers.
    TOOL_CALL_IDS "tool_call_ids"
    MESSAGE_TYPE "message_type"
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
    GUARD_CONTENT "guardContent"
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
    // Keys of a host's calls and messages.
    TURN_ID "turn_id"
    POSITION "position"
}

/// A value of the input.
///
/// No method fails. An input that meets an error stores it, answers as if the value were absent, and raises the error
/// when the job is done.
pub trait Value<'a>: Copy + 'a {
    /// Return a member of an object, unless it is null.
    fn get(self, key: Key<'_>) -> Option<Self>;
    /// Return true if an object has a member that is not null. SDKs write the members that a part does not have as null,
    /// so that null says nothing about the kind of a message or a part.
    fn has(self, key: Key<'_>) -> bool {
        self.get(key).is_some()
    }
    /// Return true if an object has a member, null or not.
    fn has_name(self, key: Key<'_>) -> bool;
    /// Return true if an object has any of these members, null or not.
    fn has_any_name(self, keys: &[Key<'_>]) -> bool {
        keys.iter().any(|key| self.has_name(*key))
    }
    /// Return true if an object has no members but these, null or not. The first ones of the list are found fastest.
    fn has_only(self, keys: &[Key<'_>]) -> bool {
        let mut left = self.size();
        left == 0
            || keys.iter().any(|key| {
                left -= usize::from(self.has_name(*key));
                left == 0
            })
    }
    /// Return the text, if the value is one.
    fn text(self) -> Option<Text<'a>>;
    /// Return the text, for a short time: a text that has to be decoded is not kept as long as the input.
    fn brief_text(self) -> Option<Piece<'a>> {
        self.text().map(Piece::Borrowed)
    }
    /// Return the text as its source spells it.
    fn spelling(self) -> Option<Spelling<'a>> {
        self.text().map(Spelling::Text)
    }
    /// Return the bytes between the quotes, if the value is written as a JSON string.
    fn between_quotes(self) -> Option<&'a [u8]> {
        None
    }
    /// Return the number of code points of the text.
    fn text_len(self) -> Option<usize> {
        self.text().map(Text::len)
    }
    /// Return the number of bytes of the text in UTF-8; a lone surrogate has three.
    fn utf8_len(self) -> Option<usize> {
        self.text().map(Text::utf8_len)
    }
    /// Return the first `count` code points of the text, or all.
    fn text_start(self, count: usize) -> Option<Text<'a>> {
        self.text().map(|text| text.slice(0, count))
    }
    /// Return the first `count` code points of the text, or all, with their escapes. `None` unless they and the next
    /// one are plain, and the text may be cut between them.
    fn plain_start(self, _count: usize) -> Option<Plain<'a>> {
        None
    }
    /// Return the last `count` code points of the text, or all, with their escapes. `None` unless they and the `before`
    /// ones before them are plain, and the text may be cut between them.
    fn plain_end(self, _count: usize, _before: usize) -> Option<Plain<'a>> {
        None
    }
    /// Prefetch the memory of both ends of the text.
    fn fetch(self) {}
    /// Return the end of the text, with at least `count` code points or all.
    fn text_end(self, count: usize) -> Option<Text<'a>> {
        self.text().map(|text| text.slice(text.len().saturating_sub(count), text.len()))
    }
    /// Return the first `count` code points of the text as a value; `None` if this is not faster than
    /// [`Value::text_start`].
    fn first(self, _count: usize) -> Option<Self> {
        None
    }
    /// Return the last `count` code points of the text as a value; `None` if this is not faster than
    /// [`Value::text_end`].
    fn last(self, _count: usize) -> Option<Self> {
        None
    }
    /// Return the value, if it is an object or can be made one.
    fn object(self) -> Option<Self>;
    /// Return the value, if it is a list.
    fn list(self) -> Option<Self>;
    /// Return the number of items of a list.
    fn count(self) -> usize;
    /// Return an item of a list.
    fn item(self, index: usize) -> Option<Self>;
    /// Return true if the value is `true`.
    fn is_true(self) -> bool;
    /// Return the value as an integer.
    fn integer(self) -> Option<i64>;
    /// Return the number of members of an object.
    fn size(self) -> usize;
    /// Return true if the value is null.
    fn is_null(self) -> bool;
    /// Return true if the value is NaN or an infinity, which JSON does not have.
    fn is_not_finite(self) -> bool {
        false
    }
    /// Return the number of members of an object that are not null.
    fn size_without_nulls(self) -> usize;
    /// Visit the members of an object in their order, until the visitor returns false.
    fn members(self, visit: &mut dyn FnMut(Text<'a>, Self) -> bool);
    /// Return the value as compact JSON.
    fn json(self) -> OwnedText;
    /// Return the value as compact JSON, with base64 replaced by a line that names it.
    fn answer_json(self) -> OwnedText;
    /// Return the arguments of a call as an object: JSON text is parsed, no arguments are an empty object, and anything
    /// else becomes the member `arguments` of an object.
    #[must_use]
    fn arguments(self) -> Self;
    /// Return an empty object.
    #[must_use]
    fn empty(self) -> Self;
    /// Return an object that holds the value under a name.
    #[must_use]
    fn under(self, key: Key<'static>) -> Self;
    /// Return the name of the value's type in Python.
    fn type_name(self) -> String;
    /// Return a number that identifies the object among all objects of the input. It does not change if the object is
    /// reached again through the same holder; a message that is read again may get another number.
    #[must_use]
    fn identity(self) -> usize;
}

/// Return the text of a member; empty if it is not a string.
pub(crate) fn text_or_empty<'a, V: Value<'a>>(value: Option<V>) -> Text<'a> {
    value.and_then(Value::text).unwrap_or(Text::ascii(""))
}

/// Return the items of a list.
pub(crate) fn items<'a, V: Value<'a>>(list: V) -> impl Iterator<Item = V> {
    (0..list.count()).filter_map(move |index| list.item(index))
}

/// Return the objects in a member that is a list.
pub(crate) fn objects<'a, V: Value<'a>>(list: Option<V>) -> impl Iterator<Item = V> {
    list.and_then(Value::list).into_iter().flat_map(items).filter_map(Value::object)
}

/// Return the text of the first of some members that is present.
pub(crate) fn first_text<'a, V: Value<'a>, const N: usize>(object: V, keys: [Key<'_>; N]) -> Text<'a> {
    text_or_empty(keys.into_iter().find_map(|key| object.get(key)))
}
