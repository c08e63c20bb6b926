//! What training begins with: a vocabulary, and the pieces as its tokens, in shares for threads.
//!
//! Normally these are the alphabet that the pieces need, and the symbols of each piece. Training that continues from an
//! earlier vocabulary begins with that vocabulary as it is, with its holes and names, and with each piece as the
//! earlier tokenizer encodes it. Every id stays; new tokens get the ids after the largest. Encoding gives the
//! segmentation that training by the same merges ends with, so continued training learns the same merges as
//! uninterrupted training. A unit that the earlier alphabet lacks stays apart from its neighbours and gets no id.
//!
//! A vocabulary without ids of its own, such as one from a codes file, is renumbered as in uninterrupted training.
//!
//! If the caller cuts pieces, each part becomes a piece of the row. Marks are those of the whole piece.
//!
//! Shares have about the same number of symbols, and each consists of consecutive pieces. A piece is never divided, so
//! a corpus of one piece has one share. Pieces are in the order of their first occurrence if the tie rule needs it.
//! Linear in the corpus.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use super::limits::{CharacterLimits, LeftOut};
use super::parity::GroupLength;
use super::row::{BARRIER, Row};
use super::share::Share;
use super::{Begin, Cuts, Function, Target, Ties, TrainOptions};
use crate::count::PieceCounts;
use crate::encode::{Encoder, Scratch, Symbols};
use crate::error::{ErrorKind, LARGEST_COUNT, Result};
use crate::parallel::in_parallel;
use crate::units::{Missing, Units};
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// A vocabulary of the alphabet that the pieces need, within limits, and what the limits leave out of it, if there are
/// any.
pub(super) fn alphabet(
    corpora: &[&PieceCounts],
    units: &Units,
    limits: CharacterLimits,
) -> Result<(Vocabulary, Option<LeftOut>)> {
    let (kept, left_out) = limits.kept(corpora)?.unzip();
    let is_kept = |kind: TokenKind, bytes: &[u8]| {
        let Some(kept) = &kept else { return true };
        let character = std::str::from_utf8(bytes).ok().and_then(|text| text.chars().next());
        match (kind, character) {
            (TokenKind::Text(_), Some(character)) => kept.binary_search(&character).is_ok(),
            _ => true, // a byte for fallback, or an end mark
        }
    };
    let mut vocabulary = Vocabulary::new();
    let pieces = corpora.iter().flat_map(|counts| counts.iter());
    for (kind, bytes) in units.alphabet(pieces.map(|(piece, ..)| piece))? {
        if is_kept(kind, &bytes) {
            vocabulary.push(Token { kind, bytes: &bytes })?;
        }
    }
    Ok((vocabulary, left_out))
}

/// A vocabulary to continue from.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Its tokens, names and merges.
    pub vocabulary: Arc<Vocabulary>,
    /// Whether a piece that is a token as a whole becomes that token, whatever the merges give.
    pub ignore_merges: bool,
    /// Whether its ids are kept. If not, the alphabet of the corpus is added to its own and all ids are assigned again,
    /// as in uninterrupted training; then it may only consist of the alphabet and merges.
    pub keeps_ids: bool,
}

impl Earlier {
    /// The vocabulary that training begins with, and what is left out of its alphabet.
    pub(super) fn begin(
        &self,
        corpora: &[&PieceCounts],
        units: &Units,
        limits: CharacterLimits,
    ) -> Result<(Vocabulary, Option<LeftOut>)> {
        if self.keeps_ids {
            return Ok(((*self.vocabulary).clone(), None));
        }
        let (alphabet, left_out) = alphabet(corpora, units, limits)?;
        Ok((renumbered(&self.vocabulary, &alphabet, units)?, left_out))
    }
}

