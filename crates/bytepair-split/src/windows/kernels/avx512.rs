//! The loops of [`super`] with AVX-512 (VBMI, VBMI2): one instruction looks up 64 bytes in a table of 64 or 128.
//!
//! Three loops are hot: [`all_letters`] reads ASCII, [`wide_word`] characters of two and three bytes, and [`all_lookups`]
//! finds the places where a group of products holds. Each opens with its idea. The text is a slice, and every vector is
//! loaded from an array of 64 bytes, except in [`all_lookups`], which checks the length of the letters once for all words.
//!
//! Safety: functions with a target feature are called only for `Kernel::Avx512`, which exists only where the processor has
//! all of these features (`Kernel::all`).
//!
//! Cost: about six instructions for 64 bytes of ASCII, two for each lookup of a group, and for 64 other bytes about forty
//! and six for each page.
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::x86_64::{
    __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_and_si512, _mm512_cmpeq_epi8_mask,
    _mm512_cmpge_epu8_mask, _mm512_cmplt_epi8_mask, _mm512_cmpneq_epi8_mask, _mm512_loadu_si512,
    _mm512_mask_blend_epi8, _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_or_si512,
    _mm512_permutex2var_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_slli_epi16,
    _mm512_storeu_si512, _mm512_test_epi8_mask, _pdep_u64, _pext_u64,
};

use super::portable;
use crate::windows::tables::{
    AsciiLetters, Characters, Cuts, Lookup, NO_CUTS, Page, SPAN, UNKNOWN, WORD, Wide, Words,
};

pub(super) fn letters(
    text: &[u8],
    ascii: &AsciiLetters,
    letters: &mut [u8],
    leads: &mut [u64],
) -> bool {
    // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
    unsafe { all_letters(text, ascii, letters, leads) }
}

/// Writes the letter of each ASCII character, and marks the bytes that start longer ones.
///
/// ```text
/// for each 64 bytes:
///     letters = the byte is ASCII ? ascii[byte] : other      one vpermi2b in 128 bytes, one blend
///     leads = byte >= 0xC0
/// ```
///
/// The bytes behind the end of the text are read as zeros, and only as many letters are written as there are bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn all_letters(text: &[u8], ascii: &AsciiLetters, letters: &mut [u8], leads: &mut [u64]) -> bool {
    let (low, high) = (load_half(&ascii.letters, 0), load_half(&ascii.letters, 1));
    let other = _mm512_set1_epi8(ascii.other.cast_signed());
    let mut any = 0;
    let words = text.chunks(WORD).zip(letters.chunks_mut(WORD));
    for ((bytes, letters), leads) in words.zip(leads) {
        let mut padded = [0; WORD];
        let bytes = bytes.first_chunk().unwrap_or_else(|| {
            padded[..bytes.len()].copy_from_slice(bytes);
            &padded
        });
        prefetch(bytes);
        let bytes = load(bytes);
        let known = _mm512_permutex2var_epi8(low, bytes, high);
        let found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), known, other);
        *leads = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(0xC0_u8.cast_signed()));
        any |= *leads;
        if let Some(letters) = letters.first_chunk_mut() {
            store(letters, found);
        } else {
            let mut whole = [0; WORD];
            store(&mut whole, found);
            letters.copy_from_slice(&whole[..letters.len()]);
        }
    }
    any == 0
}

pub(super) fn wide(text: &[u8], wide: &Wide, letters: &mut [u8], characters: &mut Characters<'_>) {
    let Characters { leads, inner } = characters;
    // What the last characters of a word have in the next one.
    let mut carried = 0;
    for (index, (leads, inner)) in leads.iter_mut().zip(&mut **inner).enumerate() {
        *inner = std::mem::take(&mut carried);
        if *leads == 0 {
            continue;
        }
        let place = index * WORD;
        let mut padded = [0; AROUND];
        let around = text[place..].first_chunk().unwrap_or_else(|| {
            let part = &text[place..];
            padded[..part.len()].copy_from_slice(part);
            &padded
        });
        let Some(letters) = letters[place..].first_chunk_mut() else { return };
        // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
        let [short, long] = unsafe { wide_word(around, wide, letters) };
        *leads &= !(short | long);
        *inner |= (short | long) << 1 | long << 2;
        carried = (short | long) >> (WORD - 1) | long >> (WORD - 2);
    }
    if let Some(last) = inner.last_mut() {
        *last |= carried;
    }
}

/// The bytes of a word and the two behind it.
const AROUND: usize = WORD + 2;

