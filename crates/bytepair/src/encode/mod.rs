//! A piece to its token ids, by the merges of a vocabulary.
//!
//! The meaning: starting from the symbols of the piece, merge the neighbouring pair of lowest rank,
//! the leftmost of several, until no pair has a merge. This holds for any list of merges, also where
//! the order of merges is not the order of ids, and where several merges share a rank. `naive` says it
//! in these words; `scan` does it for short pieces, `runs` for those that are mostly one symbol, `tree` for all longer
//! ones, in O(n log n); `stretches` puts very long ones together from parts that overlap;
//! `cuts` makes long ones short where the vocabulary proves that nothing changes, and `characters` leaves
//! out the first merges where it proves that these happen in any case; all ask the table of `merge_table`;
//! `by_parts` does many long pieces at once; `cache` remembers pieces; `spelling` writes a raw piece as the vocabulary has it,
//! `repeated` knows those that are added tokens. `spans` says what of the piece each id stands for, `dropout` leaves merges out by chance,
//! `growing` goes on with a piece that becomes longer, `unmade` finds tokens that no merging gives, `unplaced` those that
//! stand in no piece; `course` writes down every merge on the way.
//!
//! A unit that is not in the vocabulary becomes its bytes where the vocabulary has byte fallback for
//! all of them, else the unknown token, else it is left out or an error (`symbols`).

mod by_parts;
mod cache;
mod characters;
mod course;
mod cuts;
mod dropout;
mod growing;
#[cfg(test)]
mod naive;
mod repeated;
mod runs;
mod scan;
mod spans;
mod spelling;
mod stretches;
mod symbols;
mod tree;
mod unmade;
mod unplaced;

pub(crate) use by_parts::{ByParts, Means, Pieces};
pub(crate) use cache::{Hole, Learned, Name, PieceCache, Place, Whole, put_in};
pub(crate) use course::give_indices;
pub use course::{MergeStep, PieceCourse};
pub use dropout::Dropout;
pub(crate) use dropout::Dropping;
pub(crate) use growing::Growing;
pub(crate) use repeated::Repeated;
pub(crate) use spelling::Spelling;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::error::{ErrorKind, Result};
use crate::memory::ask;
use crate::merge_table::{Merges, NO_MERGE, RankedMerge};
use crate::units::{EndMarkKind, Units};
use crate::vocabulary::{Form, Token, TokenId, TokenKind, Vocabulary};
use characters::Characters;
use cuts::Cuts;
use symbols::Symbols;
use tree::Tree;

/// Longest piece that is merged by scanning, in symbols.
const MAX_SCAN_LEN: usize = 48;

/// Longest piece that may start from characters, in bytes.
const MAX_CHARACTERS_LEN: usize = 3 * MAX_SCAN_LEN;

/// So many times as much a byte matters in a piece that is very long.
const LONG_WEIGHT: usize = 8;

/// Turns pieces into ids. Immutable; what changes lies in [`Scratch`].
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    merges: Merges,
    symbols: Symbols,
    vocabulary: Arc<Vocabulary>,
    /// By the code of a character: the lowest rank of a merge that joins its token. Made when it is first needed.
    first_uses: OnceLock<Vec<u32>>,
    /// Made [with a large tokenizer](Self::prepare), or when [enough](Self::has_parts_for) came that they may matter for; `None`
    /// inside where there are none.
    cuts: OnceLock<Option<Arc<Cuts>>>,
    /// Present where a piece that is a token as a whole is taken without merging.
    whole_pieces: Option<WholePieces>,
    /// Present where pieces come as they stand in a text, and are to be written otherwise.
    spelling: Option<Spelling>,
    /// By id: of how many symbols a token is made. Made when a long piece comes, or one is to grow; `None` inside where
    /// merges give other tokens than their parts put together.
    lengths: OnceLock<Option<Vec<u32>>>,
    /// Added tokens that come as pieces.
    repeated: Vec<Repeated>,
    /// Tokens that no piece is as a whole, wherever that is asked.
    never_whole: HashSet<TokenId>,
}

/// What merging takes for each byte of a very long piece, in bytes: its symbols, their runs, and its ids.
const MERGING_LEN: usize = 12;
/// So many pieces are looked up at once as tokens, at most.
pub(crate) const N_ASKED: usize = 16;

/// What a whole piece may be besides a plain token.
#[derive(Clone, Debug)]
struct WholePieces {
    /// Whether the end mark, a unit of its own, belongs to the piece.
    has_end_mark: bool,
    /// Whether tokens carry marks, which a text may spell out.
    has_marks: bool,
    /// Byte tokens and the unknown token, by the text that spells their names.
    names: HashMap<Vec<u8>, TokenId>,
}

