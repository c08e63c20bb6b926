//! `bytepair.serving`: segments, checks of sampled ids, and bytes of tokens.

pub(crate) mod segments;
