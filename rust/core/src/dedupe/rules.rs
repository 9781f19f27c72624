//! Rules for tools, looked up by the tool's name, and the built-in rules from `_data/default_rules.json`.
//!
//! A name is matched without regard to ASCII case, whole and without `mcp__server__` or `functions.`; if the call names
//! its server apart from the tool, also as `mcp__server__tool` and `server.tool`. Code points that UTF-8 can't encode match
//! as U+FFFD. The first matching rule decides; user rules come before the built-in ones.

use std::borrow::Cow;
use std::sync::LazyLock;

use ahash::AHashMap;

use crate::json::value::{Key, Value, items, names};
use crate::pairing::block::Kind;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text};

/// The blocks of one key that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepBlock {
    /// The last.
    Last,
    /// All.
    All,
    /// The first.
    First,
    /// None.
    None,
}

/// The name of a key argument, with its number among the known names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleKey {
    name: OwnedText,
    number: Option<usize>,
}

impl RuleKey {
    /// Look up the key argument with this name.
    #[must_use]
    pub fn new(name: Text<'_>) -> Self {
        Self { name: name.into(), number: Key::named(name).number }
    }

    /// The key in the form that [`Value::get`] takes.
    #[must_use]
    pub fn key(&self) -> Key<'_> {
        Key { name: self.name.as_text(), number: self.number }
    }
}

/// A rule: the tools it applies to, and the blocks of them that are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Names with the wildcards `*` and `?`; `editor:view` is the tool `editor` called with the command `view`.
    pub tools: Vec<String>,
    /// The kind of the tools.
    pub kind: Kind,
    /// The arguments that identify what a block is about.
    pub key: Vec<RuleKey>,
    /// The blocks of one key that are kept.
    pub keep: KeepBlock,
    /// The limit on one result of these tools, instead of the policy's.
    pub max_result_chars: Option<usize>,
}

/// The rule for tools that no other rule matches.
pub static OTHER: Rule =
    Rule { tools: Vec::new(), kind: Kind::Other, key: Vec::new(), keep: KeepBlock::All, max_result_chars: None };

/// The longest name that is lower-cased without an allocation.
const LONGEST_NAME: usize = 64;

static DEFAULT: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::new(Vec::new(), false));

/// Rules, compiled for look-up by name.
#[derive(Debug)]
pub struct RuleSet {
    /// True if every edit of a file is kept until the whole file is written or read again.
    pub is_careful: bool,
    /// True if a rule keeps the first block of a key.
    pub keeps_first: bool,
    rules: Vec<Rule>,
    exact: AHashMap<String, usize>,
    globs: Vec<(String, usize)>,
    subcommands: AHashMap<String, AHashMap<String, usize>>,
}

impl RuleSet {
    /// Compile user rules, followed by the built-in ones.
    #[must_use]
    pub fn new(given: Vec<Rule>, is_careful: bool) -> Self {
        let mut rules = given;
        rules.extend(default_rules());
        rules.push(OTHER.clone());
        let mut set = Self {
            is_careful,
            keeps_first: rules.iter().any(|rule| rule.keep == KeepBlock::First),
            rules: Vec::new(),
            exact: AHashMap::new(),
            globs: Vec::new(),
            subcommands: AHashMap::new(),
        };
        for (number, rule) in rules.iter().enumerate() {
            for pattern in &rule.tools {
                set.add(&pattern.to_ascii_lowercase(), number);
            }
        }
        set.rules = rules;
        set
    }

