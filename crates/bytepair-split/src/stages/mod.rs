//! What becomes of the matches of a stage, and what is known of stages before any text is split.

pub(crate) mod behaviour;
pub(crate) mod holding;
pub(crate) mod marks;
pub(crate) mod named;
pub(crate) mod step;
pub(crate) mod together;
