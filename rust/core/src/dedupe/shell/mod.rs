//! Shell command lines: a line has side effects if any simple command in it writes.
//!
//! A line is read as a POSIX shell with the common bash additions would read it (quotes, expansions, redirections,
//! here-documents, keywords), without running or expanding anything. [`lexer`] holds the state of a script and reads
//! its tokens; [`parser`] reads a script and the scripts inside it; [`judge`] reads through wrappers such as `sudo`;
//! [`programs`] lists the programs that write.
//!
//! Every text has an answer, in time linear in its length, without recursion and without a panic. Only ASCII characters
//! have a meaning. The values of variables, aliases, functions called later, and code in other languages are ignored. SQL
//! is the exception: a client of a database has side effects unless the line shows all its SQL, and that only reads. An
//! unknown program counts as reading, and so does code nested deeper than the limits in [`parser`] and [`judge`].

mod judge;
mod lexer;
mod parser;
mod programs;

pub use super::shell::parser::has_side_effects;

#[cfg(test)]
mod tests {
    use super::has_side_effects;

    const TABLE: &str = include_str!("../../../../../tests/cases/shell.txt");

    /// Decode a JSON string, with the escapes that the table uses.
    fn decode(literal: &str) -> Option<String> {
        let mut decoded = String::new();
        let mut characters = literal.strip_prefix('"')?.strip_suffix('"')?.chars();
        while let Some(character) = characters.next() {
            if character != '\\' {
                decoded.push(character);
                continue;
            }
            match characters.next()? {
                'n' => decoded.push('\n'),
                't' => decoded.push('\t'),
                'r' => decoded.push('\r'),
                'u' => {
                    let digits: String = characters.by_ref().take(4).collect();
                    let code = u32::from_str_radix(&digits, 16).ok()?;
                    decoded.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                }
                other => decoded.push(other),
            }
        }
        Some(decoded)
    }

    #[test]
    fn every_case_of_the_table() {
        let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut count = 0;
        for line in lines {
            let (expected, literal) = line.split_once(' ').unwrap_or((line, ""));
            let command = decode(literal);
            assert!(command.is_some(), "not a case: {line}");
            let command = command.unwrap_or_default();
            assert_eq!(has_side_effects(&command), expected == "W", "{line}");
            count += 1;
        }
        assert!(count >= 180, "only {count} cases");
    }

    #[test]
    fn long_and_deep_input_has_an_answer() {
        for piece in ["(", "$(", "`", "\"", "'", ";", "<<a\n", "${", "((", "a=(", "sudo ", "\\", "\u{e9}"] {
            let _ = has_side_effects(&piece.repeat(100_000));
        }
    }
}
