//! Cuts a segment into pieces, in rounds of changing and cutting.
//!
//! Most tokenizers have one round that changes nothing and cuts once. Published files may have more: each further
//! round changes every piece of the previous one (a space put in front of it, `▁` for its spaces) and cuts the result.
//! Costs one pass over the text for each round; the first round copies only what it changes.

use std::ops::Range;

use crate::encoding::Traced;
use crate::error::Result;
use crate::normalize::{NormalizeStep, Normalizer};
use bytepair_split::Splitter;

/// Rounds that a segment goes through, each on the pieces of the previous one.
#[derive(Clone, Debug)]
pub struct PreTokenizer {
    rounds: Vec<Round>,
}

/// One change of the pieces, and one cut.
#[derive(Clone, Debug)]
pub struct Round {
    /// Changes each piece. Its rules about the first segment apply to the piece that begins the text.
    pub change: Normalizer,
    /// Cuts each changed piece.
    pub splitter: Splitter,
}

impl PreTokenizer {
    /// A pre-tokenizer with these rounds; without any, a segment is one piece.
    pub fn new(rounds: Vec<Round>) -> Self {
        Self { rounds }
    }

    /// The rounds, in the order in which they are applied.
    pub fn rounds(&self) -> &[Round] {
        &self.rounds
    }

    /// The only splitter, if there is at most one round, which changes nothing.
    pub fn only_splitter(&self) -> Option<Splitter> {
        if self.rounds.is_empty() { Some(Splitter::whole()) } else { self.one_splitter().cloned() }
    }

    /// The only round, if it changes nothing, which is the usual case.
    pub(crate) fn one_splitter(&self) -> Option<&Splitter> {
        match self.rounds.as_slice() {
            [round] if round.change.steps().is_empty() => Some(&round.splitter),
            _ => None,
        }
    }

    /// Visits all pieces in order, each as a text and a range of it. An error of `visit` ends the visit.
    pub(crate) fn for_each_piece(&self, segment: &Traced<'_>, visit: &mut Visit<'_>) -> Result<()> {
        match self.one_splitter() {
            Some(splitter) => splitter.for_each_piece(&segment.text, |piece| visit(segment, piece)),
            None => visit_rounds(&self.rounds, segment, visit),
        }
    }

    /// A segment after the changes of the first round.
    pub(crate) fn changed<'t>(&self, segment: &'t Traced<'t>) -> Result<Traced<'t>> {
        let change = self.rounds.first().map(|round| &round.change);
        change.map_or_else(|| Ok(segment.clone()), |change| segment.changed(change))
    }

    /// Whether a change treats the beginning of a text specially.
    pub(crate) fn asks_for_the_first(&self) -> bool {
        let mut steps = self.rounds.iter().flat_map(|round| round.change.steps());
        steps.any(|step| matches!(step, NormalizeStep::Prepend { only_first: true, .. }))
    }

    /// Whether it may do so after the first cut, when several pieces may come from the first character.
    pub(crate) fn asks_late(&self) -> bool {
        self.rounds.len() > 1 && self.asks_for_the_first()
    }
}

impl From<Splitter> for PreTokenizer {
    /// One round that changes nothing.
    fn from(splitter: Splitter) -> Self {
        Self { rounds: vec![Round { change: Normalizer::default(), splitter }] }
    }
}

/// Receives a text and a range of it.
type Visit<'v> = dyn FnMut(&Traced<'_>, Range<usize>) -> Result<()> + 'v;

fn visit_rounds(rounds: &[Round], segment: &Traced<'_>, visit: &mut Visit<'_>) -> Result<()> {
    let Some((round, later)) = rounds.split_first() else {
        return visit(segment, 0..segment.text.len());
    };
    let changed = segment.changed(&round.change)?;
    round.splitter.for_each_piece(&changed.text, |piece| {
        if later.is_empty() {
            return visit(&changed, piece);
        }
        visit_rounds(later, &changed.piece(piece), visit)
    })
}
