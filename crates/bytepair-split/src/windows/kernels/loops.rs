//! The loops over vectors, written once for all processors that have them.
//!
//! [`Vectors`] is what a loop needs of a processor: operations on registers of 16 bytes or more, four or fewer of which hold
//! a *word* of 64 bytes. A value of a type with this trait exists only where the processor has the instructions, so the
//! operations are safe to call, and so are the loops.
//!
//! All look-ups are in tables of 16 bytes, which every processor with vectors has ([`Vectors::shuffle`]). A letter with a
//! number from 16 on has the highest bit, for which a look-up gives zero. So two tables hold 32 numbers:
//!
//! ```text
//! found = shuffle(table of the first 16, letter) ^ shuffle(table of the others, letter ^ 0x90)
//! ```
//!
//! A function runs fast only if it and all operations in it are compiled with the same instructions. So everything here is
//! `#[inline(always)]`, up to the one function for each processor that says which instructions it is compiled with
//! ([`vectors!`]). Left out: what the loops find; [`Loop`] says that, and tests have it in plain Rust.
#![expect(
    clippy::inline_always,
    reason = "a loop that is not inlined is compiled without the instructions, and many times as slow"
)]

use super::Loop;
use super::moves::{self, N_PACKED, PACKED};
use crate::windows::letters::N_SHOWN;
use crate::windows::tables::{
    AsciiLetters, Characters, Cuts, Group, Lookup, N_OF_TABLE, SECOND_TABLE, WORD, Wide, Words,
};

/// Characters of ASCII, and in how many tables of 16 they are.
const N_ASCII: usize = 128;
pub(super) const N_PARTS: usize = N_ASCII / N_OF_TABLE;

/// Whether a shuffle takes the low four bits of a place from 16 to 127; elsewhere it gives zero for these places.
const SHUFFLE_TAKES_LOW_BITS: bool = cfg!(any(target_arch = "x86", target_arch = "x86_64"));

/// Registers that hold a word, at most.
pub(super) const MAX_REGISTERS: usize = 4;

/// What a processor does with registers of bytes.
pub(super) trait Vectors: Copy {
    /// 16 bytes or more.
    type Register: Copy;
    /// Registers that hold a word: part 0 has its first bytes, and so on.
    const N: usize;
    /// Whether there are registers of more than 16 bytes: only processors with these have instructions that move bits.
    const IS_WIDE: bool = Self::N < MAX_REGISTERS;

    /// A part of these bytes.
    fn load(self, bytes: &[u8; WORD], part: usize) -> Self::Register;
    /// Writes a part.
    fn store(self, bytes: &mut [u8; WORD], part: usize, register: Self::Register);
    /// These eight bytes, lowest first, over and over.
    fn fill(self, bytes: u64) -> Self::Register;
    /// The bits that are set in both.
    fn and(self, one: Self::Register, other: Self::Register) -> Self::Register;
    /// The bits that are set in one of both.
    fn xor(self, one: Self::Register, other: Self::Register) -> Self::Register;
    /// All bits of each byte that is the same in both.
    fn equal(self, one: Self::Register, other: Self::Register) -> Self::Register;
    /// By place: of each 16 bytes the one of this number, if that is below 16; zero where the highest bit of the place
    /// is set.
    fn shuffle(self, bytes: Self::Register, places: Self::Register) -> Self::Register;
    /// Each byte of `one`, as a number with a sign, less that of `other`; the smallest number stays what it is.
    fn minus(self, one: Self::Register, other: Self::Register) -> Self::Register;
    /// The highest bit of each byte of a word; registers from [`Self::N`] on do not count.
    fn bits(self, word: [Self::Register; MAX_REGISTERS]) -> u64;

    /// These 16 bytes, over and over.
    #[inline(always)]
    fn table(self, bytes: &[u8; N_OF_TABLE]) -> Self::Register {
        let mut word = [0; WORD];
        word.as_chunks_mut().0.fill(*bytes);
        self.load(&word, 0)
    }

