//! The ids of long pieces by their parts: some dozen characters of several pieces at a time.
//!
//! Text without spaces consists of pieces of some dozen characters that hardly ever recur, but their parts of one to
//! three characters recur all the time. The work depends on the kind of a part, and one branch prediction in four would
//! be wrong. The tables of characters take megabytes, so each look-up would wait for memory. So all characters of a
//! [`Block`] are prefetched before the first is looked at, parts are classified by bit masks, and each class has a loop
//! of its own:
//!
//! ```text
//! for each block of some dozen characters:
//!     take characters: the position and code point of each, and whether it begins a piece
//!     prefetch the rows of each
//!     for each character, as a bit of a word:  joined = a token may span it and the one before
//!     a part begins at each character that is not joined, or begins a piece; give the last part back: it may go on
//!     look up the ids of all characters, and prefetch the merges of pairs that are a part
//!     do the first merge of the parts of three characters, then merge all pairs that are left
//!     write the ids of parts in order; those of no class are merged one by one
//! ```
//!
//! - *One character*: its ids are in a [table by code point](super::cache::characters) after its first occurrence.
//! - *Characters that no token joins in part*: each becomes its own ids before a merge joins it to another, so the part
//!   is merged from these (the proof is in `docs/explanation/encoding.md`). Two characters of one id each take one
//!   look-up, three take two or three; the last one is prefetched before parts of two are looked up.
//! - *Others*: merged from bytes.
//!
//! The ids of the first two kinds are written without a branch for each part, except for parts of four characters or
//! more. [`Cuts::end`] is the definition of parts, and finds the end of a part that is longer than a block. Left out:
//! pieces that are a token as a whole, which callers look up if merges are ignored for these. Takes some nanoseconds
//! for each character of a known kind.

use std::ops::Range;

use super::cache::characters::{self, CharacterKinds, MAX_IDS, N_AT_ONCE, n_ids};
use super::cuts::{Cuts, code_point};
use super::merge::Symbols;
use super::{Encoder, MAX_SCAN_LEN, Scratch};
use crate::error::Result;
use crate::vocabulary::TokenId;
use crate::vocabulary::merge_table::Lookup;

/// Most characters of a block: a word has a bit for each of them and one for what comes after.
const MAX_CHARACTERS: usize = N_AT_ONCE - 1;

/// Long pieces of a text.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'p> {
    pub(crate) text: &'p [u8],
    /// In the order of the text.
    pub(crate) places: &'p [Range<usize>],
}

/// A place in a list of pieces: which piece, and where in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) piece: usize,
    pub(super) at: usize,
}

/// Some consecutive characters of pieces. Its contents mean nothing after the block; only the memory is reused.
pub(super) struct Block {
    /// Where each character begins in the text and where it ends. Also the start of the next one, for which there was
    /// no room.
    starts: [usize; N_AT_ONCE],
    ends: [usize; N_AT_ONCE],
    /// [`OTHER`](super::cuts::OTHER) for characters without a code point of their own.
    codes: [u32; N_AT_ONCE],
    len: usize,
    /// A bit for each character that begins a piece, and for each that begins a part.
    pub(super) piece_starts: u64,
    pub(super) part_starts: u64,
    /// A bit for each character that no token joins in part to the previous one or to a part of it.
    pub(super) apart: u64,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            starts: [0; N_AT_ONCE],
            ends: [0; N_AT_ONCE],
            codes: [0; N_AT_ONCE],
            len: 0,
            piece_starts: 0,
            part_starts: 0,
            apart: 0,
        }
    }
}

