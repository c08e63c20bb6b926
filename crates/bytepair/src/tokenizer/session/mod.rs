//! A text that grows and changes, with its ids, which are always those of the whole text.
//!
//! ```text
//! settled text, in blocks | tail
//! ```
//!
//! The tail begins at the last place where a cut changes nothing, whatever follows (`cutting`); usually it is a word.
//! So no continuation changes the settled ids. What is appended is encoded with the tail, and costs what encoding these
//! takes, however long the text is. If the tail is one long piece that goes on, only its last ids are recomputed
//! (`growth`). After an edit, the text between the nearest borders of blocks is encoded again (`settled`).
//!
//! A tokenizer that supports neither cuts nor growth keeps the whole text as its tail, and encodes it each time:
//! [`Session::explain`] says why. Bytes at the end that only begin a character wait for the rest of it.
//!
//! Memory is that of the text, its ids and a few bytes more for each block. A session that keeps no ids has only the
//! tail: it counts, and cannot be edited.

mod growth;
mod settled;

use std::ops::Range;
use std::sync::Arc;

use self::growth::Growth;
use self::settled::{BLOCK_LEN, Block, Border, Settled, n_characters};
use super::call::{Call, Rules};
use super::stream::stretch_end;
use super::{EncodeOptions, Tokenizer};
use crate::error::{Error, Result};
use crate::patch::{Patch, common_prefix, common_suffix};
use crate::segment::Segment;
use crate::vocabulary::TokenId;

/// Whether a place is a cut depends on fewer than this many bytes around it, which hold three characters.
const REACH: usize = 16;

/// A growing text and its ids.
///
/// ```
/// # use bytepair::{EncodeOptions, Parts, Session, Tokenizer};
/// # use bytepair::units::{ByteIds, Units};
/// # use bytepair::vocabulary::{Token, Vocabulary};
/// # use std::sync::Arc;
/// # let mut vocabulary = Vocabulary::new();
/// # for byte in 0..=255 { vocabulary.push(Token::plain(&[byte]))?; }
/// # vocabulary.push_merge(u32::from(b'a'), u32::from(b'b'))?;
/// # let parts = Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary));
/// let tokenizer = Arc::new(Tokenizer::new(parts)?);
/// let mut session = Session::new(tokenizer, EncodeOptions::default(), true)?;
/// assert_eq!(session.append(b"ca")?.ids, [99, 97]);
/// let patch = session.append(b"b")?; // the last id becomes that of "ab"
/// assert_eq!((patch.keep, patch.ids), (1, vec![256]));
/// assert_eq!(session.ids()?, [99, 256]);
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    tokenizer: Arc<Tokenizer>,
    rules: Rules,
    settled: Settled,
    /// The text after the settled one, and its ids.
    tail: Block,
    /// Present if the tail is long and may grow by itself.
    growth: Option<Box<Growth>>,
    /// The beginning of a character.
    held: Vec<u8>,
}

impl Session {
    /// A session of an empty text. Of the options, only those about special tokens in the text are used.
    ///
    /// # Errors
    /// If a name is no special token.
    pub fn new(
        tokenizer: Arc<Tokenizer>,
        options: EncodeOptions<'_>,
        keeps_ids: bool,
    ) -> Result<Self> {
        let rules = tokenizer.call(options)?.into_rules();
        Ok(Self {
            rules,
            tokenizer: tokenizer.shared_of(options.added_tokens),
            settled: Settled { is_kept: keeps_ids, ..Settled::default() },
            tail: Block::default(),
            growth: None,
            held: Vec::new(),
        })
    }

    /// Continues from the [state](Self::state) of another session, in a new one with the same options.
    ///
    /// # Errors
    /// As for [`Self::append`].
    pub fn restore(&mut self, begun: [usize; 3], text: &[u8], held: &[u8]) -> Result<()> {
        let [bytes, characters, ids] = begun;
        self.settled.end = Border { blocks: 0, bytes, characters, ids };
        self.extend(text)?;
        self.held = held.to_vec();
        Ok(())
    }

