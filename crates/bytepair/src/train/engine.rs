//! One step after the other: find the best pair, merge its occurrences, account for the neighbours.
//!
//! The queue is lazy: an entry says what was true when it was pushed. A pair gains no occurrence after
//! the merge that created it, so counts only fall and first occurrences only move back: a stale entry
//! stands too early, never too late, and the first entry that is still true is the best pair.
//!
//! A merge of (a, b) into c changes, at each occurrence `x a b y`, the pairs (x, a), (b, y) and the
//! new (x, c), (c, y). Changes are summed by neighbour in arrays indexed by token id and applied once
//! for each distinct neighbour. Where occurrences touch, `a b a b`, one (b, a) goes and one (c, c)
//! comes.

use super::limits::Veto;
use super::pairs::{PairIndex, Pairs};
use super::queue::Queue;
use super::words::Words;
use super::{Ties, TrainOptions};
use crate::error::Result;
use crate::pair_map::pair_key;
use crate::slots::BARRIER;
use crate::units::Units;
use crate::vocabulary::{TokenId, Vocabulary};

/// The pair to merge next.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pair: PairIndex,
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) count: i64,
}

/// What the queue knows of a pair.
#[derive(Clone, Copy)]
struct Candidate {
    count: i64,
    /// Orders pairs of equal count, the smaller first: the ids, or the slot of the first occurrence.
    tie: u64,
    pair: PairIndex,
}

/// The corpus, its pairs, and the order in which they are merged.
pub(super) struct Engine {
    words: Words,
    pairs: Pairs,
    queue: Queue<Candidate>,
    order: Order,
    veto: Veto,
    left: Neighbours,
    right: Neighbours,
    /// Scratch: the slots where the pair at hand was merged, in ascending order.
    merged: Vec<u32>,
}

/// The tie rule, with what it looks up.
struct Order {
    ties: Ties,
    /// By token id: the token as it is written. Only for `LargestText`.
    texts: Vec<Vec<u8>>,
}

/// Changes of pairs, summed by the neighbour on one side.
#[derive(Default)]
struct Neighbours {
    /// By token id. All zero between merges.
    sums: Vec<Sum>,
    /// The ids whose sum is not zero, in the order in which they were met.
    touched: Vec<TokenId>,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    weight: i64,
    n_slots: usize,
    /// The pair that was created for this neighbour.
    pair: PairIndex,
}

impl Engine {
    pub(super) fn new(
        words: Words,
        vocabulary: &Vocabulary,
        units: &Units,
        options: &TrainOptions,
    ) -> Result<Self> {
        let mut order = Order { ties: options.ties, texts: Vec::new() };
        let mut veto = Veto::new(options.limits);
        vocabulary.iter().for_each(|(id, token)| veto.learn(id, token.bytes));
        for (id, _) in vocabulary.iter() {
            order.learn(id, vocabulary, units)?;
        }
        let pairs = Pairs::new(&words);
        let mut engine = Self {
            words,
            pairs,
            queue: Queue::new(),
            order,
            veto,
            left: Neighbours::default(),
            right: Neighbours::default(),
            merged: Vec::new(),
        };
        (0..).take(engine.pairs.len()).for_each(|pair| engine.enqueue(pair));
        Ok(engine)
    }

    /// The length of the corpus in tokens.
    pub(super) fn n_corpus_tokens(&self) -> i64 {
        self.words.n_tokens()
    }

    /// The best pair, if it occurs at least `min_count` times.
    pub(super) fn best(&mut self, min_count: i64) -> Option<Best> {
        loop {
            let candidate = *self.queue.first()?;
            if candidate.count < min_count {
                return None;
            }
            self.queue.pop(|one, other| self.order.before(one, other, &self.pairs));
            let count = self.pairs.count(candidate.pair);
            if count != candidate.count || Some(candidate.tie) != self.tie(candidate.pair) {
                self.enqueue(candidate.pair);
                continue;
            }
            let (left, right) = self.pairs.tokens(candidate.pair);
            return Some(Best { pair: candidate.pair, left, right, count });
        }
    }

    /// The count of the best pair, after [`Engine::best`] has found none good enough.
    pub(super) fn best_count(&self) -> i64 {
        self.queue.first().map_or(0, |candidate| candidate.count)
    }

    /// Merges a pair into the new token `result`.
    pub(super) fn merge(
        &mut self,
        best: Best,
        result: TokenId,
        vocabulary: &Vocabulary,
        units: &Units,
    ) -> Result<()> {
        self.words.set_length(result, best.left, best.right);
        self.order.learn(result, vocabulary, units)?;
        self.veto.learn(result, vocabulary.expect_token(result)?.bytes);
        self.merge_occurrences(best, result);
        let touching = self.sum_neighbours(result);
        self.decrease_pairs(best, touching);
        self.create_pairs(result, touching);
        self.left.clear();
        self.right.clear();
        Ok(())
    }

    /// Rewrites the occurrences that are still there, left to right, and lists them in `merged`.
    fn merge_occurrences(&mut self, best: Best, id: TokenId) {
        self.merged.clear();
        for &slot in self.pairs.slots(best.pair) {
            if self.words.has_pair(slot as usize, best.left, best.right) {
                self.words.merge_at(slot as usize, best.left, id);
                self.merged.push(slot);
            }
        }
    }