impl Block {
    /// Takes the parts of pieces from a place on, as many as fit; returns the place after them. `None` if the first
    /// part alone is longer than a block. Calls `prefetch` with the code point of each character before parts are
    /// found.
    pub(super) fn take(
        &mut self,
        (cuts, symbols): (&Cuts, &Symbols),
        pieces: Pieces<'_>,
        from: Place,
        prefetch: impl Fn(u32),
    ) -> Option<Place> {
        let Pieces { text, places } = pieces;
        let is_all = self.take_characters(pieces, from);
        self.codes().iter().for_each(|&code| {
            cuts.prefetch(code);
            prefetch(code);
        });
        let [joined, in_part] = cuts.joined(self.codes());
        self.apart = !in_part;
        let mut cut_before = ((1 << self.len) - 1) & !joined;
        if cuts.must_be_known {
            let is_unknown =
                |&number: &usize| !cuts.is_known(&text[self.range(number..number + 1)], symbols);
            cut_before &=
                !bits(cut_before).filter(is_unknown).fold(0, |all, number| all | 1 << number);
        }
        self.part_starts = cut_before | self.piece_starts | 1;
        if is_all {
            return Some(Place { piece: places.len(), at: text.len() });
        }
        // The last part may continue.
        let number = self.part_starts.ilog2() as usize;
        let up_to_it = self.piece_starts & (u64::MAX >> (MAX_CHARACTERS - number));
        let n_begun = up_to_it.count_ones() as usize + usize::from(self.piece_starts & 1 == 0);
        self.len = number;
        self.piece_starts &= (1 << number) - 1;
        self.part_starts &= (1 << number) - 1;
        let place = Place { piece: from.piece + n_begun - 1, at: self.starts[number] };
        (number > 0).then_some(place)
    }

    /// Takes the characters of pieces from a place on, as many as fit; returns whether these are all.
    fn take_characters(&mut self, pieces: Pieces<'_>, from: Place) -> bool {
        let Pieces { text, places } = pieces;
        (self.len, self.piece_starts) = (0, 0);
        places[from.piece..].iter().all(|piece| {
            // Some characters of the first piece may be done.
            let mut start = from.at.max(piece.start);
            self.piece_starts |= u64::from(start == piece.start) << self.len;
            while start < piece.end && self.len < MAX_CHARACTERS {
                let (code, len) = code_point(&text[..piece.end], start);
                self.codes[self.len] = code;
                self.starts[self.len] = start;
                start += len;
                self.ends[self.len] = start;
                self.len += 1;
            }
            self.starts[self.len] = start;
            start == piece.end
        })
    }

    pub(super) fn codes(&self) -> &[u32] {
        &self.codes[..self.len]
    }

    /// The range in the text of some characters of one piece.
    pub(super) fn range(&self, characters: Range<usize>) -> Range<usize> {
        self.starts[characters.start]..self.ends[characters.end - 1]
    }
}

/// What is needed to encode parts.
pub(crate) struct PartsContext<'m> {
    pub(crate) encoder: &'m Encoder,
    pub(crate) scratch: &'m mut Scratch,
}

/// Encodes long pieces. Its contents mean nothing between calls; only the memory is reused.
#[derive(Default)]
pub(crate) struct ByParts {
    block: Block,
    ids: BlockIds,
    row: PartIds,
}

/// What is known of the characters and parts of a block.
struct BlockIds {
    /// By character: its packed ids. After a part is done, the ids of the part are at its first character.
    by_character: [u64; N_AT_ONCE],
    kinds: CharacterKinds,
    /// By the first character of a part of three that has become two tokens: these, packed.
    pairs: [u64; N_AT_ONCE],
}

/// Parts of three characters after their first merge, if there was one.
#[derive(Default)]
struct OnceMerged {
    /// A bit for each part that has become two tokens, and for each that has no merge.
    of_two: u64,
    of_three: u64,
}

/// The ids of parts next to each other, and where those of each part begin.
struct PartIds {
    ids: [TokenId; (MAX_CHARACTERS + 1) * MAX_IDS],
    begins: [usize; MAX_CHARACTERS],
}

impl Default for BlockIds {
    fn default() -> Self {
        Self {
            by_character: [0; N_AT_ONCE],
            kinds: CharacterKinds::default(),
            pairs: [0; N_AT_ONCE],
        }
    }
}

impl Default for PartIds {
    fn default() -> Self {
        let ids = [0; (MAX_CHARACTERS + 1) * MAX_IDS];
        Self { ids, begins: [0; MAX_CHARACTERS] }
    }
}

impl ByParts {
    /// Appends the ids of pieces, and to `begins` the index of the first id of each.
    ///
    /// # Errors
    /// As for [`Encoder::encode`]. The ids of earlier parts may have been appended by then.
    pub(crate) fn append(
        &mut self,
        context: &mut PartsContext<'_>,
        pieces: Pieces<'_>,
        begins: &mut Vec<usize>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let Pieces { text, places } = pieces;
        let Some(cuts) = context.encoder.cuts() else {
            return places.iter().try_for_each(|place| {
                begins.push(ids.len());
                context.encoder.encode_part(&text[place.clone()], context.scratch, ids)
            });
        };
        let mut from = Place { piece: 0, at: 0 };
        while from.piece < places.len() {
            let prefetch = |code| context.scratch.characters.prefetch(code);
            let known = (cuts, &context.encoder.symbols);
            let taken = self.block.take(known, pieces, from, prefetch);
            from = match taken {
                Some(next) => {
                    self.append_block(context, pieces, (begins, ids))?;
                    next
                }
                None => append_long(cuts, context, pieces, from, (begins, ids))?,
            };
        }
        Ok(())
    }

