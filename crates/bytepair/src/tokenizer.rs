//! The whole pipeline: text to ids and back.
//!
//! A [`Tokenizer`] is its [`Parts`], compiled. It never changes: methods that seem to change it return a new one. It
//! keeps caches of encoded pieces, which affect only speed. Any number of threads may share a tokenizer, and a forked
//! process may keep using it.
//!
//! A text goes through `call` (options, template, lengths), `walk` (cutting), `blocks` and `worker` (ids of pieces);
//! `with_spans` also tracks spans. Decoding is in `crate::decode`. Encoding takes time linear in the text, apart from
//! the split pattern and a logarithmic factor for long pieces.

mod adding;
mod blocks;
mod call;
mod canonical;
mod counted;
mod counting;
mod cutting;
mod decoding;
mod definition;
mod id_file;
mod inspecting;
mod measure;
mod parts;
mod plan;
mod sampled;
mod segments;
mod session;
mod spaces;
mod steps;
mod stream;
mod token_bytes;
mod variants;
mod walk;
mod whole_words;
mod with_spans;
mod worker;

use std::sync::{Arc, Mutex, OnceLock};

use self::call::{Call, Choices, Rules};
pub use self::decoding::DecodeStream;
use self::decoding::Decoder;
pub use self::definition::by_definition;
pub use self::id_file::{IdFile, IdFormat};
pub use self::inspecting::{Unreached, Usage};
pub use self::measure::{Measure, Sums};
pub use self::parts::Parts;
use self::plan::Plan;
pub use self::sampled::Method;
pub use self::segments::{SegmentIds, TextSegment};
pub use self::session::Session;
use self::spaces::spelling;
pub use self::steps::{Piece, TextPart};
pub use self::stream::Reading;
use self::stream::n_useful;
pub use self::token_bytes::{Healed, TokenBytes, TokenClass};
pub use self::variants::{AddedTokens, WithMissing};
use self::walk::{Depth, Met};
pub use self::with_spans::WordsOrPair;
use self::worker::Worker;
use crate::added::{MatchedText, Matcher, Specials};
use crate::batch::BYTES_PER_ID;
use crate::encode::{Dropout, Encoder, Spelling};
use crate::encoding::Traced;
use crate::error::Result;
use crate::memory::huge_pages::reserve;
use crate::parallel::Pool;
use crate::piece::piece_key;
use crate::segment::Segment;
use crate::sink::{Batch, Sink};
use crate::template::{Lengths, Padding, Template, Truncation};
use crate::units::{published_name, tokens_named};
use crate::vocabulary::{Token, TokenId, TokenKind};
use bytepair_split::Splitter;

/// A row with room for more ids is freed after a call.
const MAX_KEPT_IDS: usize = 64 << 10;

/// How special tokens are treated in a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EncodeOptions<'n> {
    /// Special tokens that are recognised in the text.
    pub allowed_special: Specials<'n>,
    /// Special tokens that are an error in the text, unless allowed.
    pub disallowed_special: Specials<'n>,
    /// How the content of added tokens is treated. If it is treated as text, no token is found, so none may be
    /// allowed.
    pub added_tokens: AddedTokens,
    /// Whether the template is applied.
    pub add_special_tokens: bool,
    /// Whether truncation and padding are applied; by default, if the template is.
    pub fit_length: Option<bool>,
    /// Truncation and padding to use instead of the tokenizer's own, if they are applied.
    pub lengths: Option<Lengths<'n>>,
    /// Skips merges at random.
    pub dropout: Option<Dropout>,
}

/// Tokenizers with fewer merges prepare what non-ASCII text needs when the first such text comes, since this would
/// take longer than all other preparation.
const MIN_PREPARED: usize = 1 << 14;

/// A compiled tokenizer.
#[derive(Debug)]
pub struct Tokenizer {
    parts: Parts,
    /// Made with the tokenizer, or when the first text comes. Shared by all tokenizers that differ only in what is put
    /// around ids.
    plan: Arc<OnceLock<Plan>>,
    decoder: Arc<Decoder>,
    /// For calls that allow no special token.
    ordinary: Arc<Matcher>,
    /// For calls that allow all of them.
    all_special: Arc<Matcher>,
    /// For calls that name some of them, or forbid any.
    named: Choices<Rules>,
    workers: Pool<Worker>,
    /// For calls that find no added token. Made at the first such call.
    as_text: OnceLock<Arc<Self>>,
    /// Made when it is first asked for.
    token_bytes: OnceLock<TokenBytes>,
    /// For segments in which only some added tokens are found.
    finding_only: Choices<Arc<Self>>,
    /// For views of texts with units that nothing stands for. Made at first use; the inner value is `None` if
    /// something stands for every unit.
    with_missing: OnceLock<Option<WithMissing>>,
}

