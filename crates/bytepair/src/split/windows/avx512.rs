//! The loops of [`super::kernels`] with AVX-512 (VBMI): one instruction looks up 64 bytes in a table of 64 or
//! 128.
//!
//! Characters of two and three bytes are looked up without being put together. Of each byte of a word it is
//! found where the first byte of its character is: here, one byte before or two. Then all characters of one
//! page, or with the same first byte, are looked up at once, page by page: few are met in 64 bytes of text.
//!
//! Cost: about half a dozen instructions for 64 bytes, two for each step of a group, and for 64 bytes that are
//! not ASCII about forty and a dozen for each page.
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_cmpge_epu8_mask,
    _mm512_cmpneq_epi8_mask, _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_maskz_mov_epi8,
    _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8,
    _mm512_set1_epi8, _mm512_slli_epi16, _mm512_storeu_si512, _mm512_test_epi8_mask,
};

use super::kernels::{Cuts, NO_CUTS, WORD};
use super::program::Step;
use super::wide::{Page, UNKNOWN, Wide};

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

pub(super) fn wide(text: &[u8], wide: &Wide, letters: &mut [u8], leads: &mut [u64]) {
    let mut before = 0_u64;
    for (index, leads) in leads.iter_mut().enumerate() {
        let place = index * WORD;
        // The last characters of the word before may end in this one.
        let is_ascii = *leads | before >> (WORD - 2) == 0;
        before = *leads;
        if is_ascii {
            continue;
        }
        let mut padded = [0; AROUND];
        let whole = place.checked_sub(2).and_then(|first| text[first..].first_chunk());
        let around = whole.unwrap_or_else(|| {
            let first = place.saturating_sub(2);
            let part = &text[first..text.len().min(place + WORD + 2)];
            padded[first + 2 - place..][..part.len()].copy_from_slice(part);
            &padded
        });
        let Some(letters) = letters.get_mut(place..).and_then(|rest| rest.first_chunk_mut()) else {
            return;
        };
        // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
        *leads &= !unsafe { wide_word(around, wide, letters) };
    }
}

/// A word with the two bytes before and behind it.
const AROUND: usize = WORD + 4;

/// Returns the first bytes of the characters that were written.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn wide_word(around: &[u8; AROUND], wide: &Wide, letters: &mut [u8; WORD]) -> u64 {
    let bytes = |shift: usize| load_part(around, shift);
    let shifted = [bytes(0), bytes(1), bytes(2), bytes(3), bytes(4)];
    let is = |shift: usize, mask: u8, value: u8| {
        let masked = _mm512_and_si512(shifted[shift], _mm512_set1_epi8(mask.cast_signed()));
        _mm512_cmpeq_epi8_mask(masked, _mm512_set1_epi8(value.cast_signed()))
    };
    let continues = [0, is(1, 0xC0, 0x80), is(2, 0xC0, 0x80), is(3, 0xC0, 0x80), is(4, 0xC0, 0x80)];
    let mut found = load(letters);
    let mut done = 0;

    // Two bytes: the first is here, or one before.
    let short = [is(2, 0xE0, 0xC0) & continues[3], is(1, 0xE0, 0xC0) & continues[2]];
    if short[0] | short[1] != 0 {
        let first = pick(short[0], shifted[2], short[1], shifted[1]);
        let second = pick(short[0], shifted[3], short[1], shifted[2]);
        let mut shown = Shown::new(first, second, (short[0] | short[1], 0x1E));
        shown.look_up_all(&wide.pages);
        found = shown.write(found, (short[0], short[1]));
        done |= short[0] & shown.known();
    }

    // Three bytes: the first is here, one before, or two before.
    let long = [
        is(2, 0xF0, 0xE0) & continues[3] & continues[4],
        is(1, 0xF0, 0xE0) & continues[2] & continues[3],
        is(0, 0xF0, 0xE0) & continues[1] & continues[2],
    ];
    if long[0] | long[1] | long[2] != 0 {
        let first = pick(long[0], shifted[2], long[1], shifted[1]);
        let first = _mm512_mask_blend_epi8(long[2], first, shifted[0]);
        let second = pick(long[0], shifted[3], long[1], shifted[2]);
        let second = _mm512_mask_blend_epi8(long[2], second, shifted[1]);
        let mut shown = Shown::new(first, second, (long[0] | long[1] | long[2], 0x0E));
        // Most Chinese characters are in these three; one after the other would wait for each.
        if shown.is_in_page(0x06) != 0 {
            for number in [0x04, 0x06, 0x08] {
                shown.look_up(number, &wide.blocks[usize::from(number >> 1)]);
            }
        }
        shown.look_up_all(&wide.blocks);
        found = shown.write(found, (long[0], long[1] | long[2]));
        done |= long[0] & shown.known();
    }
    store(letters, found);
    done
}

