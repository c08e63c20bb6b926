//! Parity between groups, such as languages: which of them chooses the next merge.
//!
//! ```text
//! each step:
//!     the group most in need that still has a pair:   with parallel texts: the longest one, in tokens
//!                                                     with ratios: the lowest (length before / length now) / ratio
//!                                                     with neither: the longest text
//!     its most frequent pair, by the rule for ties, is merged in the texts of all groups
//! ```
//!
//! Of groups in equal need, the first chooses. With a window, those that chose too often recently wait until no other has
//! a pair. The first merges may be chosen by the whole corpus. The length of a text is the number of its tokens; a unit
//! without an id counts as one, or as its bytes where these stand for it. Takes O(G log G) time for each merge, G groups.

use std::cmp::Ordering;
use std::collections::VecDeque;

use crate::error::{Error, Result};

/// How merges are chosen for several groups. The default is by parallel texts, if there are any, or else by the length
/// of the texts that are trained on.
#[derive(Clone, Debug, Default)]
pub struct Parity {
    /// By group: how much shorter its text should become, relative to those of the others.
    pub ratios: Option<Vec<f64>>,
    /// If set, a group that chose too often recently waits.
    pub window: Option<Window>,
    /// This many first merges are chosen by the sum of counts over all groups.
    pub global_merges: usize,
}

/// A group waits if it made more than `alpha / n_groups` of the last `len` choices.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The number of last choices that count.
    pub len: usize,
    /// How many times its equal share of the choices a group may make.
    pub alpha: f64,
}

impl Parity {
    /// Refuses settings that do not fit this many groups and parallel texts.
    ///
    /// # Errors
    /// If there are fewer than two groups, parallel texts or ratios of another number, both of them, a ratio or `alpha`
    /// that is not above 0, a window without length, without effect or after earlier merges, or more global merges than
    /// merges.
    #[expect(clippy::cast_precision_loss, reason = "the number of groups is small")]
    pub fn check(
        &self,
        n_groups: usize,
        n_parallel: Option<usize>,
        max_merges: Option<usize>,
        is_resumed: bool,
    ) -> Result<()> {
        let is_positive = |number: f64| number.is_finite() && number > 0.0;
        let ratios = self.ratios.as_deref();
        let is_short = self.window.is_some_and(|window| window.len == 0);
        let (option, problem) = if n_groups < 2 {
            ("parity", format!("needs at least two groups, and there is {n_groups}"))
        } else if let Some(n) = n_parallel.filter(|&n| n != n_groups) {
            ("parallel", format!("needs a text for each of {n_groups} groups, not {n}"))
        } else if n_parallel.is_some() && ratios.is_some() {
            ("ratio", "does not work with parallel texts; give one of them".to_owned())
        } else if let Some(ratios) = ratios.filter(|ratios| ratios.len() != n_groups) {
            let n_ratios = ratios.len();
            ("ratio", format!("needs a number for each of {n_groups} groups, not {n_ratios}"))
        } else if let Some(bad) = ratios.and_then(|all| all.iter().find(|it| !is_positive(**it))) {
            ("ratio", format!("must be finite and above 0, not {bad}"))
        } else if is_short {
            ("window", "must be at least 1".to_owned())
        } else if let Some(window) = self.window.filter(|window| !is_positive(window.alpha)) {
            ("alpha", format!("must be finite and above 0, not {}", window.alpha))
        } else if self.window.is_some_and(|window| window.alpha >= n_groups as f64) {
            let problem = "has no effect, because no group can make so many more choices than its equal share";
            ("window", format!("{problem} of {n_groups}"))
        } else if self.window.is_some() && is_resumed {
            let problem = "needs the last choices, which a tokenizer does not store; train from the beginning";
            ("window", problem.to_owned())
        } else if let Some(most) = max_merges.filter(|&most| self.global_merges > most) {
            let n = self.global_merges;
            ("global_merges", format!("{n} is more than the {most} merges in all"))
        } else {
            return Ok(());
        };
        Err(Error::option(option, problem))
    }
}

/// The length of the text by which the need of a group is measured, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupLength {
    /// Before the first merge, earlier ones included.
    pub initial: i64,
    /// Now.
    pub current: i64,
}

/// Decides in which order groups may choose.
pub(super) struct Needs {
    parity: Parity,
    pub(super) lengths: Vec<GroupLength>,
    /// The last groups that chose, at most as many as the window is long.
    history: VecDeque<usize>,
    /// How often each group is in the history.
    n_choices: Vec<usize>,
}

impl Needs {
    pub(super) fn new(parity: Parity, lengths: Vec<GroupLength>) -> Self {
        let n_choices = vec![0; lengths.len()];
        Self { parity, lengths, history: VecDeque::new(), n_choices }
    }

    /// How many of the merges after the first `n_merges` are chosen by the whole corpus.
    pub(super) fn n_global_left(&self, n_merges: usize) -> usize {
        self.parity.global_merges.saturating_sub(n_merges)
    }

    /// The groups in the order in which they may choose.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut groups: Vec<_> = (0..self.lengths.len()).collect();
        groups.sort_by(|&one, &other| self.compare(one, other));
        groups.sort_by_cached_key(|&group| self.waits(group));
        groups
    }

    /// Records that a group chose.
    pub(super) fn record(&mut self, group: usize) {
        let Some(window) = self.parity.window else { return };
        if self.history.len() == window.len {
            let first = self.history.pop_front();
            first.into_iter().for_each(|group| self.n_choices[group] -= 1);
        }
        self.history.push_back(group);
        self.n_choices[group] += 1;
    }

    /// Orders two groups: the one more in need comes first.
    fn compare(&self, one: usize, other: usize) -> Ordering {
        let Some(ratios) = &self.parity.ratios else {
            return self.lengths[other].current.cmp(&self.lengths[one].current);
        };
        #[expect(clippy::cast_precision_loss, reason = "a rate is as precise as its lengths")]
        let rate = |group: usize| {
            let GroupLength { initial, current } = self.lengths[group];
            initial as f64 / current as f64 / ratios[group]
        };
        rate(one).total_cmp(&rate(other))
    }

    /// Whether a group chose too often recently.
    #[expect(clippy::cast_precision_loss, reason = "numbers of choices and groups are small")]
    fn waits(&self, group: usize) -> bool {
        self.parity.window.is_some_and(|Window { len, alpha }| {
            self.n_choices[group] as f64 / len as f64 > alpha / self.lengths.len() as f64
        })
    }
}
