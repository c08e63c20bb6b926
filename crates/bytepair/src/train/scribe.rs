//! The vocabulary while it is learned.
//!
//! Merging knows tokens by their ids alone, unless a limit or a tie rule asks what they say. Where nobody does, a
//! thread of its own writes them down: that costs a sixteenth of the time of training to many tokens. It is told of
//! some hundred merges at a time, so that it is hardly ever woken.
//!
//! Costs O(1) for each merge, and O(n) for the bytes of its token.

use std::mem;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, Scope, ScopedJoinHandle};

use super::plan::next_id;
use crate::error::{Error, Result};
use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// Merges that are told at a time.
const N_AT_ONCE: usize = if cfg!(test) { 3 } else { 512 };

/// Appends merges to a vocabulary.
pub(super) enum Scribe<'s> {
    /// At once.
    Here { vocabulary: Vocabulary, first_new: TokenId },
    /// On another thread.
    There {
        sender: Sender<Vec<Merge>>,
        /// Not told yet.
        merges: Vec<Merge>,
        writer: ScopedJoinHandle<'s, Result<Vocabulary>>,
    },
}

impl<'s> Scribe<'s> {
    /// One who writes at once: the tokens can be asked for.
    pub(super) fn here(vocabulary: Vocabulary) -> Result<Self> {
        let first_new = next_id(vocabulary.len())?;
        Ok(Self::Here { vocabulary, first_new })
    }

    /// One with a thread of its own, which ends with the scope at the latest; if the system gives none, one without.
    pub(super) fn there<'e>(scope: &'s Scope<'s, 'e>, vocabulary: Vocabulary) -> Result<Self> {
        let (sender, receiver) = mpsc::channel();
        // The vocabulary is told like the merges, so that it is still here without a thread.
        let (hand_over, handed_over) = mpsc::sync_channel(1);
        let work = move || write(handed_over.recv().unwrap_or_default(), &receiver);
        let Ok(writer) = thread::Builder::new().spawn_scoped(scope, work) else {
            return Self::here(vocabulary);
        };
        // A thread that is gone is told of by `finish`.
        drop(hand_over.send(vocabulary));
        Ok(Self::There { sender, merges: Vec::with_capacity(N_AT_ONCE), writer })
    }

    /// The vocabulary as it is now, if it can be asked for.
    pub(super) fn vocabulary(&self) -> Option<&Vocabulary> {
        match self {
            Self::Here { vocabulary, .. } => Some(vocabulary),
            Self::There { .. } => None,
        }
    }

    /// Appends merges whose new tokens have the next ids.
    ///
    /// # Errors
    /// Where a part is no token. On another thread it may be told later.
    pub(super) fn push(&mut self, new: impl Iterator<Item = Merge>) -> Result<()> {
        match self {
            Self::Here { vocabulary, .. } => vocabulary.push_new_merges(new),
            Self::There { sender, merges, .. } => {
                merges.extend(new);
                if merges.len() >= N_AT_ONCE {
                    drop(sender.send(mem::replace(merges, Vec::with_capacity(N_AT_ONCE))));
                }
                Ok(())
            }
        }
    }

    /// The vocabulary with all merges, whose tokens are found by their content.
    ///
    /// # Errors
    /// As [`Self::push`], and where a token was there already.
    pub(super) fn finish(self) -> Result<Vocabulary> {
        match self {
            Self::Here { mut vocabulary, first_new } => {
                index(&mut vocabulary, first_new)?;
                Ok(vocabulary)
            }
            Self::There { sender, merges, writer } => {
                drop(sender.send(merges));
                drop(sender);
                match writer.join() {
                    Ok(vocabulary) => vocabulary,
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
        }
    }
}

/// Writes what comes until nothing more will.
fn write(mut vocabulary: Vocabulary, merges: &Receiver<Vec<Merge>>) -> Result<Vocabulary> {
    for merges in merges {
        let Some(first_new) = merges.first().map(|merge| merge.result) else { continue };
        vocabulary.push_new_merges(merges.into_iter())?;
        index(&mut vocabulary, first_new)?;
    }
    Ok(vocabulary)
}

/// Lets the tokens from `first` on be found.
///
/// # Errors
/// Where one was there already. No two pairs make the same token; only a vocabulary from elsewhere may have it.
fn index(vocabulary: &mut Vocabulary, first: TokenId) -> Result<()> {
    if vocabulary.index_from(first) {
        return Ok(());
    }
    let problem = "has a token that no merge of it makes, and that is learned now";
    Err(Error::option("resume", problem))
}
