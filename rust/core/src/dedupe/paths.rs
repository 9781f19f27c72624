//! Paths, compared by their text alone: no file is looked at, and no symbolic link is followed.
//!
//! A path loses `.`, `..` and repeated slashes, a Windows path gets slashes and a small drive letter, and a relative
//! path is joined to its directory. A path that may mean another file in another program is compared unchanged: a URL,
//! `//host`, `~`, `$HOME`, a drive without a slash, and a backslash that may be part of a name.

use crate::text::graphemes::CodePoint;
use crate::text::piece::Piece;
use crate::text::{OwnedText, Text, Unit, Width, convert, on_units};

const SLASH: u32 = 0x2F;
const BACKSLASH: u32 = 0x5C;

/// The form of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// It is never changed, and no directory matters to it.
    Fixed,
    /// It begins with a slash.
    Absolute,
    /// It begins with a Windows drive.
    Drive,
    /// It is relative, with slashes.
    Relative,
    /// It is relative, with backslashes that separate names only on Windows.
    Windows,
    /// It is never changed, but its directory matters.
    Unclear,
}

/// Return the path in its normal form, and the number of items of the directory that it still depends on.
///
/// The directory is empty if it is unknown, else it is a path in its normal form; each path that could not be joined to
/// the one before it follows as an item of its own.
pub(crate) fn resolve<'a>(path: Piece<'a>, directory: &[Piece<'a>]) -> (Piece<'a>, usize) {
    let form = form_of(path.text());
    let base = directory.last().map_or(Text::ascii(""), Piece::text);
    let base_form = if base.is_empty() { Form::Relative } else { form_of(base) };
    match (form, base_form) {
        (Form::Absolute, _) if is_folded(path.text().slice(1, path.len())) || path.len() == 1 => (path, 0),
        (Form::Absolute, _) => (Piece::own(Names::rooted("", &[path.text()])), 0),
        (Form::Drive, _) => (Piece::own(fold_drive(&[path.text()])), 0),
        (Form::Fixed, _) => (path, 0),
        (Form::Relative | Form::Windows, Form::Drive) => (Piece::own(fold_drive(&[base, path.text()])), 0),
        (Form::Windows | Form::Unclear, _) => (path, directory.len()),
        (Form::Relative, Form::Absolute) => (Piece::own(Names::rooted("", &[base, path.text()])), 0),
        (Form::Relative, Form::Relative) if !base.is_empty() => {
            (Piece::own(Names::relative(&[base, path.text()])), directory.len() - 1)
        }
        (Form::Relative, _) if is_folded(path.text()) => (path, directory.len()),
        (Form::Relative, _) => (Piece::own(Names::relative(&[path.text()])), directory.len()),
    }
}

/// Return the form of a path, which is not empty.
fn form_of(path: Text<'_>) -> Form {
    on_units!(path, units => form_of_units(units))
}

fn form_of_units<C: CodePoint>(units: &[C]) -> Form {
    let at = |index: usize| units.get(index).map_or(0, |unit| unit.code_point());
    let is_separator = |unit: u32| unit == SLASH || unit == BACKSLASH;
    let find = |wanted: u32| units.iter().position(|unit| unit.code_point() == wanted);
    let first = at(0);
    if is_separator(first) {
        return match () {
            () if is_separator(at(1)) => Form::Fixed,
            () if first == BACKSLASH => Form::Unclear,
            () if find(BACKSLASH).is_some() => Form::Fixed,
            () => Form::Absolute,
        };
    }
    if "~$%".contains(char::from_u32(first).unwrap_or_default()) {
        return Form::Unclear;
    }
    let is_letter = char::from_u32(first).is_some_and(|letter| letter.is_ascii_alphabetic());
    let end = units.iter().position(|unit| matches!(unit.code_point(), SLASH | BACKSLASH | 0x3A));
    match end {
        Some(colon) if at(colon) == 0x3A => {
            let is_scheme = |unit: &C| {
                let letter = char::from_u32(unit.code_point()).unwrap_or_default();
                letter.is_ascii_alphanumeric() || "+.-".contains(letter)
            };
            match () {
                () if colon == 1 && is_letter && is_separator(at(2)) => Form::Drive,
                () if !(is_letter && units.iter().take(colon).all(is_scheme)) => Form::Unclear,
                () if at(colon + 1) == SLASH && at(colon + 2) == SLASH => Form::Fixed,
                () => Form::Unclear,
            }
        }
        Some(_) if find(BACKSLASH).is_some() => Form::Windows,
        _ => Form::Relative,
    }
}

