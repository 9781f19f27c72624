//! Token counts of earlier texts: an agent sends the whole conversation with every request.
//!
//! A string is identified by a hash of 128 bits of its content, with a random key for each process, so that nobody can
//! construct a string that is mistaken for another. The least recently used counts are evicted first.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use twox_hash::XxHash3_128;
use zerocopy::IntoBytes;

use super::encoding::Encoding;
use super::split::Grammar;
use crate::content::Content;
use crate::json::value::{Spelling, Value};
use crate::text::Text;

/// The number of bytes of a count with its entry in the map.
const ENTRY_BYTES: usize = 128;
/// The number of bytes of a key that the hash uses.
const SECRET: usize = 192;
/// Shorter texts are counted each time, which is as fast.
const SHORTEST: usize = 32;

/// Counts by content, within a number of bytes; 0 keeps none. Threads may share it.
pub struct Memo {
    secret: [u8; SECRET],
    counts: Mutex<Counts>,
}

/// The hash of a string, the width of its units, and the grammar that splits it.
type Name = (u128, u8, Grammar);

struct Counts {
    most: usize,
    by_name: LruCache<Name, usize>,
}

impl fmt::Debug for Memo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Memo").finish_non_exhaustive()
    }
}

impl Memo {
    /// Create a memo of this size in bytes, with a random key.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let mut secret = [0; SECRET];
        for (number, bytes) in secret.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&RandomState::new().hash_one(number).to_ne_bytes());
        }
        let counts = Counts { most: size / ENTRY_BYTES, by_name: LruCache::unbounded() };
        Self { secret, counts: Mutex::new(counts) }
    }

    /// Change the size in bytes.
    pub fn resize(&self, size: usize) {
        let mut counts = self.lock();
        counts.most = size / ENTRY_BYTES;
        while counts.by_name.len() > counts.most {
            counts.by_name.pop_lru();
        }
        if counts.most == 0 {
            counts.by_name = LruCache::unbounded(); // frees its memory
        }
    }

    /// Return the number of tokens of a string.
    pub fn count<'a, V: Value<'a>>(&self, text: &Content<'a, V>, encoding: &Encoding) -> usize {
        let count = || encoding.count_tokens(text.brief().text());
        if text.len() < SHORTEST || self.lock().most == 0 {
            return count();
        }
        let Some(name) = self.name(text.spelling(), encoding) else { return count() };
        if let Some(known) = self.lock().by_name.get(&name) {
            return *known;
        }
        let found = count();
        let mut counts = self.lock();
        counts.by_name.put(name, found);
        if counts.by_name.len() > counts.most {
            counts.by_name.pop_lru();
        }
        found
    }

    /// Return the identity of a string; `None` if it can't be hashed because the secret is too short.
    fn name(&self, spelling: Spelling<'_>, encoding: &Encoding) -> Option<Name> {
        let (bytes, kind) = match spelling {
            Spelling::Text(Text::Latin1(units)) => (units, 1),
            Spelling::Text(Text::Ucs2(units)) => (units.as_bytes(), 2),
            Spelling::Text(Text::Ucs4(units)) => (units.as_bytes(), 4),
            Spelling::Json(written) => (written, 0),
        };
        let hash = XxHash3_128::oneshot_with_secret(&self.secret, bytes).ok()?;
        Some((hash, kind, encoding.grammar))
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
