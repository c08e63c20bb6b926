//! The ids of long pieces by their parts, some dozen characters of several pieces at a time.
//!
//! Text without spaces is pieces of some dozen characters that hardly ever come again, and parts of one character to
//! three that come again and again. What a part is decides what is done for it, and one guess in four would be wrong: so
//! the parts of a [`Block`] are told apart by words of bits, and each kind is done in a loop of its own:
//!
//! - *One character*: its ids are in a [row by its code](super::characters), once it came.
//! - *Characters that no token joins in part*: each becomes its own ids before anything joins it to another, so the part
//!   is merged from these (the proof is in `docs/explanation/encoding.md`). Two characters take one look-up.
//! - *Others*: from the cache, or merged from bytes.
//!
//! The ids of the first two kinds are written without a branch for each part. Left out: pieces that are a token as a
//! whole, which callers look for where merges are ignored for these. Takes some nanoseconds for each character of a
//! known kind.

use std::ops::Range;

use super::characters::{self, Kinds, MAX_IDS, N_AT_ONCE, n_ids};
use super::cuts::{Block, Cuts, MAX_CHARACTERS, Place, Taken};
use super::{Encoder, MAX_SCAN_LEN, Name, PieceCache, Scratch};
use crate::error::Result;
use crate::vocabulary::TokenId;

/// What parts are encoded with.
pub(crate) struct Means<'m> {
    pub(crate) encoder: &'m Encoder,
    pub(crate) cache: &'m mut PieceCache,
    pub(crate) scratch: &'m mut Scratch,
}

/// Long pieces that the cache was asked for, and will be told.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'p> {
    pub(crate) text: &'p [u8],
    /// In the order of the text.
    pub(crate) places: &'p [Range<usize>],
}

/// Encodes long pieces. Holds nothing but memory.
#[derive(Default)]
pub(crate) struct ByParts {
    block: Block,
    found: Found,
    row: Row,
}

/// What is known of the characters of a block and of its parts.
struct Found {
    /// By character: its ids, and those of parts that are done by their first one; packed.
    ids: [u64; N_AT_ONCE],
    kinds: Kinds,
}

/// Ids of parts in a row, and where they begin.
struct Row {
    ids: [TokenId; (MAX_CHARACTERS + 1) * MAX_IDS],
    begins: [usize; MAX_CHARACTERS],
}

impl Default for Found {
    fn default() -> Self {
        Self { ids: [0; N_AT_ONCE], kinds: Kinds::default() }
    }
}

impl Default for Row {
    fn default() -> Self {
        let ids = [0; (MAX_CHARACTERS + 1) * MAX_IDS];
        Self { ids, begins: [0; MAX_CHARACTERS] }
    }
}

impl ByParts {
    /// Appends the ids of pieces, and to `begins` where those of each begin.
    ///
    /// # Errors
    /// As for [`Encoder::encode`]. Ids of what stands before may have been appended then.
    pub(crate) fn append(
        &mut self,
        means: &mut Means<'_>,
        pieces: Pieces<'_>,
        begins: &mut Vec<usize>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        let Pieces { text, places } = pieces;
        let Some(cuts) = means.encoder.cuts() else {
            return places.iter().try_for_each(|place| {
                begins.push(ids.len());
                means.encoder.encode_part(&text[place.clone()], means.scratch, ids)
            });
        };
        let mut from = Place { piece: 0, at: 0 };
        while from.piece < places.len() {
            let ask_for = |code| means.scratch.characters.ask_for(code);
            let known = (cuts, &means.encoder.symbols);
            let taken = self.block.take(known, (text, places), from, ask_for);
            from = match taken {
                Taken::Parts(next) => {
                    self.append_block(means, pieces, (begins, ids))?;
                    next
                }
                Taken::Nothing => append_long(cuts, means, pieces, from, (begins, ids))?,
            };
        }
        Ok(())
    }

    /// Appends the ids of the parts of a block.
    fn append_block(
        &mut self,
        means: &mut Means<'_>,
        pieces: Pieces<'_>,
        (begins, ids): (&mut Vec<usize>, &mut Vec<TokenId>),
    ) -> Result<()> {
        self.look_up(means, pieces.text);
        let others = self.merge_pairs(means.encoder);
        let mut to_do = self.block.part_starts();
        loop {
            let next = others & to_do;
            let before_next = to_do & (next & next.wrapping_neg()).wrapping_sub(1);
            self.row.append(before_next, &self.found.ids, ids);
            if next == 0 {
                break;
            }
            let first = next.trailing_zeros() as usize;
            to_do &= !((2 << first) - 1);
            let end = match to_do {
                0 => self.block.codes().len(),
                _ => to_do.trailing_zeros() as usize,
            };
            self.row.begins[first] = ids.len();
            self.append_part(means, pieces, first..end, ids)?;
        }
        let mut piece_starts = self.block.piece_starts();
        while piece_starts > 0 {
            begins.push(self.row.begins[piece_starts.trailing_zeros() as usize]);
            piece_starts &= piece_starts - 1;
        }
        Ok(())
    }