/// For how many bytes of text the parts of a piece matter. A very long piece takes many times as long as its parts.
fn n_worth_cutting(piece: &[u8]) -> usize {
    if piece.is_ascii() {
        return 0;
    }
    if piece.len() > stretches::MIN_LEN {
        return LONG_WEIGHT * piece.len();
    }
    let n_others = piece.iter().filter(|byte| !byte.is_ascii()).count();
    if n_others * 2 > piece.len() { n_others } else { 0 }
}

/// Memory that is used again from piece to piece.
#[derive(Default)]
pub(crate) struct Scratch {
    ids: Vec<TokenId>,
    row: scan::Row,
    /// Bytes of pieces that may be worth cutting, that came before there were cuts.
    n_bytes: usize,
    /// What is known of them. Belongs to one tokenizer.
    characters: Characters,
    runs: runs::RunScratch,
    tree: Tree,
}

impl Encoder {
    pub(crate) fn new(vocabulary: Arc<Vocabulary>, units: &Units, ignore_merges: bool) -> Self {
        let symbols = Symbols::new(units, &vocabulary);
        Self {
            merges: Merges::new(&vocabulary),
            symbols,
            first_uses: OnceLock::new(),
            whole_pieces: ignore_merges.then(|| WholePieces::new(units, &vocabulary)),
            vocabulary,
            cuts: OnceLock::new(),
            lengths: OnceLock::new(),
            spelling: None,
            repeated: Vec::new(),
            never_whole: HashSet::new(),
        }
    }

    /// The same for texts that may come before a character of them is written otherwise. None that comes afterwards
    /// has it.
    pub(crate) fn of_raw_texts(self, spelling: Option<Spelling>) -> Self {
        Self { spelling, ..self }
    }

    /// The same for pieces that may be these added tokens.
    pub(crate) fn of_repeated(self, repeated: Vec<Repeated>) -> Self {
        Self { repeated, ..self }
    }

    /// The same where a piece that is written as one of these tokens is not that token but what merges make of it.
    pub(crate) fn without_whole(self, never_whole: HashSet<TokenId>) -> Self {
        Self { never_whole, ..self }
    }

    /// Whether a piece stands in the text as the vocabulary has it.
    #[inline]
    pub(crate) fn is_spelled(&self, piece: &[u8]) -> bool {
        self.spelling.as_ref().is_none_or(|spelling| !piece.contains(&spelling.from))
    }

    /// A piece as the vocabulary has it, if it stands otherwise in the text.
    #[inline]
    pub(crate) fn spelled(&self, piece: &[u8]) -> Option<Vec<u8>> {
        self.spelling.as_ref()?.of(piece)
    }

    /// Calls `encode_part` with each of the [parts](Self::parts) of a long piece, or appends the token that the piece
    /// is as a whole.
    pub(crate) fn for_each_part(
        &self,
        piece: &[u8],
        out: &mut Vec<TokenId>,
        mut encode_part: impl FnMut(Range<usize>, &mut Vec<TokenId>) -> Result<()>,
    ) -> Result<()> {
        if let Some(id) = self.whole_token(piece) {
            out.push(id);
            return Ok(());
        }
        self.parts(piece).try_for_each(|part| encode_part(part, out))
    }