    /// The tables of ASCII, 16 characters each. A shuffle that takes the low four bits of any place looks up each
    /// table that begins before the byte, so each table holds how it differs from the one before.
    #[inline(always)]
    fn ascii(self, letters: &[u8; N_ASCII]) -> [Self::Register; N_PARTS] {
        let mut tables = [self.fill(0); N_PARTS];
        let mut before = [0; N_OF_TABLE];
        for (table, part) in tables.iter_mut().zip(letters.as_chunks::<N_OF_TABLE>().0) {
            let mut bytes = *part;
            bytes.iter_mut().zip(before).for_each(|(byte, before)| *byte ^= before);
            *table = self.table(&bytes);
            if SHUFFLE_TAKES_LOW_BITS {
                before = *part;
            }
        }
        tables
    }

    /// The entry of each byte that is ASCII; zero for others.
    #[inline(always)]
    fn look_up_ascii(
        self,
        tables: &[Self::Register; N_PARTS],
        bytes: Self::Register,
    ) -> Self::Register {
        let (mut places, mut found) = (bytes, self.fill(0));
        for &table in tables {
            found = self.xor(found, self.shuffle(table, places));
            // What is not ASCII keeps the highest bit.
            places = self.minus(places, self.fill(eight(16)));
        }
        found
    }
}

/// Makes a type of vectors from intrinsics, and from functions that are compiled with the instructions of a processor.
///
/// The intrinsics may be called only if the processor has these instructions, and so may the functions. A value of the type
/// shows that it has them: the only one is made for a kernel, and there is a kernel only if the processor has them.
macro_rules! vectors {
    (
        $(#[$attribute:meta])*
        struct $name:ident called $called:literal needs $features:literal, which $is_here:expr;
        $n:literal registers of $register:ty;
        $($operation:ident is $intrinsic:ident),+;
        $(fn $method:ident($($argument:ident: $argument_type:ty),* $(,)?) -> $result:ty $body:block)+
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy)]
        pub(super) struct $name(());

        impl $name {
            /// The kernel, if the processor has the instructions.
            pub(super) fn kernel() -> Option<$crate::windows::Kernel> {
                #[target_feature(enable = $features)]
                fn compiled(task: $crate::windows::kernels::Loop<'_>) {
                    task.run_with($name(()));
                }
                fn run(task: $crate::windows::kernels::Loop<'_>) {
                    // SAFETY: this is called only if the processor has these instructions.
                    #[allow(unused_unsafe, reason = "WebAssembly has them or does not load")]
                    unsafe {
                        compiled(task);
                    }
                }
                $is_here.then_some($crate::windows::Kernel { name: $called, run })
            }
        }

        impl $crate::windows::kernels::loops::Vectors for $name {
            type Register = $register;
            const N: usize = $n;

            #[inline(always)]
            fn load(self, bytes: &[u8; WORD], part: usize) -> $register {
                let place: &[u8; size_of::<$register>()] = &bytes.as_chunks().0[part];
                // SAFETY: the array has the bytes that are read, which need no alignment, and any bits are a register.
                unsafe { place.as_ptr().cast::<$register>().read_unaligned() }
            }

            #[inline(always)]
            fn store(self, bytes: &mut [u8; WORD], part: usize, register: $register) {
                let place: &mut [u8; size_of::<$register>()] = &mut bytes.as_chunks_mut().0[part];
                // SAFETY: the array has the bytes that are written, which need no alignment.
                unsafe { place.as_mut_ptr().cast::<$register>().write_unaligned(register) }
            }

            $(
                #[inline(always)]
                fn $operation(self, one: $register, other: $register) -> $register {
                    // SAFETY: `self` exists only if the processor has these instructions.
                    #[allow(unused_unsafe, reason = "WebAssembly has them or does not load")]
                    unsafe {
                        $intrinsic(one, other)
                    }
                }
            )+
            $(
                #[inline(always)]
                fn $method(self, $($argument: $argument_type),*) -> $result {
                    #[target_feature(enable = $features)]
                    #[inline]
                    fn compiled($($argument: $argument_type),*) -> $result $body
                    // SAFETY: `self` exists only if the processor has these instructions.
                    #[allow(unused_unsafe, reason = "WebAssembly has them or does not load")]
                    unsafe {
                        compiled($($argument),*)
                    }
                }
            )+
        }
    };
}
pub(super) use vectors;

