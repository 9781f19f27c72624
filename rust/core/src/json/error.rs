//! The reasons for refusing data, with the offset.

/// A reason for refusing data: it is not JSON, or beyond the limits of this reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A byte that JSON does not allow here.
    Unexpected,
    /// A control character in a string.
    Control,
    /// A string without an end.
    Unterminated,
    /// An escape that JSON doesn't define.
    Escape,
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// Arrays and objects that are nested too deep.
    TooDeep,
    /// A document of 4 GiB or more, a name of 2 GiB or more, a number of thousands of digits, or more than
    /// [`MAX_VALUES`](super::grammar::MAX_VALUES) values.
    TooLong,
    /// A document that is neither a request nor a list of messages nor a message.
    NoMessages,
    /// A whole request among the records of a session file.
    Request,
}

/// The reason for refusing data, and the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The offset of the byte.
    pub at: usize,
    /// The reason.
    pub fault: Fault,
}

pub(crate) type Scan<T> = Result<T, Refused>;

#[cold]
pub(crate) fn unexpected<T>(at: usize) -> Scan<T> {
    Err(Refused { at, fault: Fault::Unexpected })
}
