//! Learns merges from piece counts: one engine for every dialect and tie rule.
//!
//! Each step finds the most frequent pair of adjacent tokens and merges all its occurrences, left to right without
//! overlap. Every adjacent pair counts, also overlapping ones (`aaa` has two `aa`), weighted by the count of its piece.
//! Training ends at its target, or when no pair reaches the minimum count.
//!
//! Every merge makes a new token. Between two boundaries that no merge has crossed, units are merged as if they were
//! alone. So the same units are always split into the same two parts before they become one token, and no two pairs
//! make the same token. For the same reason encoding a piece by the learned merges gives the segmentation that training
//! ended with.
//!
//! How a corpus becomes a vocabulary in these files:
//!
//! ```text
//! train                             checks the options; `begin` makes the vocabulary of the alphabet
//!   start::shares                   pieces → rows of tokens (`row`), one share of the corpus for each thread
//!   Workers::with_threads           each share has a thread until training ends
//!     MergeLog::merge_until_stop    until the target is reached or no pair is left:
//!       Engine::merge_next
//!         Engine::survey            if no known pair reaches the floor: lower it, find the pairs above it (`survey`),
//!                                   list their places (`pairs`)
//!         Batches::choose           the next merges that can be made at once
//!         Engine::merge_batch       make them:
//!           Share::apply              each thread rewrites its places, and sums up the changes of counts
//!           Engine::settle            counts of pairs fall; new pairs above the floor are kept
//!           Share::list               each thread lists the places of the new pairs
//!   push_names                      the unknown token and the special tokens
//! ```
//!
//! If there are several groups, such as languages, `parity` says which of them chooses. `plan` is what all threads read
//! during a step, `limits` decides which characters get ids and which tokens may be
//! learned, with what callers forbid in `vetoes`, and [`truncated`] cuts a vocabulary to a smaller target without
//! training. `tests::naive` is the definition that all of this must agree with.
//!
//! Takes O(S + M log P) time and O(S) space for S symbols in the distinct pieces, M merged occurrences and P pairs that
//! are frequent at some time. The length of a piece does not matter.

mod choose;
mod engine;
mod limits;
mod pairs;
mod parity;
mod plan;
mod row;
mod share;
mod start;
mod survey;
#[cfg(test)]
mod tests;
mod vetoes;

use std::borrow::Borrow;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Serialize;

use crate::count::{PieceCounts, needed_to_learn};
use crate::encode::Encoder;
use crate::error::{Error, ErrorKind, Result};
use crate::forbidden::Forbidden;
use crate::memory::ask;
use crate::scope::Scope;
use crate::units::Units;
use crate::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};

use engine::{Done, Engine};
use limits::TokenFilter;
pub use limits::{CharacterLimits, LeftOut, TokenLimits};
pub use parity::{GroupLength, Parity, Window};
use plan::{Plan, Workers, next_id};
pub use start::Earlier;
use vetoes::Vetoes;
pub use vetoes::{Begin, Cuts, Forbids, Function};

/// The most merges for which memory is reserved at once: the corpus may give fewer than the target.
const MAX_RESERVED: usize = 1 << 17;

/// Which of several pairs of equal count is merged first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// The pair with the smaller (left id, right id).
    SmallestIds,
    /// The pair that occurs first in the text as it is segmented at that step.
    FirstSeen,
    /// The pair with the larger (left text, right text), by code points, with marks written out.
    LargestText,
}

/// Where training stops, unless it runs out of pairs before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// At this many ids, including the alphabet, unknown and special tokens.
    VocabSize(usize),
    /// After this many merges.
    Merges(usize),
}

