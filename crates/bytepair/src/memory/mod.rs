//! Memory: checked allocation (`checked`), rows in huge pages (`huge_pages`), and prefetching (`prefetch`).

mod checked;
pub(crate) mod huge_pages;
pub(crate) mod prefetch;

pub use self::checked::{ask, read_claimed};
pub(crate) use self::checked::{ask_to_grow, reserve_exact};
