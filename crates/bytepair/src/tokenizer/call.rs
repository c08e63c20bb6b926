//! What applies to all texts of a call, and the ids of each.
//!
//! A call finds the added tokens that its options allow, refuses those that they disallow, puts the template around
//! the ids, and truncates and pads them. `walk` turns a text into pieces, `worker` turns a piece into ids, and
//! `with_spans` tracks the origin of each id. Costs what those cost, and one pass for disallowed tokens.
//!
//! What is made for the tokens that a call names is remembered. Building an automaton takes longer than encoding a short
//! text, and a program tends to name the same tokens in every call. So what was made for the last few choices is kept.
//! Finding a remembered choice costs a comparison of names. No thread waits for another; at worst two threads make the
//! same.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use super::blocks::append_text;
use super::plan::Route;
use super::walk::{Depth, Met};
use super::worker::{Worker, append_ids};
use super::{AddedTokens, EncodeOptions, Parts, Tokenizer, definition};
use crate::added::{Disallowed, Matcher, Specials};
use crate::batch;
use crate::encode::Dropout;
use crate::encoding::Traced;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::ask_to_grow;
use crate::memory::prefetch::prefetch_beginning;
use crate::segment::Segment;
use crate::sink::Sink;
use crate::template::{Contents, Lengths, Padding, Side, TemplatePiece, Truncation};
use crate::vocabulary::TokenId;

/// One call of `encode` or another method that encodes.
#[derive(Clone)]
pub(super) struct Call<'c> {
    pub(super) tokenizer: &'c Tokenizer,
    pub(super) matcher: Cow<'c, Arc<Matcher>>,
    disallowed: Option<Arc<Disallowed>>,
    pub(super) add_special_tokens: bool,
    fits_length: bool,
    lengths: Option<Lengths<'c>>,
    dropout: Option<Dropout>,
    /// The approximate length of a stretch of text, in bytes; derived from the length of the text if not set.
    pub(super) stretch_len: Option<usize>,
}

impl Tokenizer {
    /// Determines what applies to all texts of a call. Cheap if no special tokens are named.
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
        // Done before threads start, so that they do not each do it.
        tokenizer.encoder();
        Ok(Call {
            tokenizer,
            matcher,
            disallowed,
            add_special_tokens: options.add_special_tokens,
            fits_length: options.fit_length.unwrap_or(options.add_special_tokens),
            lengths: options.lengths,
            dropout: options.dropout,
            stretch_len: None,
        })
    }

    fn rules(&self, allowed: Specials<'_>, disallowed: Specials<'_>) -> Result<Rules> {
        remembered(&self.named, [allowed, disallowed], || {
            let matcher = match allowed {
                Specials::None => Arc::clone(&self.ordinary),
                Specials::All => Arc::clone(&self.all_special),
                only @ Specials::Only(_) => Self::matcher(&self.parts, only)?,
            };
            Rules::new(&self.parts, matcher, [allowed, disallowed])
        })
    }
}

impl<'c> Call<'c> {
    /// A call by the rules of an earlier one, without a template around the ids.
    pub(super) fn by_rules(tokenizer: &'c Tokenizer, rules: &'c Rules) -> Self {
        Self {
            tokenizer,
            matcher: Cow::Borrowed(&rules.matcher),
            disallowed: rules.disallowed.clone(),
            add_special_tokens: false,
            fits_length: false,
            lengths: None,
            dropout: None,
            stretch_len: None,
        }
    }

    /// The tokens to find in the text.
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

    pub(super) fn dropping(&self, index: u64) -> Option<Dropout> {
        let with_seed =
            |dropout: Dropout| Dropout { seed: dropout.seed.wrapping_add(index), ..dropout };
        self.dropout.map(with_seed)
    }

    /// Whether special tokens are added, or the ids are truncated or padded.
    fn is_arranged(&self) -> bool {
        self.add_special_tokens || self.fits_length
    }

