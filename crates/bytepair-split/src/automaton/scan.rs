//! One stage of a splitter over one text: finds where pieces start, and which pieces match nothing.
//!
//! The running automaton marks starts as it goes and stops when it would have to look back. Then the last marked start is
//! the attempt that failed. That attempt is made again, step by step, which costs its length once more:
//!
//! ```text
//! loop:
//!     run the automaton; it marks each start that it passes
//!     if it reached the limit: return
//!     start = the last mark
//!     attempt from start, step by step, to its last match
//!     if the attempt read more than 64 bytes past that match:
//!         attempt by attempt with notes, up to the furthest byte that one of them read
//!     else: go on after the match; without a match, after one symbol, which joins the unmatched run before it
//! ```
//!
//! Invariant: every mark before the place where the automaton goes on is the start of a piece or of an unmatched run,
//! and no such start is unmarked.
//!
//! **Linear time.** An attempt may read far past the end of its match: `a*b|a` on a run of `a` reads to the end and
//! matches one symbol. In such a stretch, attempts note the pairs of offset and state from which no match was seen any
//! more. What follows such a pair depends on the pair and the text alone. So an attempt that meets a noted pair will see
//! no match either and stops with the match it has (Reps 1998). Each pair is noted once, and notes are a fixed distance
//! apart: every step in a stretch belongs to the match or leads to a new note or to an old one. A stretch ends at the
//! furthest byte that one of its attempts has read, so stretches do not overlap. Altogether: O(symbols x states).
//!
//! Left out: which engine scans (`engine`), and several places at once (`windows`).

use super::running::{Found, Position, Reached, Running, State};
use super::{Attempt, Verdicts};
use crate::bits::Marked;
use crate::program::alphabet::Alphabet;

/// An attempt that reads further than this past its match starts the notes. Small, since it is paid once per piece.
const FREE_OVERSHOOT: usize = 64;

/// The work of a stage: a text from a boundary on, at least up to `limit` if the text is that long.
#[derive(Clone, Copy)]
pub(crate) struct Task<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) from: usize,
    pub(crate) limit: usize,
    /// Offset plus this, wrapping, is the index in [`Marked`].
    pub(crate) shift: usize,
}

/// A task, and the marks of its pieces.
pub(crate) struct Scan<'s> {
    pub(crate) task: Task<'s>,
    pub(crate) marked: &'s mut Marked,
    /// The end of the unmatched symbol that was settled last. The last start before it is that of its run. Without this,
    /// each failed attempt would search back to the start of its run.
    pub(crate) unmatched_end: Option<usize>,
}