    /// The built-in rules.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &DEFAULT
    }

    /// Return true if the first rule decides about a call of the tool `name`.
    pub(crate) fn is_first<'a, V: Value<'a>>(&self, name: Text<'a>, server: Text<'a>, input: Option<V>) -> bool {
        self.rules.first().is_some_and(|first| std::ptr::eq(first, self.find(name, server, input)))
    }

    fn add(&mut self, pattern: &str, number: usize) {
        if pattern.contains(['*', '?']) {
            self.globs.push((pattern.to_owned(), number));
        } else if let Some((name, command)) = pattern.split_once(':') {
            self.subcommands.entry(name.to_owned()).or_default().entry(command.to_owned()).or_insert(number);
        } else {
            self.exact.entry(pattern.to_owned()).or_insert(number);
        }
    }

    /// Return the rule for a call of the tool `name` of a server, which may be empty.
    pub fn find<'a, V: Value<'a>>(&self, name: Text<'a>, server: Text<'a>, input: Option<V>) -> &Rule {
        let mut room = [0; LONGEST_NAME];
        let lower = &*lowered(name, &mut room);
        let mut number = self.rules.len() - 1;
        let qualified = qualified(lower, server);
        let forms = qualified.iter().flatten().map(String::as_str).chain([lower]).chain(without_prefix(lower));
        for form in forms {
            if let Some(exact) = self.exact.get(form) {
                number = number.min(*exact);
            }
            for (pattern, candidate) in &self.globs {
                if *candidate < number && glob_matches(pattern, form) {
                    number = *candidate;
                }
            }
            if let Some(commands) = self.subcommands.get(form)
                && let Some(command) = input.and_then(|input| input.get(names::COMMAND)).and_then(Value::text)
                && let Some(candidate) = commands.get(&command.to_utf8().to_ascii_lowercase())
            {
                number = number.min(*candidate);
            }
        }
        self.rules.get(number).unwrap_or(&OTHER)
    }
}

/// Return true if a rule for the tool `wanted`, in lower case, would match this name.
pub(crate) fn is_named(name: Text<'_>, wanted: &str) -> bool {
    let mut room = [0; LONGEST_NAME];
    let lower = &*lowered(name, &mut room);
    lower == wanted || without_prefix(lower) == Some(wanted)
}

/// Return a tool's name in lower case, without the name of its server.
pub(crate) fn bare_name(name: Text<'_>) -> String {
    let mut room = [0; LONGEST_NAME];
    let lower = &*lowered(name, &mut room);
    without_prefix(lower).unwrap_or(lower).to_owned()
}

/// Return a name in lower case.
fn lowered<'r>(name: Text<'_>, room: &'r mut [u8; LONGEST_NAME]) -> Cow<'r, str> {
    lower_ascii(name, room).map_or_else(|| Cow::Owned(name.to_utf8().to_ascii_lowercase()), Cow::Borrowed)
}

/// Return a short ASCII name in lower case, without an allocation.
fn lower_ascii<'r>(name: Text<'_>, room: &'r mut [u8; LONGEST_NAME]) -> Option<&'r str> {
    let Text::Latin1(units) = name else { return None };
    let lower = room.get_mut(..units.len()).filter(|_| units.is_ascii())?;
    lower.copy_from_slice(units);
    lower.make_ascii_lowercase();
    std::str::from_utf8(lower).ok()
}

/// The namespace of ordinary functions in `OpenAI`'s Harmony format (github.com/openai/harmony, docs/format.md), which
/// some hosts leave in the name.
const FUNCTIONS: &str = "functions.";

/// Return a tool's name without its leading `mcp__server__` or `functions.`, if it has one.
fn without_prefix(name: &str) -> Option<&str> {
    let tool = match name.strip_prefix("mcp__") {
        Some(rest) => rest.split_once("__")?.1,
        None => name.strip_prefix(FUNCTIONS)?,
    };
    (!tool.is_empty()).then_some(tool)
}

/// Return a tool's name with its server, if the call names that apart from the tool.
fn qualified(lower: &str, server: Text<'_>) -> Option<[String; 2]> {
    (!server.is_empty()).then(|| {
        let own = server.to_utf8().to_ascii_lowercase();
        [format!("mcp__{own}__{lower}"), format!("{own}.{lower}")]
    })
}

/// Return true if `pattern`, with the wildcards `*` and `?`, matches the whole text.
fn glob_matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut place, mut star) = (0, 0, None);
    while let Some(character) = text.get(at) {
        match pattern.get(place) {
            Some('*') => {
                star = Some((place, at));
                place += 1;
            }
            Some(wanted) if *wanted == '?' || wanted == character => {
                place += 1;
                at += 1;
            }
            _ => {
                let Some((back, mark)) = star else { return false };
                star = Some((back, mark + 1));
                (place, at) = (back + 1, mark + 1);
            }
        }
    }
    pattern.iter().skip(place).all(|rest| *rest == '*')
}