    /// The pieces of the template that apply. Without special tokens and lengths, each text is taken once.
    pub(super) fn pieces(&self, is_pair: bool) -> impl Iterator<Item = &'c TemplatePiece> {
        let (is_arranged, adds_special_tokens) = (self.is_arranged(), self.add_special_tokens);
        let mut is_taken = [false; 2];
        self.tokenizer.parts.template.pieces(is_pair).iter().filter(move |piece| {
            match piece.text() {
                None => adds_special_tokens,
                Some((place, _)) => is_arranged || !std::mem::replace(&mut is_taken[place], true),
            }
        })
    }

    pub(super) fn contents(&self, is_pair: bool) -> Contents {
        Contents::of(self.pieces(is_pair))
    }

    /// Appends the ids of the text with this `index` in the batch.
    pub(super) fn encode(
        &self,
        text: &[u8],
        index: u64,
        ids: &mut Vec<TokenId>,
        workers: &mut [Box<Worker>],
    ) -> Result<()> {
        if !self.is_arranged() {
            return self.encode_text(text, index, ids, workers);
        }
        let n_before = ids.len();
        let mut copied = None;
        for piece in self.pieces(false) {
            match (piece, copied.clone()) {
                (TemplatePiece::Special { ids: special, .. }, _) => ids.extend_from_slice(special),
                (_, Some(copied)) => {
                    ask_to_grow(ids, Range::len(&copied))?;
                    ids.extend_from_within(copied);
                }
                (_, None) => {
                    let start = ids.len();
                    self.encode_text(text, index, ids, workers)?;
                    self.truncate(start, ids)?;
                    copied = Some(start..ids.len());
                }
            }
        }
        if let Some(padding) = self.padding() {
            padding.fill(padding.len(ids.len() - n_before), n_before, ids);
        }
        Ok(())
    }

    /// Truncates the ids of a text, which begin at an index, so that the total fits the length.
    fn truncate(&self, start: usize, ids: &mut Vec<TokenId>) -> Result<()> {
        let Some(truncation) = self.truncation() else { return Ok(()) };
        let n_ids = ids.len() - start;
        let (left, _) = truncation.lens(n_ids, None, self.contents(false))?;
        let first = if truncation.side == Side::Left { start } else { start + left };
        ids.drain(first..first + (n_ids - left));
        Ok(())
    }

    /// Hands the ids of many texts to a sink, without padding them to one length.
    pub(super) fn encode_each(
        &self,
        sink: &mut impl Sink,
        texts: &[&[u8]],
        n_threads: usize,
    ) -> Result<()> {
        let lens: Vec<_> = texts.iter().map(|text| text.len()).collect();
        let n_threads = batch::n_useful(&lens, n_threads);
        let encode_one = |index: usize, ids: &mut Vec<_>, workers: &mut [_]| {
            texts.get(index + 1).into_iter().for_each(|next| prefetch_beginning(next));
            self.encode(texts[index], index as u64, ids, workers)
        };
        self.tokenizer
            .with_workers(n_threads, |workers| batch::encode(&lens, workers, sink, encode_one))
    }

    fn encode_text(
        &self,
        text: &[u8],
        index: u64,
        ids: &mut Vec<TokenId>,
        workers: &mut [Box<Worker>],
    ) -> Result<()> {
        let Some(mut dropping) = self.dropping(index) else {
            return match (&mut *workers, self.stretch_len) {
                ([worker], None) => self.encode_stretch(Segment::whole(text), ids, worker),
                _ => self.encode_stretches(Segment::whole(text), workers, ids),
            };
        };
        let (encoder, scratch) = (self.tokenizer.encoder(), &mut workers[0].scratch);
        let mut tokens = Vec::new();
        self.walk_to_ids(Segment::whole(text), Depth::Piece, ids, |text, place, ids| {
            encoder.encode_spans(&text.text[place], Some(&mut dropping), scratch, &mut tokens)?;
            ids.extend(tokens.drain(..).map(|(id, _)| id));
            Ok(())
        })
    }

    /// Appends the ids of a text, or of a part between cuts that change no ids.
    pub(super) fn encode_stretch(
        &self,
        stretch: Segment<'_>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        if definition::is_on() {
            return self.encode_by_definition(stretch, ids);
        }
        let Tokenizer { parts, .. } = self.tokenizer;
        let plan = self.tokenizer.plan();
        let encoder = &plan.encoder;
        let route = plan.route(parts, &self.matcher, stretch.text);
        let depth = match route {
            Route::Words(_) => Depth::Raw,
            Route::TokensAndPieces(_) => Depth::Normalized,
            Route::Segments(_) => Depth::Segment,
            Route::Rounds => Depth::Piece,
        };
        self.walk_to_ids(stretch, depth, ids, |text, place, ids| match route {
            Route::Words(spaces) => spaces.append(encoder, text.segment(), ids, worker),
            Route::TokensAndPieces(splitter) | Route::Segments(splitter) => {
                append_text(encoder, splitter, &text.text[place], ids, worker)
            }
            Route::Rounds => self.append_piece(&text.text, place, ids, worker),
        })
    }

    /// Appends the ids of a piece, which may be an added token as a whole.
    fn append_piece(
        &self,
        text: &[u8],
        piece: Range<usize>,
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        match self.matcher.whole_piece(&text[piece.clone()]) {
            Some(id) => ids.push(id),
            None => append_ids(self.tokenizer.encoder(), text, piece, ids, worker)?,
        }
        Ok(())
    }

    /// Refuses a stretch of text that contains a disallowed token.
    pub(super) fn check_disallowed(&self, stretch: Segment<'_>) -> Result<()> {
        let Some(disallowed) = &self.disallowed else { return Ok(()) };
        if let Some((id, offset)) = disallowed.as_written.find(stretch.text) {
            return Err(self.disallowed(id, disallowed.is_special(id), offset));
        }
        if disallowed.has_late() { self.check_late(disallowed, stretch) } else { Ok(()) }
    }

    /// Refuses a stretch that contains a disallowed token once it is normalized.
    fn check_late(&self, disallowed: &Disallowed, stretch: Segment<'_>) -> Result<()> {
        let unchecked = Call { disallowed: None, ..self.clone() };
        unchecked.walk(&Traced::of(stretch), Depth::Segment, |met| match met {
            Met::Token { id, text, place, is_normalized: true } if disallowed.has_as_late(id) => {
                Err(self.disallowed(id, false, text.span(place).0))
            }
            _ => Ok(()),
        })
    }

    fn disallowed(&self, id: TokenId, is_special: bool, offset: usize) -> Error {
        let token = self.tokenizer.parts.vocabulary.token(id).map(|token| token.bytes);
        let token = String::from_utf8_lossy(token.unwrap_or_default()).into_owned();
        ErrorKind::DisallowedSpecial { token, is_special, offset }.into()
    }
}

