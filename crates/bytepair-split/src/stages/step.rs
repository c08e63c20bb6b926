//! What a splitter does in one go: a stage, or adjacent stages that one engine can do at once because no character
//! belongs to two of them.
//!
//! Some vocabularies take digits first, then ideographs, then the rest with a long pattern. That is three passes over
//! the text, two of which find nothing in most texts. Two stages whose matches are pieces and whose rest is kept are
//! equivalent to one stage of both patterns if no character can be matched by both, no match is empty, and neither
//! pattern looks around its match (`docs/explanation/splitting.md` has the proof).
//!
//! Left out: combinations that are too large for an automaton, whose stages run one by one, and the choice of the engine
//! (`engine::compile()`). Cost: a walk over the patterns, and one intersection of sets for each stage.

use std::ops::Range;

use crate::automaton::running::Running;
use crate::engine::{CompileOptions, Engine, backtrack, compile};
use crate::parser::Parsed;
use crate::parser::tree::{CharSet, Node};
use crate::stage::{Behaviour, Stage};

/// What runs in one go: a stage, or several that are equivalent to one.
pub(crate) struct Step {
    /// The first stage. All stages of a step have the same behaviour.
    pub(crate) stage: Stage,
    pub(crate) n_stages: usize,
    pub(crate) engine: Engine,
}

impl Step {
    /// Several stages at once; `None` for one stage, or if together they are too large for an automaton.
    pub(crate) fn of_several(
        stages: &[Stage],
        parsed: &[Parsed],
        options: CompileOptions,
    ) -> Option<Self> {
        let [stage, _, ..] = stages else { return None };
        let engine = compile(&one(parsed), &stage.pattern, options).ok()?;
        let is_quick = matches!(engine, Engine::Automaton(_));
        is_quick.then(|| Self { stage: stage.clone(), n_stages: stages.len(), engine })
    }

    /// The automaton, if there is one. Some of its pieces may be joined afterwards.
    pub(crate) fn running(&self) -> Option<&Running> {
        match &self.engine {
            Engine::Automaton(machine) => Some(machine.running()),
            _ => None,
        }
    }

    /// Whether it is proven that matches cover every text and are pieces.
    pub(crate) fn covers_everything(&self) -> bool {
        let Engine::Automaton(machine) = &self.engine else { return false };
        machine.automaton().covers_everything() && self.stage.unmatched().is_some()
    }

    /// Describes the engine, and what happens to matches and to the rest.
    pub(crate) fn in_words(&self) -> String {
        let Self { stage, n_stages, engine } = self;
        let rest = match (n_stages, super::in_words(stage)) {
            _ if self.covers_everything() => "matches everything".to_owned(),
            (1, rest) => rest.to_owned(),
            (n_stages, rest) => format!("{n_stages} stages at once, {rest}"),
        };
        match engine {
            Engine::Automaton(machine) => {
                let automaton = machine.automaton();
                format!(
                    "automaton, {} states, {} character classes, {}, {rest}",
                    automaton.n_states(),
                    automaton.n_classes(),
                    machine.in_words()
                )
            }
            Engine::Backtracker(backtracker) => format!(
                "backtracker, {} character classes, at most {} steps for all matches of a stretch of text, {rest}",
                backtracker.alphabet.n_classes(),
                backtrack::STEP_LIMIT
            ),
            Engine::Repeats(repeats) => format!("{}, {rest}", repeats.in_words()),
        }
    }
}

/// The stages, in groups of neighbours that can run at once.
pub(crate) fn groups(stages: &[Stage], parsed: &[Parsed]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut known: Option<CharSet> = None;
    for (index, (stage, Parsed { root, .. })) in stages.iter().zip(parsed).enumerate() {
        let is_plain = (stage.behaviour, stage.invert) == (Behaviour::Isolated, false);
        let own = symbols(root).filter(|_| is_plain && !root.is_nullable());
        let both = known.as_ref().zip(own.as_ref());
        let is_one_flavour =
            index > 0 && stages[index - 1].pattern.flavour == stage.pattern.flavour;
        match (both, groups.last_mut()) {
            (Some((known, own)), Some(group)) if is_one_flavour && are_apart(known, own) => {
                group.end = index + 1;
            }
            _ => {
                groups.push(index..index + 1);
                known = None;
            }
        }
        known = match (known, own) {
            (Some(known), Some(own)) => Some(known.union(&own)),
            (_, own) => own,
        };
    }
    groups
}

/// The pattern of a group. No two of its patterns match at the same place, and none has word boundaries.
fn one(parsed: &[Parsed]) -> Parsed {
    let roots = parsed.iter().map(|parsed| parsed.root.clone());
    Parsed { root: Node::alternate(roots.collect()), word: None }
}

/// All symbols that matches may contain; `None` if the pattern looks around its match.
fn symbols(node: &Node) -> Option<CharSet> {
    let mut all = CharSet::empty();
    let looks = node.any(&mut |node| match node {
        Node::Set(set) => {
            all = std::mem::replace(&mut all, CharSet::empty()).union(set);
            false
        }
        node => matches!(node, Node::Look(..) | Node::Anchor(_)),
    });
    (!looks).then_some(all)
}

fn are_apart(one: &CharSet, other: &CharSet) -> bool {
    one.clone().intersection(other) == CharSet::empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser;
    use crate::unicode::UnicodeTables;
    use crate::{Flavour, Pattern};

    fn found(sources: &[&str], behaviour: Behaviour) -> Vec<Range<usize>> {
        let flavour = Flavour::Oniguruma;
        let stage = |source: &&str| {
            let pattern = Pattern { source: (*source).to_owned(), flavour };
            Stage { pattern, behaviour, invert: false }
        };
        let stages: Vec<_> = sources.iter().map(stage).collect();
        let parse = |source| parser::parse(source, flavour, &UnicodeTables::latest()).unwrap();
        groups(&stages, &sources.iter().map(|source| parse(source)).collect::<Vec<_>>())
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one group is one range")]
    fn stages_of_other_characters_are_one_and_those_that_look_around_stand_alone() {
        let isolated = |sources: &[&str]| found(sources, Behaviour::Isolated);
        assert_eq!(isolated(&[r"\p{N}{1,3}", "[一-龥]+", r"\s?\p{L}+|."]), [0..2, 2..3]);
        assert_eq!(isolated(&["a", "b+?", "(?>cd|e*f)"]), [0..3]);
        assert_eq!(isolated(&["a", "b", "a", "b"]), [0..2, 2..4]);
        assert_eq!(isolated(&["a", "ba"]), [0..1, 1..2]);
        for second in ["b*", "b$", r"b\b", "b(?!c)", "(?<=c)b", "[^b]"] {
            assert_eq!(isolated(&["a", second]), [0..1, 1..2], "{second}");
            assert_eq!(isolated(&[second, "a"]), [0..1, 1..2], "{second}");
        }
        assert_eq!(found(&["a", "b"], Behaviour::Contiguous), [0..1, 1..2]);
        assert!(isolated(&[]).is_empty());
    }
}
