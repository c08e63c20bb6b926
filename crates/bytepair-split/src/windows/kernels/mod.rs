//! The loops that go over every byte: from bytes to letters, from letters to the places where a group of products holds,
//! and from bits for symbols to bits for bytes.
//!
//! They use vectors ([`loops`]), whose operations are those of [`x86`], [`neon`] or [`simd128`]. Tests have the loops in
//! plain Rust, and compare the kernels with them on random letters, tables and cuts. Other processors have no windows:
//! byte by byte, windows are slower than the automaton.
//!
//! Tests and benchmarks may limit which instructions are used ([`limit_instructions`]).

mod loops;
mod moves;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod simd128;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86;

use std::sync::OnceLock;

use super::tables::{AsciiLetters, Characters, Cuts, Group, Wide, Words};

/// A set of instructions, with the loops compiled for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    name: &'static str,
    run: fn(Loop<'_>),
}

/// One of the loops, with what it reads and writes.
pub(super) enum Loop<'a> {
    /// Writes the letter of each ASCII character, and one other letter for any other byte. Bytes that start a character
    /// of several bytes, or no character at all, are marked in `leads`. There is room for letters of whole words; those
    /// after the text are arbitrary.
    Letters { text: &'a [u8], ascii: &'a AsciiLetters, letters: &'a mut [u8], leads: &'a mut [u64] },
    /// Writes the letters of characters of several bytes at their first bytes, as far as `wide` knows them. Removes
    /// these characters from `leads`, and adds their other bytes to `inner`, which has one word more.
    Wide { text: &'a [u8], wide: &'a Wide, letters: &'a mut [u8], characters: Characters<'a> },
    /// Removes the letters of inner bytes from `n_letters` letters, and stores there how many are left.
    Pack { letters: &'a mut [u8], inner: &'a [u64], n_letters: &'a mut usize },
    /// From bits for symbols to bits for bytes, none of them at inner bytes. `words` is no longer than `inner`.
    Spread { words: &'a mut [u64], inner: &'a [u64] },
    /// From bits for bytes to bits for symbols. Bits of inner bytes are dropped.
    Gather { words: &'a mut [u64], inner: &'a [u64] },
    /// Adds the places where the group holds, in the words of these numbers. Bit `i` of all words is for the window that
    /// starts at `letters[i]`. All letters have numbers, and there are enough letters for the windows of each word. Cuts
    /// have as many words.
    Group { letters: &'a [u8], group: &'a Group, cuts: Option<&'a Cuts>, words: Words<'a> },
}

/// The kernel that this process uses, if any; chosen once.
static CHOSEN: OnceLock<Option<Kernel>> = OnceLock::new();

/// The name for a process without vectors.
const PORTABLE: &str = "portable";

/// Limits the instructions that this process uses to those of one name, for tests and benchmarks: `portable`, or a name
/// that [`instructions`] gives on a processor without better ones. Returns whether the process uses them now. It does
/// not if the processor lacks them, or if other instructions were chosen before.
#[doc(hidden)]
pub fn limit_instructions(name: &str) -> bool {
    let known = Kernel::known().into_iter().find(|known| known.0 == name);
    known.is_some_and(|(_, kernel)| {
        CHOSEN.get_or_init(|| kernel);
        instructions() == name
    })
}

/// The name of the instructions that this process uses.
#[doc(hidden)]
pub fn instructions() -> &'static str {
    Kernel::fast().map_or(PORTABLE, |kernel| kernel.name)
}

impl Kernel {
    /// The fastest kernel that this processor has and that may be used.
    pub(crate) fn fast() -> Option<Self> {
        *CHOSEN.get_or_init(|| Self::known().pop()?.1)
    }

    /// No kernel, and the kernels that this processor has, the fastest last; each with its name.
    pub(crate) fn known() -> Vec<(&'static str, Option<Self>)> {
        let kernels: &[Option<Self>] = &[
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            x86::Ssse3::kernel(),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            x86::Avx2::kernel(),
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            x86::Avx512::kernel(),
            #[cfg(target_arch = "aarch64")]
            neon::Neon::kernel(),
            #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
            simd128::Simd128::kernel(),
        ];
        let known = kernels.iter().flatten().map(|&kernel| (kernel.name, Some(kernel)));
        [(PORTABLE, None)].into_iter().chain(known).collect()
    }

    #[inline]
    pub(super) fn run(self, task: Loop<'_>) {
        (self.run)(task);
    }
}