/// Options of training.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// Where to stop.
    pub target: Target,
    /// The minimum count: pairs that occur less often are not merged.
    pub min_count: i64,
    /// Which of several pairs of equal count comes first.
    pub ties: Ties,
    /// Special tokens that get the last ids, except those that an earlier vocabulary has.
    pub special_tokens: Vec<String>,
    /// Which tokens may be learned.
    pub limits: TokenLimits,
    /// If set, only tokens are learned that occur in no text without characters of this scope.
    pub scope: Option<Arc<Scope>>,
    /// If set, no token is learned whose text, without marks, is one of these.
    pub forbidden: Option<Arc<Forbidden>>,
    /// If set, pairs that this function forbids are not merged.
    pub veto: Option<Function<Forbids>>,
    /// If set, no merge crosses the cuts that this function makes in a piece.
    pub cuts: Option<Function<Cuts>>,
    /// If set, pieces begin as this function says, not as the earlier vocabulary encodes them. They are not cut.
    pub begin: Option<Function<Begin>>,
    /// Which characters get ids.
    pub characters: CharacterLimits,
    /// How merges are chosen for several groups.
    pub parity: Option<Parity>,
    /// How many threads merge. The result does not depend on it.
    pub n_threads: usize,
    /// A vocabulary to continue from: its ids and merges are kept.
    pub resume: Option<Earlier>,
}

impl TrainOptions {
    /// Options to learn up to `target` from all pairs that occur at least twice, with one thread. Of pairs with equal
    /// counts, the one with the smallest ids comes first.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            min_count: 2,
            ties: Ties::SmallestIds,
            special_tokens: Vec::new(),
            limits: TokenLimits::default(),
            scope: None,
            forbidden: None,
            veto: None,
            cuts: None,
            begin: None,
            characters: CharacterLimits::default(),
            parity: None,
            n_threads: 1,
            resume: None,
        }
    }
}

/// The progress of training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrainProgress {
    /// Merges done so far, including earlier ones.
    pub n_merges: usize,
    /// The most merges that will be done.
    pub max_merges: usize,
    /// The length of the corpus in tokens, as it is segmented now.
    pub n_corpus_tokens: i64,
    /// The count of the pair that was merged last. No later count is higher, unless groups choose in turn.
    pub count: i64,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The target was reached.
    Target,
    /// No pair was left that reaches the minimum count; the most frequent one had this count.
    MinCount(i64),
    /// The caller stopped it.
    Caller,
}

/// What was learned.
#[derive(Debug)]
#[non_exhaustive]
pub struct Trained {
    /// Alphabet, merges with their counts, unknown and special tokens.
    pub vocabulary: Vocabulary,
    /// The length of the corpus in tokens before the first new merge.
    pub n_initial_tokens: i64,
    /// By new merge: the length of the corpus in tokens after it.
    pub tokens_after: Vec<i64>,
    /// Why training ended.
    pub stop: Stop,
    /// What was left out of the alphabet, if characters were limited.
    pub left_out: Option<LeftOut>,
    /// By group: the length by which its need was measured. Empty without parity.
    pub groups: Vec<GroupLength>,
    /// By new merge: the group that chose it; `None` if all groups together did.
    pub choosers: Vec<Option<usize>>,
}

impl Trained {
    /// The length of the corpus in tokens of the vocabulary.
    pub fn n_corpus_tokens(&self) -> i64 {
        self.tokens_after.last().copied().unwrap_or(self.n_initial_tokens)
    }
}

/// Learns merges from piece counts. `progress` is called at most once for each merge. It may end the training, keeping
/// what was learned so far, or return an error. Counts passed by value are freed before merging begins.
///
/// # Errors
/// If there is no piece, the vocabulary size leaves no room for the alphabet, a piece is not UTF-8 but has to be, a
/// count exceeds 63 bits, or the tie rule needs first occurrences that are unknown. Those of the functions and patterns
/// among the options.
pub fn train(
    counts: impl Borrow<PieceCounts>,
    units: &Units,
    options: &TrainOptions,
    progress: impl FnMut(TrainProgress) -> Result<ControlFlow<()>>,
) -> Result<Trained> {
    train_groups(vec![counts], Vec::new(), units, options, progress)
}