    /// Sums the neighbours of the merged occurrences; returns the sum of those that touch.
    fn sum_neighbours(&mut self, id: TokenId) -> Sum {
        let mut touching = Sum::default();
        let length = self.words.length(id);
        for &slot in &self.merged {
            let slot = slot as usize;
            let weight = self.words.weight_at(slot);
            let before = self.words.token_before(slot);
            if before == id {
                touching.weight += weight;
                touching.n_slots += 1;
            } else if before != BARRIER {
                self.left.add(before, weight);
            }
            let after = self.words.token_at(slot + length);
            if after != id && after != BARRIER {
                self.right.add(after, weight);
            }
        }
        touching
    }

    fn decrease_pairs(&mut self, best: Best, touching: Sum) {
        for &before in &self.left.touched {
            self.pairs.decrease(before, best.left, self.left.sums[before as usize].weight);
        }
        for &after in &self.right.touched {
            self.pairs.decrease(best.right, after, self.right.sums[after as usize].weight);
        }
        self.pairs.decrease(best.right, best.left, touching.weight);
        // Of a pair of equal tokens no occurrence is left either, whatever was counted above.
        self.pairs.clear(best.pair);
    }

    /// Adds the pairs of a new token: none of them exists yet.
    fn create_pairs(&mut self, id: TokenId, touching: Sum) {
        for &before in &self.left.touched {
            let sum = &mut self.left.sums[before as usize];
            sum.pair = self.pairs.create(before, id, sum.weight, sum.n_slots);
        }
        for &after in &self.right.touched {
            let sum = &mut self.right.sums[after as usize];
            sum.pair = self.pairs.create(id, after, sum.weight, sum.n_slots);
        }
        let twice = (touching.n_slots > 0)
            .then(|| self.pairs.create(id, id, touching.weight, touching.n_slots));
        self.place_pairs(id, twice);
        let (left, right) = (std::mem::take(&mut self.left), std::mem::take(&mut self.right));
        left.pairs().chain(right.pairs()).chain(twice).for_each(|pair| self.enqueue(pair));
        (self.left, self.right) = (left, right);
    }

    /// Gives the pairs of a new token their slots.
    #[expect(clippy::cast_possible_truncation, reason = "slots fit 32 bits")]
    fn place_pairs(&mut self, id: TokenId, twice: Option<PairIndex>) {
        let length = self.words.length(id);
        for &slot in &self.merged {
            let before = self.words.token_before(slot as usize);
            if before == id {
                let pair = twice.unwrap_or_default();
                self.pairs.append(pair, slot - length as u32);
            } else if before != BARRIER {
                let start = slot - self.words.length(before) as u32;
                self.pairs.append(self.left.sums[before as usize].pair, start);
            }
            let after = self.words.token_at(slot as usize + length);
            if after != id && after != BARRIER {
                self.pairs.append(self.right.sums[after as usize].pair, slot);
            }
        }
    }

    /// Puts a pair into the queue as it stands now, if it occurs at all.
    fn enqueue(&mut self, pair: PairIndex) {
        let count = self.pairs.count(pair);
        let (left, right) = self.pairs.tokens(pair);
        if count <= 0 || !self.veto.allows(left, right) {
            return;
        }
        if let Some(tie) = self.tie(pair) {
            self.queue.push(Candidate { count, tie, pair }, |one, other| {
                self.order.before(one, other, &self.pairs)
            });
        }
    }

    /// What orders a pair among those of equal count; `None` if it does not occur.
    fn tie(&mut self, pair: PairIndex) -> Option<u64> {
        match self.order.ties {
            Ties::FirstSeen => self.pairs.first_slot(pair, &self.words).map(u64::from),
            Ties::SmallestIds | Ties::LargestText => {
                let (left, right) = self.pairs.tokens(pair);
                Some(pair_key(left, right))
            }
        }
    }
}

impl Order {
    /// Whether `one` is merged before `other`.
    fn before(&self, one: &Candidate, other: &Candidate, pairs: &Pairs) -> bool {
        if one.count != other.count {
            return one.count > other.count;
        }
        if self.ties == Ties::LargestText {
            let texts = |candidate: &Candidate| {
                let (left, right) = pairs.tokens(candidate.pair);
                (&self.texts[left as usize], &self.texts[right as usize])
            };
            return (texts(one), one.tie) > (texts(other), other.tie);
        }
        one.tie < other.tie
    }

    /// Takes note of a new token.
    fn learn(&mut self, id: TokenId, vocabulary: &Vocabulary, units: &Units) -> Result<()> {
        if self.ties == Ties::LargestText {
            self.texts.resize(id as usize + 1, Vec::new());
            self.texts[id as usize] = units.written(vocabulary.expect_token(id)?).into_owned();
        }
        Ok(())
    }
}

impl Neighbours {
    fn add(&mut self, id: TokenId, weight: i64) {
        if self.sums.len() <= id as usize {
            self.sums.resize(id as usize + 1, Sum::default());
        }
        let sum = &mut self.sums[id as usize];
        if sum.n_slots == 0 {
            self.touched.push(id);
        }
        sum.weight += weight;
        sum.n_slots += 1;
    }

    /// The pairs that were created for the neighbours.
    fn pairs(&self) -> impl Iterator<Item = PairIndex> {
        self.touched.iter().map(|&id| self.sums[id as usize].pair)
    }

    fn clear(&mut self) {
        for id in self.touched.drain(..) {
            self.sums[id as usize] = Sum::default();
        }
    }
}