/// What is known of characters by two of their bytes.
#[derive(Clone, Copy)]
struct Shown {
    /// The bits of the first byte that number a page.
    page: __m512i,
    /// Where in the page: the lowest bit of the first byte and six of the second.
    code: __m512i,
    /// Where the bytes of characters are that were not looked up yet.
    left: u64,
    first: __m512i,
    next: __m512i,
}

impl Shown {
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn new(first: __m512i, second: __m512i, (left, bits): (u64, u8)) -> Self {
        let high = _mm512_and_si512(_mm512_slli_epi16::<6>(first), _mm512_set1_epi8(0x40));
        let low = _mm512_and_si512(second, _mm512_set1_epi8(0x3F));
        let unknown = _mm512_set1_epi8(UNKNOWN.cast_signed());
        Self {
            page: _mm512_and_si512(first, _mm512_set1_epi8(bits.cast_signed())),
            code: _mm512_or_si512(high, low),
            left,
            first: unknown,
            next: unknown,
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn is_in_page(&self, number: u8) -> u64 {
        self.left & _mm512_cmpeq_epi8_mask(self.page, _mm512_set1_epi8(number.cast_signed()))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn look_up(&mut self, number: u8, page: &Page) {
        let here = self.is_in_page(number);
        self.left &= !here;
        let first = look_up_page(self.code, &page.first);
        let next = look_up_page(self.code, &page.next);
        self.first = _mm512_mask_blend_epi8(here, self.first, first);
        self.next = _mm512_mask_blend_epi8(here, self.next, next);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn look_up_all(&mut self, pages: &[Page]) {
        let mut numbers = [0; WORD];
        store(&mut numbers, self.page);
        while self.left != 0 {
            let number = numbers[self.left.trailing_zeros() as usize];
            self.look_up(number, &pages[usize::from(number >> 1)]);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn known(&self) -> u64 {
        _mm512_cmpneq_epi8_mask(self.first, _mm512_set1_epi8(UNKNOWN.cast_signed()))
    }

    /// Writes what is known over letters: of first bytes here, of the next ones there.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn write(&self, letters: __m512i, (here, there): (u64, u64)) -> __m512i {
        let letters = _mm512_mask_blend_epi8(here & self.known(), letters, self.first);
        _mm512_mask_blend_epi8(there & self.known(), letters, self.next)
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn look_up_page(code: __m512i, page: &[u8; 128]) -> __m512i {
    _mm512_permutex2var_epi8(load_half(page, 0), code, load_half(page, 1))
}

/// What is at the places of one mask or the other, which do not overlap; else zero.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn pick(one: u64, from_one: __m512i, other: u64, from_other: __m512i) -> __m512i {
    _mm512_mask_blend_epi8(other, _mm512_maskz_mov_epi8(one, from_one), from_other)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_half(page: &[u8; 128], half: usize) -> __m512i {
    let (low, high) = page.split_at(WORD);
    let half = if half == 0 { low } else { high };
    half.first_chunk().map_or_else(|| _mm512_set1_epi8(0), |half| load(half))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_part(around: &[u8; AROUND], shift: usize) -> __m512i {
    around[shift..].first_chunk().map_or_else(|| _mm512_set1_epi8(0), |part| load(part))
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
        unsafe { steps_in_a_row::<N, false>(letters, steps, &NO_CUTS, words) }
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
