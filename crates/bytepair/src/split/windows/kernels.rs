//! The two loops that go over every byte: from bytes to letters, and from letters to where a group holds.
//!
//! Each exists twice: in plain Rust, which is the definition, and with AVX-512 (VBMI), where one instruction
//! looks up 64 bytes in a table of 64 or 128. Which of them runs is found out when the program runs.
//! Cost with AVX-512: about half a dozen instructions for 64 bytes, and two for each step of a group.

use super::contexts::N_SHOWN;
use super::program::{Group, MAX_NUMBERS, Step};

/// The bytes of a word of bits.
pub(super) const WORD: usize = 64;

/// Edges inside of a text: at each distance of a window, the places from which an edge lies before what stands
/// there, and the letter to be shown instead. Nothing is cut at the place itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    pub(super) places: [Vec<u64>; N_SHOWN],
    pub(super) edge: u8,
}

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
    /// All letters are below [`MAX_NUMBERS`]. Cuts have as many words.
    pub(super) fn group(
        self,
        letters: &[u8],
        group: &Group,
        cuts: Option<&Cuts>,
        words: &mut [u64],
    ) {
        match self {
            Self::Plain => plain_group(letters, &group.steps, cuts, words),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => avx512::group(letters, &group.steps, cuts, words),
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

fn plain_group(letters: &[u8], steps: &[Step], cuts: Option<&Cuts>, words: &mut [u64]) {
    for (index, word) in words.iter_mut().enumerate() {
        for bit in 0..WORD {
            let looked_up = steps.iter().map(|step| {
                let edge = cuts
                    .filter(|cuts| cuts.places[step.distance][index] >> bit & 1 == 1)
                    .map(|cuts| cuts.edge);
                let letter = edge.unwrap_or(letters[index * WORD + bit + step.distance]);
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
        __m512i, _mm512_and_si512, _mm512_cmpge_epu8_mask, _mm512_loadu_si512,
        _mm512_mask_blend_epi8, _mm512_movepi8_mask, _mm512_permutex2var_epi8,
        _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_storeu_si512, _mm512_test_epi8_mask,
    };

    use super::{Cuts, Step, WORD};

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

    pub(super) fn group(letters: &[u8], steps: &[Step], cuts: Option<&Cuts>, words: &mut [u64]) {
        match steps.len() {
            0 => {}
            1 => any_cuts::<1>(letters, steps, cuts, words),
            2 => any_cuts::<2>(letters, steps, cuts, words),
            3 => any_cuts::<3>(letters, steps, cuts, words),
            4 => any_cuts::<4>(letters, steps, cuts, words),
            5 => any_cuts::<5>(letters, steps, cuts, words),
            _ => any_cuts::<6>(letters, steps, cuts, words),
        }
    }

    fn any_cuts<const N: usize>(
        letters: &[u8],
        steps: &[Step],
        cuts: Option<&Cuts>,
        words: &mut [u64],
    ) {
        let Some(steps) = steps.first_chunk() else { return };
        if let Some(cuts) = cuts {
            // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
            unsafe { steps_in_a_row::<N, true>(letters, steps, cuts, words) }
        } else {
            // SAFETY: as before.
            unsafe { steps_in_a_row::<N, false>(letters, steps, &Cuts::default(), words) }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn steps_in_a_row<const N: usize, const HAS_CUTS: bool>(
        letters: &[u8],
        steps: &[Step; N],
        cuts: &Cuts,
        words: &mut [u64],
    ) {
        let edge = _mm512_set1_epi8(cuts.edge.cast_signed());
        let mut tables = [_mm512_set1_epi8(0); N];
        let mut distances = [0; N];
        let mut cut_words: [&[u64]; N] = [&[]; N];
        for index in 0..N {
            tables[index] = load(&steps[index].table);
            distances[index] = steps[index].distance;
            cut_words[index] = &cuts.places[steps[index].distance];
        }
        let last = distances.iter().max().unwrap_or(&0);
        let n_words = words.len().min((letters.len() - last) / WORD);
        debug_assert!(n_words == words.len(), "there are letters for all words");
        for (index, word) in words[..n_words].iter_mut().enumerate() {
            let mut all = _mm512_set1_epi8(-1);
            for step in 0..N {
                // SAFETY: `n_words` is such that all words end within the letters at every distance.
                let mut shown = unsafe { load_at(letters, index * WORD + distances[step]) };
                let cut = cut_at::<HAS_CUTS>(cut_words[step], index);
                shown = _mm512_mask_blend_epi8(cut, shown, edge);
                all = _mm512_and_si512(all, _mm512_permutexvar_epi8(shown, tables[step]));
            }
            *word |= _mm512_test_epi8_mask(all, all);
        }
    }

    #[inline]
    fn cut_at<const HAS_CUTS: bool>(words: &[u64], index: usize) -> u64 {
        if HAS_CUTS { words[index] } else { 0 }
    }

    /// # Safety
    ///
    /// There are 64 letters from the place on.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load_at(letters: &[u8], place: usize) -> __m512i {
        // SAFETY: the caller has it that the place is within the letters.
        let place = unsafe { letters.as_ptr().add(place) };
        // SAFETY: the caller has it that the 64 bytes are; they need no alignment.
        unsafe { _mm512_loadu_si512(place.cast()) }
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