impl Tokenizer {
    /// Compiles the parts.
    ///
    /// # Errors
    /// If an added token is not in the vocabulary, or is a whole piece although no token is.
    pub fn new(parts: Parts) -> Result<Self> {
        parts.check_merges()?;
        let tokenizer = Self::unprepared(parts)?;
        if tokenizer.parts.vocabulary.n_merges() >= MIN_PREPARED {
            // So it is not made later, when non-ASCII text comes.
            tokenizer.encoder().prepare();
        }
        Ok(tokenizer)
    }

    /// As [`Self::new`], but what encoding needs is made only when the first text comes.
    pub(crate) fn unprepared(parts: Parts) -> Result<Self> {
        parts.check()?;
        let ordinary = Self::matcher(&parts, Specials::None)?;
        let all_special = match parts.added.iter().any(|token| token.special) {
            true => Self::matcher(&parts, Specials::All)?,
            false => Arc::clone(&ordinary),
        };
        Ok(Self {
            plan: Arc::default(),
            decoder: Arc::new(Decoder::new(&parts)?),
            ordinary,
            all_special,
            named: Mutex::default(),
            workers: Pool::new(Worker::default),
            as_text: OnceLock::new(),
            token_bytes: OnceLock::new(),
            finding_only: Mutex::default(),
            with_missing: OnceLock::new(),
            parts,
        })
    }

    fn matcher(parts: &Parts, allowed: Specials<'_>) -> Result<Arc<Matcher>> {
        let Parts { normalizer, pre_tokenizer, units, added, .. } = parts;
        let changes = pre_tokenizer.rounds().iter().map(|round| &round.change);
        let pieces_are_text = changes.chain([normalizer]).all(|change| change.steps().is_empty());
        let matched = MatchedText { normalizer, units, pieces_are_text };
        Matcher::new(added, matched, allowed).map(Arc::new)
    }

    /// The parts of this tokenizer.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Threads that arrive at the same time each compile a plan; none waits for another, since the process may be
    /// forked meanwhile.
    #[inline]
    fn plan(&self) -> &Plan {
        self.plan.get().unwrap_or_else(|| self.compiled())
    }

    #[cold]
    fn compiled(&self) -> &Plan {
        let made = Plan::compile(&self.parts);
        self.plan.get_or_init(|| made)
    }

    pub(crate) fn encoder(&self) -> &Encoder {
        &self.plan().encoder
    }

    /// The character that is replaced by another in every text, if any.
    pub(crate) fn spelling(&self) -> Option<Spelling> {
        spelling(&self.parts)
    }

    /// The splitter that finds the words of a text that is one piece, or added tokens and pieces at once, if there is
    /// one.
    pub(crate) fn word_splitter(&self) -> Option<&Splitter> {
        let Plan { words, repeats, .. } = self.plan();
        words.as_ref().map(|words| &words.splitter).or(repeats.as_ref())
    }

    /// The ids of a text.
    ///
    /// # Errors
    /// If the text contains a special token that is not allowed, if a unit is not in the vocabulary and nothing stands
    /// for it, if the text must be UTF-8 but is not, or if the split pattern gives up.
    pub fn encode(&self, text: &[u8], options: EncodeOptions<'_>) -> Result<Vec<TokenId>> {
        self.encode_in(Vec::new(), text, options, 1)
    }

    /// Calls `take` with the ids of a text, in memory that later calls reuse unless it is large. For a short text,
    /// allocating a row would cost as much as finding the ids.
    ///
    /// # Errors
    /// As for [`Self::encode`].
    pub fn with_ids<R>(
        &self,
        text: &[u8],
        options: EncodeOptions<'_>,
        take: impl FnOnce(&[TokenId]) -> R,
    ) -> Result<R> {
        let added_tokens = options.added_tokens;
        let is_plain = options == EncodeOptions { added_tokens, ..EncodeOptions::default() };
        let key = if is_plain { piece_key(text, 0, text.len()) } else { None };
        self.of(added_tokens).workers.with(|worker| {
            if let Some(ids) = key.and_then(|key| worker.recent.get(key)) {
                return Ok(take(ids));
            }
            let mut ids = std::mem::take(&mut worker.ids);
            ids.clear();
            reserve(&mut ids, text.len() / BYTES_PER_ID + 1);
            self.call(options)?.encode(text, 0, &mut ids, std::slice::from_mut(worker))?;
            if let Some(key) = key {
                worker.recent.insert(key, &ids);
            }
            let taken = take(&ids);
            if ids.capacity() <= MAX_KEPT_IDS {
                worker.ids = ids;
            }
            Ok(taken)
        })
    }