impl Loop<'_> {
    /// Runs the loop; only what this is inlined in is compiled with the instructions.
    #[inline(always)]
    pub(super) fn run_with<V: Vectors>(self, vectors: V) {
        match self {
            Self::Letters { text, ascii, letters, leads } => {
                read(vectors, text, ascii, letters, leads);
            }
            Self::Wide { text, wide, letters, characters } => {
                self::wide(vectors, text, wide, letters, characters);
            }
            Self::Pack { letters, inner, n_letters } => {
                *n_letters = pack(vectors, letters, inner, *n_letters);
            }
            Self::Spread { words, inner } => moves::spread(words, inner, V::IS_WIDE),
            Self::Gather { words, inner } => moves::gather(words, inner),
            Self::Group { letters, group, cuts, words } => match group.lookups.len() {
                0 => {}
                1 => look_up::<1, V>(vectors, letters, group, cuts, words),
                2 => look_up::<2, V>(vectors, letters, group, cuts, words),
                3 => look_up::<3, V>(vectors, letters, group, cuts, words),
                4 => look_up::<4, V>(vectors, letters, group, cuts, words),
                5 => look_up::<5, V>(vectors, letters, group, cuts, words),
                _ => look_up::<N_SHOWN, V>(vectors, letters, group, cuts, words),
            },
        }
    }
}