    /// Appends the ids of the parts of a block.
    fn append_block(
        &mut self,
        context: &mut PartsContext<'_>,
        pieces: Pieces<'_>,
        (begins, ids): (&mut Vec<usize>, &mut Vec<TokenId>),
    ) -> Result<()> {
        self.look_up(context, pieces.text);
        let others = self.merge_small_parts(context.encoder);
        let mut to_do = self.block.part_starts;
        loop {
            let next = others & to_do;
            let before_next = to_do & (next & next.wrapping_neg()).wrapping_sub(1);
            self.row.append(before_next, &self.ids.by_character, ids);
            if next == 0 {
                break;
            }
            let first = next.trailing_zeros() as usize;
            to_do &= !((2 << first) - 1);
            let end = match to_do {
                0 => self.block.len,
                _ => to_do.trailing_zeros() as usize,
            };
            self.row.begins[first] = ids.len();
            self.append_part(context, pieces, first..end, ids)?;
        }
        begins.extend(bits(self.block.piece_starts).map(|first| self.row.begins[first]));
        Ok(())
    }

    /// Looks up the characters, and prefetches the merges of pairs that are a part.
    fn look_up(&mut self, context: &mut PartsContext<'_>, text: &[u8]) {
        let Self { block, ids: found, .. } = self;
        let characters = &mut context.scratch.characters;
        let all = found.by_character.iter_mut().zip(block.codes());
        all.for_each(|(ids, &code)| *ids = characters.get(code));
        found.classify(block);
        for number in bits(found.kinds.new) {
            let character = &text[block.range(number..number + 1)];
            let code = block.codes()[number];
            found.by_character[number] = characters.found(code, character, context.encoder);
        }
        if found.kinds.new > 0 {
            found.classify(block);
        }
        let single = found.kinds.single;
        for second in bits(!block.part_starts & single & single << 1 & block.apart) {
            context.encoder.merges.prefetch(found.id(second - 1), found.id(second));
        }
    }

    /// Finds the ids of parts of two or three characters that have one id each. Returns a bit for each part whose ids
    /// are not known then.
    fn merge_small_parts(&mut self, encoder: &Encoder) -> u64 {
        let Self { block, ids: found, .. } = self;
        let CharacterKinds { known, single, .. } = found.kinds;
        let parts = block.part_starts;
        let ends = (parts | 1 << block.len) >> 1;
        let of_one = parts & ends & known;
        // Characters of one id whose next character has one id, too.
        let two = single & (single & block.apart) >> 1;
        let of_two = parts & !ends & ends >> 1 & two;
        let of_three = parts & !ends & !(ends >> 1) & ends >> 2 & two & two >> 1;
        // Parts of three come first, so that what they prefetch has arrived when those of two are done.
        let begun = found.merge_threes(encoder, of_three);
        let done = found.merge_pairs(encoder, of_two, |found, number| {
            [number, number + 1].map(|number| found.id(number))
        });
        let done_of_three = found.merge_pairs(encoder, begun.of_two, |found, number| {
            let [left, right, _] = characters::unpacked(found.pairs[number]);
            [left, right]
        });
        parts & !of_one & !(done | begun.of_three | done_of_three)
    }

    /// Appends the ids of a part that belongs to none of the classes.
    fn append_part(
        &self,
        context: &mut PartsContext<'_>,
        pieces: Pieces<'_>,
        part: Range<usize>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        if !self.is_apart(&part) {
            let part = &pieces.text[self.block.range(part)];
            return context.encoder.encode_part(part, context.scratch, ids);
        }
        let scratch = &mut *context.scratch;
        scratch.ids.clear();
        part.for_each(|number| characters::append(self.ids.by_character[number], &mut scratch.ids));
        context.encoder.merge_symbols(scratch, ids)
    }

