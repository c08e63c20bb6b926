//! Stages as a whole: what becomes of their matches, which of them are one, and what no piece of theirs contains.
//!
//! | | |
//! |---|---|
//! | [`behaviour`] | what becomes of matches and of the rest |
//! | [`step`] | what a splitter does in one go: a stage, or several that one engine can do at once |
//! | [`inside_pieces`] | texts that no piece contains, in whatever text |
//! | [`named`] | the stages of published models, and those that cut at the mark for spaces |

pub(crate) mod behaviour;
pub(crate) mod inside_pieces;
pub(crate) mod named;
pub(crate) mod step;
#[cfg(test)]
mod tests;
