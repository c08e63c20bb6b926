//! Cuts texts for training that continues from a tokenizer, as the tokenizer cuts them in encoding.
//!
//! The same function finds the added tokens and normalizes the text between them ([`Call::walk`]), and the same one
//! tells where a text can be cut. So tokens are learned from exactly the pieces that are encoded later. Not supported:
//! tokenizers of several rounds, which have no single splitter. Costs what these steps cost in encoding.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::call::Call;
use super::walk::{Depth, Met};
use super::{EncodeOptions, Tokenizer};
use crate::added::Specials;
use crate::count::{AsEncoded, EncodedPart, PieceCounts};
use crate::encoding::Traced;
use crate::error::{Error, Result};
use crate::segment::Segment;
use crate::vocabulary::TokenId;

/// A tokenizer that cuts texts.
#[derive(Debug)]
struct Cutting {
    tokenizer: Arc<Tokenizer>,
    /// By id: the index of the added token among all names.
    places: HashMap<TokenId, usize>,
}

impl Tokenizer {
    /// A cutter that cuts texts as this tokenizer does in encoding, with all special tokens. Those among `names` that
    /// the tokenizer does not have are found too.
    ///
    /// # Errors
    /// If a name is empty.
    pub(crate) fn cutting_texts(this: &Arc<Self>, names: &[String]) -> Result<Arc<dyn AsEncoded>> {
        let known = this.places_of_added();
        let new = names.iter().filter(|name| !known.contains_key(name.as_str()));
        let new: Vec<_> = new.map(|name| (name.clone(), None)).collect();
        let tokenizer = match new.is_empty() {
            true => Arc::clone(this),
            false => Arc::new(this.with_special_tokens(&new)?),
        };
        let by_name: HashMap<_, _> = names.iter().zip(0..).collect();
        let added = tokenizer.parts.added.iter();
        let places = added.filter_map(|token| Some((token.id, *by_name.get(&token.content)?)));
        Ok(Arc::new(Cutting { places: places.collect(), tokenizer }))
    }

    /// The pieces that are not an added token as a whole, and how often the added tokens occur.
    ///
    /// # Errors
    /// If a count exceeds 63 bits.
    pub fn without_whole_pieces(&self, counts: PieceCounts) -> Result<(PieceCounts, i64)> {
        if !self.all_special.has_whole_pieces() {
            return Ok((counts, 0));
        }
        let mut rest = match counts.knows_first() {
            true => PieceCounts::new(),
            false => PieceCounts::without_firsts(),
        };
        let mut n_whole = 0_i64;
        for (piece, count, first) in counts.iter() {
            match self.all_special.whole_piece(piece) {
                Some(_) => n_whole = n_whole.saturating_add(count),
                None => rest.add(piece, count, first)?,
            }
        }
        Ok((rest, n_whole))
    }
}

impl Cutting {
    fn call(&self) -> Result<Call<'_>> {
        let allowed_special = Specials::All;
        self.tokenizer.call(EncodeOptions { allowed_special, ..EncodeOptions::default() })
    }
}

impl AsEncoded for Cutting {
    fn last_cut(&self, text: &[u8], range: Range<usize>) -> Option<usize> {
        // A text that is one piece can be cut where no merge crosses, but a new merge may cross there.
        let mut rounds = self.tokenizer.parts.pre_tokenizer.rounds().iter();
        let is_cut = rounds.next().is_some_and(|round| !round.splitter.stages().is_empty());
        is_cut.then(|| self.tokenizer.last_cut(text, range)).flatten()
    }

    fn for_each_part(
        &self,
        text: Segment<'_>,
        visit: &mut dyn FnMut(EncodedPart<'_>) -> Result<()>,
    ) -> Result<()> {
        self.call()?.walk(&Traced::plain(text), Depth::Changed, |met| match met {
            Met::Text { text, place } => visit(EncodedPart::Text(&text.text[place])),
            Met::Segment { .. } => Ok(()),
            Met::Token { id, place, .. } => {
                let index = self.places.get(&id).copied();
                let index = index.ok_or_else(|| Error::option("resume", "an id is unknown"))?;
                visit(EncodedPart::Added(index, place.len()))
            }
        })
    }
}
