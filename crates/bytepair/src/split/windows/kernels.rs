//! The two loops that go over every byte: from bytes to letters, and from letters to where a group holds.
//!
//! Each exists twice: in plain Rust, which is the definition, and with AVX-512 (VBMI), where one instruction
//! looks up 64 bytes in a table of 64 or 128. Which of them runs is found out when the program runs.
//! Cost with AVX-512: about half a dozen instructions for 64 bytes, and two for each step of a group.

use super::program::{Group, MAX_NUMBERS, Step};

/// The bytes of a word of bits.
pub(super) const WORD: usize = 64;

/// How the loops are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Kernel {
    /// By the definition; for tests.
    #[cfg_attr(not(test), allow(dead_code, reason = "slower than the automaton"))]
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The fastest that this processor has, if one is faster than going on byte by byte.
    pub(in super::super) fn fast() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512bw") {
            return Some(Self::Avx512);
        }
        None
    }

    /// Shorter texts are not worth the preparation.
    pub(in super::super) fn min_len(self) -> usize {
        match self {
            Self::Plain => 1,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 256,
        }
    }

    /// Writes the letter of each ASCII character, `other` for any other byte; for each byte, whether it is
    /// one that starts characters of several bytes (or no character at all) goes to the bits of `leads`.
    pub(super) fn letters(
        self,
        text: &[u8],
        (ascii, other): (&[u8; 128], u8),
        letters: &mut [u8],
        leads: &mut [u64],
    ) {
        match self {
            Self::Plain => plain_letters(text, (ascii, other), letters, leads),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::letters(text, (ascii, other), letters, leads),
        }
    }

    /// Adds the places where the group holds: bit `i` of the words is for the window from `letters[i]` on.
    /// All letters are below [`MAX_NUMBERS`].
    pub(super) fn group(self, letters: &[u8], group: &Group, words: &mut [u64]) {
        match self {
            Self::Plain => plain_group(letters, &group.steps, words),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::group(letters, &group.steps, words),
        }
    }
}

fn plain_letters(
    text: &[u8],
    (ascii, other): (&[u8; 128], u8),
    letters: &mut [u8],
    leads: &mut [u64],
) {
    let words = text.chunks(WORD).zip(letters.chunks_mut(WORD));
    for ((bytes, letters), leads) in words.zip(leads) {
        *leads = 0;
        for (index, (&byte, letter)) in bytes.iter().zip(letters).enumerate() {
            *letter = ascii.get(usize::from(byte)).copied().unwrap_or(other);
            *leads |= u64::from(byte >= 0xC0) << index;
        }
    }
}

fn plain_group(letters: &[u8], steps: &[Step], words: &mut [u64]) {
    for (index, word) in words.iter_mut().enumerate() {
        for bit in 0..WORD {
            let looked_up = steps.iter().map(|step| {
                let letter = letters[index * WORD + bit + step.distance];
                step.table[usize::from(letter) % MAX_NUMBERS]
            });
            *word |= u64::from(looked_up.fold(u8::MAX, |all, byte| all & byte) != 0) << bit;
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions; splitting is several times as fast with them")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm512_and_si512, _mm512_loadu_si512, _mm512_mask_blend_epi8,
        _mm512_movepi8_mask, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
        _mm512_storeu_si512, _mm512_test_epi8_mask, _mm512_cmpge_epu8_mask,
    };

    use super::{Step, WORD};

    pub(super) fn letters(
        text: &[u8],
        tables: (&[u8; 128], u8),
        letters: &mut [u8],
        leads: &mut [u64],
    ) {
        // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
        unsafe { all_letters(text, tables, letters, leads) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn all_letters(
        text: &[u8],
        (ascii, other): (&[u8; 128], u8),
        letters: &mut [u8],
        leads: &mut [u64],
    ) {
        let (low, high) = ascii.split_at(WORD);
        let (Some(low), Some(high)) = (low.first_chunk(), high.first_chunk()) else { return };
        let (low, high, other) = (load(low), load(high), _mm512_set1_epi8(other.cast_signed()));
        let words = text.chunks(WORD).zip(letters.chunks_mut(WORD));
        for ((bytes, letters), leads) in words.zip(leads) {
            let mut padded = [0; WORD];
            let bytes = bytes.first_chunk().unwrap_or_else(|| {
                padded[..bytes.len()].copy_from_slice(bytes);
                &padded
            });
            let bytes = load(bytes);
            let known = _mm512_permutex2var_epi8(low, bytes, high);
            let found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), known, other);
            *leads = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(0xC0_u8.cast_signed()));
            if let Some(letters) = letters.first_chunk_mut() {
                store(letters, found);
            } else {
                let mut whole = [0; WORD];
                store(&mut whole, found);
                letters.copy_from_slice(&whole[..letters.len()]);
            }
        }
    }

    pub(super) fn group(letters: &[u8], steps: &[Step], words: &mut [u64]) {
        // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
        unsafe {
            match steps {
                [a] => steps_in_a_row(letters, [a], words),
                [a, b] => steps_in_a_row(letters, [a, b], words),
                [a, b, c] => steps_in_a_row(letters, [a, b, c], words),
                [a, b, c, d] => steps_in_a_row(letters, [a, b, c, d], words),
                [a, b, c, d, e] => steps_in_a_row(letters, [a, b, c, d, e], words),
                [a, b, c, d, e, f, ..] => steps_in_a_row(letters, [a, b, c, d, e, f], words),
                [] => {}
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn steps_in_a_row<const N: usize>(letters: &[u8], steps: [&Step; N], words: &mut [u64]) {
        let mut tables = [_mm512_set1_epi8(0); N];
        let mut distances = [0; N];
        for index in 0..N {
            tables[index] = load(&steps[index].table);
            distances[index] = steps[index].distance;
        }
        let last = distances.iter().max().unwrap_or(&0);
        let n_words = words.len().min((letters.len() - last) / WORD);
        debug_assert!(n_words == words.len(), "there are letters for all words");
        let letters = letters.as_ptr();
        for (index, word) in words[..n_words].iter_mut().enumerate() {
            let mut all = _mm512_set1_epi8(-1);
            for step in 0..N {
                // SAFETY: `n_words` is such that all words end within the letters at every distance.
                let place = unsafe { letters.add(index * WORD + distances[step]) };
                // SAFETY: as before; the address needs no alignment.
                let shown = unsafe { _mm512_loadu_si512(place.cast()) };
                all = _mm512_and_si512(all, _mm512_permutexvar_epi8(shown, tables[step]));
            }
            *word |= _mm512_test_epi8_mask(all, all);
        }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(bytes: &[u8; WORD]) -> __m512i {
        // SAFETY: the array has the 64 bytes that are read, which need no alignment.
        unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn store(bytes: &mut [u8; WORD], vector: __m512i) {
        // SAFETY: the array has the 64 bytes that are written, which need no alignment.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), vector) }
    }
}
