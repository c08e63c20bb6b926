//! What holds for all texts of a call, and the ids of each.
//!
//! A call finds the added tokens that its options allow, refuses those they do not, and puts the template around the
//! ids, cut and filled up to a length. How a text becomes pieces is in `pieces`, how a piece becomes ids in `worker`;
//! ids with what is known of them are in `full`. Costs what those cost, and a pass for disallowed tokens.

use std::borrow::Cow;
use std::sync::Arc;

use super::blocks::append_text;
use super::named::Rules;
use super::pieces::Grain;
use super::threads::Team;
use super::worker::{Worker, append_ids, push};
use super::{AddedTokens, EncodeOptions, Parts, Tokenizer};
use crate::added::{Disallowed, Matcher, Part, Specials};
use crate::encode::{Dropout, Dropping};
use crate::encoding::Traced;
use crate::error::{Error, ErrorKind, Result};
use crate::segment::Segment;
use crate::template::{Lengths, Padding, Side, TemplatePiece, Truncation};
use crate::vocabulary::TokenId;

/// One call of `encode` or another method that encodes.
pub(super) struct Call<'c> {
    pub(super) tokenizer: &'c Tokenizer,
    pub(super) matcher: Cow<'c, Arc<Matcher>>,
    disallowed: Option<Arc<Disallowed>>,
    pub(super) add_special_tokens: bool,
    fits_length: bool,
    lengths: Option<Lengths<'c>>,
    dropout: Option<Dropout>,
}

impl Tokenizer {
    /// Fixes what holds for all texts of a call. It is cheap where no special tokens are named.
    #[inline]
    pub(super) fn call<'c>(&'c self, options: EncodeOptions<'c>) -> Result<Call<'c>> {
        if let Some(dropout) = &options.dropout {
            dropout.check()?;
        }
        if let Some(padding) = options.lengths.and_then(|lengths| lengths.padding) {
            padding.check()?;
        }
        let specials = (options.allowed_special, options.disallowed_special);
        let (matcher, disallowed) = match specials {
            _ if options.added_tokens == AddedTokens::Text => {
                let rules = self.rules_as_text(&options)?;
                (Cow::Owned(rules.matcher), rules.disallowed)
            }
            (Specials::None, Specials::None) => (Cow::Borrowed(&self.ordinary), None),
            (Specials::All, Specials::None | Specials::All) => {
                (Cow::Borrowed(&self.all_special), None)
            }
            (allowed, disallowed) => {
                let rules = self.rules(allowed, disallowed)?;
                (Cow::Owned(rules.matcher), rules.disallowed)
            }
        };
        let tokenizer = self.of(options.added_tokens);
        // Before threads begin, so that not each of them makes it.
        tokenizer.encoder();
        Ok(Call {
            tokenizer,
            matcher,
            disallowed,
            add_special_tokens: options.add_special_tokens,
            fits_length: options.fit_length.unwrap_or(options.add_special_tokens),
            lengths: options.lengths,
            dropout: options.dropout,
        })
    }

    fn rules(&self, allowed: Specials<'_>, disallowed: Specials<'_>) -> Result<Rules> {
        self.named.get(&self.parts, [allowed, disallowed], || match allowed {
            Specials::None => Ok(Arc::clone(&self.ordinary)),
            Specials::All => Ok(Arc::clone(&self.all_special)),
            only @ Specials::Only(_) => Self::matcher(&self.parts, only),
        })
    }
}

impl<'c> Call<'c> {
    /// A call by the rules of an earlier one, which puts no template around the ids.
    pub(super) fn by_rules(tokenizer: &'c Tokenizer, rules: &'c Rules) -> Self {
        Self {
            tokenizer,
            matcher: Cow::Borrowed(&rules.matcher),
            disallowed: rules.disallowed.clone(),
            add_special_tokens: false,
            fits_length: false,
            lengths: None,
            dropout: None,
        }
    }

    /// What is looked for in the text.
    pub(super) fn into_rules(self) -> Rules {
        Rules { matcher: self.matcher.into_owned(), disallowed: self.disallowed }
    }

