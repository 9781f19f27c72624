//! Counts of texts that were counted before: an agent sends the whole conversation with every request.
//!
//! A text is known by a hash of 128 bits of how it is spelled. Its key is made anew in every process, so that nobody can
//! look for a text that is taken for another. The counts that were not asked for the longest are forgotten first.

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

/// What a count takes with all that is kept of it.
const ENTRY_BYTES: usize = 128;
/// What the hash takes of a key.
const SECRET: usize = 192;
/// Shorter texts are counted anew: that is as fast.
const SHORTEST: usize = 32;

/// Counts by content, in a number of bytes; 0 keeps none. Threads may share it.
pub struct Memo {
    secret: [u8; SECRET],
    counts: Mutex<Counts>,
}

/// The hash of a text, how it is spelled, and what splits it.
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
    /// A memo of so many bytes, with a key that nobody knows.
    #[must_use]
    pub fn new(size: usize) -> Self {
        let mut secret = [0; SECRET];
        for (number, bytes) in secret.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&RandomState::new().hash_one(number).to_ne_bytes());
        }
        let counts = Counts { most: size / ENTRY_BYTES, by_name: LruCache::unbounded() };
        Self { secret, counts: Mutex::new(counts) }
    }

    /// Keep no more than so many bytes.
    pub fn resize(&self, size: usize) {
        let mut counts = self.lock();
        counts.most = size / ENTRY_BYTES;
        while counts.by_name.len() > counts.most {
            counts.by_name.pop_lru();
        }
        if counts.most == 0 {
            counts.by_name = LruCache::unbounded(); // its room is given back
        }
    }

    /// The number of tokens a text has.
    pub fn count<'a, V: Value<'a>>(&self, text: &Content<'a, V>, encoding: &Encoding) -> usize {
        let count = || encoding.count_tokens(text.whole().text());
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

    /// What a text is known by; nothing if its hash can't be made, for which the secret would have to be too short.
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
