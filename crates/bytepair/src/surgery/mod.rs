//! Vocabularies that are changed by hand: extended, pruned, freed of tokens, joined with others.
//!
//! What holds, each proven by a property over small random vocabularies in `tests`:
//!
//! - *Extension* ([`strings`], [`combine`]): tokens, merges and added tokens of before keep their ids and ranks, and new
//!   merges rank behind all others. So the old merges run to their end first, and the new encoding of a text joins some
//!   neighbours of the old one. A string of two tokens that get a merge is that token for ever, as later merges rank higher
//!   still: every token that is added is reached.
//! - *Removal* ([`remove`], [`prune`]): with a token go all merges that use it, and with these the tokens that are made by
//!   them alone. Every token that stays and was made of its own units still is: no merge on the way to it is gone.
//! - *Numbering* ([`renumber`]): all parts of a tokenizer that hold ids get the new ones, or the change is refused.
//!
//! To remove a merge is not to split its token: a part may join its other neighbour then. So whoever counts after a
//! removal encodes again. Extending and pruning tokenizers with scaffold tokens is refused: what they count is what merging
//! gives.

mod combine;
mod graph;
mod prune;
mod remove;
mod renumber;
mod strings;

pub use self::graph::MergeGraph;
pub use self::prune::{Goal, Pruned};
pub use self::remove::{Mode, Removed, Rerouted};
pub use self::renumber::Numbering;
pub use self::strings::{Extended, Outcome, StringReport};

#[cfg(test)]
mod tests;
