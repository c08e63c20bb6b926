//! Documents from files and columns: JSON lines, CSV, and columns of texts with their ids.

pub mod csv;
pub mod jsonl;
pub mod rows;
