//! `bytepair.serving`: segments, checks of sampled ids, and bytes of tokens.

mod sampling;

pub(crate) use sampling::encode_by;
