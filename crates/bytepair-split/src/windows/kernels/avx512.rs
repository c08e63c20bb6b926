//! Words of 64 bytes with AVX-512 (VBMI, VBMI2): one vector, and one instruction for a look-up in a table of 64 or 128.
//!
//! The loops are in [`super::loops`], except that over characters of two and three bytes: [`wide_word`], which needs more
//! than other processors have.
#![expect(
    unsafe_code,
    reason = "vector instructions; splitting is several times as fast with them"
)]

use std::arch::x86_64::{
    __m512i, _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_cmpge_epu8_mask,
    _mm512_cmplt_epi8_mask, _mm512_cmpneq_epi8_mask, _mm512_loadu_si512, _mm512_mask_blend_epi8,
    _mm512_maskz_compress_epi8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8,
    _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_slli_epi16, _mm512_storeu_si512,
    _mm512_test_epi8_mask, _pdep_u64, _pext_u64,
};

use super::loops::vectors;
use crate::windows::tables::{AsciiLetters, Characters, Page, Table, UNKNOWN, WORD, Wide};

fn is_here() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
}

vectors! {
    /// Stands for a processor with AVX-512.
    struct Avx512 needs "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt", which is_here finds;

    type Word = __m512i;
    type Table = __m512i;
    type Ascii = AsciiTable;

    fn load(bytes: &[u8; WORD]) -> __m512i {
        load(bytes)
    }

    fn store(bytes: &mut [u8; WORD], word: __m512i) {
        store(bytes, word);
    }

    fn fill(byte: u8) -> __m512i {
        _mm512_set1_epi8(byte.cast_signed())
    }

    fn and(one: __m512i, other: __m512i) -> __m512i {
        _mm512_and_si512(one, other)
    }

    fn choose(bits: u64, yes: __m512i, no: __m512i) -> __m512i {
        _mm512_mask_blend_epi8(bits, no, yes)
    }

    fn non_zero(word: __m512i) -> u64 {
        _mm512_test_epi8_mask(word, word)
    }

    fn at_least(word: __m512i, least: u8) -> u64 {
        _mm512_cmpge_epu8_mask(word, _mm512_set1_epi8(least.cast_signed()))
    }

    fn table(table: &Table) -> __m512i {
        load(table)
    }

    fn look_up(table: __m512i, word: __m512i) -> __m512i {
        _mm512_permutexvar_epi8(word, table)
    }

    fn ascii(ascii: &AsciiLetters) -> AsciiTable {
        AsciiTable { halves: halves(&ascii.letters), other: _mm512_set1_epi8(ascii.other.cast_signed()) }
    }

    fn letters(ascii: &AsciiTable, word: __m512i) -> __m512i {
        let [low, high] = ascii.halves;
        let known = _mm512_permutex2var_epi8(low, word, high);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(word), known, ascii.other)
    }

    fn pack(letters: &mut [u8], from: usize, to: usize, inner: u64) {
        let Some(word) = letters[from..].first_chunk() else { return };
        let packed = _mm512_maskz_compress_epi8(!inner, load(word));
        if let Some(place) = letters[to..].first_chunk_mut() {
            store(place, packed);
        }
    }

    fn spread(bits: u64, inner: u64) -> u64 {
        _pdep_u64(bits, !inner)
    }

    fn gather(bits: u64, inner: u64) -> u64 {
        _pext_u64(bits, !inner)
    }

    fn wide(text: &[u8], wide: &Wide, letters: &mut [u8], characters: Characters<'_>) {
        read_wide(text, wide, letters, characters);
    }
}

/// The letters of ASCII as two tables of 64, and what any other byte gets.
#[derive(Clone, Copy)]
pub(crate) struct AsciiTable {
    halves: [__m512i; 2],
    other: __m512i,
}

/// Reads the characters of two and three bytes, and marks the bytes inside of them.
///
/// ```text
/// for each word with the first byte of a character:
///     short, long = the characters of two and of three bytes that `wide_word` read
///     leads = leads without both; others are read one by one later
///     inner = one byte behind each of both, and a second one behind the long ones
/// ```
///
/// Bytes inside of a character that lie in the next word are carried there. Behind the end of the text zeros are read, which
/// continue no character.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
fn read_wide(text: &[u8], wide: &Wide, letters: &mut [u8], characters: Characters<'_>) {
    let Characters { leads, inner } = characters;
    // What the last characters of a word have in the next one.
    let mut carried = 0;
    for (index, (leads, inner)) in leads.iter_mut().zip(&mut *inner).enumerate() {
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
        let [short, long] = wide_word(around, wide, letters);
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
    let [low, high] = halves(page);
    _mm512_mask_blend_epi8(here, letters, _mm512_permutex2var_epi8(low, code, high))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn halves(page: &Page) -> [__m512i; 2] {
    let (low, high) = page.split_at(WORD);
    [low, high].map(|half| load(half.first_chunk().unwrap_or(&[0; WORD])))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load_part(around: &[u8; AROUND], shift: usize) -> __m512i {
    load(around[shift..].first_chunk().unwrap_or(&[0; WORD]))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(bytes: &[u8; WORD]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read, which need no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(bytes: &mut [u8; WORD], word: __m512i) {
    // SAFETY: the array has the 64 bytes that are written, which need no alignment.
    unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), word) }
}