    /// Looks characters up, and asks for pairs of them that may be merged.
    fn look_up(&mut self, means: &mut Means<'_>, text: &[u8]) {
        let Self { block, found, .. } = self;
        let characters = &mut means.scratch.characters;
        let all = found.ids.iter_mut().zip(block.codes());
        all.for_each(|(ids, &code)| *ids = characters.get(code));
        found.tell_kinds(block);
        let mut new = found.kinds.new;
        while new > 0 {
            let number = new.trailing_zeros() as usize;
            new &= new - 1;
            let character = &text[block.range(number..number + 1)];
            let code = block.codes()[number];
            found.ids[number] = characters.found(code, character, means.encoder);
        }
        if found.kinds.new > 0 {
            found.tell_kinds(block);
        }
        let single = found.kinds.single;
        let mut joined = !block.part_starts() & single & single << 1 & block.apart();
        while joined > 0 {
            let second = joined.trailing_zeros() as usize;
            joined &= joined - 1;
            means.encoder.merges.ask_for(found.id(second - 1), found.id(second));
        }
    }

    /// Finds the ids of parts that are two characters; a bit for each part that is neither one of them nor a
    /// character that is known.
    fn merge_pairs(&mut self, encoder: &Encoder) -> u64 {
        let Self { block, found, .. } = self;
        let Kinds { known, single, .. } = found.kinds;
        let parts = block.part_starts();
        let ends = (parts | 1 << block.codes().len()) >> 1;
        let of_one = parts & ends & known;
        let of_two = parts & !ends & ends >> 1 & single & (single & block.apart()) >> 1;
        let mut others = parts & !of_one & !of_two;
        let mut pairs = of_two;
        while pairs > 0 {
            let number = pairs.trailing_zeros() as usize;
            pairs &= pairs - 1;
            let [left, right] = [number, number + 1].map(|number| found.id(number));
            let merge = encoder.merges.get(left, right);
            let packed = match merge.exists() {
                true => characters::packed(&[merge.result]),
                false => characters::packed(&[left, right]),
            };
            match packed {
                Some(packed) => found.ids[number] = packed,
                None => others |= 1 << number,
            }
        }
        others
    }

    /// Appends the ids of a part of which no row has them.
    fn append_part(
        &self,
        means: &mut Means<'_>,
        pieces: Pieces<'_>,
        part: Range<usize>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        if !self.is_apart(&part) {
            return append_named(means, pieces, self.block.range(part), ids);
        }
        let scratch = &mut *means.scratch;
        scratch.ids.clear();
        part.for_each(|number| characters::append(self.found.ids[number], &mut scratch.ids));
        means.encoder.merge_symbols(scratch, ids)
    }

    /// Whether each character of a part comes first, and none is joined in part to the next; few enough.
    fn is_apart(&self, part: &Range<usize>) -> bool {
        let all = ((1 << part.len()) - 1) << part.start;
        let behind_first = all & (all << 1);
        part.len() <= MAX_SCAN_LEN / MAX_IDS
            && self.found.kinds.first & all == all
            && self.block.apart() & behind_first == behind_first
    }
}

impl Found {
    /// Tells of what kind the characters of a block are.
    #[inline]
    fn tell_kinds(&mut self, block: &Block) {
        self.kinds = Kinds::of(&self.ids, block.codes().len(), block.kernel());
    }

    /// The first id of a character.
    #[inline]
    fn id(&self, number: usize) -> TokenId {
        characters::unpacked(self.ids[number])[0]
    }
}

impl Row {
    /// Appends the ids of parts by their first characters.
    fn append(&mut self, mut parts: u64, ids_of: &[u64; N_AT_ONCE], out: &mut Vec<TokenId>) {
        let (n_before, mut n_done) = (out.len(), 0);
        while parts > 0 {
            let first = parts.trailing_zeros() as usize;
            parts &= parts - 1;
            let (Some(&ids), Some(begin)) = (ids_of.get(first), self.begins.get_mut(first)) else {
                break;
            };
            *begin = n_before + n_done;
            // All are written, whatever their number: the next part overwrites what does not count.
            let Some(place) = self.ids.get_mut(n_done..).and_then(<[_]>::first_chunk_mut) else {
                break;
            };
            *place = characters::unpacked(ids);
            n_done += n_ids(ids);
        }
        out.extend_from_slice(&self.ids[..n_done]);
    }
}

/// Appends the ids of the part at a place, which is longer than a block; returns where it ends.
fn append_long(
    cuts: &Cuts,
    means: &mut Means<'_>,
    pieces: Pieces<'_>,
    from: Place,
    (begins, ids): (&mut Vec<usize>, &mut Vec<TokenId>),
) -> Result<Place> {
    let piece = &pieces.places[from.piece];
    let start = from.at.max(piece.start);
    if start == piece.start {
        begins.push(ids.len());
    }
    let end = cuts.end(&pieces.text[..piece.end], start, &means.encoder.symbols);
    append_named(means, pieces, start..end, ids)?;
    Ok(Place { piece: from.piece + usize::from(end == piece.end), at: end })
}

/// Appends the ids of a part through the cache.
fn append_named(
    Means { encoder, cache, scratch }: &mut Means<'_>,
    pieces: Pieces<'_>,
    place: Range<usize>,
    ids: &mut Vec<TokenId>,
) -> Result<()> {
    let Pieces { text, places } = pieces;
    let after = places.partition_point(|piece| piece.start <= place.start);
    let is_asked = after > 0 && places[after - 1] == place;
    let name = Name::new(text, place.clone(), encoder.part()).filter(|_| !is_asked).map(Name::rare);
    if name.is_some_and(|name| cache.append(name, ids)) {
        return Ok(());
    }
    let n_before = ids.len();
    encoder.encode_part(&text[place], scratch, ids)?;
    if let Some(name) = name {
        cache.insert(name, &ids[n_before..]);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
