//! Lines of session files: three records, and a request.

pub(crate) const A: &str = r#"{"n": "a"}"#;
pub(crate) const B: &str = r#"{"n": "b"}"#;
pub(crate) const C: &str = r#"{"n": "c"}"#;
pub(crate) const REQUEST: &str = r#"{"messages": [{"n": "x"}, {"n": "y"}], "model": "m"}"#;
