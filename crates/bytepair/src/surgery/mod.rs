//! Changes to the vocabulary of a tokenizer: extending, pruning, removing tokens, joining with another vocabulary.
//!
//! These guarantees hold, each tested as a property of small random vocabularies in `tests`:
//!
//! - *Extension* ([`strings`]): existing tokens, merges and added tokens keep their ids and ranks, and new
//!   merges rank behind all others. So the old merges run to their end first, and the new encoding of a text joins some
//!   neighbours of the old one. Once two tokens get a merge, their string always becomes that token, since later merges
//!   rank behind this one: every added token is reachable.
//! - *Removal* ([`remove`], [`prune`]): removing a token removes all merges that use it, and the tokens that only those
//!   merges make. Every remaining token that its own units were merged to still is: no merge on the way to it is gone.
//! - *Numbering* ([`renumber`]): all parts of a tokenizer that hold ids get the new ones, or the change is refused.
//!
//! Removing a merge does not simply split its token: a part may then join its other neighbour. So counts after a removal
//! need a new encoding.

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