    /// How many bytes, characters and ids are not kept, and the text after them, without bytes that wait.
    pub fn state(&self) -> ([usize; 3], Vec<u8>) {
        let Border { bytes, characters, ids, .. } = self.settled.end;
        let begun = if self.settled.is_kept { [0; 3] } else { [bytes, characters, ids] };
        (begun, self.kept_text())
    }

    /// The number of ids.
    pub fn n_ids(&self) -> usize {
        self.settled.end.ids + self.tail.ids.len()
    }

    /// The number of ids that no continuation can change. They are the first ones.
    pub fn n_stable(&self) -> usize {
        self.settled.end.ids
    }

    /// The length of the text, in bytes, without bytes that wait.
    pub fn n_bytes(&self) -> usize {
        self.settled.end.bytes + self.tail.text.len()
    }

    /// The length of the text, in characters, without bytes that wait.
    fn n_characters(&self) -> usize {
        self.settled.end.characters + n_characters(&self.tail.text)
    }

    /// The place in bytes of a place in characters; the end of the text if it has not as many.
    fn byte_place(&self, character: usize) -> usize {
        let border = self.settled.last_with(|border| border.characters <= character);
        let text = self.parts_from(border.blocks).next().unwrap_or_default();
        let begins = |(_, byte): &(usize, &u8)| **byte & 0xC0 != 0x80;
        let start = text.iter().enumerate().filter(begins).nth(character - border.characters);
        border.bytes + start.map_or(text.len(), |(place, _)| place)
    }

    /// Bytes at the end that only begin a character. They have no ids yet.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// The ids.
    ///
    /// # Errors
    /// If the session keeps none.
    pub fn ids(&self) -> Result<Vec<TokenId>> {
        self.check_kept().map(|()| self.ids_from(0))
    }

    /// The text, without bytes that wait.
    ///
    /// # Errors
    /// If the session keeps no ids.
    pub fn text(&self) -> Result<Vec<u8>> {
        self.check_kept().map(|()| self.kept_text())
    }

