//! Pieces of some hundred bytes of text, made ready to be looked up: their keys and where they belong, close
//! together. With AVX-512.
//!
//! The places where pieces start in 64 bytes of text become a row of numbers by one instruction. From there eight
//! pieces are one step: their bytes are picked out of a window of 128 bytes that stays in registers, cut to
//! their lengths and hashed side by side. The slots where they belong are prefetched, so that they are near when the
//! row is full: a table of many pieces is larger than the processor's nearer caches. Then the slots of eight are
//! fetched and compared together. The definitions are [`crate::piece::key`]'s.
//!
//! A table is a row of slots, the number of them a power of two. The highest bits of a key's hash number the slot where
//! it belongs, its home.
//!
//! Cost: about 8 cycles a piece, as long as no step waits for the one before.

use std::arch::x86_64::{
    __m256i, __m512i, _mm_cvtsi32_si128, _mm512_add_epi8, _mm512_add_epi64, _mm512_and_si512,
    _mm512_castsi256_si512, _mm512_cmpeq_epi8_mask, _mm512_cmpeq_epi64_mask,
    _mm512_cmpgt_epu8_mask, _mm512_cmpgt_epu64_mask, _mm512_cmplt_epu8_mask, _mm512_inserti64x4,
    _mm512_mask_blend_epi8, _mm512_mask_blend_epi64, _mm512_maskz_compress_epi8,
    _mm512_maskz_permutex2var_epi8, _mm512_mullo_epi64, _mm512_or_si512, _mm512_permutexvar_epi8,
    _mm512_set1_epi8, _mm512_set1_epi64, _mm512_shuffle_i64x2, _mm512_slli_epi64, _mm512_srl_epi64,
    _mm512_sub_epi8, _mm512_test_epi64_mask, _mm512_testn_epi64_mask, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi64, _mm512_xor_si512,
};
use std::ops::Range;

use crate::memory::prefetch::prefetch;
use crate::piece::key::{
    FACTORS, Keyed, MARK, MAX_KEY_LEN, N_BEFORE_RUN, high_hash, key_of_run, run_key,
};
use crate::piece::vectors::{TwoWords, load, load_row, store};
use crate::piece::{WORD_LEN, Word};

/// Pieces in a step.
pub(crate) const STEP_LEN: usize = 8;

/// Pieces that a row holds; what a word more can give fits behind them.
const ROW_LEN: usize = 256;

/// Numbers of 64 bits for each piece of a row, and what the last step writes behind.
type Numbers = [u64; ROW_LEN + WORD_LEN + STEP_LEN];

/// The window of text in registers.
const WINDOW_LEN: usize = 2 * WORD_LEN;

/// Tables of so many slots are in the processor's nearer caches anyway.
const NEAR_LEN: usize = 1 << 12;

/// [`MARK`] in the upper half of a key.
const HIGH_MARK: i64 = (MARK >> 64) as i64;

/// Pieces in the order of the text.
pub(crate) struct PieceRow {
    len: usize,
    /// Where each starts in the text, and behind the last where it ends.
    starts: Numbers,
    /// The lower and upper halves of their keys.
    keys: [Numbers; 2],
    /// The slots where they belong in the table as it was when they were taken in.
    homes: Numbers,
}

/// Eight slots, where they were looked for.
#[derive(Clone, Copy)]
pub(crate) struct EightSlots {
    /// A bit for each slot that has the key.
    pub(crate) known: u8,
    /// A bit for each that has it with [`MARK`].
    pub(crate) marked: u8,
    /// A bit for each that is free.
    pub(crate) free: u8,
    /// The first and second half of the values.
    pub(crate) values: [__m512i; 2],
}

impl EightSlots {
    /// The value of a slot.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(crate) fn value(&self, lane: usize) -> u128 {
        let [low, high] = self.values.map(|values| {
            let mut numbers = [0_u64; STEP_LEN];
            store(values, &mut numbers);
            numbers[lane]
        });
        u128::from(high) << 64 | u128::from(low)
    }
}

impl Default for PieceRow {
    fn default() -> Self {
        let numbers = [0; ROW_LEN + WORD_LEN + STEP_LEN];
        Self { len: 0, starts: numbers, keys: [numbers; 2], homes: numbers }
    }
}

