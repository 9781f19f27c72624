//! Why data is refused, and at which byte.

/// Why data is no JSON, or none that is read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Something else is expected here.
    Unexpected,
    /// A control stands in a string.
    Control,
    /// A string has no end.
    Unterminated,
    /// An escape that JSON doesn't know.
    Escape,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// Arrays and objects stand deeper in one another than is read.
    TooDeep,
    /// A document of 4 GiB or more, a name of 2 GiB or more, or a number of thousands of digits.
    TooLong,
    /// A document that is neither a request nor a list of messages nor a message.
    NoMessages,
    /// A whole request among records.
    Request,
}

/// What is wrong, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The offset.
    pub at: usize,
    /// What is wrong there.
    pub fault: Fault,
}

pub(crate) type Scan<T> = Result<T, Refused>;

#[cold]
pub(crate) fn unexpected<T>(at: usize) -> Scan<T> {
    Err(Refused { at, fault: Fault::Unexpected })
}
