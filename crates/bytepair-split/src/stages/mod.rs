//! Stages as a whole: what becomes of their matches, which of them are one, and what no piece of theirs contains.
//!
//! | | |
//! |---|---|
//! | [`behaviour`] | what becomes of matches and of the rest |
//! | [`together`] | neighbouring stages that one engine can do at once |
//! | [`step`] | what a splitter does in one go: a stage or several, with their engine |
//! | [`holding`] | texts that no piece contains, in whatever text |
//! | [`named`] | the stages of published models |
//! | [`marks`] | stages that cut at the mark for spaces |

pub(crate) mod behaviour;
pub(crate) mod holding;
pub(crate) mod marks;
pub(crate) mod named;
pub(crate) mod step;
#[cfg(test)]
mod tests;
pub(crate) mod together;