impl PieceRow {
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there may be no room for another word.
    pub(crate) fn is_full(&self) -> bool {
        self.len >= ROW_LEN
    }

    /// The piece of this number.
    pub(crate) fn piece(&self, number: usize) -> Range<usize> {
        #[expect(clippy::cast_possible_truncation, reason = "places in a text")]
        let [start, end] = [number, number + 1].map(|number| self.starts[number] as usize);
        start..end
    }

    /// The numbers of the slots where eight pieces from this number on belong.
    #[inline]
    pub(crate) fn homes(&self, number: usize) -> [usize; STEP_LEN] {
        #[expect(clippy::cast_possible_truncation, reason = "the number of a slot")]
        std::array::from_fn(|lane| self.homes[number + lane] as usize)
    }

    /// The slots where eight pieces from this number on belong, and which of them have their keys.
    ///
    /// Where the table has become larger since they were taken in, they are hardly found.
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    pub(crate) fn find<V: TwoWords>(&self, slots: &[Keyed<V>], number: usize) -> EightSlots {
        self.compare(slots, number, self.homes(number))
    }

    /// A bit for each of eight pieces from this number on that is too long for a key.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub(crate) fn long(&self, number: usize) -> u8 {
        _mm512_cmpeq_epi64_mask(load(&self.keys[1][number..]), _mm512_set1_epi64(-1))
    }

    /// Whether the piece of this number is too long for a key.
    pub(crate) fn is_long(&self, number: usize) -> bool {
        self.keys[1][number] == u64::MAX
    }

    /// The key of the piece of this number.
    pub(crate) fn key(&self, number: usize) -> u128 {
        u128::from(self.keys[1][number]) << 64 | u128::from(self.keys[0][number])
    }

    /// Looks for those that are not in their homes in the other slots of these lines; a bit for each that is there.
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    pub(crate) fn look_beside<V: TwoWords>(
        &self,
        slots: &[Keyed<V>],
        number: usize,
        found: &mut EightSlots,
    ) -> u8 {
        let beside = self.compare(slots, number, self.homes(number).map(|home| home ^ 1));
        for (value, beside_value) in found.values.iter_mut().zip(beside.values) {
            *value = _mm512_mask_blend_epi64(beside.known | beside.marked, *value, beside_value);
        }
        found.known |= beside.known;
        found.marked |= beside.marked;
        found.free |= beside.free;
        beside.known | beside.marked
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    fn compare<V: TwoWords>(
        &self,
        slots: &[Keyed<V>],
        number: usize,
        places: [usize; STEP_LEN],
    ) -> EightSlots {
        let [low, high, first, second] = words(slots, places);
        let differs = _mm512_xor_si512(high, load(&self.keys[1][number..]));
        let same = _mm512_cmpeq_epi64_mask(low, load(&self.keys[0][number..]))
            & _mm512_testn_epi64_mask(differs, _mm512_set1_epi64(!HIGH_MARK));
        let marked = same & _mm512_test_epi64_mask(differs, differs);
        let bits = _mm512_or_si512(low, high);
        let free = _mm512_testn_epi64_mask(bits, bits);
        EightSlots { known: same & !marked, marked, free, values: [first, second] }
    }

    /// Takes the pieces of a word in; a bit for each that is too long for a key. A row that is full has no room for them.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vbmi2,popcnt")]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "numbers of places in a window")]
    pub(crate) fn push<V: TwoWords>(
        &mut self,
        slots: &[Keyed<V>],
        (text, word): (&[u8], Word),
    ) -> u64 {
        let window = window(text, word.start);
        let n_starts = word.bits.count_ones() as usize;
        // Places and lengths as bytes. A length that fits none is cut, and still too long for a key.
        let end = (word.end - word.start).min(255) as u8;
        let places = _mm512_maskz_compress_epi8(word.bits, numbers());
        let ends = _mm512_maskz_compress_epi8(word.bits & (word.bits - 1), numbers());
        let ends = _mm512_mask_blend_epi8(1 << (n_starts - 1), ends, splat(end));
        let lens = _mm512_sub_epi8(ends, places);
        let shift = u64::BITS - slots.len().ilog2();
        let is_far = slots.len() > NEAR_LEN;
        let word_start = _mm512_set1_epi64((word.start as u64).cast_signed());
        let mut n_done = 0;
        while n_done < n_starts {
            let lanes = _mm512_add_epi8(lane_numbers(), splat(n_done as u8));
            let places = _mm512_permutexvar_epi8(lanes, places);
            let keys = keys(window, (places, _mm512_permutexvar_epi8(lanes, lens)));
            let starts = _mm512_and_si512(places, _mm512_set1_epi64(0xFF));
            let number = self.len + n_done;
            store(_mm512_add_epi64(starts, word_start), &mut self.starts[number..]);
            store(keys[0], &mut self.keys[0][number..]);
            store(keys[1], &mut self.keys[1][number..]);
            store(homes(keys, shift), &mut self.homes[number..]);
            if is_far {
                // Lanes without a piece prefetch the first slot.
                let homes = self.homes[number..number + STEP_LEN].iter();
                homes.for_each(|&home| prefetch(slots, home as usize));
            }
            n_done += STEP_LEN;
        }
        self.len += n_starts;
        self.starts[self.len] = word.end as u64;
        // Behind the last piece are no places, and ends that are zero.
        _mm512_cmpgt_epu8_mask(lens, splat(MAX_KEY_LEN as u8)) & (u64::MAX >> (WORD_LEN - n_starts))
    }

    /// Gives long pieces of the word that was taken in last their keys, if they have one: `run_key` (`piece/key.rs`).
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "halves of a key")]
    pub(crate) fn name_runs<V: TwoWords>(
        &mut self,
        slots: &[Keyed<V>],
        (text, word): (&[u8], Word),
        mut long: u64,
    ) {
        let first_number = self.len - word.bits.count_ones() as usize;
        let same = same_as_next(text, word.start);
        let shift = u64::BITS - slots.len().ilog2();
        while long != 0 {
            let number = first_number + long.trailing_zeros() as usize;
            long &= long - 1;
            let piece = self.piece(number);
            let from = piece.start + N_BEFORE_RUN - word.start;
            let key = match piece.end - 1 - word.start {
                to @ ..WINDOW_LEN if !same & (u128::MAX << from) & ((1 << to) - 1) == 0 => {
                    let first = text[piece.clone()].first_chunk();
                    first.map(|first| key_of_run(*first, piece.len()))
                }
                ..WINDOW_LEN => None,
                _ => run_key(&text[piece]),
            };
            let Some(key) = key else { continue };
            [self.keys[0][number], self.keys[1][number]] = [key as u64, (key >> 64) as u64];
            self.homes[number] = high_hash(key) >> shift;
            prefetch(slots, self.homes[number] as usize);
        }
    }
}

