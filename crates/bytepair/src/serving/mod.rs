//! What servers, agents and trainers of models ask of a tokenizer, beyond encoding a text and decoding ids.
//!
//! Growing text is in `tokenizer/session/` and encodings at random in `tokenizer/sampled.rs`, since they share the walk
//! of a text. All answers are exact: each function has a naive twin in its tests, which encodes everything again.

mod trie;

pub use self::trie::ByteTrie;
pub use crate::encode::Division;
pub use crate::patch::Patch;
pub use crate::tokenizer::{Healed, Method, TokenBytes, TokenClass};