/// Learns merges from the piece counts of several groups, as [`TrainOptions::parity`] says. Parallel texts, one for each
/// group, measure how much groups are in need; no pair in them is counted. See [`train`].
///
/// # Errors
/// Also if a group or a parallel text has no piece, and those of [`Parity::check`].
pub fn train_groups<C: Borrow<PieceCounts>>(
    groups: Vec<C>,
    parallel: Vec<C>,
    units: &Units,
    options: &TrainOptions,
    mut progress: impl FnMut(TrainProgress) -> Result<ControlFlow<()>>,
) -> Result<Trained> {
    let (n_groups, n_parallel) = (groups.len(), parallel.len());
    let corpora: Vec<_> = groups.iter().chain(&parallel).map(C::borrow).collect();
    let sum = |of: fn(&PieceCounts) -> usize| corpora.iter().map(|counts| of(counts)).sum();
    ask(needed_to_learn(sum(PieceCounts::len), sum(PieceCounts::distinct_bytes)))?;
    let (mut vocabulary, left_out) = begin(&corpora, units, options)?;
    let n_earlier = vocabulary.merges().len();
    let max_merges = max_merges(&vocabulary, units, options)?;
    match &options.parity {
        Some(parity) => {
            let n_parallel = Some(n_parallel).filter(|&n| n > 0);
            parity.check(n_groups, n_parallel, Some(max_merges), options.resume.is_some())?;
        }
        None if corpora.len() == 1 => {}
        None => return Err(Error::option("parity", "is needed to train on several groups")),
    }
    let merge_counts = vocabulary.merge_counts().to_vec();
    let mut log = MergeLog { n_earlier, max_merges, merge_counts, ..MergeLog::default() };
    let n_wanted = max_merges - n_earlier;
    vocabulary.reserve_merges_with_tokens(n_wanted.min(MAX_RESERVED));
    let earlier = options.resume.as_ref().map(|earlier| {
        let ignore_merges = earlier.ignore_merges;
        Arc::new(Encoder::new(Arc::new(vocabulary.clone()), units, ignore_merges))
    });
    let unmade = earlier.as_ref().map_or_else(Vec::new, |encoder| encoder.unmade());
    let unmade = unmade.into_iter().filter_map(|id| vocabulary.token(id));
    let names = earlier.as_ref().map_or_else(Vec::new, |_| names_like_text(&vocabulary, units));
    let names = names.iter().map(|name| Token::plain(name));
    let filter = TokenFilter::new(options.limits).with_taken(unmade.chain(names));
    let filter = filter.with_scope(options.scope.clone()).with_vetoes(Vetoes::new(options));
    let (shares, texts) = start::shares(&corpora, units, &vocabulary, earlier.as_ref(), options)?;
    drop(corpora);
    drop((groups, parallel, earlier));
    let n_group_tokens: Vec<_> = texts.iter().take(n_groups).map(|text| text.n_tokens).collect();
    let n_initial_tokens = n_group_tokens.iter().sum();
    let plan = Plan::new(vocabulary.len(), &n_group_tokens);
    let first_new = next_id(vocabulary.len())?;
    let (stop, groups) = Workers::with_threads(plan, shares, options.n_threads, |workers| {
        let mut engine = Engine::new(workers, filter, units, options, texts);
        engine.begin(&vocabulary)?;
        let stop = log.merge_until_stop(&mut engine, &mut vocabulary, &mut progress)?;
        Ok::<_, Error>((stop, engine.lengths()))
    })?;
    if !vocabulary.index_from(first_new) {
        // No two pairs make the same token, but a vocabulary from elsewhere may already have it.
        let problem = "has a token that no merge of it makes, and that is learned now";
        return Err(Error::option("resume", problem));
    }
    let MergeLog { merge_counts, tokens_after, choosers, .. } = log;
    if merge_counts.len() == n_earlier + tokens_after.len() {
        vocabulary.set_merge_counts(merge_counts);
    }
    push_names(&mut vocabulary, units, options)?;
    Ok(Trained { vocabulary, n_initial_tokens, tokens_after, stop, left_out, groups, choosers })
}

/// The names of tokens that are no text, such as added tokens, if text may be written alike. Such text may occur
/// although added tokens are cut out, if normalization produces it. Most formats cannot hold two tokens of one name.
fn names_like_text(vocabulary: &Vocabulary, units: &Units) -> Vec<Vec<u8>> {
    let others = vocabulary.iter().map(|(_, token)| token);
    let others = others.filter(|token| !matches!(token.kind, TokenKind::Text(_)));
    let names = others.map(|token| units.written(token).into_owned());
    names.filter(|name| !name.is_empty() && *units.written(Token::plain(name)) == **name).collect()
}