/// A byte, eight times.
#[inline(always)]
const fn eight(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Writes the letter of each ASCII character, and marks the bytes that start longer ones.
///
/// ```text
/// for each 64 bytes:
///     letters = ascii[byte]; where the byte is not ASCII, the letter of invalid bytes
///     leads = byte >= 0xC0
/// ```
///
/// The bytes behind the end of the text are read as zeros, and their letters are written: there is room for those of whole words.
///
/// Cost: about 60 instructions for 64 bytes with AVX2.
#[inline(always)]
fn read<V: Vectors>(
    vectors: V,
    text: &[u8],
    ascii: &AsciiLetters,
    letters: &mut [u8],
    leads: &mut [u64],
) {
    let other = vectors.fill(eight(ascii.other));
    // Other bytes are looked up as zero: that is to be their letter.
    let table = vectors.ascii(&ascii.letters.map(|letter| letter ^ ascii.other));
    let (words, _) = letters.as_chunks_mut::<WORD>();
    for ((bytes, letters), leads) in text.chunks(WORD).zip(words).zip(leads) {
        let mut padded = [0; WORD];
        let bytes = bytes.first_chunk().unwrap_or_else(|| {
            padded[..bytes.len()].copy_from_slice(bytes);
            &padded
        });
        let mut is_lead = [other; MAX_REGISTERS];
        for (part, is_lead) in is_lead.iter_mut().enumerate().take(V::N) {
            let bytes = vectors.load(bytes, part);
            *is_lead = has_bits(vectors, bytes, 0xC0, 0xC0);
            let found = vectors.xor(vectors.look_up_ascii(&table, bytes), other);
            vectors.store(letters, part, found);
        }
        *leads = vectors.bits(is_lead);
    }
}

/// Bytes that are looked at for a word: the characters that start in it go on into the next one.
const AROUND: usize = WORD + 2;

/// Writes the letters of characters of two and three bytes, each at its first byte.
///
/// ```text
/// for each word with the first byte of a character:
///     short, long = where a first byte of so many bytes is followed by one byte inside, by two       64 at once
///     for each bit of short, of long:
///         letters = block of the first bytes, at the last one; without a branch
///     leads = leads without both; inner = the bytes behind both
/// ```
///
/// Bytes inside of a character that lie in the next word are carried there. An overlong form or a surrogate is no character:
/// it keeps its mark, and is read one by one later. Behind the end of the text zeros are read, which continue no character.
///
/// Cost: about 12 instructions for each character.
#[inline(always)]
fn wide<V: Vectors>(
    vectors: V,
    text: &[u8],
    wide: &Wide,
    letters: &mut [u8],
    characters: Characters<'_>,
) {
    let Characters { leads, inner } = characters;
    let mut carried = 0;
    for (index, (leads, inner)) in leads.iter_mut().zip(&mut *inner).enumerate() {
        *inner |= std::mem::take(&mut carried);
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
        let [short, long] = lengths(vectors, around);
        let Some(letters) = letters[place..].first_chunk_mut::<WORD>() else { return };
        let mut left = short;
        while left != 0 {
            let bit = left.trailing_zeros() as usize % WORD;
            letters[bit] = wide.short([around[bit], around[bit + 1]]);
            left &= left - 1;
        }
        let mut left = long;
        while left != 0 {
            let bit = left.trailing_zeros() as usize % WORD;
            letters[bit] = wide.long([around[bit], around[bit + 1], around[bit + 2]]);
            left &= left - 1;
        }
        *leads &= !(short | long);
        *inner |= (short | long) << 1 | long << 2;
        carried = (short | long) >> (WORD - 1) | long >> (WORD - 2);
    }
    if let Some(last) = inner.last_mut() {
        *last |= carried;
    }
}

/// Where characters of two bytes start in a word, and those of three.
#[inline(always)]
fn lengths<V: Vectors>(vectors: V, around: &[u8; AROUND]) -> [u64; 2] {
    let zero = vectors.fill(0);
    let (mut all_short, mut all_long) = ([zero; MAX_REGISTERS], [zero; MAX_REGISTERS]);
    let words: [&[u8; WORD]; 3] = [
        around.first_chunk().unwrap_or(&[0; WORD]),
        around[1..].first_chunk().unwrap_or(&[0; WORD]),
        around[2..].first_chunk().unwrap_or(&[0; WORD]),
    ];
    let all = all_short.iter_mut().zip(&mut all_long);
    for (part, (short, long)) in all.enumerate().take(V::N) {
        let [first, second] = [vectors.load(words[0], part), vectors.load(words[1], part)];
        let third = has_bits(vectors, vectors.load(words[2], part), 0xC0, 0x80);
        let is_two = has_bits(vectors, second, 0xC0, 0x80);
        let is_three = vectors.and(is_two, third);
        // 0xC0 and 0xC1 begin overlong forms; so does 0xE0 before less than 0xA0, and 0xED a surrogate before more.
        let is_overlong = has_bits(vectors, first, 0xFE, 0xC0);
        let is_short = vectors.xor(has_bits(vectors, first, 0xE0, 0xC0), is_overlong);
        *short = vectors.and(is_short, is_two);
        let is_low = has_bits(vectors, second, 0x20, 0);
        let is_high = has_bits(vectors, second, 0x20, 0x20);
        let is_none = vectors.xor(
            vectors.and(has_bits(vectors, first, 0xFF, 0xE0), is_low),
            vectors.and(has_bits(vectors, first, 0xFF, 0xED), is_high),
        );
        let is_long = vectors.and(has_bits(vectors, first, 0xF0, 0xE0), is_three);
        *long = vectors.xor(is_long, vectors.and(is_long, is_none));
    }
    [vectors.bits(all_short), vectors.bits(all_long)]
}

/// All bits of each byte in which the bits of a mask are these.
#[inline(always)]
fn has_bits<V: Vectors>(vectors: V, bytes: V::Register, mask: u8, bits: u8) -> V::Register {
    vectors.equal(vectors.and(bytes, vectors.fill(eight(mask))), vectors.fill(eight(bits)))
}

/// Takes out the letters of inner bytes; returns how many are left.
///
/// ```text
/// for each 64 letters:
///     move those of each eight that are not inner to the front of these
///     write each eight behind the letters that were written before
/// ```
///
/// Invariant: a letter moves to the front or stays, and 64 are read before one of them is written, so none is written over
/// that was not read. The last word may be read past `n_bytes`: no byte there is inner, so as many letters too many were
/// moved as there are such bytes.
#[inline(always)]
fn pack<V: Vectors>(vectors: V, letters: &mut [u8], inner: &[u64], n_bytes: usize) -> usize {
    let (mut n_letters, packed_places) = (0, &*PACKED);
    for (index, &inner) in inner.iter().enumerate().take(n_bytes.div_ceil(WORD)) {
        let Some(&word) = letters[index * WORD..].first_chunk::<WORD>() else { break };
        if inner == 0 {
            let Some(place) = letters[n_letters..].first_chunk_mut() else { break };
            *place = word;
            n_letters += WORD;
            continue;
        }
        let mut places = [0; WORD];
        let (eights, _) = places.as_chunks_mut::<N_PACKED>();
        for (number, (places, inner)) in eights.iter_mut().zip(inner.to_le_bytes()).enumerate() {
            // Every other eight are the last ones of 16.
            let first = if number % 2 == 0 { 0 } else { eight(8) };
            *places = (u64::from_le_bytes(packed_places[usize::from(inner)]) + first).to_le_bytes();
        }
        let mut packed = [0; WORD];
        for part in 0..V::N {
            let moved = vectors.shuffle(vectors.load(&word, part), vectors.load(&places, part));
            vectors.store(&mut packed, part, moved);
        }
        let (eights, _) = packed.as_chunks::<N_PACKED>();
        for (eight, inner) in eights.iter().zip(inner.to_le_bytes()) {
            let Some(place) = letters[n_letters..].first_chunk_mut() else { break };
            *place = *eight;
            n_letters += inner.count_zeros() as usize;
        }
    }
    n_letters - (n_bytes.next_multiple_of(WORD) - n_bytes)
}

/// Adds the places where a group of `N` lookups holds, without looking for what is not there.
#[inline(always)]
fn look_up<const N: usize, V: Vectors>(
    vectors: V,
    letters: &[u8],
    group: &Group,
    cuts: Option<&Cuts>,
    words: Words<'_>,
) {
    static NO_CUTS: Cuts = Cuts { places: [const { Vec::new() }; N_SHOWN], edge: 0 };
    let Some(lookups) = group.lookups.first_chunk::<N>() else { return };
    match (cuts, group.has_second_table) {
        (Some(cuts), false) => {
            look_up_all::<N, true, false, V>(vectors, letters, lookups, cuts, words);
        }
        (Some(cuts), true) => {
            look_up_all::<N, true, true, V>(vectors, letters, lookups, cuts, words);
        }
        (None, false) => {
            look_up_all::<N, false, false, V>(vectors, letters, lookups, &NO_CUTS, words);
        }
        (None, true) => {
            look_up_all::<N, false, true, V>(vectors, letters, lookups, &NO_CUTS, words);
        }
    }
}

/// Adds the places where a group holds.
///
/// ```text
/// for each word of 64 places:
///     all = 0xFF in each byte
///     for each lookup:                                       unrolled, the tables stay in registers
///         shown = the letters from (place + distance) on; the edge where one lies between
///         all = all & table[shown]
///     bits = bits | (all != 0)
/// ```
///
/// Invariant: bit `p` of byte `i` of `all` says whether product `p` may still hold at place `i`. The letters from each
/// distance on are cut into words once, as many as there are words of bits, so one comparison for each word is enough.
///
/// Cost: for each lookup and register a load, a shuffle and an *and*; three more instructions with a second table.
#[inline(always)]
fn look_up_all<const N: usize, const HAS_CUTS: bool, const HAS_SECOND: bool, V: Vectors>(
    vectors: V,
    letters: &[u8],
    lookups: &[Lookup; N],
    cuts: &Cuts,
    words: Words<'_>,
) {
    let Words { numbers, bits } = words;
    let (zero, edge) = (vectors.fill(0), vectors.fill(eight(cuts.edge)));
    let n_words = bits.len();
    let nothing = Shown { words: &[], cuts: &[], tables: [zero; 2] };
    let mut all_shown = [nothing; N];
    for (shown, Lookup { distance, table }) in all_shown.iter_mut().zip(lookups) {
        let (parts, _) = table.as_chunks();
        *shown = Shown {
            words: &letters[*distance..].as_chunks().0[..n_words],
            cuts: &cuts.places[*distance],
            // A closure in `map` would not be compiled with the instructions.
            tables: [vectors.table(&parts[0]), vectors.table(&parts[1])],
        };
    }
    for index in numbers.iter().copied().map(usize::from).take_while(|&index| index < n_words) {
        let mut is_zero = [zero; MAX_REGISTERS];
        for (part, is_zero) in is_zero.iter_mut().enumerate().take(V::N) {
            let mut all = vectors.fill(u64::MAX);
            for shown in &all_shown {
                let letters = shown_letters::<HAS_CUTS, V>(vectors, shown, edge, (index, part));
                let found = look_up_letters::<HAS_SECOND, V>(vectors, &shown.tables, letters);
                all = vectors.and(all, found);
            }
            *is_zero = vectors.equal(all, zero);
        }
        bits[index] |= !vectors.bits(is_zero);
    }
}

/// The letters at a distance from each place, and what is looked up for them.
#[derive(Clone, Copy)]
struct Shown<'s, R> {
    words: &'s [[u8; WORD]],
    /// Where an edge lies between; none if there are no edges.
    cuts: &'s [u64],
    tables: [R; 2],
}

