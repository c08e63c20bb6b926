//! The part of a growing text that no continuation changes, with its ids, in blocks of a few kilobytes.
//!
//! Each block begins at a place where a cut changes nothing, whatever follows. So after an edit only the blocks around
//! it are encoded again. Copies of a session share their blocks. Takes the memory of the text and of its ids, and some
//! hundred bytes for each block.

use std::ops::Range;
use std::sync::Arc;

use crate::vocabulary::TokenId;

/// How long blocks are, in bytes. Longer only where no cut is found.
pub(super) const BLOCK_LEN: usize = if crate::SMALL { 24 } else { 4 << 10 };

/// A stretch of the text with its ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) text: Vec<u8>,
    pub(super) ids: Vec<TokenId>,
}

/// A place between two blocks: how much is before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Border {
    pub(super) blocks: usize,
    pub(super) bytes: usize,
    pub(super) characters: usize,
    pub(super) ids: usize,
}

impl Border {
    /// The border after one more block.
    fn after(self, block: &Block) -> Self {
        Self { blocks: self.blocks + 1, ..self.with(block) }
    }

    /// The border after the block before it has become longer.
    fn with(self, more: &Block) -> Self {
        Self {
            blocks: self.blocks,
            bytes: self.bytes + more.text.len(),
            characters: self.characters + n_characters(&more.text),
            ids: self.ids + more.ids.len(),
        }
    }
}

/// The settled text: where it ends, and its blocks if they are kept.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    pub(super) end: Border,
    pub(super) is_kept: bool,
    pub(super) blocks: Vec<Arc<Block>>,
    /// The border after each block.
    ends: Vec<Border>,
}

impl Settled {
    pub(super) fn new(is_kept: bool) -> Self {
        Self { end: Border::default(), is_kept, blocks: Vec::new(), ends: Vec::new() }
    }

    /// Appends blocks. Short ones are joined.
    pub(super) fn extend(&mut self, new: Vec<Block>) {
        for block in new {
            match self.blocks.last_mut() {
                _ if !self.is_kept => self.end = self.end.with(&block),
                Some(last) if last.text.len() + block.text.len() <= BLOCK_LEN => {
                    self.end = self.end.with(&block);
                    let last = Arc::make_mut(last);
                    last.text.extend(block.text);
                    last.ids.extend(block.ids);
                    self.ends.pop();
                    self.ends.push(self.end);
                }
                _ => {
                    self.end = self.end.after(&block);
                    self.blocks.push(Arc::new(block));
                    self.ends.push(self.end);
                }
            }
        }
    }

    /// The border after so many blocks.
    fn border(&self, n_blocks: usize) -> Border {
        n_blocks.checked_sub(1).map_or_else(Border::default, |last| self.ends[last])
    }

    /// The last border of those for which something holds; it holds for all borders before one for which it does.
    pub(super) fn last_with(&self, holds: impl Fn(&Border) -> bool) -> Border {
        self.border(self.ends.partition_point(holds))
    }

    /// The first border that is at least so many bytes from the beginning.
    pub(super) fn first_from(&self, n_bytes: usize) -> Option<Border> {
        self.ends.get(self.ends.partition_point(|end| end.bytes < n_bytes)).copied()
    }

    /// Removes everything behind a border.
    pub(super) fn truncate(&mut self, border: Border) {
        self.blocks.truncate(border.blocks);
        self.ends.truncate(border.blocks);
        self.end = border;
    }

    /// Puts blocks in the place of those between two borders.
    pub(super) fn replace(&mut self, [start, end]: [Border; 2], new: Vec<Block>) {
        let behind = (self.blocks.split_off(end.blocks), self.ends.split_off(end.blocks));
        self.truncate(start);
        self.extend(new);
        let base = self.end;
        let moved = |border: Border| Border {
            blocks: border.blocks - end.blocks + base.blocks,
            bytes: border.bytes - end.bytes + base.bytes,
            characters: border.characters - end.characters + base.characters,
            ids: border.ids - end.ids + base.ids,
        };
        self.blocks.extend(behind.0);
        self.ends.extend(behind.1.into_iter().map(moved));
        self.end = self.ends.last().copied().unwrap_or_default();
    }

    /// The ids of the blocks in a range.
    pub(super) fn ids(&self, blocks: Range<usize>) -> impl Iterator<Item = TokenId> + '_ {
        self.blocks[blocks].iter().flat_map(|block| block.ids.iter().copied())
    }
}

/// The number of bytes that begin a character, or are not UTF-8.
pub(super) fn n_characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
