//! The core for a web page: requests in JSON, each followed by bytes, and answers of the same form.
//!
//! A WebAssembly module can only be passed numbers. So the page allocates memory ([`bytepair_allocate`]), writes a request
//! there, calls [`bytepair_call`], reads the answer and releases both ([`bytepair_release`]). A message is
//!
//! ```text
//! length of all that follows, u32   only in answers
//! length of the JSON, u32
//! the JSON                          a request names its `op`; an answer has a `result` or an `error`
//! bytes                             a text, files, or ids, as the operation says
//! ```
//!
//! Numbers are little-endian, and places are offsets in bytes of the text as UTF-8. [`answer`] does the same without
//! pointers, for tests on any machine. Tokenizers stay here between calls and have numbers. Left out: threads, files and
//! clocks, which this target does not have, and everything that only draws. Each operation says what it costs.

mod encode;
mod files;
mod message;
mod names;
mod session;
mod train;

use std::cell::RefCell;

use session::Session;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
}

/// Answers a request. Both are messages; the answer lacks its total length.
///
/// ```
/// let request = [&15_u32.to_le_bytes()[..], br#"{"op": "names"}"#].concat();
/// let answer = bytepair_wasm::answer(&request);
/// assert!(answer.windows(9).any(|bytes| bytes == b"byte-stre"));
/// ```
pub fn answer(request: &[u8]) -> Vec<u8> {
    SESSION.with_borrow_mut(|session| session.answer_message(request))
}

/// Allocates memory for a request of `n_bytes` bytes and returns a pointer to it.
// SAFETY: no other function has this name.
#[cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "a name that JavaScript finds"),
    unsafe(no_mangle)
)]
pub extern "C" fn bytepair_allocate(n_bytes: usize) -> *mut u8 {
    let memory = vec![0_u8; n_bytes].into_boxed_slice();
    Box::into_raw(memory).cast()
}

/// Releases memory that [`bytepair_allocate`] or [`bytepair_call`] returned.
///
/// # Safety
/// `start` must come from one of the two and must not have been released before. `n_bytes` must be the size that was
/// asked for, or the whole length of the answer with the four bytes that give it.
#[expect(unsafe_code, reason = "memory that JavaScript held")]
// SAFETY: no other function has this name.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn bytepair_release(start: *mut u8, n_bytes: usize) {
    let memory = std::ptr::slice_from_raw_parts_mut(start, n_bytes);
    // SAFETY: by the contract, this is a box of `n_bytes` bytes that was turned into a pointer.
    drop(unsafe { Box::from_raw(memory) });
}

/// Answers the request at `start`; returns a pointer to the answer, which begins with the length of what follows.
///
/// # Safety
/// `start` must come from [`bytepair_allocate`] for `n_bytes`, and must not have been released.
#[expect(unsafe_code, reason = "memory that JavaScript wrote")]
// SAFETY: no other function has this name.
#[cfg_attr(target_arch = "wasm32", unsafe(no_mangle))]
pub unsafe extern "C" fn bytepair_call(start: *const u8, n_bytes: usize) -> *mut u8 {
    // SAFETY: by the contract, `n_bytes` bytes lie there, and nothing writes to them during the call.
    let request = unsafe { std::slice::from_raw_parts(start, n_bytes) };
    let answer = answer(request);
    let len = u32::try_from(answer.len()).unwrap_or(u32::MAX).to_le_bytes();
    let whole = [&len[..], &answer].concat().into_boxed_slice();
    Box::into_raw(whole).cast()
}