    pub(super) fn truncation(&self) -> Option<&'c Truncation> {
        self.lengths().truncation
    }

    pub(super) fn padding(&self) -> Option<&'c Padding> {
        self.lengths().padding
    }

    /// The lengths that apply: those of the call, or else the tokenizer's.
    fn lengths(&self) -> Lengths<'c> {
        let Parts { truncation, padding, .. } = &self.tokenizer.parts;
        let own = || Lengths { truncation: truncation.as_ref(), padding: padding.as_ref() };
        if self.fits_length { self.lengths.unwrap_or_else(own) } else { Lengths::default() }
    }

    pub(super) fn dropping(&self, index: u64) -> Option<Dropping> {
        let with_seed =
            |dropout: Dropout| Dropout { seed: dropout.seed.wrapping_add(index), ..dropout };
        self.dropout.map(|dropout| with_seed(dropout).start())
    }

    pub(super) fn n_added(&self, is_pair: bool) -> usize {
        if self.add_special_tokens { self.tokenizer.parts.template.n_added(is_pair) } else { 0 }
    }

    /// Appends the ids of a text, whose place in a batch is `index`.
    pub(super) fn encode(
        &self,
        text: &[u8],
        index: u64,
        ids: &mut Vec<TokenId>,
        team: &mut Team<'_>,
    ) -> Result<()> {
        let mut encode_text = |ids: &mut Vec<TokenId>| match self.truncation() {
            None => self.encode_text(text, index, ids, team),
            Some(truncation) => {
                let n_before = ids.len();
                self.encode_text(text, index, ids, team)?;
                let n_ids = ids.len() - n_before;
                let (left, _) = truncation.lens(n_ids, None, self.n_added(false))?;
                let first = if truncation.side == Side::Left { n_before } else { n_before + left };
                ids.drain(first..first + (n_ids - left));
                Ok(())
            }
        };
        if !self.add_special_tokens && !self.fits_length {
            return encode_text(ids);
        }
        let n_before = ids.len();
        for piece in &self.tokenizer.parts.template.single {
            match piece {
                TemplatePiece::Special { ids: special, .. } if self.add_special_tokens => {
                    ids.extend_from_slice(special);
                }
                TemplatePiece::Special { .. } => {}
                TemplatePiece::Text { .. } => encode_text(ids)?,
            }
        }
        if let Some(padding) = self.padding() {
            padding.fill(padding.len(ids.len() - n_before), n_before, ids);
        }
        Ok(())
    }

    fn encode_text(
        &self,
        text: &[u8],
        index: u64,
        ids: &mut Vec<TokenId>,
        team: &mut Team<'_>,
    ) -> Result<()> {
        match self.dropping(index) {
            Some(dropping) => self.encode_dropout(text, dropping, ids, team.first()),
            None => self.encode_by(text, team, ids),
        }
    }

    /// Appends the ids of a text, some merges left out by chance.
    fn encode_dropout(
        &self,
        text: &[u8],
        mut dropping: Dropping,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        let (text, grain) = (Segment::whole(text), Grain::Piece);
        self.for_each_part(text, (ids, grain), worker, |text, part, ids, worker| match part {
            Part::Token(id, _) => push(id, ids),
            Part::Text(piece) => {
                let (encoder, scratch) = (self.tokenizer.encoder(), &mut worker.scratch);
                encoder.encode_dropout(&text[piece], &mut dropping, scratch, ids)
            }
        })
    }

    /// Appends the ids of a text, or of a part of one that begins and ends where a cut changes nothing.
    pub(super) fn encode_stretch(
        &self,
        stretch: Segment<'_>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        let encoder = self.tokenizer.encoder();
        if self.matcher.has_whole_pieces() {
            return self.encode_pieces(stretch, ids, worker);
        }
        let spaces = self.tokenizer.spaces();
        if let Some(spaces) = spaces.filter(|spaces| spaces.takes(stretch.text)) {
            return self.for_each_segment(stretch, (ids, worker), |segment, ids, worker| {
                spaces.append(encoder, segment, ids, worker)
            });
        }
        let repeats = self.tokenizer.repeats();
        let (splitter, grain) = match repeats.filter(|_| !self.matcher.has_late_specials()) {
            Some(splitter) => (Some(splitter), Grain::Normalized),
            None => (self.tokenizer.parts.pre_tokenizer.one_splitter(), Grain::Segment),
        };
        let Some(splitter) = splitter else {
            return self.encode_pieces(stretch, ids, worker);
        };
        self.for_each_part(stretch, (ids, grain), worker, |text, part, ids, worker| match part {
            Part::Token(id, _) => push(id, ids),
            Part::Text(segment) => append_text(encoder, splitter, &text[segment], ids, worker),
        })
    }

    /// The same where there is more to pieces than one splitter says.
    fn encode_pieces(
        &self,
        stretch: Segment<'_>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        let (encoder, grain) = (self.tokenizer.encoder(), Grain::Piece);
        self.for_each_part(stretch, (ids, grain), worker, |text, part, ids, worker| match part {
            Part::Token(id, _) => push(id, ids),
            Part::Text(piece) => match self.matcher.whole_piece(&text[piece.clone()]) {
                Some(id) => push(id, ids),
                None => append_ids(encoder, text, piece, ids, worker),
            },
        })
    }

    /// Refuses a stretch of text with a token that must not stand there.
    pub(super) fn check_disallowed(&self, stretch: Segment<'_>) -> Result<()> {
        let Some(disallowed) = &self.disallowed else { return Ok(()) };
        if let Some((id, offset)) = disallowed.find(stretch.text) {
            return Err(self.disallowed(id, disallowed.is_special(id), offset));
        }
        if disallowed.has_late() { self.check_late(disallowed, stretch) } else { Ok(()) }
    }

    /// The same for tokens that stand there once the text is normalized.
    fn check_late(&self, disallowed: &Disallowed, stretch: Segment<'_>) -> Result<()> {
        let whole = Traced::of(stretch);
        self.matcher.cut_raw(stretch.text, |part| {
            let Part::Text(range) = part else { return Ok(()) };
            let segment = whole.between(range);
            let normalized = segment.changed(&self.tokenizer.parts.normalizer)?;
            self.matcher.cut_normalized(&normalized.text, |part| match part {
                Part::Token(id, place) if disallowed.has_as_late(id) => {
                    Err(self.disallowed(id, false, normalized.span(place).0))
                }
                _ => Ok(()),
            })
        })
    }

    fn disallowed(&self, id: TokenId, is_special: bool, offset: usize) -> Error {
        let token = self.tokenizer.parts.vocabulary.token(id).map(|token| token.bytes);
        let token = String::from_utf8_lossy(token.unwrap_or_default()).into_owned();
        ErrorKind::DisallowedSpecial { token, is_special, offset }.into()
    }
}