/// The vocabulary that training begins with, and what is left out of its alphabet.
fn begin(
    corpora: &[&PieceCounts],
    units: &Units,
    options: &TrainOptions,
) -> Result<(Vocabulary, Option<LeftOut>)> {
    let keeps_ids = options.resume.as_ref().is_some_and(|earlier| earlier.keeps_ids);
    options.characters.check(units, keeps_ids)?;
    if corpora.iter().any(|counts| counts.is_empty()) {
        return Err(ErrorKind::EmptyCorpus.into());
    }
    if let Some(scope) = &options.scope {
        limits::check_scope(scope, corpora)?;
    }
    if options.ties == Ties::FirstSeen && !corpora.iter().all(|counts| counts.knows_first()) {
        return Err(ErrorKind::FirstUnknown.into());
    }
    match &options.resume {
        Some(earlier) => earlier.begin(corpora, units, options.characters),
        None => start::alphabet(corpora, units, options.characters),
    }
}

/// The merges made so far, with what is reported about them.
#[derive(Default)]
struct MergeLog {
    /// Merges before the first new one.
    n_earlier: usize,
    /// The most merges that will be made, including earlier ones.
    max_merges: usize,
    /// The counts of earlier merges, if they are known, and of new ones.
    merge_counts: Vec<i64>,
    /// By new merge: the length of the corpus in tokens after it.
    tokens_after: Vec<i64>,
    /// By new merge: the group that chose it.
    choosers: Vec<Option<usize>>,
}

impl MergeLog {
    /// Merges until the target is reached, no pair is left, or the caller stops.
    fn merge_until_stop(
        &mut self,
        engine: &mut Engine<'_>,
        vocabulary: &mut Vocabulary,
        progress: &mut impl FnMut(TrainProgress) -> Result<ControlFlow<()>>,
    ) -> Result<Stop> {
        let max_merges = self.max_merges;
        loop {
            let n_left = max_merges - self.n_merges();
            if n_left == 0 {
                return Ok(Stop::Target);
            }
            let done = engine.merge_next(n_left, vocabulary)?;
            let Some(&Done { count, n_corpus_tokens, .. }) = done.last() else {
                return Ok(Stop::MinCount(engine.best_count()?));
            };
            self.merge_counts.extend(done.iter().map(|done| done.count));
            self.tokens_after.extend(done.iter().map(|done| done.n_corpus_tokens));
            self.choosers.extend(done.iter().map(|done| done.group));
            let n_merges = self.n_merges();
            let so_far = TrainProgress { n_merges, max_merges, n_corpus_tokens, count };
            if progress(so_far)?.is_break() {
                return Ok(Stop::Caller);
            }
        }
    }

    fn n_merges(&self) -> usize {
        self.n_earlier + self.tokens_after.len()
    }
}

/// How many merges fit, including earlier ones.
fn max_merges(vocabulary: &Vocabulary, units: &Units, options: &TrainOptions) -> Result<usize> {
    let n_earlier = vocabulary.merges().len();
    let needed = vocabulary.len() + names(vocabulary, units, options).len();
    match options.target {
        Target::Merges(n_merges) if n_merges < n_earlier => {
            let problem =
                format!("has {n_earlier} merges already, more than the {n_merges} asked for");
            Err(Error::option("resume", problem))
        }
        Target::Merges(n_merges) => Ok(n_merges),
        Target::VocabSize(requested) => {
            requested.checked_sub(needed).map(|n_new| n_earlier + n_new).ok_or_else(|| {
                let may_leave_out = !units.is_bytes() && options.resume.is_none();
                ErrorKind::VocabularyTooSmall { requested, needed, may_leave_out }.into()
            })
        }
    }
}

/// Adds the unknown token and the special tokens after the merges.
fn push_names(vocabulary: &mut Vocabulary, units: &Units, options: &TrainOptions) -> Result<()> {
    let names = names(vocabulary, units, options);
    names.into_iter().try_for_each(|token| vocabulary.push(token).map(drop))
}

