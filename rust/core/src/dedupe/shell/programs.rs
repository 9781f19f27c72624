//! Programs that write, recognised by name, verb or option, from `_data/shell.json`.
//!
//! Arguments are parsed as getopt would: each is an option, the value of an option, or another word. Abbreviated long
//! options, dry runs and the targets of arguments are ignored. A program or a verb that is not listed counts as
//! reading.

/// Return a program's name without its folder and, for a few programs, without its version.
pub(super) fn program_name(word: &str) -> &str {
    let name = word.rsplit_once('/').map_or(word, |(_, name)| name);
    let base = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if VERSIONED.contains(&base) { base } else { name }
}

/// Return true if a program writes with these arguments. Programs that run other programs are handled in `judge`.
pub(super) fn writes(name: &str, arguments: &[&str]) -> bool {
    if WRITERS.contains(&name) {
        return true;
    }
    if let Some(spec) = find(PACKAGERS, name) {
        return package_writes(name, arguments, spec);
    }
    if let Some(spec) = find(MANAGERS, name) {
        let (verb, _) = verb_of(arguments, spec);
        return !verb.is_empty() && !is_reading(verb);
    }
    match name {
        "git" => git_writes(arguments),
        "sed" | "gsed" => has_option(arguments, &SED_OPTIONS, SED_WRITING),
        "perl" => has_any(&parse(arguments, &PERL_OPTIONS, true).0, PERL_WRITING),
        "curl" => curl_writes(arguments),
        "wget" => wget_writes(arguments),
        "make" | "gmake" => {
            let (_, targets) = parse(arguments, &MAKE_OPTIONS, false);
            targets.iter().any(|target| MAKE_WRITING.contains(target))
        }
        _ => find(SQL_CLIENTS, name).is_some_and(|spec| client_writes(arguments, spec)),
    }
}

/// Return true if a client of a database runs SQL of a file, or SQL among the arguments changes something.
fn client_writes(arguments: &[&str], spec: &Spec) -> bool {
    let (options, _) = parse(arguments, spec, false);
    let has_file = |argument: &str| is_option(argument) && spec.files.contains(&argument);
    options.iter().any(|(option, value)| spec.files.contains(option) && !STDIN.contains(value))
        || arguments.iter().any(|argument| has_file(argument) || sql_writes(argument))
}

/// Return true if a word of SQL, or of a client's own commands, changes something or runs a file.
fn sql_writes(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphabetic());
    words.any(|word| SQL_WRITING.contains(&word.to_ascii_lowercase().as_str()))
        || text.split(BLANKS).any(|word| SQL_CLIENT_WRITING.contains(&word) || word.starts_with('@'))
}

/// Return true if SQL only asks: nothing in it writes, and no statement in it is the value of an expansion.
pub(super) fn is_query(text: &str) -> bool {
    let is_value = |statement: &str| statement.trim_start_matches(BLANKS).starts_with(['$', '`']);
    !sql_writes(text) && !text.split(';').any(is_value)
}

/// Return true if a package manager writes, by its verb.
fn package_writes(name: &str, arguments: &[&str], spec: &Spec) -> bool {
    let (verb, _) = verb_of(arguments, spec);
    PACKAGE_WRITING.contains(&verb) || (PACKAGE_SHORTENING.contains(&name) && PACKAGE_SHORT.contains(&verb))
}

/// Return true if a verb of docker or a similar program reads; `list-units` counts as `list`.
fn is_reading(verb: &str) -> bool {
    let stem = verb.split_once('-').map_or(verb, |(stem, _)| stem);
    READING.contains(&verb) || READING_STEMS.contains(&stem)
}

/// Return true if git writes, by its verb, or by the words after it if the verb can also list.
fn git_writes(arguments: &[&str]) -> bool {
    let (verb, rest) = verb_of(arguments, &GIT_OPTIONS);
    match verb {
        "branch" => has_option(&rest, &GIT_BRANCH_OPTIONS, GIT_BRANCH_WRITING),
        "tag" => git_tag_writes(&rest),
        "stash" => !matches!(verb_of(&rest, &PLAIN).0, "list" | "show"),
        "worktree" => !matches!(verb_of(&rest, &PLAIN).0, "" | "list"),
        _ => GIT_WRITING.contains(&verb),
    }
}

/// Return true if `git tag` writes. It lists if it has no name, or an option that only a list takes.
fn git_tag_writes(arguments: &[&str]) -> bool {
    let (options, names) = parse(arguments, &GIT_TAG_OPTIONS, false);
    has_any(&options, GIT_TAG_DELETING) || (!names.is_empty() && !has_any(&options, GIT_TAG_LISTING))
}

/// Return true if curl sends data or saves to a file.
fn curl_writes(arguments: &[&str]) -> bool {
    let (options, _) = parse(arguments, &CURL_OPTIONS, false);
    let (mut has_data, mut is_get) = (false, false);
    for (option, value) in options {
        match option {
            "X" | "--request" if SENDING.contains(&value) => return true,
            "o" | "--output" if value != "-" && writes_file(value) => return true,
            _ if CURL_WRITING.contains(&option) => return true,
            "G" | "--get" => is_get = true,
            _ => has_data |= matches!(option, "d" | "--json") || option.starts_with("--data"),
        }
    }
    has_data && !is_get
}