/// How many choices are remembered.
const MAX_CHOICES: usize = 4;

/// What to find in a text: recognised tokens, and tokens that are an error.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) matcher: Arc<Matcher>,
    pub(super) disallowed: Option<Arc<Disallowed>>,
}

impl Rules {
    /// The rules that find tokens by a matcher, and refuse those that are disallowed and not allowed.
    pub(super) fn new(
        parts: &Parts,
        matcher: Arc<Matcher>,
        [allowed, disallowed]: [Specials<'_>; 2],
    ) -> Result<Self> {
        let disallowed = match disallowed {
            Specials::None => None,
            names => Some(Arc::new(Disallowed::new(&parts.added, allowed, names)?)),
        };
        Ok(Self { matcher, disallowed })
    }
}

/// What was made for the last choices of allowed and disallowed tokens, the latest first.
pub(super) type Choices<T> = Mutex<Vec<([Names; 2], T)>>;

/// Whether all tokens are chosen; if not, the names of those that are.
type Names = (bool, Vec<String>);

fn names(specials: Specials<'_>) -> (bool, &[String]) {
    match specials {
        Specials::None => (false, &[]),
        Specials::All => (true, &[]),
        Specials::Only(names) => (false, names),
    }
}

/// What is remembered for a choice of allowed and disallowed tokens, or else what `make` makes for it.
pub(super) fn remembered<T: Clone>(
    choices: &Choices<T>,
    choice: [Specials<'_>; 2],
    make: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let choice = choice.map(names);
    if let Ok(mut choices) = choices.try_lock() {
        let is_it = |(held, _): &([Names; 2], T)| {
            held.iter()
                .zip(choice)
                .all(|(held, (is_all, names))| held.0 == is_all && held.1 == names)
        };
        if let Some(index) = choices.iter().position(is_it) {
            choices[..=index].rotate_right(1);
            return Ok(choices[0].1.clone());
        }
    }
    let made = make()?;
    if let Ok(mut choices) = choices.try_lock() {
        choices.truncate(MAX_CHOICES - 1);
        let held = choice.map(|(is_all, names)| (is_all, names.to_vec()));
        choices.insert(0, (held, made.clone()));
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::bytes_vocabulary;
    use crate::tokenizer::{EncodeOptions, Tokenizer};
    use crate::units::{ByteIds, Units};
    use proptest::prelude::*;

    const NAMES: [&str; 4] = ["<a>", "<b>", "<ab>", "<nothing>"];

    /// Bytes, and all names but the last as special tokens.
    fn tokenizer() -> Tokenizer {
        let parts = Parts::new(Units::bytes(ByteIds::Value), Arc::new(bytes_vocabulary()));
        let names: Vec<_> = NAMES[..3].iter().map(|name| ((*name).to_owned(), None)).collect();
        Tokenizer::new(parts).unwrap().with_special_tokens(&names).unwrap()
    }

    fn some() -> impl Strategy<Value = Vec<String>> {
        let names = prop::sample::subsequence(&NAMES[..], 0..=2);
        names.prop_map(|names| names.into_iter().map(str::to_owned).collect())
    }

    proptest! {
        #[test]
        fn a_choice_means_the_same_whatever_was_chosen_before(
            calls in prop::collection::vec((0..3_u8, some(), 0..3_u8, some()), 1..30),
        ) {
            let remembers = tokenizer();
            let message = |result: Result<Vec<u32>>| result.map_err(|error| error.to_string());
            for (allowed, allowed_names, disallowed, disallowed_names) in &calls {
                let choice = |kind, names| match kind {
                    0 => Specials::None,
                    1 => Specials::All,
                    _ => Specials::Only(names),
                };
                let options = EncodeOptions {
                    allowed_special: choice(*allowed, allowed_names),
                    disallowed_special: choice(*disallowed, disallowed_names),
                    ..EncodeOptions::default()
                };
                for text in [b"x<a>y<ab>".as_slice(), b"<b>", b"xy"] {
                    let expected = message(tokenizer().encode(text, options));
                    prop_assert_eq!(message(remembers.encode(text, options)), expected);
                }
            }
            prop_assert!(remembers.named.lock().unwrap().len() <= MAX_CHOICES);
        }
    }
}