/// The subject of a call.
#[derive(Debug)]
pub(crate) enum Found<'a, V> {
    /// A command, a path, or the name of another tool with its key arguments.
    One(Piece<'a>),
    /// The paths of several files.
    Several(V),
}

impl<'a, V: Value<'a>> Found<'a, V> {
    /// Return the value as it is shown.
    pub(crate) fn shown(&self) -> Piece<'a> {
        match self {
            Self::One(value) => value.clone(),
            Self::Several(paths) => {
                let mut text = OwnedText::default();
                for (index, path) in items(*paths).filter_map(Value::text).enumerate() {
                    text.push_ascii(if index > 0 { ", " } else { "" });
                    text.push(path);
                }
                Piece::own(text)
            }
        }
    }
}

/// Return the value of the first key argument that is present: a command, a path, or the paths of several files.
pub(crate) fn key_value<'a, V: Value<'a>>(rule: &Rule, input: V) -> Option<Found<'a, V>> {
    for key in &rule.key {
        let Some(value) = input.get(key.key()) else { continue };
        if let Some(text) = value.text() {
            if !text.is_empty() {
                return Some(Found::One(Piece::Borrowed(text)));
            }
        } else if let Some(list) = value.list() {
            if rule.kind == Kind::Command {
                return command_line(list).map(Found::One);
            }
            let paths = items(list).filter_map(Value::text).filter(|path| !path.is_empty()).count();
            match list.item(0).and_then(Value::text) {
                Some(path) if paths == 1 && list.count() == 1 => return Some(Found::One(Piece::Borrowed(path))),
                Some(_) if paths == list.count() => return Some(Found::Several(list)),
                _ => {}
            }
        }
    }
    None
}

/// Return the command of an argument list: the script of `["bash", "-lc", script]`, or the words, quoted for a shell.
pub(crate) fn command_line<'a, V: Value<'a>>(words: V) -> Option<Piece<'a>> {
    let given: Vec<Text<'a>> = items(words).filter_map(Value::text).collect();
    if given.is_empty() || given.len() != words.count() {
        return None;
    }
    if let [_, option, script] = given.as_slice()
        && (option.is("-c") || option.is("-lc"))
    {
        return Some(Piece::Borrowed(*script));
    }
    let mut line = OwnedText::default();
    for (index, word) in given.iter().enumerate() {
        if index > 0 {
            line.push_ascii(" ");
        }
        push_quoted(&mut line, *word);
    }
    Some(Piece::own(line))
}

/// Add `word` to the line, quoted so that a shell reads it as one word.
fn push_quoted(line: &mut OwnedText, word: Text<'_>) {
    let is_safe = |code_point: u32| {
        u8::try_from(code_point).is_ok_and(|byte| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte))
    };
    if !word.is_empty() && (0..word.len()).all(|index| word.get(index).is_some_and(is_safe)) {
        line.push(word);
        return;
    }
    line.push_ascii("'");
    let mut rest = word;
    while let Some(quote) = rest.find(b'\'') {
        line.push(rest.slice(0, quote));
        line.push_ascii("'\"'\"'");
        rest = rest.slice(quote + 1, rest.len());
    }
    line.push(rest);
    line.push_ascii("'");
}

include!(concat!(env!("OUT_DIR"), "/default_rules.rs"));

/// A rule of the table.
pub(crate) struct BuiltIn {
    tools: &'static [&'static str],
    kind: Kind,
    key: &'static [&'static str],
    keep: KeepBlock,
}

/// Return the built-in rules.
#[must_use]
pub fn default_rules() -> Vec<Rule> {
    let rules = RULES.iter().map(|rule| Rule {
        tools: rule.tools.iter().map(|tool| (*tool).to_owned()).collect(),
        kind: rule.kind,
        key: rule.key.iter().map(|name| RuleKey::new(Text::ascii(name))).collect(),
        keep: rule.keep,
        max_result_chars: None,
    });
    rules.collect()
}