/// A bit for each byte of a window from a place on that is followed by the same byte; whatever behind the text.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn same_as_next(text: &[u8], start: usize) -> u128 {
    let (window, next) = (window(text, start), window(text, start + 1));
    let [low, high] = [0, 1].map(|half: usize| _mm512_cmpeq_epi8_mask(window[half], next[half]));
    u128::from(high) << WORD_LEN | u128::from(low)
}

/// The lower and upper halves of the keys of eight pieces. Each byte of a lane says where its piece starts in the
/// window, or how long it is.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a length of some bytes")]
fn keys([near, far]: [__m512i; 2], (places, lens): (__m512i, __m512i)) -> [__m512i; 2] {
    let eight = splat(8);
    let low = _mm512_cmplt_epu8_mask(byte_numbers(), lens);
    let high = _mm512_cmplt_epu8_mask(_mm512_add_epi8(byte_numbers(), eight), lens);
    let places = _mm512_add_epi8(places, byte_numbers());
    let low = _mm512_maskz_permutex2var_epi8(low, near, places, far);
    let places = _mm512_add_epi8(places, eight);
    let high = _mm512_maskz_permutex2var_epi8(high, near, places, far);
    let high = _mm512_or_si512(high, _mm512_slli_epi64::<56>(lens));
    // All bits set are no piece's key.
    let is_long = _mm512_cmpgt_epu64_mask(lens, splat(MAX_KEY_LEN as u8));
    [low, _mm512_mask_blend_epi64(is_long, high, _mm512_set1_epi64(-1))]
}