    /// The ids of a text, found on `n_threads` threads as far as the text can be cut without changing ids. The memory
    /// of a used row is reused as far as it suffices.
    ///
    /// # Errors
    /// As for [`Self::encode`], whatever the number of threads.
    pub fn encode_in(
        &self,
        row: Vec<TokenId>,
        text: &[u8],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<Vec<TokenId>> {
        let call = self.call(options)?;
        let mut ids = row;
        ids.clear();
        call.tokenizer.with_workers(n_useful(text.len(), n_threads), |workers| {
            reserve(&mut ids, text.len() / BYTES_PER_ID + 1);
            call.encode(text, 0, &mut ids, workers)
        })?;
        Ok(ids)
    }

    /// The ids of a text in which every special token is treated as plain text.
    pub fn encode_ordinary(&self, text: &[u8]) -> Result<Vec<TokenId>> {
        self.encode(text, EncodeOptions::default())
    }

    /// The ids of many texts, on `n_threads` threads.
    ///
    /// # Errors
    /// As for one text; the error says which one.
    pub fn encode_batch(
        &self,
        texts: &[&[u8]],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<Batch> {
        let mut batch = Batch::default();
        self.encode_to(&mut batch, texts, options, n_threads)?;
        Ok(batch)
    }

    /// Hands the ids of many texts to a sink, encoded on `n_threads` threads. If texts are padded to the length of the
    /// longest, all ids are in memory before the sink gets the first.
    ///
    /// # Errors
    /// As for [`Self::encode_batch`], or if the sink fails. The sink may then have received some texts.
    pub fn encode_to(
        &self,
        sink: &mut impl Sink,
        texts: &[&[u8]],
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> Result<()> {
        let call = self.call(options)?;
        let Some(padding) = call.padding() else {
            return call.encode_each(sink, texts, n_threads);
        };
        let mut batch = Batch::default();
        call.encode_each(&mut batch, texts, n_threads)?;
        let longest = batch.texts().map(<[_]>::len).max().unwrap_or_default();
        let mut filled = Vec::new();
        batch.texts().try_for_each(|ids| {
            filled.clear();
            filled.extend_from_slice(ids);
            padding.fill(padding.len(longest), 0, &mut filled);
            sink.push(&filled)?;
            sink.end_text()
        })
    }

    /// Calls `work` with this many workers.
    fn with_workers<R>(&self, n: usize, work: impl FnOnce(&mut [Box<Worker>]) -> R) -> R {
        match n {
            ..=1 => self.workers.with(|worker| work(std::slice::from_mut(worker))),
            _ => self.workers.with_many(n, work),
        }
    }

    /// The pieces of a text after normalization, with special tokens treated as plain text.
    pub fn split(&self, text: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.check_utf8(text)?;
        let text = Traced::plain(Segment::whole(text));
        let normalized = text.changed(&self.parts.normalizer)?;
        let mut pieces = Vec::new();
        self.parts.pre_tokenizer.for_each_piece(&normalized, &mut |text, piece| {
            pieces.push(text.text[piece].to_vec());
            Ok(())
        })?;
        Ok(pieces)
    }

    /// The tokens of a text as they are written. Units outside the alphabet and added tokens are given as they stand
    /// in the text.
    pub fn tokenize(&self, text: &[u8], options: EncodeOptions<'_>) -> Result<Vec<Vec<u8>>> {
        let call = self.call(options)?;
        let mut tokens = Vec::new();
        let text = Traced::plain(Segment::whole(text));
        call.tokenizer.workers.with(|worker| {
            call.walk(&text, Depth::Piece, |met| match met {
                Met::Segment { .. } => Ok(()),
                Met::Token { text, place, .. } => {
                    tokens.push(text.text[place].to_vec());
                    Ok(())
                }
                Met::Text { text, place } => {
                    call.write_tokens(&text.text[place], &mut tokens, worker)
                }
            })
        })?;
        Ok(tokens)
    }

    /// The id of the token that is written like this, marks included.
    ///
    /// If a text token and a token of another kind are written alike, the text token is returned.
    pub fn id_of_written(&self, written: &[u8]) -> Option<TokenId> {
        let vocabulary = &self.parts.vocabulary;
        let plain = [TokenKind::PLAIN, TokenKind::Added, TokenKind::Unknown];
        let found =
            plain.into_iter().find_map(|kind| vocabulary.id(Token { kind, bytes: written }));
        let byte = || {
            let digits =
                std::str::from_utf8(written.strip_prefix(b"<0x")?.strip_suffix(b">")?).ok()?;
            let value = u8::from_str_radix(digits, 16).ok()?;
            vocabulary.id(Token { kind: TokenKind::Byte, bytes: &[value] })
        };
        found.or_else(|| vocabulary.id(self.parts.units.parse(written))).or_else(byte)
    }

    /// The smallest id whose token has this name in a published file, as given by [`published_name`].
    pub fn id_of_published(&self, name: &str) -> Option<TokenId> {
        let Parts { vocabulary, units, .. } = &self.parts;
        if name.contains(char::REPLACEMENT_CHARACTER) {
            // It may stand for bytes that are not a whole character.
            let mut all = vocabulary.iter();
            let found = all.find(|(_, token)| published_name(units, *token) == name);
            return found.map(|(id, _)| id);
        }
        let ids = tokens_named(units, name)
            .filter_map(|(kind, bytes)| vocabulary.id(Token { kind, bytes: &bytes }));
        ids.min()
    }

    /// This tokenizer with another template, truncation and padding.
    ///
    /// # Errors
    /// If a special token is not in the vocabulary, or a length is invalid.
    pub fn with_lengths(
        &self,
        template: Template,
        truncation: Option<Truncation>,
        padding: Option<Padding>,
    ) -> Result<Self> {
        let parts = Parts { template, truncation, padding, ..self.parts.clone() };
        parts.check_lengths()?;
        Ok(self.with_parts(parts))
    }

    /// This tokenizer with other parts that do not affect the ids of a text; nothing is compiled.
    fn with_parts(&self, parts: Parts) -> Self {
        Self {
            parts,
            plan: Arc::clone(&self.plan),
            decoder: Arc::clone(&self.decoder),
            ordinary: Arc::clone(&self.ordinary),
            all_special: Arc::clone(&self.all_special),
            named: Mutex::default(),
            workers: Pool::new(Worker::default),
            as_text: OnceLock::new(),
            token_bytes: OnceLock::new(),
            finding_only: Mutex::default(),
            with_missing: OnceLock::new(),
        }
    }
}

impl Call<'_> {
    /// Appends the tokens of a piece as they are written. A unit that nothing stands for becomes a token of its own.
    fn write_tokens(
        &self,
        piece: &[u8],
        tokens: &mut Vec<Vec<u8>>,
        worker: &mut Worker,
    ) -> Result<()> {
        let Self { tokenizer, matcher, .. } = self;
        let Parts { units, vocabulary, .. } = &tokenizer.parts;
        let token = |id| vocabulary.token(id);
        let written = |id| token(id).map(|token| units.written(token).into_owned());
        if let Some(id) = matcher.whole_piece(piece) {
            tokens.extend(written(id));
            return Ok(());
        }
        let encoder = tokenizer.encoder();
        if let Some(unknown) = tokenizer.unknown_shown_as_text() {
            let mut spans = Vec::new();
            encoder.encode_spans(piece, None, &mut worker.scratch, &mut spans)?;
            tokens.extend(spans.into_iter().filter_map(|(id, place)| match id == unknown {
                true => Some(piece[place].to_vec()),
                false => written(id),
            }));
            return Ok(());
        }
        let (mut ids, mut missing) = (Vec::new(), Vec::new());
        let n_ids = vocabulary.len();
        encoder.encode_or(piece, &mut worker.scratch, &mut ids, |symbol| {
            missing.push(units.written(symbol).into_owned());
            Ok(TokenId::try_from(n_ids + missing.len() - 1).unwrap_or(TokenId::MAX))
        })?;
        let missing = |id: TokenId| missing.get((id as usize).checked_sub(n_ids)?).cloned();
        tokens.extend(ids.into_iter().filter_map(|id| written(id).or_else(|| missing(id))));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