/// The given alphabet together with that of a vocabulary, then the merges of the vocabulary.
fn renumbered(earlier: &Vocabulary, alphabet: &Vocabulary, units: &Units) -> Result<Vocabulary> {
    let symbols = alphabet.iter().map(|(_, token)| (token.kind, token.bytes.to_vec()));
    let mut alphabet: Vec<_> = symbols.collect();
    let is_made: HashSet<_> = earlier.merges().iter().map(|merge| merge.result).collect();
    let known: HashSet<_> = alphabet.iter().cloned().collect();
    let own = earlier.iter().filter(|(id, _)| !is_made.contains(id));
    let own = own.map(|(_, token)| (token.kind, token.bytes.to_vec()));
    let missing: Vec<_> = own.filter(|symbol| !known.contains(symbol)).collect();
    if !missing.is_empty() {
        // In the order of the alphabet of a training on both.
        alphabet.extend(missing);
        alphabet.sort_by_cached_key(|(kind, bytes)| {
            (bytes.is_empty(), units.written(Token { kind: *kind, bytes }).into_owned())
        });
    }
    let mut vocabulary = Vocabulary::new();
    for (kind, bytes) in &alphabet {
        vocabulary.push(Token { kind: *kind, bytes })?;
    }
    for merge in earlier.merges() {
        let left = vocabulary.push(earlier.expect_token(merge.left)?)?;
        let right = vocabulary.push(earlier.expect_token(merge.right)?)?;
        vocabulary.push_merge(left, right)?;
    }
    vocabulary.set_merge_counts(earlier.merge_counts().to_vec());
    Ok(vocabulary)
}

/// Turns pieces into the tokens that training begins with.
enum Segmenter {
    /// The symbols of the alphabet. By id: whether it is a text token.
    Symbols(Box<Symbols>, Vec<bool>),
    /// Tokens of an earlier vocabulary, or of the alphabet if pieces are cut. By id: whether it is a text token that
    /// stands for exactly its text.
    Merged {
        encoder: Arc<Encoder>,
        scratch: Box<Scratch>,
        is_text: Vec<bool>,
        cuts: Option<Function<Cuts>>,
    },
    /// Tokens of an earlier vocabulary as the caller gives them. By id: the new id.
    Given { begin: Function<Begin>, new_ids: Vec<TokenId> },
}

impl Segmenter {
    /// Uses the encoder of the earlier vocabulary, if there is one.
    fn new(
        units: &Units,
        vocabulary: &Vocabulary,
        earlier: Option<&Arc<Encoder>>,
        options: &TrainOptions,
    ) -> Self {
        if let (Some(begin), Some(earlier)) = (&options.begin, &options.resume) {
            let mut new_ids = vec![BARRIER; earlier.vocabulary.len()];
            for (id, token) in earlier.vocabulary.iter() {
                new_ids[id as usize] = vocabulary.id(token).unwrap_or(BARRIER);
            }
            return Self::Given { begin: begin.clone(), new_ids };
        }
        let cuts = options.cuts.as_ref();
        // A unit that the alphabet lacks gets no token, so that its neighbours stay apart.
        let plain = Units { unknown: None, missing: Missing::Error, ..units.clone() };
        let alphabet = || Arc::new(vocabulary.clone());
        let mut is_text = vec![false; vocabulary.len()];
        for (id, token) in vocabulary.iter() {
            is_text[id as usize] = matches!(token.kind, TokenKind::Text(_));
        }
        let encoder = match earlier {
            Some(encoder) => Arc::clone(encoder),
            None if cuts.is_some() => Arc::new(Encoder::new(alphabet(), &plain, false)),
            None => return Self::Symbols(Box::new(Symbols::new(&plain, &alphabet())), is_text),
        };
        mark_unknown(vocabulary, encoder.unknown(), &mut is_text);
        Self::Merged { encoder, scratch: Box::default(), is_text, cuts: cuts.cloned() }
    }