/// Writes the letters of characters of two and three bytes, each at its first byte.
///
/// ```text
/// second, third = the byte behind, and the one behind that, is a continuation byte
/// code = the lowest bit of the byte, six bits of the byte behind      a place in a page of 128
/// short = a lead of two bytes, and second
/// for each page that short shows:                                     few are met in 64 bytes of text
///     found = page[code] where the byte names the page
/// long = a lead of three bytes, and second, and third
/// for the three pages with most Chinese characters at once, then for each other page that long shows:
///     found = page[code] where the byte names the page; UNKNOWN for a block that is not of one letter
/// for each block left that is not of one letter:
///     found = block[six bits of the third byte] where both bytes name the block
/// letters = found where it is not UNKNOWN, else as they were
/// ```
///
/// Invariant: `left` marks the characters that were not tried yet. Each round takes out its lowest bit at least, so there
/// are at most 64 rounds. What stays UNKNOWN (an overlong form, a surrogate) keeps its letter, and is read one by one
/// later. Nothing is read but `around` and tables of fixed length.
///
/// Returns the first bytes of the characters that were written: those of two bytes, those of three.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn wide_word(around: &[u8; AROUND], wide: &Wide, letters: &mut [u8; WORD]) -> [u64; 2] {
    let bytes = [load_part(around, 0), load_part(around, 1), load_part(around, 2)];
    let has_high = |mask: u8, value: u8| {
        let masked = _mm512_and_si512(bytes[0], _mm512_set1_epi8(mask.cast_signed()));
        _mm512_cmpeq_epi8_mask(masked, _mm512_set1_epi8(value.cast_signed()))
    };
    let least = _mm512_set1_epi8(0xC0_u8.cast_signed());
    let second = _mm512_cmplt_epi8_mask(bytes[1], least);
    let third = _mm512_cmplt_epi8_mask(bytes[2], least);
    let high = _mm512_and_si512(_mm512_slli_epi16::<6>(bytes[0]), _mm512_set1_epi8(0x40));
    let low = _mm512_and_si512(bytes[1], _mm512_set1_epi8(0x3F));
    let code = _mm512_or_si512(high, low);
    let mut found = load(letters);
    let unknown = _mm512_set1_epi8(UNKNOWN.cast_signed());

    let short = has_high(0xE0, 0xC0) & second;
    let mut left = short;
    let page = _mm512_and_si512(bytes[0], _mm512_set1_epi8(0x1E));
    while left != 0 {
        let number = around[left.trailing_zeros() as usize] & 0x1E;
        let here = left & _mm512_cmpeq_epi8_mask(page, _mm512_set1_epi8(number.cast_signed()));
        found = look_up_page(found, here, code, &wide.pages[usize::from(number >> 1)]);
        left &= !here;
    }

    let long = has_high(0xF0, 0xE0) & second & third;
    let mut left = long;
    let page = _mm512_and_si512(bytes[0], _mm512_set1_epi8(0x0E));
    let is_in_page =
        |number: u8| _mm512_cmpeq_epi8_mask(page, _mm512_set1_epi8(number.cast_signed()));
    let in_three_pages = is_in_page(0x04) | is_in_page(0x06) | is_in_page(0x08);
    // Most Chinese characters are in these three; one after the other would wait for each.
    if left & in_three_pages != 0 {
        for number in [0x04, 0x06, 0x08] {
            let here = left & is_in_page(number);
            found = look_up_page(found, here, code, &wide.blocks[usize::from(number >> 1)]);
        }
        left &= _mm512_cmpeq_epi8_mask(found, unknown) | !in_three_pages;
    }
    while left != 0 {
        let at = left.trailing_zeros() as usize;
        let [one, two] = [around[at], around[at + 1]];
        let number = usize::from(one & 0x0F) << 6 | usize::from(two & 0x3F);
        let here = if let Some(block) = wide.mixed.get(usize::from(wide.mixed_at[number])) {
            let is_one = _mm512_cmpeq_epi8_mask(bytes[0], _mm512_set1_epi8(one.cast_signed()));
            let is_two = _mm512_cmpeq_epi8_mask(bytes[1], _mm512_set1_epi8(two.cast_signed()));
            let here = left & is_one & is_two;
            let letters = _mm512_permutexvar_epi8(bytes[2], load(block));
            found = _mm512_mask_blend_epi8(here, found, letters);
            here
        } else {
            let here = left & is_in_page(one & 0x0E);
            found = look_up_page(found, here, code, &wide.blocks[usize::from(one >> 1 & 7)]);
            here & _mm512_cmpneq_epi8_mask(found, unknown)
        };
        // The first of them is done in any case: it may be no character.
        left &= !here & (left - 1);
    }
    let unknown = _mm512_cmpeq_epi8_mask(found, unknown);
    // What is no character keeps its letter.
    let found = _mm512_mask_blend_epi8((short | long) & !unknown, load(letters), found);
    store(letters, found);
    [short & !unknown, long & !unknown]
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn look_up_page(letters: __m512i, here: u64, code: __m512i, page: &Page) -> __m512i {
    let found = _mm512_permutex2var_epi8(load_half(page, 0), code, load_half(page, 1));
    _mm512_mask_blend_epi8(here, letters, found)
}

