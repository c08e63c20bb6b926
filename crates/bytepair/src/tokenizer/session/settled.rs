//! The part of a growing text that no continuation changes, with its ids, in blocks of a few kilobytes.
//!
//! Each block begins at a place where a cut changes nothing, whatever follows. So after an edit only the blocks around
//! it are encoded again. Copies of a session share their blocks. Takes the memory of the text and of its ids, and some
//! hundred bytes for each block.

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
    /// Moves the border behind more text.
    fn move_behind(&mut self, more: &Block) {
        self.bytes += more.text.len();
        self.characters += n_characters(&more.text);
        self.ids += more.ids.len();
    }
}

/// A block of the settled text.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    block: Arc<Block>,
    /// The border after it.
    end: Border,
}

/// The settled text: where it ends, and its blocks if they are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Settled {
    pub(super) end: Border,
    pub(super) is_kept: bool,
    pub(super) blocks: Vec<Placed>,
}

impl Settled {
    /// Appends blocks. Short ones are joined.
    pub(super) fn extend(&mut self, new: Vec<Block>) {
        for more in new {
            self.end.move_behind(&more);
            if !self.is_kept {
                continue;
            }
            match self.blocks.last_mut() {
                Some(last) if last.block.text.len() + more.text.len() <= BLOCK_LEN => {
                    let block = Arc::make_mut(&mut last.block);
                    block.text.extend(more.text);
                    block.ids.extend(more.ids);
                    last.end = self.end;
                }
                _ => {
                    self.end.blocks += 1;
                    self.blocks.push(Placed { block: Arc::new(more), end: self.end });
                }
            }
        }
    }

    /// The last border of those for which something holds; it holds for all borders before one for which it does.
    pub(super) fn last_with(&self, holds: impl Fn(&Border) -> bool) -> Border {
        let n_blocks = self.blocks.partition_point(|placed| holds(&placed.end));
        self.blocks[..n_blocks].last().map_or_else(Border::default, |placed| placed.end)
    }

    /// The first border that is at least so many bytes from the beginning.
    pub(super) fn first_from(&self, n_bytes: usize) -> Option<Border> {
        let n_blocks = self.blocks.partition_point(|placed| placed.end.bytes < n_bytes);
        self.blocks.get(n_blocks).map(|placed| placed.end)
    }

    /// Removes everything behind a border.
    pub(super) fn truncate(&mut self, border: Border) {
        self.blocks.truncate(border.blocks);
        self.end = border;
    }

    /// Puts blocks in the place of those between two borders.
    pub(super) fn replace(&mut self, [start, end]: [Border; 2], new: Vec<Block>) {
        let mut behind = self.blocks.split_off(end.blocks);
        self.truncate(start);
        self.extend(new);
        let base = self.end;
        for Placed { end: border, .. } in &mut behind {
            *border = Border {
                blocks: border.blocks - end.blocks + base.blocks,
                bytes: border.bytes - end.bytes + base.bytes,
                characters: border.characters - end.characters + base.characters,
                ids: border.ids - end.ids + base.ids,
            };
            self.end = *border;
        }
        self.blocks.extend(behind);
    }

    /// The blocks from one on.
    pub(super) fn blocks_from(&self, block: usize) -> impl Iterator<Item = &Block> {
        self.blocks[block..].iter().map(|placed| &*placed.block)
    }
}

/// The number of bytes that begin a character, or are not UTF-8.
pub(super) fn n_characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