    /// Whether a part can start from the ids of its characters: each may come first, none is joined in part to the
    /// next, and they are few enough.
    fn is_apart(&self, part: &Range<usize>) -> bool {
        let all = ((1 << part.len()) - 1) << part.start;
        let behind_first = all & (all << 1);
        part.len() <= MAX_SCAN_LEN / MAX_IDS
            && self.ids.kinds.first & all == all
            && self.block.apart & behind_first == behind_first
    }
}

impl BlockIds {
    /// Classifies the characters of a block.
    #[inline]
    fn classify(&mut self, block: &Block) {
        self.kinds = CharacterKinds::of(&self.by_character[..block.len]);
    }

    /// Does the lowest merge of each part of three characters, the leftmost if two are equal, and prefetches the
    /// remaining pair.
    fn merge_threes(&mut self, encoder: &Encoder, parts: u64) -> OnceMerged {
        let mut begun = OnceMerged::default();
        for number in bits(parts) {
            let [a, b, c] = [number, number + 1, number + 2].map(|number| self.id(number));
            let [left, right] = [encoder.merges.get(a, b), encoder.merges.get(b, c)];
            if !left.exists() && !right.exists() {
                begun.of_three |= self.set(number, &[a, b, c]);
                continue;
            }
            let pair = if left.rank <= right.rank { [left.result, c] } else { [a, right.result] };
            encoder.merges.prefetch(pair[0], pair[1]);
            if let Some(packed) = characters::packed(&pair) {
                self.pairs[number] = packed;
                begun.of_two |= 1 << number;
            }
        }
        begun
    }

    /// Merges parts that are two tokens, if a merge joins these. Returns a bit for each part whose ids are known then.
    fn merge_pairs(
        &mut self,
        encoder: &Encoder,
        parts: u64,
        tokens: impl Fn(&Self, usize) -> [TokenId; 2],
    ) -> u64 {
        let mut done = 0;
        for number in bits(parts) {
            let pair = tokens(self, number);
            let merge = encoder.merges.get(pair[0], pair[1]);
            done |= match merge.exists() {
                true => self.set(number, &[merge.result]),
                false => self.set(number, &pair),
            };
        }
        done
    }

    /// Sets the ids of a part; returns its bit if they fit, else 0.
    #[inline]
    fn set(&mut self, number: usize, ids: &[TokenId]) -> u64 {
        characters::packed(ids).map_or(0, |packed| {
            self.by_character[number] = packed;
            1 << number
        })
    }

    /// The first id of a character.
    #[inline]
    fn id(&self, number: usize) -> TokenId {
        characters::unpacked(self.by_character[number])[0]
    }
}

impl PartIds {
    /// Appends the ids of parts by their first characters.
    fn append(&mut self, parts: u64, ids_of: &[u64; N_AT_ONCE], out: &mut Vec<TokenId>) {
        let (n_before, mut n_done) = (out.len(), 0);
        for first in bits(parts) {
            let (Some(&ids), Some(begin)) = (ids_of.get(first), self.begins.get_mut(first)) else {
                break;
            };
            *begin = n_before + n_done;
            // Always writes all packed ids, whatever their number: the next part overwrites the surplus.
            let Some(place) = self.ids.get_mut(n_done..).and_then(<[_]>::first_chunk_mut) else {
                break;
            };
            *place = characters::unpacked(ids);
            n_done += n_ids(ids);
        }
        out.extend_from_slice(&self.ids[..n_done]);
    }
}

/// The positions of the bits that are set.
pub(super) fn bits(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (bits > 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(place)
    })
}

/// Appends the ids of the part at a place, which is longer than a block; returns the place after it.
fn append_long(
    cuts: &Cuts,
    context: &mut PartsContext<'_>,
    pieces: Pieces<'_>,
    from: Place,
    (begins, ids): (&mut Vec<usize>, &mut Vec<TokenId>),
) -> Result<Place> {
    let piece = &pieces.places[from.piece];
    let start = from.at.max(piece.start);
    if start == piece.start {
        begins.push(ids.len());
    }
    let end = cuts.end(&pieces.text[..piece.end], start, &context.encoder.symbols);
    context.encoder.encode_part(&pieces.text[start..end], context.scratch, ids)?;
    Ok(Place { piece: from.piece + usize::from(end == piece.end), at: end })
}

#[cfg(test)]
mod tests;