pub(super) fn pack(letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
    // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
    unsafe { pack_all(letters, inner, n_bytes) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2")]
fn pack_all(letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
    let mut n_letters = 0;
    for (index, inner) in inner.iter().enumerate().take(n_bytes.div_ceil(WORD)) {
        // A letter moves to the front or stays, so nothing is written over that was not read.
        let Some(word) = letters[index * WORD..].first_chunk() else { break };
        let packed = _mm512_maskz_compress_epi8(!inner, load(word));
        if let Some(place) = letters[n_letters..].first_chunk_mut() {
            store(place, packed);
        }
        n_letters += inner.count_zeros() as usize;
    }
    let n_padded = n_bytes.next_multiple_of(WORD) - n_bytes;
    n_letters - n_padded
}

pub(super) fn spread(words: &mut [u64], inner: &[u64]) {
    // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
    unsafe { spread_all(words, inner) }
}

#[target_feature(enable = "bmi2,popcnt")]
fn spread_all(words: &mut [u64], inner: &[u64]) {
    portable::spread(words, inner, |word, inner| _pdep_u64(word, !inner));
}

pub(super) fn gather(words: &mut [u64], inner: &[u64]) {
    // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
    unsafe { gather_all(words, inner) }
}

#[target_feature(enable = "bmi2,popcnt")]
fn gather_all(words: &mut [u64], inner: &[u64]) {
    portable::gather(words, inner, |word, inner| _pext_u64(word, !inner));
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_half(page: &Page, half: usize) -> __m512i {
    let (low, high) = page.split_at(WORD);
    let half = if half == 0 { low } else { high };
    half.first_chunk().map_or_else(|| _mm512_set1_epi8(0), |half| load(half))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_part(around: &[u8; AROUND], shift: usize) -> __m512i {
    around[shift..].first_chunk().map_or_else(|| _mm512_set1_epi8(0), |part| load(part))
}

pub(super) fn group(
    letters: &[u8],
    lookups: &[Lookup],
    cuts: Option<&Cuts>,
    words: &mut Words<'_>,
) {
    match lookups.len() {
        0 => {}
        1 => any_cuts::<1>(letters, lookups, cuts, words),
        2 => any_cuts::<2>(letters, lookups, cuts, words),
        3 => any_cuts::<3>(letters, lookups, cuts, words),
        4 => any_cuts::<4>(letters, lookups, cuts, words),
        5 => any_cuts::<5>(letters, lookups, cuts, words),
        _ => any_cuts::<6>(letters, lookups, cuts, words),
    }
}

fn any_cuts<const N: usize>(
    letters: &[u8],
    lookups: &[Lookup],
    cuts: Option<&Cuts>,
    words: &mut Words<'_>,
) {
    let Some(lookups) = lookups.first_chunk() else { return };
    if let Some(cuts) = cuts {
        // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
        unsafe { all_lookups::<N, true>(letters, lookups, cuts, words) }
    } else {
        // SAFETY: `Kernel::Avx512` is made only where these instructions were found.
        unsafe { all_lookups::<N, false>(letters, lookups, &NO_CUTS, words) }
    }
}

/// Adds the places where a group holds.
///
/// ```text
/// for each word of 64 places:
///     all = 0xFF in each byte
///     for each lookup:                                       unrolled, the tables stay in registers
///         shown = the letters from (place + distance) on; the edge where one lies between
///         all = all & table[shown]                           one vpermb
///     bits = bits | (all != 0)
/// ```
///
/// Invariant: bit `p` of byte `i` of `all` says whether product `p` may still hold at place `i`.
///
/// Safety: `n_words` is bounded such that 64 letters lie behind the last place of its last word at every distance, and
/// words from there on are not visited.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn all_lookups<const N: usize, const HAS_CUTS: bool>(
    letters: &[u8],
    lookups: &[Lookup; N],
    cuts: &Cuts,
    words: &mut Words<'_>,
) {
    let edge = _mm512_set1_epi8(cuts.edge.cast_signed());
    let mut tables = [_mm512_set1_epi8(0); N];
    let mut distances = [0; N];
    let mut cut_words: [&[u64]; N] = [&[]; N];
    for index in 0..N {
        tables[index] = load(&lookups[index].table);
        distances[index] = lookups[index].distance;
        cut_words[index] = &cuts.places[lookups[index].distance];
    }
    let last = distances.iter().max().unwrap_or(&0);
    let Words { numbers, bits } = words;
    let n_words = bits.len().min((letters.len() - last) / WORD);
    debug_assert!(n_words == bits.len(), "there are letters for all words");
    for index in numbers.iter().copied().map(usize::from).take_while(|&index| index < n_words) {
        let mut all = _mm512_set1_epi8(-1);
        for step in 0..N {
            // SAFETY: the word is below `n_words`, and those all end within the letters at every distance.
            let mut shown = unsafe { load_at(letters, index * WORD + distances[step]) };
            let cut = cut_at::<HAS_CUTS>(cut_words[step], index);
            shown = _mm512_mask_blend_epi8(cut, shown, edge);
            all = _mm512_and_si512(all, _mm512_permutexvar_epi8(shown, tables[step]));
        }
        bits[index] |= _mm512_test_epi8_mask(all, all);
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

/// Prefetches the text of the next span, in case there is more.
#[target_feature(enable = "sse")]
#[inline]
fn prefetch(bytes: &[u8; WORD]) {
    let next = bytes.as_ptr().wrapping_add(SPAN);
    // SAFETY: a prefetch reads nothing and cannot fault, whatever the address.
    #[allow(unused_unsafe, reason = "older compilers call it unsafe")]
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(next.cast());
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
