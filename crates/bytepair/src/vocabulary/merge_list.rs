//! The merges of a vocabulary as a list, which is made from their table if they were read as a table.
//!
//! Most users of a vocabulary look merges up by pair and never need the list; making it takes some milliseconds for 400,000
//! merges. Left out: a table that has no list, which is refused when it is read.

use std::sync::{Arc, OnceLock};

use super::Merge;
use super::merge_table::PackedMerges;

/// Merges in the order of their ranks.
#[derive(Clone, Debug, Default)]
pub(super) struct MergeList {
    /// Made of the table where it is missing.
    list: OnceLock<Vec<Merge>>,
    /// All merges by pair; none once the list was changed.
    table: Option<Arc<PackedMerges>>,
}

impl MergeList {
    pub(super) fn with_capacity(n_merges: usize) -> Self {
        Self { list: OnceLock::from(Vec::with_capacity(n_merges)), table: None }
    }

    pub(super) fn of_table(table: PackedMerges) -> Self {
        Self { list: OnceLock::new(), table: Some(Arc::new(table)) }
    }

    pub(super) fn len(&self) -> usize {
        let of_table = || self.table.as_ref().map_or(0, |table| table.n_merges());
        self.list.get().map_or_else(of_table, Vec::len)
    }

    pub(super) fn table(&self) -> Option<&Arc<PackedMerges>> {
        self.table.as_ref()
    }

    /// Threads that come at the same time each make it, and nobody waits for that: a process may be forked off
    /// meanwhile.
    pub(super) fn as_slice(&self) -> &[Merge] {
        if self.list.get().is_none() {
            let list = self.table.as_ref().and_then(|table| table.list());
            drop(self.list.set(list.unwrap_or_default()));
        }
        self.list.get_or_init(Vec::new)
    }

    /// Changes the list, which is all there is from then on.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Vec<Merge>)) {
        self.as_slice();
        self.table = None;
        let mut list = self.list.take().unwrap_or_default();
        change(&mut list);
        self.list = OnceLock::from(list);
    }
}