    /// Why nothing, or only less, can be settled before the end of a text; `None` if cuts are found.
    pub fn explain(&self) -> Option<&'static str> {
        self.tokenizer.why_uncut()
    }

    /// Appends a text.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`] of the whole text. The session is then unchanged.
    pub fn append(&mut self, text: &[u8]) -> Result<Patch> {
        let text = [&self.held, text].concat();
        let held = begun_character(&text);
        let patch = self.extend(&text[..text.len() - held])?;
        self.held = text[text.len() - held..].to_vec();
        Ok(patch)
    }

    /// Encodes bytes that wait as they are, since nothing follows.
    ///
    /// # Errors
    /// As for [`Self::append`].
    pub fn finish(&mut self) -> Result<Patch> {
        let patch = self.extend(&self.held.clone())?;
        self.held.clear();
        Ok(patch)
    }

    /// Puts a text in the place of a range of bytes.
    ///
    /// # Errors
    /// If the range is not in the text, the session keeps no ids, or as for [`Self::append`].
    pub fn replace(&mut self, range: Range<usize>, text: &[u8]) -> Result<Patch> {
        self.check_kept()?;
        let n_bytes = self.n_bytes();
        check_within(&range, n_bytes, "bytes")?;
        let start = self.settled.last_with(|border| border.bytes + REACH <= range.start);
        let end = self.settled.first_from(range.end + REACH);
        let before = self.bytes(start.bytes..range.start);
        let stop = end.map_or(n_bytes, |end| end.bytes);
        let text = [&before, text, &self.bytes(range.end..stop)].concat();
        match end {
            Some(end) => self.replace_blocks([start, end], &text),
            None => self.replace_end(start, &text, range.end == n_bytes),
        }
    }

    /// Puts a text in the place of a range of characters.
    ///
    /// # Errors
    /// As for [`Self::replace`].
    pub fn replace_characters(&mut self, range: Range<usize>, text: &[u8]) -> Result<Patch> {
        check_within(&range, self.n_characters(), "characters")?;
        self.replace(self.byte_place(range.start)..self.byte_place(range.end), text)
    }

    /// Makes the text another one. Only the part that differs is encoded; finding it takes a comparison of the texts.
    ///
    /// # Errors
    /// If the session keeps no ids, or as for [`Self::append`].
    pub fn update(&mut self, text: &[u8]) -> Result<Patch> {
        let old = self.text()?;
        let (whole, held) = text.split_at(text.len() - begun_character(text));
        let n_same = common_prefix(&old, whole);
        let n_same_behind = common_suffix(&old[n_same..], &whole[n_same..]);
        let middle = &whole[n_same..whole.len() - n_same_behind];
        let patch = self.replace(n_same..old.len() - n_same_behind, middle)?;
        self.held = held.to_vec();
        Ok(patch)
    }

    /// Appends whole characters, or bytes at the end of the text.
    fn extend(&mut self, text: &[u8]) -> Result<Patch> {
        if text.is_empty() {
            return Ok(Patch { keep: self.n_ids(), ..Patch::default() });
        }
        let n_before = self.tail.text.len();
        self.tail.text.extend_from_slice(text);
        let new = n_before.saturating_sub(REACH)..self.tail.text.len();
        let cut = self.tokenizer.last_cut_of_ids(&self.tail.text, new).unwrap_or(0);
        let growth = self.growth.take().filter(|_| cut == 0);
        if let Some(mut growth) = growth
            && let Some(grown) = growth.append(&self.tokenizer, &self.tail.text, n_before)
        {
            self.growth = Some(growth);
            let keep = self.settled.end.ids + grown.keep;
            let old = self.tail.ids.split_off(grown.keep);
            self.tail.ids.extend_from_slice(&grown.ids);
            return Ok(Patch::at_end(keep, &old, &grown.ids));
        }
        let (settled, tail) = match self.encoded(cut) {
            Ok(encoded) => encoded,
            Err(error) => {
                let error = self.call().first_error(&self.tail.text, error);
                self.tail.text.truncate(n_before);
                return Err(error.moved_by(self.settled.end.bytes as u64));
            }
        };
        let new = settled.iter().flat_map(|block| &block.ids).chain(&tail);
        let new: Vec<_> = new.copied().collect();
        let patch = Patch::at_end(self.settled.end.ids, &self.tail.ids, &new);
        self.settled.extend(settled);
        self.tail.text.drain(..cut);
        self.tail.ids = tail;
        self.growth = self.grown().map(Box::new);
        Ok(patch)
    }

    /// The tail before a cut, in blocks, and the ids of the tail after it.
    fn encoded(&self, cut: usize) -> Result<(Vec<Block>, Vec<TokenId>)> {
        let tail = self.tail_segment();
        let settled = self.blocks_of(tail.part(0..cut))?;
        let ids = self.call().ids_of_stretch(tail.rest(cut));
        Ok((settled, ids.map_err(|error| error.moved_by(cut as u64))?))
    }

    /// A part of the text between cuts, in blocks.
    fn blocks_of(&self, part: Segment<'_>) -> Result<Vec<Block>> {
        let (call, mut rest, mut blocks) = (self.call(), part, Vec::new());
        let last_cut = |text: &[u8], range| self.tokenizer.last_cut_of_ids(text, range);
        while !rest.text.is_empty() {
            let end = stretch_end(rest.text, BLOCK_LEN, last_cut);
            let start = part.text.len() - rest.text.len();
            let ids = call.ids_of_stretch(rest.part(0..end));
            let ids = ids.map_err(|error| error.moved_by(start as u64))?;
            blocks.push(Block { text: rest.text[..end].to_vec(), ids });
            rest = rest.rest(end);
        }
        Ok(blocks)
    }

    /// Puts a text between two borders. Both stay cuts, since the characters around them are as before.
    fn replace_blocks(&mut self, [start, end]: [Border; 2], text: &[u8]) -> Result<Patch> {
        let is_begun = start.bytes > 0;
        let part = Segment { is_first: !is_begun, is_rest: is_begun, ..Segment::inner(text) };
        let blocks = self
            .blocks_of(part)
            .map_err(|error| self.call().first_error(text, error).moved_by(start.bytes as u64))?;
        let old = self.settled.blocks_from(start.blocks).take(end.blocks - start.blocks);
        let old: Vec<_> = old.flat_map(|block| &block.ids).copied().collect();
        let new: Vec<_> = blocks.iter().flat_map(|block| &block.ids).copied().collect();
        let patch = Patch::within(start.ids, &old, &new, self.n_ids() - end.ids);
        self.settled.replace([start, end], blocks);
        Ok(patch)
    }

    /// Puts a text behind a border, in the place of all that is there. `is_new` says whether the
    /// text ends with what is new.
    fn replace_end(&mut self, start: Border, text: &[u8], is_new: bool) -> Result<Patch> {
        let old = self.ids_from(start.blocks);
        let mut changed = Self { tail: Block::default(), growth: None, ..self.clone() };
        changed.settled.truncate(start);
        let patch = changed.extend(text)?;
        *self = changed;
        Ok(match is_new {
            true => Patch::at_end(start.ids, &old, &patch.ids),
            false => Patch::within(start.ids, &old, &patch.ids, 0),
        })
    }

    fn check_kept(&self) -> Result<()> {
        if self.settled.is_kept {
            return Ok(());
        }
        let problem =
            "must be true: a session that keeps no ids only counts those of a text that grows";
        Err(Error::option("keep_ids", problem))
    }

    /// The text; the tail alone if the session keeps no ids.
    fn kept_text(&self) -> Vec<u8> {
        self.parts_from(0).collect::<Vec<_>>().concat()
    }

    /// The text of each block from one on, and the tail.
    fn parts_from(&self, block: usize) -> impl Iterator<Item = &[u8]> {
        let blocks = self.settled.blocks_from(block).map(|block| block.text.as_slice());
        blocks.chain([self.tail.text.as_slice()])
    }

    /// The ids of each block from one on, and of the tail.
    fn ids_from(&self, block: usize) -> Vec<TokenId> {
        let blocks = self.settled.blocks_from(block).flat_map(|block| &block.ids);
        blocks.chain(&self.tail.ids).copied().collect()
    }

    /// A range of the text.
    fn bytes(&self, range: Range<usize>) -> Vec<u8> {
        let begin = self.settled.last_with(|border| border.bytes <= range.start);
        let behind = self.parts_from(begin.blocks).flatten().skip(range.start - begin.bytes);
        behind.take(range.len()).copied().collect()
    }

    /// The state of a piece that may grow by itself; `None` where disallowed tokens are looked for.
    fn grown(&self) -> Option<Growth> {
        let is_possible = self.rules.disallowed.is_none();
        is_possible
            .then(|| Growth::new(&self.tokenizer, self.tail_segment(), self.tail.ids.len()))?
    }

    fn call(&self) -> Call<'_> {
        Call::by_rules(&self.tokenizer, &self.rules)
    }

    /// The tail, as a part of the whole text.
    fn tail_segment(&self) -> Segment<'_> {
        let is_begun = self.settled.end.bytes > 0;
        Segment { is_first: !is_begun, is_rest: is_begun, ..Segment::whole(&self.tail.text) }
    }
}

