//! The excerpts of results that were shortened before in this process, for requests without decisions.
//!
//! A result is identified by a hash of 128 bits with a random key for each process, as in the memo of token counts. An
//! excerpt holds places in the text and not the text itself. The least recently used ones are evicted first.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use twox_hash::XxHash3_128;

/// The most bytes of all excerpts with their entries: enough for the results of a hundred conversations.
const MOST_BYTES: usize = 4 << 20;
/// The number of bytes of an entry in the map.
const ENTRY_BYTES: usize = 128;
/// The number of bytes of a key that the hash uses.
const SECRET: usize = 192;

static MEMO: LazyLock<ExcerptMemo> = LazyLock::new(ExcerptMemo::default);

/// A text and the settings that it was shortened by.
pub(crate) type Name = (u128, u64);

/// The room in characters that a text had, the size of its excerpt, and the excerpt; `None` if the text can only be cut.
pub(crate) type Shown = Option<(usize, usize, Arc<[u8]>)>;

struct ExcerptMemo {
    secret: [u8; SECRET],
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    by_name: LruCache<Name, Shown>,
    bytes: usize,
}

impl Default for ExcerptMemo {
    fn default() -> Self {
        let mut secret = [0; SECRET];
        for (number, bytes) in secret.chunks_exact_mut(8).enumerate() {
            bytes.copy_from_slice(&RandomState::new().hash_one(number).to_ne_bytes());
        }
        Self { secret, held: Mutex::new(Held { by_name: LruCache::unbounded(), bytes: 0 }) }
    }
}

/// Return the name of a text, in bytes of this kind, with a sign of the settings; `None` if it can't be hashed because the
/// secret is too short.
pub(crate) fn name_of((text, kind): (&[u8], u64), settings: u64) -> Option<Name> {
    let hash = XxHash3_128::oneshot_with_secret(&MEMO.secret, text).ok()?;
    Some((hash, settings ^ kind))
}

/// Return what is known of a text.
pub(crate) fn find(name: Name) -> Option<Shown> {
    locked().by_name.get(&name).cloned()
}

/// Note what a text became.
pub(crate) fn keep(name: Name, shown: Shown) {
    let mut held = locked();
    held.bytes += size_of(&shown);
    if let Some(before) = held.by_name.put(name, shown) {
        held.bytes -= size_of(&before);
    }
    while held.bytes > MOST_BYTES {
        let Some((_, oldest)) = held.by_name.pop_lru() else { return };
        held.bytes -= size_of(&oldest);
    }
}

fn size_of(shown: &Shown) -> usize {
    ENTRY_BYTES + shown.as_ref().map_or(0, |(_, _, excerpt)| excerpt.len())
}

fn locked() -> MutexGuard<'static, Held> {
    MEMO.held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MOST_BYTES, find, keep};

    #[test]
    fn the_oldest_excerpts_go_first() {
        let excerpt: Arc<[u8]> = vec![0; 1 << 20].into();
        for number in 0..6 {
            keep((number, 0), Some((1, 1, Arc::clone(&excerpt))));
        }
        let known: Vec<u128> = (0..6).filter(|number| find((*number, 0)).is_some()).collect();
        assert_eq!(known, [3, 4, 5]);
        assert!(known.len() * excerpt.len() < MOST_BYTES);
    }
}
