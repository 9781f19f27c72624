//! Borrowed text, and the units in which it is stored.

use super::graphemes::CodePoint;

/// Run an expression on the units of text, whatever their width.
macro_rules! on_units {
    ($text:expr, $units:ident => $body:expr) => {
        match $text {
            $crate::text::Text::Latin1($units) => $body,
            $crate::text::Text::Ucs2($units) => $body,
            $crate::text::Text::Ucs4($units) => $body,
        }
    };
}
pub(crate) use on_units;

/// A unit that can hold code points up to its width.
pub trait Unit: CodePoint + Eq {
    /// Return the unit for a code point, which must fit.
    fn from_code_point(code_point: u32) -> Self;
    /// Copy text, which must fit, to as many units.
    fn copy_text(text: Text<'_>, to: &mut [Self]);
}

/// Convert units to units of another width, which must be able to hold them.
#[inline(always)]
pub(crate) fn convert<S: Unit, D: Unit>(from: &[S], to: &mut [D]) {
    for (source, target) in from.iter().zip(to) {
        *target = D::from_code_point(source.code_point());
    }
}

impl Unit for u8 {
    #[allow(clippy::cast_possible_truncation)] // callers stay within the width
    fn from_code_point(code_point: u32) -> Self {
        code_point as u8
    }

    fn copy_text(text: Text<'_>, to: &mut [Self]) {
        match text {
            Text::Latin1(units) if units.len() == to.len() => to.copy_from_slice(units),
            _ => on_units!(text, units => convert(units, to)),
        }
    }
}

impl Unit for u16 {
    #[allow(clippy::cast_possible_truncation)] // callers stay within the width
    fn from_code_point(code_point: u32) -> Self {
        code_point as u16
    }

    fn copy_text(text: Text<'_>, to: &mut [Self]) {
        match text {
            Text::Ucs2(units) if units.len() == to.len() => to.copy_from_slice(units),
            _ => on_units!(text, units => convert(units, to)),
        }
    }
}

impl Unit for u32 {
    fn from_code_point(code_point: u32) -> Self {
        code_point
    }

    fn copy_text(text: Text<'_>, to: &mut [Self]) {
        match text {
            Text::Ucs4(units) if units.len() == to.len() => to.copy_from_slice(units),
            _ => on_units!(text, units => convert(units, to)),
        }
    }
}

/// Borrowed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Text<'a> {
    /// Code points up to U+00FF.
    Latin1(&'a [u8]),
    /// Code points up to U+FFFF.
    Ucs2(&'a [u16]),
    /// All code points.
    Ucs4(&'a [u32]),
}

/// The width of the widest code point of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// Up to U+007F.
    Ascii,
    /// Up to U+00FF.
    Latin1,
    /// Up to U+FFFF.
    Ucs2,
    /// All.
    Ucs4,
}
