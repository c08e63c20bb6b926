//! `bytepair.serving`: segments, checks of sampled ids, and bytes of tokens.

pub(crate) mod ids;
pub(crate) mod sampling;
pub(crate) mod segments;
pub(crate) mod tokens;