/// Return true if a path without the slash at its beginning is in its normal form.
fn is_folded(path: Text<'_>) -> bool {
    on_units!(path, units => {
        let mut names = units.split(|unit| unit.code_point() == SLASH);
        names.all(|name| {
            let dots = name.iter().take_while(|unit| unit.code_point() == 0x2E).count();
            name.len() > 2 || dots < name.len()
        })
    })
}

/// The names of a path in its normal form.
struct Names<'t> {
    names: Vec<Text<'t>>,
    is_rooted: bool,
}

impl<'t> Names<'t> {
    /// Return the joined paths after a root, which is a drive or nothing.
    fn rooted(drive: &str, paths: &[Text<'t>]) -> OwnedText {
        Self::of(paths, true).joined(&format!("{drive}/"))
    }

    /// Return joined relative paths.
    fn relative(paths: &[Text<'t>]) -> OwnedText {
        let names = Self::of(paths, false);
        let folded = names.joined("");
        if folded.as_text().is_empty() {
            return OwnedText::from(Text::ascii("."));
        }
        // Without its "./", such a path could be taken for another one: "./~x" is not the home of x.
        if form_of(folded.as_text()) == Form::Relative { folded } else { names.joined("./") }
    }

    fn of(paths: &[Text<'t>], is_rooted: bool) -> Self {
        let mut names = Self { names: Vec::new(), is_rooted };
        for path in paths {
            let mut rest = *path;
            while let Some(slash) = rest.find(b'/') {
                names.add(rest.slice(0, slash));
                rest = rest.slice(slash + 1, rest.len());
            }
            names.add(rest);
        }
        names
    }

    fn add(&mut self, name: Text<'t>) {
        if name.is("..") {
            let has_parent = self.names.last().is_some_and(|last| !last.is(".."));
            if has_parent {
                self.names.pop();
            } else if !self.is_rooted {
                self.names.push(name);
            }
        } else if !name.is_empty() && !name.is(".") {
            self.names.push(name);
        }
    }

    fn joined(&self, start: &str) -> OwnedText {
        let mut text = OwnedText::default();
        text.push_ascii(start);
        for (index, name) in self.names.iter().enumerate() {
            if index > 0 {
                text.push_ascii("/");
            }
            text.push(*name);
        }
        canonical(text)
    }
}

/// Return joined paths, of which the first begins with a drive.
fn fold_drive(paths: &[Text<'_>]) -> OwnedText {
    let paths: Vec<OwnedText> = paths.iter().map(|path| with_slashes(*path)).collect();
    let drive = paths.first().and_then(|path| path.as_text().get(0)).and_then(char::from_u32).unwrap_or_default();
    let mut texts: Vec<Text<'_>> = paths.iter().map(OwnedText::as_text).collect();
    if let Some(first) = texts.first_mut() {
        *first = first.slice(2, first.len());
    }
    Names::rooted(&format!("{}:", drive.to_ascii_lowercase()), &texts)
}

fn with_slashes(path: Text<'_>) -> OwnedText {
    let mut text = OwnedText::default();
    let mut rest = path;
    while let Some(found) = rest.find(b'\\') {
        text.push(rest.slice(0, found));
        text.push_ascii("/");
        rest = rest.slice(found + 1, rest.len());
    }
    text.push(rest);
    text
}

/// Return a string in the narrowest units, so that equal strings have equal units.
pub(crate) fn canonical(text: OwnedText) -> OwnedText {
    if matches!(text, OwnedText::Latin1(_)) {
        return text;
    }
    let width = text.as_text().width();
    on_units!(text.as_text(), units => match width {
        Width::Ascii | Width::Latin1 => OwnedText::Latin1(converted(units)),
        Width::Ucs2 => OwnedText::Ucs2(converted(units)),
        Width::Ucs4 => OwnedText::Ucs4(converted(units)),
    })
}

fn converted<S: Unit, D: Unit>(units: &[S]) -> Vec<D> {
    let mut own = vec![D::from_code_point(0); units.len()];
    convert(units, &mut own);
    own
}
