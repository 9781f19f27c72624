//! The spans of the values in a text of JSON. Nothing is decoded, so what stays of the text is spelled as it was.

/// A value: where it begins and ends in the text, and its members or items.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) form: Form,
    pub(super) items: Vec<Node>,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A text in quotes.
    Quoted,
    /// A number, `true`, `false` or `null`.
    Scalar,
    /// An object; its items are the values of its members.
    Object,
    /// An array.
    Array,
    /// Several values on lines of their own: an array without brackets and commas.
    Lines,
}

pub(super) const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];
const DEEPEST: usize = 64;

/// Read a text that is an object or an array, or with `has_lines` several of these on lines of their own; `None` for any
/// other text.
pub(super) fn read(text: &str, has_lines: bool) -> Option<Node> {
    let mut reader = Reader { bytes: text.as_bytes(), at: 0 };
    let mut values: Vec<Node> = Vec::new();
    loop {
        let last_end = reader.at;
        reader.skip_blanks();
        if !values.is_empty() {
            if reader.rest().is_empty() {
                break;
            }
            let is_on_next_line = text.get(last_end..reader.at)?.contains('\n');
            if !has_lines || !is_on_next_line {
                return None;
            }
        }
        if !matches!(reader.rest().first(), Some(b'{' | b'[')) {
            return None;
        }
        values.push(reader.value(0)?);
    }
    if values.len() == 1 {
        return values.pop();
    }
    let (start, end) = (values.first()?.start, values.last()?.end);
    Some(Node { start, end, form: Form::Lines, items: values })
}

/// A text that is read from its beginning to its end.
struct Reader<'t> {
    bytes: &'t [u8],
    at: usize,
}

/// The smallest pieces of JSON.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Sign(u8),
    Quoted,
    Scalar,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
    }

    /// Read a token, and return it with the place where it begins.
    fn token(&mut self) -> Option<(Token, usize)> {
        self.skip_blanks();
        let (start, rest) = (self.at, self.rest());
        let (token, size) = match *rest.first()? {
            sign @ (b'{' | b'}' | b'[' | b']' | b',' | b':') => (Token::Sign(sign), 1),
            b'"' => (Token::Quoted, quoted_size(rest)?),
            _ => (Token::Scalar, scalar_size(rest)?),
        };
        self.at += size;
        Some((token, start))
    }

    /// Read a token that has to be this one.
    fn expect(&mut self, expected: Token) -> Option<()> {
        (self.token()?.0 == expected).then_some(())
    }

    fn value(&mut self, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        let (token, start) = self.token()?;
        let form = match token {
            Token::Quoted => Form::Quoted,
            Token::Scalar => Form::Scalar,
            Token::Sign(b'{') => Form::Object,
            Token::Sign(b'[') => Form::Array,
            Token::Sign(_) => return None,
        };
        let items = match form {
            Form::Object => self.items(form, b'}', depth)?,
            Form::Array => self.items(form, b']', depth)?,
            _ => Vec::new(),
        };
        Some(Node { start, end: self.at, form, items })
    }

    /// Read the members of an object or the items of an array, up to the sign that closes it.
    fn items(&mut self, form: Form, close: u8, depth: usize) -> Option<Vec<Node>> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.rest().first() == Some(&close) {
            self.at += 1;
            return Some(items);
        }
        loop {
            if form == Form::Object {
                self.expect(Token::Quoted)?;
                self.expect(Token::Sign(b':'))?;
            }
            items.push(self.value(depth + 1)?);
            match self.token()?.0 {
                Token::Sign(b',') => {}
                Token::Sign(sign) if sign == close => return Some(items),
                _ => return None,
            }
        }
    }
}

/// Return the size of a text in quotes at the beginning.
fn quoted_size(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match *bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' if bytes.get(at + 2..at + 6)?.iter().all(u8::is_ascii_hexdigit) => at += 6,
                _ => return None,
            },
            0..=0x1F => return None,
            _ => at += 1,
        }
    }
}

/// Return the size of a number or a word at the beginning.
fn scalar_size(bytes: &[u8]) -> Option<usize> {
    if let Some(word) = [&b"true"[..], b"false", b"null"].into_iter().find(|word| bytes.starts_with(word)) {
        return Some(word.len());
    }
    let digits = |at: usize| bytes.iter().skip(at).take_while(|byte| byte.is_ascii_digit()).count();
    let start = usize::from(bytes.first() == Some(&b'-'));
    let mut at = match bytes.get(start)? {
        b'0' => start + 1,
        b'1'..=b'9' => start + digits(start),
        _ => return None,
    };
    if bytes.get(at) == Some(&b'.') && digits(at + 1) > 0 {
        at += 1 + digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let power = digits(at + 1 + sign);
        at += if power > 0 { 1 + sign + power } else { 0 };
    }
    Some(at)
}

/// Return the ends of the characters of a text with escapes; a pair of surrogates is one character.
pub(super) fn character_ends(inner: &str) -> impl Iterator<Item = usize> {
    let bytes = inner.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let byte = bytes.get(at)?;
        at += match (byte, bytes.get(at + 1)) {
            (b'\\', Some(b'u')) => {
                let is_high =
                    matches!(bytes.get(at + 2..at + 4), Some([b'd' | b'D', b'8' | b'9' | b'a' | b'b' | b'A' | b'B']));
                let is_pair = is_high && bytes.get(at + 6..at + 8) == Some(&b"\\u"[..]);
                if is_pair { 12 } else { 6 }
            }
            (b'\\' | 0xC0..=0xDF, _) => 2,
            (0..0x80, _) => 1,
            (0xE0..=0xEF, _) => 3,
            _ => 4,
        };
        Some(at)
    })
}
