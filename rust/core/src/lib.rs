//! Tool results in the conversations of LLM agents: paired, deduplicated, cut to a budget, carried over.
//!
//! The modules are the steps, in the order in which data meets them: [`read`] and [`session`] say what a message
//! is, [`pair`] joins calls with results, [`dedupe`] (with [`rules`] and [`shell`]) finds what is superseded,
//! [`truncate`] cuts, [`render`] (with [`clean`], [`fences`], [`summary`]) makes headings and texts, [`fill`] spends
//! the budget, and [`carry`] is all of it. They see the input through [`value::Value`].
//!
//! ```
//! use bumpalo::Bump;
//! use toolcarry::{carry::carry, pieces::Piece, rules::RuleSet, scan::Conversation, settings::Settings};
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

mod base64;
pub mod branch;
mod call_title;
mod candidate;
pub mod carry;
mod change;
pub mod clean;
pub mod content;
mod cut;
pub mod dedupe;
pub mod default_rules;
pub mod dialogue;
pub mod entry;
pub mod escaped;
pub mod fates;
pub mod fences;
pub mod fill;
mod fit;
pub mod folding;
mod foreign;
mod free_ids;
mod grapheme_classes;
pub mod graphemes;
pub mod history;
pub mod inspect;
mod lanes;
pub mod languages;
pub mod left_out;
pub mod limits;
pub mod lines;
mod media;
pub mod message_tokens;
pub mod messages;
mod newer;
pub mod output;
mod owned_text;
pub mod pair;
pub mod parts;
pub mod pieces;
pub mod project;
pub mod read;
pub mod recount;
pub mod render;
pub mod rules;
pub mod said;
pub mod scan;
mod sequences;
pub mod session;
pub mod settings;
mod shapes;
pub mod shell;
mod spoken;
pub mod summary;
pub mod text;
mod texts;
pub mod tokens;
mod tool_arguments;
pub mod truncate;
mod turns;
mod unmade;
mod utf8;
pub mod value;
