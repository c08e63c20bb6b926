//! What a splitter does in one go: a stage, or several that are equivalent to one, with the engine for it.
//!
//! Left out: which stages are equivalent to one ([`super::together`]), and which engine is chosen (`engine::compile`).

use super::behaviour::{self, Join};
use super::together;
use crate::automaton::running::Running;
use crate::engine::compile::{CompileOptions, compile};
use crate::engine::{Engine, backtrack};
use crate::parser::Parsed;
use crate::stage::Stage;

/// What is done in one go: a stage, or several that are as one.
pub(crate) struct Step {
    /// The first one. Several are of one kind.
    pub(crate) stage: Stage,
    pub(crate) n_stages: usize,
    pub(crate) engine: Engine,
}

impl Step {
    /// Several stages at once; `None` for one, and where together they are too large for an automaton.
    pub(crate) fn of_several(
        stages: &[Stage],
        parsed: &[Parsed],
        options: CompileOptions<'_>,
    ) -> Option<Self> {
        let [stage, _, ..] = stages else { return None };
        let engine = compile(&together::one(parsed), &stage.pattern, options).ok()?;
        let is_quick = matches!(engine, Engine::Automaton(_));
        is_quick.then(|| Self { stage: stage.clone(), n_stages: stages.len(), engine })
    }

    /// The automaton, where its pieces are those of the step.
    pub(crate) fn running(&self) -> Option<&Running> {
        match (&self.engine, Join::by(&self.stage)) {
            (Engine::Automaton(machine), None) => Some(machine.running()),
            _ => None,
        }
    }

    /// Describes the engine, and what becomes of matches and the rest.
    pub(crate) fn in_words(&self) -> String {
        let Self { stage, n_stages, engine } = self;
        let rest = match (n_stages, behaviour::in_words(stage)) {
            (1, rest) => rest.to_owned(),
            (n_stages, rest) => format!("{n_stages} stages at once, {rest}"),
        };
        match engine {
            Engine::Automaton(machine) => {
                let automaton = machine.automaton();
                let covers = automaton.covers_everything() && stage.unmatched().is_some();
                let rest = if covers { "matches everything".to_owned() } else { rest };
                format!(
                    "automaton, {} states, {} character classes, {}, {rest}",
                    automaton.n_states(),
                    automaton.n_classes(),
                    machine.in_words()
                )
            }
            Engine::Backtracker(backtracker) => format!(
                "backtracker, {} character classes, at most {} steps per match, {rest}",
                backtracker.n_classes(),
                backtrack::STEP_LIMIT
            ),
            Engine::Repeats(repeats) => format!("{}, {rest}", repeats.in_words()),
        }
    }
}