    /// The tokens of a piece, with a barrier for each unit without an id, or for each byte that stands for it.
    fn segment(&mut self, piece: &[u8], tokens: &mut Segmented) -> Result<()> {
        tokens.ids.clear();
        tokens.ends.clear();
        match self {
            Self::Symbols(symbols, is_text) => {
                symbols.push_ids(piece, &mut tokens.ids, |_| Ok(BARRIER))?;
                tokens.set_barriers(is_text);
            }
            Self::Given { begin, new_ids } => {
                let new_id = |id: TokenId| new_ids.get(id as usize).copied();
                let ids = (begin.0)(piece)?.into_iter();
                tokens.ids.extend(ids.map(|id| id.and_then(new_id).unwrap_or(BARRIER)));
            }
            Self::Merged { encoder, scratch, is_text, cuts } => {
                let stranger = TokenId::try_from(is_text.len());
                let stranger = stranger.map_err(|_| ErrorKind::TooManyTokens)?;
                let cuts = cuts.as_ref().map_or(Ok(Vec::new()), |Function(cuts)| cuts(piece))?;
                match cuts[..] {
                    [] => encoder.encode_or(piece, scratch, &mut tokens.ids, |_| Ok(stranger))?,
                    _ => tokens.push_parts(
                        encoder,
                        scratch,
                        &parts(encoder, piece, &cuts, stranger)?,
                    )?,
                }
                tokens.set_barriers(is_text);
            }
        }
        if tokens.ends.is_empty() {
            tokens.ends.push(tokens.ids.len());
        }
        Ok(())
    }
}

/// A piece as tokens, and the end of each of its parts.
#[derive(Default)]
struct Segmented {
    ids: Vec<TokenId>,
    ends: Vec<usize>,
}

impl Segmented {
    /// Appends parts, given as symbols.
    fn push_parts(
        &mut self,
        encoder: &Encoder,
        scratch: &mut Scratch,
        parts: &[Vec<TokenId>],
    ) -> Result<()> {
        for symbols in parts {
            self.ids.extend(encoder.merged(symbols, scratch)?);
            self.ends.push(self.ids.len());
        }
        Ok(())
    }

    /// Replaces all that is no text token.
    fn set_barriers(&mut self, is_text: &[bool]) {
        let others = self.ids.iter_mut().filter(|id| is_text.get(**id as usize) != Some(&true));
        others.for_each(|id| *id = BARRIER);
    }

    fn parts(&self) -> impl Iterator<Item = &[TokenId]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.ids[start..end])
    }
}

/// The symbols of the parts of a piece between cuts. A symbol belongs to the part in which it begins; `stranger` replaces
/// those without an id.
fn parts(
    encoder: &Encoder,
    piece: &[u8],
    cuts: &[usize],
    stranger: TokenId,
) -> Result<Vec<Vec<TokenId>>> {
    let symbols = encoder.symbols_of(piece)?;
    let part = |span: &Range<usize>| cuts.partition_point(|&cut| cut <= span.start);
    let parts = symbols.chunk_by(|(_, one), (_, other)| part(one) == part(other));
    let ids =
        |part: &[(Option<TokenId>, _)]| part.iter().map(|(id, _)| id.unwrap_or(stranger)).collect();
    Ok(parts.map(ids).collect())
}

/// Marks the unknown token, and all that merges make of it, as no text. It stands for units without ids, even if it is
/// also a text token. A token across it would stand for different texts.
fn mark_unknown(vocabulary: &Vocabulary, unknown: Option<TokenId>, is_text: &mut [bool]) {
    let Some(unknown) = unknown else { return };
    let mut holds_unknown = vec![false; is_text.len()];
    holds_unknown[unknown as usize] = true;
    for merge in vocabulary.merges() {
        if holds_unknown[merge.left as usize] || holds_unknown[merge.right as usize] {
            holds_unknown[merge.result as usize] = true;
        }
    }
    for (is_text, holds_unknown) in is_text.iter_mut().zip(holds_unknown) {
        *is_text &= !holds_unknown;
    }
}