fn check_within(range: &Range<usize>, n: usize, unit: &str) -> Result<()> {
    if range.start <= range.end && range.end <= n {
        return Ok(());
    }
    let problem = format!("{} to {} is not in a text of {n} {unit}", range.start, range.end);
    Err(Error::option("start", problem))
}

/// How many bytes at the end of a text begin a character and do not complete it.
pub(super) fn begun_character(text: &[u8]) -> usize {
    let end = &text[text.len() - text.len().min(3)..];
    let Some(last) = end.utf8_chunks().last() else { return 0 };
    let invalid = last.invalid();
    let is_begun = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
    if is_begun { invalid.len() } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::growth::MIN_LEN;
    use super::*;
    use crate::added::Specials;
    use crate::test_support::{bytes_vocabulary, pattern};
    use crate::tokenizer::Parts;
    use crate::units::{ByteIds, Units};
    use bytepair_split::unicode::UnicodeTables;
    use bytepair_split::{Behaviour, Flavour, Splitter, Stage};

    /// Bytes, a few merges, and the special token `<s>`, after these stages.
    fn tokenizer(patterns: &[&str], behaviour: Behaviour) -> Arc<Tokenizer> {
        let mut vocabulary = bytes_vocabulary();
        let [a, b, one, two] = [b'a', b'b', b'1', b'2'].map(TokenId::from);
        // The last two join 中 and 文 in part.
        let parts = [(0xAD, 0xE6), (0x87, 0xE4)];
        let merges = [(a, b), (256, 256), (one, two), (a, a), (b, b)];
        for (left, right) in merges.into_iter().chain(parts) {
            vocabulary.push_merge(left, right).unwrap();
        }
        let stage = |source: &&str| Stage {
            pattern: pattern(source, Flavour::Oniguruma),
            behaviour,
            invert: false,
        };
        let stages = patterns.iter().map(stage).collect();
        let parts = Parts {
            pre_tokenizer: Splitter::new(stages, &UnicodeTables::latest()).unwrap().into(),
            ..Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary))
        };
        let special = [("<s>".to_owned(), None)];
        Arc::new(Tokenizer::new(parts).unwrap().with_special_tokens(&special).unwrap())
    }

    const NUMBERS_FIRST: [&str; 3] = [r"\p{N}{1,3}", "[一-龥]+", r"[!-/][A-Za-z]+|\s?\p{L}+|."];

    /// Appends each part to a long word, and compares with encoding the whole text.
    fn grow_by<'p>(
        tokenizer: &Arc<Tokenizer>,
        options: EncodeOptions<'_>,
        word: &str,
        parts: impl IntoIterator<Item = &'p str>,
    ) {
        let mut session = Session::new(Arc::clone(tokenizer), options, true).unwrap();
        let mut text = word.repeat(MIN_LEN + 5);
        session.append(text.as_bytes()).unwrap();
        for part in parts {
            let may_grow = matches!(options.disallowed_special, Specials::None);
            assert_eq!(session.growth.is_some(), may_grow, "{word}");
            text.push_str(part);
            session.append(part.as_bytes()).unwrap();
            assert_eq!(
                session.ids().unwrap(),
                tokenizer.encode(text.as_bytes(), options).unwrap(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_word_grows_in_several_stages_and_where_nothing_matches() {
        let cases: [(&[&str], Behaviour, &str); 8] = [
            (&NUMBERS_FIRST, Behaviour::Isolated, "ab"),
            (&NUMBERS_FIRST, Behaviour::Isolated, "中文"),
            (&[r"\p{N}+"], Behaviour::Isolated, "ab"),
            (&[r"\p{N}+"], Behaviour::Removed, "ab"),
            (&[r"\p{N}+"], Behaviour::Contiguous, "ab"),
            (&[r"\p{N}"], Behaviour::MergedWithPrevious, "ab"),
            (&[r"\p{L}+"], Behaviour::MergedWithNext, "ab"),
            (&[r"\p{N}+", "a+|b"], Behaviour::Isolated, "a"),
        ];
        for (patterns, behaviour, word) in cases {
            let tokenizer = tokenizer(patterns, behaviour);
            for disallowed_special in [Specials::None, Specials::All] {
                let options = EncodeOptions { disallowed_special, ..EncodeOptions::default() };
                let letters = word.repeat(9);
                let letters = letters.split("").filter(|letter| !letter.is_empty());
                grow_by(&tokenizer, options, word, letters);
            }
        }
    }
}
