//! The golden vectors of `tests/vectors`, for WebAssembly: a module without files, clocks and threads.
//!
//! `make wasm` builds it, and `check.mjs` calls its functions. A function returns if its vectors hold, and stops with a
//! trap if one does not.
#![expect(clippy::unwrap_used, reason = "a vector that does not hold is a panic")]

#[path = "../../tests/vectors.rs"]
mod vectors;

/// Splits, trains and encodes, and compares the results with those of the readable reference.
// SAFETY: no other function has this name.
#[cfg_attr(
    target_arch = "wasm32",
    expect(unsafe_code, reason = "a name that JavaScript finds"),
    unsafe(no_mangle)
)]
pub extern "C" fn bytepair_vectors_hold() {
    vectors::split_vectors_hold();
    vectors::train_vectors_hold();
    vectors::encode_vectors_hold();
}