/// The unknown token and the special tokens that a vocabulary does not have.
///
/// If the units have an unknown token, an earlier vocabulary may have it as a token of some kind.
fn names<'n>(
    vocabulary: &Vocabulary,
    units: &'n Units,
    options: &'n TrainOptions,
) -> Vec<Token<'n>> {
    let token = |kind, name: &'n str| Token { kind, bytes: name.as_bytes() };
    let is_known = |name: &'n str| {
        let kinds = [TokenKind::Added, TokenKind::Unknown];
        kinds.into_iter().any(|kind| vocabulary.id(token(kind, name)).is_some())
    };
    let is_text = |name: &'n str| vocabulary.id(units.parse(name.as_bytes())).is_some();
    let keeps_ids = options.resume.as_ref().is_some_and(|earlier| earlier.keeps_ids);
    let unknown = units.unknown.as_deref();
    let new_unknown = unknown.filter(|name| !keeps_ids || !is_known(name) && !is_text(name));
    let special = options.special_tokens.iter().map(String::as_str);
    let special = special.filter(|name| unknown != Some(*name) && !is_known(name));
    let unknown = new_unknown.map(|name| token(TokenKind::Unknown, name));
    unknown.into_iter().chain(special.map(|name| token(TokenKind::Added, name))).collect()
}

/// The vocabulary that training up to `target` would give, cut from a larger one: the same alphabet and the first
/// merges.
///
/// A merge depends only on the merges before it, not on where training stops, so nothing has to be learned again. The
/// tokens of the last merges are removed. All others keep their order, so those after them get smaller ids: usually the
/// unknown and special tokens. Linear in the size of the vocabulary.
///
/// # Errors
/// If the ids are in another order than training gives them, or `target` is more than the vocabulary has or less than
/// it must have.
pub(crate) fn truncated(vocabulary: &Vocabulary, target: Target) -> Result<Vocabulary> {
    check_order(vocabulary)?;
    let n_kept = n_merges_kept(vocabulary, target)?;
    let (kept, gone) = vocabulary.merges().split_at(n_kept);
    let mut gone = gone.iter().map(|merge| merge.result).peekable();
    let mut shorter = Vocabulary::new();
    let mut new_ids = vec![TokenId::MAX; vocabulary.len()];
    for (id, token) in vocabulary.iter() {
        if gone.next_if_eq(&id).is_none() {
            new_ids[id as usize] = shorter.push(token)?;
        }
    }
    for &Merge { left, right, result } in kept {
        let [left, right, result] = [left, right, result].map(|id| new_ids[id as usize]);
        shorter.push_merge_to(Merge { left, right, result });
    }
    let counts = vocabulary.merge_counts();
    shorter.set_merge_counts(counts[..n_kept.min(counts.len())].to_vec());
    Ok(shorter)
}

/// Rejects a vocabulary that training would not produce: each merge must make a token after those of earlier merges and
/// after its parts, and no other text token may come after the first of them.
fn check_order(vocabulary: &Vocabulary) -> Result<()> {
    let refused = |problem| Err(Error::option("truncated", problem));
    if vocabulary.iter().count() != vocabulary.len() {
        return refused("has ids that no token has, which training does not leave");
    }
    let merges = vocabulary.merges();
    let ascends = merges.is_sorted_by(|one, other| one.result < other.result);
    let is_late = |merge: &Merge| merge.left.max(merge.right) < merge.result;
    let is_text = |kind| !matches!(kind, TokenKind::Unknown | TokenKind::Added);
    let first = merges.first().map_or(vocabulary.len(), |merge| merge.result as usize);
    let n_made = vocabulary.iter().skip(first).filter(|(_, token)| is_text(token.kind)).count();
    let is_ordered = ascends && merges.iter().all(is_late) && n_made == merges.len();
    if !is_ordered || !vocabulary.priorities().is_empty() {
        return refused(
            "has ids in another order than training gives them: first the alphabet, then a token for each merge",
        );
    }
    Ok(())
}

/// How many merges are kept.
fn n_merges_kept(vocabulary: &Vocabulary, target: Target) -> Result<usize> {
    let n_learned = vocabulary.merges().len();
    let needed = vocabulary.len() - n_learned;
    let n_merges = match target {
        Target::Merges(n_merges) => n_merges,
        Target::VocabSize(requested) => requested
            .checked_sub(needed)
            .ok_or(ErrorKind::VocabularyTooSmall { requested, needed, may_leave_out: false })?,
    };
    if n_merges > n_learned {
        let problem = format!(
            "{n_merges} merges are asked for, but there are {n_learned}; training with resume learns more"
        );
        return Err(Error::option("truncated", problem));
    }
    Ok(n_merges)
}