/// The entries of letters in a table, or in two.
#[inline(always)]
fn look_up_letters<const HAS_SECOND: bool, V: Vectors>(
    vectors: V,
    tables: &[V::Register; 2],
    letters: V::Register,
) -> V::Register {
    let found = vectors.shuffle(tables[0], letters);
    if !HAS_SECOND {
        return found;
    }
    let places = vectors.xor(letters, vectors.fill(eight(SECOND_TABLE)));
    vectors.xor(found, vectors.shuffle(tables[1], places))
}

/// A part of a word of letters, with an edge where one lies between.
#[inline(always)]
fn shown_letters<const HAS_CUTS: bool, V: Vectors>(
    vectors: V,
    shown: &Shown<'_, V::Register>,
    edge: V::Register,
    (index, part): (usize, usize),
) -> V::Register {
    let letters = vectors.load(&shown.words[index], part);
    if !HAS_CUTS {
        return letters;
    }
    let is_cut = bytes_of(vectors, shown.cuts[index], part);
    vectors.xor(letters, vectors.and(vectors.xor(letters, edge), is_cut))
}

/// All bits of byte `i` set where bit `i` is, for a part of a word.
#[inline(always)]
fn bytes_of<V: Vectors>(vectors: V, bits: u64, part: usize) -> V::Register {
    const BYTES: [u8; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
    static BYTE_OF: [u8; WORD] = {
        let mut numbers = [0; WORD];
        let mut place = 0;
        while place < WORD {
            numbers[place] = BYTES[place / 8];
            place += 1;
        }
        numbers
    };
    let each = vectors.fill(0x8040_2010_0804_0201);
    let bytes = vectors.shuffle(vectors.fill(bits), vectors.load(&BYTE_OF, part));
    vectors.equal(vectors.and(bytes, each), each)
}