/// A smaller share than this, in bytes, gets no thread of its own. In tests even the smallest corpora are shared.
const MIN_SHARE_LEN: usize = if crate::SMALL { 8 } else { 1 << 20 };
/// A row of more bytes of text than this might have more slots than 32 bits can index: each byte makes at most one
/// token, and each piece adds two slots.
const MAX_ROW_BYTES: usize = if crate::SMALL { 128 } else { 1 << 30 };

/// A group or a parallel text as training begins with it.
#[derive(Clone, Default)]
pub(super) struct Begun {
    pub(super) shares: Range<usize>,
    pub(super) n_tokens: i64,
    /// Its length, to compare it with others.
    pub(super) length: GroupLength,
}

/// The shares of groups and parallel texts, in this order.
///
/// # Errors
/// If a piece has more symbols than 32 bits can index, or the weighted number of symbols exceeds 63 bits. No count of a
/// pair is more than that number, so none can overflow later.
pub(super) fn shares(
    corpora: &[&PieceCounts],
    units: &Units,
    vocabulary: &Vocabulary,
    earlier: Option<&Arc<Encoder>>,
    options: &TrainOptions,
) -> Result<(Vec<Share>, Vec<Begun>)> {
    let pieces: Vec<_> = corpora.iter().map(|counts| Pieces::new(counts, options.ties)).collect();
    let n_bytes = |counts: &PieceCounts| counts.distinct_bytes() + counts.len();
    let n_all_bytes: usize = corpora.iter().map(|counts| n_bytes(counts)).sum();
    let mut jobs = Vec::new();
    for (place, (counts, pieces)) in corpora.iter().zip(&pieces).enumerate() {
        let lens = (0..counts.len()).map(|index| pieces.get(index).0.len());
        let n_threads = options.n_threads.saturating_mul(n_bytes(counts)).div_ceil(n_all_bytes);
        jobs.extend(deal(lens, n_threads).into_iter().map(|range| (place, range)));
    }
    let places: Vec<_> = jobs.iter().map(|&(place, _)| place).collect();
    let results = in_parallel(options.n_threads, jobs, |(place, range)| {
        row(&pieces[place], range, Segmenter::new(units, vocabulary, earlier, options))
    });
    let (mut shares, mut begun) = (Vec::new(), vec![Begun::default(); corpora.len()]);
    let mut n_tokens = 0_i64;
    for (result, place) in results.into_iter().zip(places) {
        let (row, n_row_tokens) = result?;
        let too_many = || ErrorKind::Count {
            problem: format!(
                "the pieces, each times its count, have more than {LARGEST_COUNT} symbols; divide all counts by \
                 the same number"
            ),
        };
        n_tokens = n_tokens.checked_add(n_row_tokens).ok_or_else(too_many)?;
        let Begun { shares: range, n_tokens, length } = &mut begun[place];
        *n_tokens += n_row_tokens;
        length.current += n_row_tokens;
        range.start = if range.start == range.end { shares.len() } else { range.start };
        shares.push(Share::new(row));
        range.end = shares.len();
    }
    for (begun, counts) in begun.iter_mut().zip(corpora) {
        begun.length.initial = match earlier.filter(|_| options.parity.is_some()) {
            Some(_) => n_symbols(counts, units, vocabulary)?,
            None => begun.length.current,
        };
    }
    Ok((shares, begun))
}

/// The number of symbols of a corpus.
fn n_symbols(counts: &PieceCounts, units: &Units, vocabulary: &Vocabulary) -> Result<i64> {
    let pieces = Pieces { counts, order: None };
    let anew = TrainOptions::new(Target::Merges(0));
    let segmenter = Segmenter::new(units, vocabulary, None, &anew);
    let (_, n_tokens) = row(&pieces, 0..counts.len(), segmenter)?;
    Ok(n_tokens)
}

/// The pieces, in the order of their first occurrence if the tie rule uses it.
struct Pieces<'c> {
    counts: &'c PieceCounts,
    /// Their indices in that order; `None` if the pieces are in it already.
    order: Option<Vec<usize>>,
}

