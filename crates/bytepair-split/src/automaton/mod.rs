//! Patterns that look at most one symbol ahead, as a deterministic automaton, and the ways to run it.
//!
//! | | |
//! |---|---|
//! | [`table`] | the automaton, made from instructions: one attempt from a place, and what can be proven of all texts |
//! | [`running`] | a second table, which goes on from piece to piece without asking whether a piece has ended |
//! | [`scan`] | looks back where the running automaton cannot know, in linear time |
//!
//! Left out: several places at once by vectors (`windows`), and patterns that look further (`engine::backtrack`).

pub(crate) mod running;
pub(crate) mod scan;
pub(crate) mod table;
#[cfg(test)]
mod tests;
