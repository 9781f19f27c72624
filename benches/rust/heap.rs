//! A counter of the memory that a process allocates: preloaded, it wraps the C library's allocator.
//! `benches/compare/memory.py` builds this with `rustc`.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::AtomicIsize;
use std::sync::atomic::Ordering::Relaxed;

type Place = *mut c_void;

static HELD: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);
/// The bytes that were allocated when the count began.
static STARTED: AtomicIsize = AtomicIsize::new(0);

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> Place;
    fn __libc_calloc(count: usize, size: usize) -> Place;
    fn __libc_realloc(place: Place, size: usize) -> Place;
    fn __libc_memalign(alignment: usize, size: usize) -> Place;
    fn __libc_free(place: Place);
    fn malloc_usable_size(place: Place) -> usize;
}

/// The usable size of an allocation.
fn size_of(place: Place) -> isize {
    // SAFETY: the pointer comes from the library, or is null.
    unsafe { malloc_usable_size(place) as isize }
}

fn took(place: Place) -> Place {
    let size = size_of(place);
    MOST.fetch_max(HELD.fetch_add(size, Relaxed) + size, Relaxed);
    place
}

#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> Place {
    // SAFETY: the arguments are the caller's, who keeps the contract.
    took(unsafe { __libc_malloc(size) })
}

#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> Place {
    // SAFETY: the arguments are the caller's, who keeps the contract.
    took(unsafe { __libc_calloc(count, size) })
}

#[unsafe(no_mangle)]
pub extern "C" fn memalign(alignment: usize, size: usize) -> Place {
    // SAFETY: the arguments are the caller's, who keeps the contract.
    took(unsafe { __libc_memalign(alignment, size) })
}

#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(alignment: usize, size: usize) -> Place {
    memalign(alignment, size)
}

/// # Safety
/// As for the library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(found: *mut Place, alignment: usize, size: usize) -> c_int {
    let place = memalign(alignment, size);
    if place == null_mut() {
        return 12; // ENOMEM
    }
    // SAFETY: the caller passes a pointer that the result can be written to.
    unsafe { *found = place };
    0
}

/// # Safety
/// As for the library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(place: Place, size: usize) -> Place {
    let before = size_of(place);
    // SAFETY: the arguments are the caller's, who keeps the contract.
    let moved = unsafe { __libc_realloc(place, size) };
    if moved == place {
        HELD.fetch_sub(before, Relaxed); // it was resized in place
        return took(moved);
    }
    took(moved); // for a moment both existed
    if moved != null_mut() || size == 0 {
        HELD.fetch_sub(before, Relaxed);
    }
    moved
}

/// # Safety
/// As for the library's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(place: Place) {
    HELD.fetch_sub(size_of(place), Relaxed);
    // SAFETY: the arguments are the caller's, who keeps the contract.
    unsafe { __libc_free(place) }
}

/// Start the count.
#[unsafe(no_mangle)]
pub extern "C" fn heap_start() {
    MOST.store(HELD.load(Relaxed), Relaxed);
    STARTED.store(HELD.load(Relaxed), Relaxed);
}

/// Return the maximum number of bytes allocated since the start of the count, above those allocated then.
#[unsafe(no_mangle)]
pub extern "C" fn heap_most() -> isize {
    MOST.load(Relaxed) - STARTED.load(Relaxed)
}
