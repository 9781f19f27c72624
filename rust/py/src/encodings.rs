//! The encodings, with the vocabularies in the package's data, and the memo of counts.

use std::path::PathBuf;
use std::sync::{LazyLock, OnceLock};

use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use toolcarry::tokens::{Encoding, EncodingName, Memo};

/// The size of the memo: enough for the texts of several hundred conversations.
const MEMO_BYTES: usize = 16 << 20;

pub(crate) static MEMO: LazyLock<Memo> = LazyLock::new(|| Memo::new(MEMO_BYTES));
static O200K_BASE: OnceLock<Encoding> = OnceLock::new();
static CL100K_BASE: OnceLock<Encoding> = OnceLock::new();

/// Return the encoding with this name; its vocabulary is read only once.
pub(crate) fn load(py: Python<'_>, name: &str) -> PyResult<&'static Encoding> {
    let bad = |reason: String| PyValueError::new_err(format!("{name}: {reason}"));
    let (known, slot) = match EncodingName::parse(name) {
        Some(known @ EncodingName::O200kBase) => (known, &O200K_BASE),
        Some(known @ EncodingName::Cl100kBase) => (known, &CL100K_BASE),
        None => return Err(bad("no known encoding".to_owned())),
    };
    if let Some(encoding) = slot.get() {
        return Ok(encoding);
    }
    let folder: PathBuf = py.import(intern!(py, "toolcarry._data"))?.getattr(intern!(py, "VOCABULARIES"))?.extract()?;
    let packed = std::fs::read(folder.join(format!("{name}.bpe")))?;
    let encoding = Encoding::parse(known, &packed).map_err(|error| bad(error.to_string()))?;
    Ok(slot.get_or_init(|| encoding))
}
