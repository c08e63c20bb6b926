//! Patterns that look at most one symbol ahead, as a deterministic automaton over symbol classes.
//!
//! A state is a list of program places in order of preference, *before* what can be reached without
//! taking a symbol. So the step on a symbol knows that symbol while it follows forks and conditions:
//! every condition on the next symbol is decided, the end of the text is one more symbol, and a step
//! says two things: whether a match ends before the symbol, and which state comes after it. When the
//! match is reached, the places after it in the list are dropped: they are less preferred. A later
//! match is then always of a more preferred place, so the last match seen is the leftmost-first one.
//! A repeat of what cannot be empty visits each place once per step, as a backtracker would find it.
//!
//! Left out: minimization. Cost: one dependent look-up per character of an attempt; a table of states x
//! classes numbers, a few KB for real patterns.

mod determinize;
pub(crate) mod lanes;
pub(crate) mod running;
pub(crate) mod scan;
pub(crate) mod table;
