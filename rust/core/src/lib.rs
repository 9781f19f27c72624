//! Tool results in the conversations of LLM agents: paired, deduplicated, cut to a budget, carried over.
//!
//! Each module is a layer, with the lowest first: a module imports only from modules above it in this table, and no two
//! files import each other (`.ci/rust_layers` checks both). The Python fallback, `toolcarry.fallback` and `toolcarry.model`, has the same tree
//! without `simd`, `json` and `input`, and a file of the same name for each file here.
//!
//! | layer | contents |
//! |---|---|
//! | `simd` | blocks of 64 bytes as bit masks |
//! | [`text`] | code points, grapheme clusters, UTF-8, and text that keeps its JSON escapes until it is needed |
//! | [`json`] | the value trait that all readers use, and the scanner that makes nodes of a document |
//! | [`input`] | the messages of a request body, of a list, or of a session file |
//! | [`formats`] | one reader for each family of formats: the calls and results of a message |
//! | [`content`] | the text of a result, from content of any type |
//! | [`shorten`] | the lines of a text that matter, by what it is |
//! | [`session`] | the tree of a session file: the active branch, other branches, side chains |
//! | [`pairing`] | calls joined with their results, as blocks |
//! | [`dedupe`] | rules, line ranges and shell commands: which block supersedes which |
//! | [`tokens`] | counting and cutting by tokens of `OpenAI`'s encodings |
//! | [`context`] | blocks and a summary as context for another model, within a budget; the dialogue alone |
//! | [`inspect`] | a survey of a conversation |
//! | [`projection`] | a request with markers in place of old results, repaired on demand |
//! | [`text_history`] | a conversation as texts, with a line for each call |
//! | [`session_lines`] | the lines of session files, split into the parts that become commits of the history |
//!
//! ```
//! use bumpalo::Bump;
//! use toolcarry::context::{carry, policy::Settings};
//! use toolcarry::{dedupe::rules::RuleSet, input::Conversation, text::piece::Piece};
//!
//! let body = br#"[
//!     {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}]},
//!     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}]}
//! ]"#;
//! let bump = Bump::new();
//! let messages = Conversation::open(body, &bump).unwrap();
//! let carried = carry(&messages, &Piece::ascii(""), &Settings::default(), RuleSet::built_in(), false).unwrap();
//! assert!(carried.output.to_utf8().contains("### ls\n```\na.py\n```\n"));
//! ```

mod simd;
pub mod text;
pub mod json;
pub mod input;
pub mod formats;
pub mod content;
pub mod session;
pub mod pairing;
pub mod dedupe;
pub mod tokens;
pub mod shorten;
pub mod context;
pub mod inspect;
pub mod projection;
pub mod text_history;
pub mod session_lines;