    /// Appends the ids of a part of a piece, whatever the whole piece is.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn encode_part(
        &self,
        part: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        self.merge(part, scratch, out, |symbol| self.unknown_unit(symbol))
    }

    /// Whether parts of a piece are known, or worth finding out: what is made once for all pays where pieces are mostly
    /// other characters than ASCII, or some and very long, as in vocabularies that write each space as such a one.
    #[inline]
    pub(crate) fn has_parts_for(&self, piece: &[u8], scratch: &Scratch) -> bool {
        if !self.may_be_cut(piece) {
            return false;
        }
        if let Some(cuts) = self.cuts.get() {
            return cuts.is_some();
        }
        // To make them takes some ten nanoseconds for each merge, and a byte gains as much.
        let n_bytes = scratch.n_bytes + n_worth_cutting(piece);
        2 * n_bytes > self.vocabulary.n_merges() && self.cuts().is_some()
    }

    /// Whether each byte of a piece is a symbol, where symbols are bytes: one that is left out makes neighbours of those
    /// around it.
    #[inline]
    fn may_be_cut(&self, piece: &[u8]) -> bool {
        !self.symbols.are_bytes() || self.symbols.are_bytes_of(piece)
    }

    /// The parts of a long piece that can be encoded on their own, by [`Self::encode_part`].
    pub(crate) fn parts<'p>(&'p self, piece: &'p [u8]) -> impl Iterator<Item = Range<usize>> + 'p {
        let cuts = self.cuts().filter(|_| self.may_be_cut(piece));
        let mut start = 0;
        std::iter::from_fn(move || {
            let end = match cuts {
                _ if start >= piece.len() => return None,
                Some(cuts) => cuts.end(piece, start, &self.symbols),
                None => piece.len(),
            };
            Some(std::mem::replace(&mut start, end)..end)
        })
    }

    /// Whether the ids of a piece are those of its parts before and behind a place, whatever stands around the
    /// characters there.
    pub(crate) fn is_cut(&self, piece: &[u8], place: usize) -> bool {
        !self.takes_whole_pieces()
            && self.may_be_cut(piece)
            && self.cuts().is_some_and(|cuts| cuts.is_cut(piece, place, &self.symbols))
    }

    /// All pairs of characters that are not proven to be cut apart wherever they stand; `None` where nothing is proven.
    pub(crate) fn joined_pairs(&self) -> Option<HashSet<(char, char)>> {
        let is_proven = !self.symbols.units().is_bytes()
            && !self.takes_whole_pieces()
            && self.cuts().is_some_and(|cuts| !cuts.must_be_known());
        if is_proven { cuts::joined_pairs(&self.vocabulary) } else { None }
    }

    /// Whether a piece may have units that nothing in the vocabulary stands for.
    pub(crate) fn may_miss(&self) -> bool {
        self.symbols.may_miss()
    }

    /// Whether there is any such place.
    pub(crate) fn has_cuts(&self) -> bool {
        !self.takes_whole_pieces() && self.cuts().is_some()
    }

    /// Whether a piece may have other ids as a whole than as a part of another.
    pub(crate) fn takes_whole_pieces(&self) -> bool {
        self.whole_pieces.is_some()
    }

    /// What parts of pieces are named as.
    fn part(&self) -> Whole {
        if self.takes_whole_pieces() { Whole::Part } else { Whole::Piece }
    }

    /// Threads that come at the same time each make them, and nobody waits for that: a process may be forked
    /// off meanwhile.
    fn cuts(&self) -> Option<&Cuts> {
        if self.cuts.get().is_none() {
            drop(self.cuts.set(Cuts::new(&self.vocabulary, &self.symbols).map(Arc::new)));
        }
        self.cuts.get()?.as_deref()
    }

    /// What says which characters a piece may start from instead of bytes, if that may matter.
    #[inline]
    fn cuts_for(&self, piece: &[u8], scratch: &Scratch) -> Option<&Cuts> {
        let is_for_it = piece.len() <= MAX_CHARACTERS_LEN && self.symbols.are_bytes();
        if !is_for_it || piece.is_ascii() || !self.has_parts_for(piece, scratch) {
            return None;
        }
        self.cuts()
    }

    /// Appends the ids of a piece.
    ///
    /// # Errors
    /// Where a unit is not in the vocabulary and nothing stands for it, or a piece of characters is not
    /// UTF-8. Ids of what stands before may have been appended then.
    pub(crate) fn encode(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        if piece.len() <= MAX_SCAN_LEN || !self.has_parts_for(piece, scratch) {
            return self.encode_or(piece, scratch, out, |symbol| self.unknown_unit(symbol));
        }
        self.for_each_part(piece, out, |part, out| self.encode_part(&piece[part], scratch, out))
    }

    /// Appends the ids of a piece, some merges left out by chance. Takes no notice of whole pieces.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn encode_dropout(
        &self,
        piece: &[u8],
        dropping: &mut Dropping,
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        ask(piece.len().saturating_mul(tree::BYTES_PER_SYMBOL))?;
        scratch.ids.clear();
        self.symbols.push_ids(piece, &mut scratch.ids, |symbol| self.unknown_unit(symbol))?;
        dropout::merge(&self.merges, &scratch.ids, dropping, &mut scratch.tree)?;
        out.extend(scratch.tree.tokens().map(|(_, id)| id));
        scratch.tree.shrink();
        Ok(())
    }

    fn unknown_unit(&self, symbol: Token<'_>) -> Result<TokenId> {
        let unit = String::from_utf8_lossy(&self.symbols.units().written(symbol)).into_owned();
        Err(ErrorKind::UnknownUnit { unit }.into())
    }

    /// The same, with an id from `stranger` for each unit that nothing in the vocabulary stands for.
    pub(crate) fn encode_or<'p>(
        &self,
        piece: &'p [u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
        stranger: impl FnMut(Token<'p>) -> Result<TokenId>,
    ) -> Result<()> {
        if let Some(id) = self.whole_token(piece) {
            out.push(id);
            return Ok(());
        }
        self.merge(piece, scratch, out, stranger)
    }

    fn merge<'p>(
        &self,
        piece: &'p [u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
        stranger: impl FnMut(Token<'p>) -> Result<TokenId>,
    ) -> Result<()> {
        ask(piece.len().saturating_mul(MERGING_LEN))?;
        scratch.ids.clear();
        let cuts = self.cuts_for(piece, scratch);
        if self.cuts.get().is_none() {
            scratch.n_bytes += n_worth_cutting(piece);
        }
        match cuts {
            Some(cuts) => {
                let Scratch { characters, ids, .. } = scratch;
                self.push_characters(cuts, piece, (characters, ids));
            }
            None => self.symbols.push_ids(piece, &mut scratch.ids, stranger)?,
        }
        self.merge_symbols(scratch, out)
    }

    /// Appends what `scratch.ids` are merged to.
    fn merge_symbols(&self, scratch: &mut Scratch, out: &mut Vec<TokenId>) -> Result<()> {
        if runs::merge(&self.merges, &scratch.ids, &mut scratch.runs, out) {
            return Ok(());
        }
        if scratch.ids.len() <= MAX_SCAN_LEN {
            scan::merge(&self.merges, scratch);
            out.extend_from_slice(&scratch.ids);
            return Ok(());
        }
        let Scratch { ids, tree, .. } = scratch;
        let lengths = if ids.len() > stretches::MIN_LEN { self.lengths() } else { None };
        let Some(lengths) = lengths else {
            ask(ids.len().saturating_mul(tree::BYTES_PER_SYMBOL))?;
            return tree::merge(&self.merges, ids, tree, out);
        };
        let length = |id: TokenId| lengths.get(id as usize).map_or(1, |&length| length as usize);
        let merge =
            |ids: &[TokenId], out: &mut Vec<TokenId>| tree::merge(&self.merges, ids, tree, out);
        stretches::merge(ids, stretches::LENS, length, merge, out)
    }

    /// The token that a piece is as a whole: an added one, or any where merges are ignored for such pieces.
    #[inline]
    pub(crate) fn whole_token(&self, piece: &[u8]) -> Option<TokenId> {
        if let Some(id) = self.repeated.iter().find_map(|repeated| repeated.token(piece)) {
            return Some(id);
        }
        let whole_pieces = self.whole_pieces.as_ref()?;
        let id = self.vocabulary.id(whole_pieces.token(piece));
        let id = id.or_else(|| self.spelled_token(whole_pieces, piece));
        id.filter(|id| self.never_whole.is_empty() || !self.never_whole.contains(id))
    }

    /// Asks for what tells whether pieces are tokens, of some at once: one alone waits for memory four times.
    pub(crate) fn ask_for_whole_tokens<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>) {
        let Some(whole_pieces) = &self.whole_pieces else { return };
        let mut ids = [None; N_ASKED];
        for (id, piece) in ids.iter_mut().zip(pieces) {
            *id = self.vocabulary.likely_id(whole_pieces.token(piece));
        }
        ids.into_iter().flatten().for_each(|id| self.vocabulary.ask_for(id));
        ids.into_iter().flatten().for_each(|id| self.vocabulary.ask_for_bytes(id));
    }

    /// The token whose marks or name the piece spells out.
    fn spelled_token(&self, whole_pieces: &WholePieces, piece: &[u8]) -> Option<TokenId> {
        let marked = match whole_pieces.has_marks {
            true => self.symbols.units().readings(piece),
            false => [None; 4],
        };
        let marked = marked.into_iter().rev().flatten().find_map(|token| self.vocabulary.id(token));
        match whole_pieces.names.is_empty() {
            true => marked,
            false => marked.or_else(|| whole_pieces.names.get(piece).copied()),
        }
    }
}

impl WholePieces {
    /// What a piece is as a whole.
    #[inline]
    fn token<'p>(&self, piece: &'p [u8]) -> Token<'p> {
        let form = Form { continues: false, ends: self.has_end_mark };
        Token { kind: TokenKind::Text(form), bytes: piece }
    }

    /// Added tokens are left out: where they are not cut out of the text, they are plain text.
    fn new(units: &Units, vocabulary: &Vocabulary) -> Self {
        let has_end_mark = units.end_mark_kind() == Some(EndMarkKind::Unit);
        let is_name = |token: Token<'_>| matches!(token.kind, TokenKind::Byte | TokenKind::Unknown);
        let named = vocabulary.iter().filter(|&(_, token)| is_name(token) && !has_end_mark);
        let spelled = |(id, token)| {
            let name = units.written(token);
            Some((units.text_of_name(std::str::from_utf8(&name).ok()?)?.into_owned(), id))
        };
        Self {
            has_end_mark,
            has_marks: !has_end_mark
                && (units.end_mark.is_some() || units.continuing_prefix.is_some()),
            names: named.filter_map(spelled).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