/// Return true if wget sends data or saves to a file, which is its default.
fn wget_writes(arguments: &[&str]) -> bool {
    let (options, _) = parse(arguments, &WGET_OPTIONS, false);
    let mut saves = true;
    for (option, value) in options {
        match option {
            "--method" if SENDING.contains(&value) => return true,
            _ if WGET_SENDING.contains(&option) => return true,
            "O" | "--output-document" => saves = value != "-" && writes_file(value),
            "--spider" => saves = false,
            _ => {}
        }
    }
    saves
}

/// Return true if writing to the target changes a file. The target `>()` is a process substitution.
pub(super) fn writes_file(target: &str) -> bool {
    !DEVICES.contains(&target) && target != ">()" && !target.starts_with("/dev/fd/")
}

/// Options with their values. An option is a letter, or a long name with its dashes.
pub(super) type Options<'a> = Vec<(&'a str, &'a str)>;

/// Return the options with their values, and the other words. With `stops`, no word after the first other word is an
/// option.
pub(super) fn parse<'a>(arguments: &[&'a str], spec: &Spec, stops: bool) -> (Options<'a>, Vec<&'a str>) {
    let mut options = Vec::new();
    let mut others = Vec::new();
    let mut words = arguments.iter().copied();
    while let Some(word) = words.next() {
        if !is_option(word) && stops {
            others.push(word);
        }
        if word == "--" || (stops && !is_option(word)) {
            others.extend(words);
            break;
        }
        if !is_option(word) {
            others.push(word);
            continue;
        }
        let takes_next = if word.starts_with("--") {
            let split = word.split_once('=');
            options.push(split.unwrap_or((word, "")));
            split.is_none() && spec.names.contains(&word)
        } else {
            parse_letters(word.get(1..).unwrap_or_default(), spec, &mut options)
        };
        let value = if takes_next { words.next() } else { None };
        if let (Some(option), Some(value)) = (options.last_mut(), value) {
            option.1 = value;
        }
    }
    (options, others)
}

/// Return true if a word is an option: `-x`, `--long`, `+x`.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}

/// Split a cluster of letters; return true if the value of the last one is the next word.
fn parse_letters<'a>(letters: &'a str, spec: &Spec, options: &mut Options<'a>) -> bool {
    for (index, letter) in letters.char_indices() {
        let (option, rest) =
            letters.get(index..).and_then(|tail| tail.split_at_checked(letter.len_utf8())).unwrap_or_default();
        let is_valued = spec.valued.contains(letter);
        if is_valued || spec.attached.contains(letter) {
            options.push((option, rest));
            return is_valued && rest.is_empty();
        }
        options.push((option, ""));
    }
    false
}

/// Return the verb and the words after it. The verb is the first word that is not an option, or the second such word if
/// the first is a group of verbs.
pub(super) fn verb_of<'a>(arguments: &[&'a str], spec: &Spec) -> (&'a str, Vec<&'a str>) {
    let (_, mut others) = parse(arguments, spec, true);
    if others.first().is_some_and(|first| spec.groups.contains(first)) {
        others = parse(others.get(1..).unwrap_or_default(), spec, true).1;
    }
    match others.split_first() {
        Some((verb, rest)) => (verb, rest.to_vec()),
        None => ("", Vec::new()),
    }
}

/// Return true if one of the named options is among `options`.
pub(super) fn has_any(options: &Options<'_>, names: Words) -> bool {
    options.iter().any(|(option, _)| names.contains(option))
}

/// Return true if one of the named options is anywhere among the arguments.
pub(super) fn has_option(arguments: &[&str], spec: &Spec, names: Words) -> bool {
    has_any(&parse(arguments, spec, false).0, names)
}

include!(concat!(env!("OUT_DIR"), "/shell.rs"));

/// A list of words.
pub(super) type Words = &'static [&'static str];

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// The options of a program: the letters that take a value (attached or as the next word), the letters whose value is
/// always attached, the long names that take the next word, the groups, after which the next word is the verb, and those
/// that name a file: of statements that the program runs, or that it writes.
pub(super) struct Spec {
    pub(super) valued: &'static str,
    pub(super) attached: &'static str,
    pub(super) names: Words,
    pub(super) groups: Words,
    pub(super) files: Words,
}

/// The options of a program without a description: none takes a value.
pub(super) const PLAIN: Spec = Spec { valued: "", attached: "", names: &[], groups: &[], files: &[] };

/// Return the options of the program with this name, if it is in the list.
pub(super) fn find(programs: &'static [(&'static str, Spec)], name: &str) -> Option<&'static Spec> {
    programs.iter().find(|(program, _)| *program == name).map(|(_, spec)| spec)
}