/// The slots where keys belong.
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
fn homes(keys: [__m512i; 2], shift: u32) -> __m512i {
    let product = |half: usize| {
        let factor = _mm512_set1_epi64(FACTORS[half].cast_signed());
        _mm512_mullo_epi64(keys[half], factor)
    };
    let sum = _mm512_xor_si512(product(0), product(1));
    _mm512_srl_epi64(sum, _mm_cvtsi32_si128(shift.cast_signed()))
}

/// Eight slots as four vectors, each of one word of all: the halves of their keys, and of their values.
#[target_feature(enable = "avx512f")]
#[inline]
fn words<V: TwoWords>(slots: &[Keyed<V>], places: [usize; STEP_LEN]) -> [__m512i; 4] {
    transposed(|lane| slot(slots, places[lane]))
}

/// Eight rows of four words as four vectors, each of one word of all.
///
/// Two rows are loaded into each vector, in such an order that two steps of shuffling leave every word in its place.
#[target_feature(enable = "avx512f")]
#[inline]
fn transposed(row: impl Fn(usize) -> __m256i) -> [__m512i; 4] {
    // Written out: `map` may stay a call of its own, depending on how the compiler cuts the crate, which doubles the time.
    let pair = |low: usize, high: usize| {
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(row(low)), row(high))
    };
    let pairs = [pair(0, 2), pair(1, 3), pair(4, 6), pair(5, 7)];
    let even =
        [_mm512_unpacklo_epi64(pairs[0], pairs[1]), _mm512_unpacklo_epi64(pairs[2], pairs[3])];
    let odd =
        [_mm512_unpackhi_epi64(pairs[0], pairs[1]), _mm512_unpackhi_epi64(pairs[2], pairs[3])];
    [
        _mm512_shuffle_i64x2::<0b10_00_10_00>(even[0], even[1]),
        _mm512_shuffle_i64x2::<0b10_00_10_00>(odd[0], odd[1]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(even[0], even[1]),
        _mm512_shuffle_i64x2::<0b11_01_11_01>(odd[0], odd[1]),
    ]
}

/// The four words of a slot; the number of slots is a power of two, and places beyond it are those that remain.
#[target_feature(enable = "avx512f")]
#[inline]
fn slot<V: TwoWords>(slots: &[Keyed<V>], place: usize) -> __m256i {
    load_row(&slots[place & (slots.len() - 1)])
}

/// The text from a place on, with zeros behind its end.
#[target_feature(enable = "avx512f")]
#[inline]
fn window(text: &[u8], start: usize) -> [__m512i; 2] {
    if let Some(window) = text.get(start..).and_then(|rest| rest.first_chunk()) {
        return halves(window);
    }
    let mut window = [0; WINDOW_LEN];
    let rest = text.get(start..).unwrap_or_default();
    window[..rest.len()].copy_from_slice(rest);
    halves(&window)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn halves(window: &[u8; WINDOW_LEN]) -> [__m512i; 2] {
    let (halves, _) = window.as_chunks::<WORD_LEN>();
    [load(&halves[0]), load(&halves[1])]
}

/// The number of each byte.
#[target_feature(enable = "avx512f")]
#[inline]
fn numbers() -> __m512i {
    load(const { &numbered(1, 64) })
}

/// The number of each byte in its lane.
#[target_feature(enable = "avx512f")]
#[inline]
fn byte_numbers() -> __m512i {
    load(const { &numbered(1, 8) })
}

/// The number of the lane of each byte.
#[target_feature(enable = "avx512f")]
#[inline]
fn lane_numbers() -> __m512i {
    load(const { &numbered(8, 8) })
}

/// `place / step % n` for each place.
#[expect(clippy::cast_possible_truncation, reason = "less than 64")]
const fn numbered(step: usize, n: usize) -> [u8; WORD_LEN] {
    let mut numbers = [0; WORD_LEN];
    let mut place = 0;
    while place < WORD_LEN {
        numbers[place] = (place / step % n) as u8;
        place += 1;
    }
    numbers
}

#[target_feature(enable = "avx512f")]
#[inline]
fn splat(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}