impl Scan<'_> {
    pub(crate) fn place(&self, offset: usize) -> usize {
        offset.wrapping_add(self.task.shift)
    }

    /// Marks the pieces of the task by the automaton alone. Returns where it stopped: the end of the last complete piece.
    pub(crate) fn run(&mut self, running: &Running) -> usize {
        let Task { text, from, limit, .. } = self.task;
        let mut limit = limit.min(text.len());
        let mut position = Position::between_pieces(from);
        loop {
            let Reached { position: reached, is_stopped } = self.run_on(running, position, limit);
            let Position { offset, state } = reached;
            let is_at_end = !is_stopped && offset >= text.len();
            if is_at_end && running.ends_here(state) {
                return text.len();
            }
            if is_stopped || is_at_end {
                position = self.look_back(running, offset);
                continue;
            }
            if let Some(boundary) = self.last_settled(reached, running.unmatched_state()) {
                return boundary;
            }
            limit = text.len().min(limit + (limit - from).max(64));
            position = reached;
        }
    }

    /// Marks the starts of pieces from a position on, and makes room for them. Stops at the first symbol that starts at
    /// or after `limit`, or whose step needs a look back.
    #[inline(never)]
    pub(crate) fn run_on(
        &mut self,
        running: &Running,
        position: Position,
        limit: usize,
    ) -> Reached {
        let Task { text, shift, .. } = self.task;
        let Position { mut offset, mut state } = position;
        self.marked.reserve(limit.max(offset).wrapping_add(shift));
        while offset < limit {
            if state == running.unmatched_state() {
                offset += running.inert_run(&text[offset..limit]);
            }
            if offset >= limit {
                break;
            }
            let first_bit = offset.wrapping_add(shift);
            let word_end = limit.min(offset + (64 - first_bit % 64));
            let mut found = Found::default();
            let reached = running.run_word(text, Position { offset, state }, word_end, &mut found);
            let Marked { starts, unmatched } = &mut *self.marked;
            starts.words_mut()[first_bit / 64] |= found.starts << (first_bit % 64);
            unmatched.words_mut()[first_bit / 64] |= found.unmatched << (first_bit % 64);
            if reached.is_stopped {
                return reached;
            }
            Position { offset, state } = reached.position;
        }
        Reached { position: Position { offset, state }, is_stopped: false }
    }

    /// Handles a stop at `offset`, where the attempt in progress has no match that ends there. Makes the attempt again,
    /// and the attempts after it in the same stretch. Returns where the automaton goes on.
    pub(crate) fn look_back(&mut self, running: &Running, offset: usize) -> Position {
        let text = self.task.text;
        let start = self.last_start(offset - 1).unwrap_or(self.task.from);
        let attempt = running.automaton().attempt(text, start, None);
        let end = attempt.end.unwrap_or(start);
        if attempt.reach - end > FREE_OVERSHOOT {
            return self.stretch(running, start);
        }
        let alphabet = running.automaton().alphabet();
        self.settle(start, attempt.end, alphabet, running.unmatched_state())
    }

    /// Records the outcome of an attempt whose start is marked: a piece, or one symbol that matches nothing. Such a
    /// symbol joins an unmatched run before it, unless an empty match lies between. Returns where to go on.
    pub(crate) fn settle(
        &mut self,
        start: usize,
        end: Option<usize>,
        alphabet: &Alphabet,
        unmatched: State,
    ) -> Position {
        if let Some(end) = end.filter(|&end| end > start) {
            return Position::between_pieces(end);
        }
        if end.is_none() && self.follows_unmatched(start) {
            self.marked.starts.remove(self.place(start));
        } else {
            self.marked.unmatched.insert(self.place(start));
        }
        let next = start + alphabet.class_at(self.task.text, start).1;
        self.unmatched_end = Some(next);
        Position { offset: next, state: unmatched }
    }

    /// Whether the piece before `start` matches nothing.
    fn follows_unmatched(&self, start: usize) -> bool {
        if start <= self.task.from {
            return false;
        }
        let known = self.unmatched_end.filter(|&end| end <= start);
        let first = known.map_or(0, |end| self.place(end));
        match self.marked.starts.last_within(first..self.place(start)) {
            None => known.is_some(),
            Some(place) => {
                let before = place.wrapping_sub(self.task.shift);
                before >= self.task.from && self.marked.unmatched.contains(place)
            }
        }
    }

    /// The last boundary that no later text can move, if it is past `from`. It is neither inside nor at the end of an
    /// unmatched run, since that run may go on.
    pub(crate) fn last_settled(&self, position: Position, unmatched: State) -> Option<usize> {
        let Position { offset, state } = position;
        let from = self.task.from;
        if state == State::BOUNDARY {
            return (offset > from).then_some(offset);
        }
        let last = self.last_start(offset - 1)?;
        if state == unmatched || last == from {
            return (last > from).then_some(last);
        }
        let before = self.last_start(last - 1)?;
        let settled =
            if self.marked.unmatched.contains(self.place(before)) { before } else { last };
        (settled > from).then_some(settled)
    }

    /// Makes attempts with notes, one after another, until past everything that they read.
    fn stretch(&mut self, running: &Running, start: usize) -> Position {
        let (text, automaton) = (self.task.text, running.automaton());
        let mut notes = Verdicts::default();
        let mut position = Position::between_pieces(start);
        let mut reach = start + 1;
        while position.offset < reach.min(text.len()) {
            let start = position.offset;
            let Attempt { end, reach: read } = automaton.attempt(text, start, Some(&mut notes));
            reach = reach.max(read);
            self.marked.starts.insert(self.place(start));
            position = self.settle(start, end, automaton.alphabet(), running.unmatched_state());
        }
        position
    }

    /// The last start marked by this scan that is at most `offset`.
    pub(crate) fn last_start(&self, offset: usize) -> Option<usize> {
        let place = self.marked.starts.last_up_to(self.place(offset))?;
        let start = place.wrapping_sub(self.task.shift);
        (self.task.from..=offset).contains(&start).then_some(start)
    }
}