impl<'c> Pieces<'c> {
    fn new(counts: &'c PieceCounts, ties: Ties) -> Self {
        let order = if ties == Ties::FirstSeen { counts.order_of_firsts() } else { None };
        Self { counts, order }
    }

    fn get(&self, index: usize) -> (&'c [u8], i64) {
        self.counts.get(self.order.as_ref().map_or(index, |order| order[index]))
    }
}

/// Divides pieces of these lengths into ranges of about the same size in bytes, one for each thread.
fn deal(lens: impl Iterator<Item = usize> + Clone, n_threads: usize) -> Vec<Range<usize>> {
    let n_bytes: usize = lens.clone().map(|len| len + 1).sum();
    let n_worth = n_threads.clamp(1, n_bytes / MIN_SHARE_LEN + 1);
    let n_shares = n_worth.max(n_bytes.div_ceil(MAX_ROW_BYTES));
    let share_len = n_bytes.div_ceil(n_shares).max(1);
    let (mut ranges, mut start, mut n_seen, mut n_before) = (Vec::new(), 0, 0, 0);
    let mut n_pieces = 0;
    for (index, len) in lens.enumerate() {
        // A long piece starts a new row if the present one would become too long.
        if start < index && n_seen - n_before + len > MAX_ROW_BYTES {
            ranges.push(start..index);
            (start, n_before) = (index, n_seen);
        }
        n_seen += len + 1;
        n_pieces = index + 1;
        if n_seen >= share_len * (ranges.len() + 1) {
            ranges.push(start..n_pieces);
            (start, n_before) = (n_pieces, n_seen);
        }
    }
    if start < n_pieces {
        ranges.push(start..n_pieces);
    }
    ranges
}

/// The row of some pieces, and the weighted numbers of their tokens and of those without an id.
fn row(pieces: &Pieces<'_>, range: Range<usize>, mut segmenter: Segmenter) -> Result<(Row, i64)> {
    let n_bytes: usize = range.clone().map(|index| pieces.get(index).0.len() + 2).sum();
    let mut row = Row::with_capacity(n_bytes);
    let (mut tokens, mut n_tokens) = (Segmented::default(), 0_i64);
    for (piece, count) in range.map(|index| pieces.get(index)) {
        segmenter.segment(piece, &mut tokens)?;
        tokens.parts().for_each(|part| row.push_piece(part, count));
        let n_symbols = row.n_slots();
        u32::try_from(n_symbols).map_err(|_| ErrorKind::Count {
            problem: format!(
                "the distinct pieces hold {n_symbols} symbols, more than the {} that can be indexed; drop rare \
                 pieces, or split the text into shorter ones",
                u32::MAX
            ),
        })?;
        n_tokens = i64::try_from(tokens.ids.len())
            .ok()
            .and_then(|n| n_tokens.checked_add(n.checked_mul(count)?))
            .ok_or_else(|| ErrorKind::Count {
                problem: format!(
                    "the count of the piece {:?} is {count}, and each occurrence has {} symbols; with the pieces before \
                     it, that makes more than {LARGEST_COUNT} symbols; divide all counts by the same number",
                    String::from_utf8_lossy(piece),
                    tokens.ids.len()
                ),
            })?;
    }
    Ok((row, n_tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_piece_is_dealt_once_and_no_row_is_too_long(
            lens in proptest::collection::vec(1..300_usize, 1..40), n_threads in 0..5_usize,
        ) {
            let ranges = deal(lens.iter().copied(), n_threads);
            let dealt: Vec<_> = ranges.iter().cloned().flatten().collect();
            proptest::prop_assert_eq!(dealt, (0..lens.len()).collect::<Vec<_>>());
            for range in ranges {
                let n_bytes: usize = lens[range.clone()].iter().sum();
                proptest::prop_assert!(range.len() == 1 || n_bytes <= MAX_ROW_BYTES);
            }
        }
    }
}
