//! What proves a commit of the canonical history: tagged SHA-256 over canonical bytes.
//! The twin is `_pure/history.py`, which says what is covered, and why.

use sha2::{Digest, Sha256};

const COMMIT: &[u8] = b"toolcarry commit 1\n";
const SEAL: &[u8] = b"toolcarry seal 1\n";

/// Bytes of a seal.
pub const SEAL_SIZE: usize = 16;

/// The hash of a commit with this parent (empty: none), role, hash of its content, and canonical metadata.
#[must_use]
pub fn commit_hash(parent: &[u8], role: &str, content: &[u8], metadata: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new_with_prefix(COMMIT);
    for part in [parent, role.as_bytes(), content, metadata] {
        hasher.update(length(part));
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// What every seal of a conversation begins with.
#[derive(Clone, Debug)]
pub struct Sealer(Sha256);

/// The columns that the hash of a commit leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// From 1 on.
    pub sequence: u64,
    /// What the commit is.
    pub kind: u64,
    /// Of its content.
    pub token_count: u64,
    /// Microseconds since 1970.
    pub created_at: i64,
}

impl Sealer {
    /// For a conversation of a tenant.
    #[must_use]
    pub fn new(tenant: &str, conversation: &str) -> Self {
        let mut hasher = Sha256::new_with_prefix(SEAL);
        for name in [tenant, conversation] {
            hasher.update(length(name.as_bytes()));
            hasher.update(name);
        }
        Self(hasher)
    }

    /// The seal of a commit in its place.
    #[must_use]
    pub fn seal(&self, place: Place, commit: &[u8]) -> [u8; SEAL_SIZE] {
        let mut hasher = self.0.clone();
        for number in [place.sequence, place.kind, place.token_count] {
            hasher.update(number.to_be_bytes());
        }
        hasher.update(place.created_at.to_be_bytes());
        hasher.update(commit);
        let whole: [u8; 32] = hasher.finalize().into();
        let mut seal = [0; SEAL_SIZE];
        seal.iter_mut().zip(whole).for_each(|(own, byte)| *own = byte);
        seal
    }
}

fn length(part: &[u8]) -> [u8; 8] {
    (part.len() as u64).to_be_bytes()
}
