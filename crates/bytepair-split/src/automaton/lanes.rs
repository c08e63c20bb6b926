//! Four parts of a block in turn.
//!
//! A step of the running automaton waits for the step before it, which leaves most of a CPU core idle. So a long stretch of
//! text is cut at safe cuts into four parts:
//!
//! ```text
//! while every part has 64 bytes left:
//!     advance all parts by the same number of bytes      Running::advance
//!     write down the starts that they found
//!     for each part whose next byte stops the automaton (not ASCII, or a look back):
//!         run that part alone past this byte
//! run the first three parts alone to their ends; the last one goes on as the rest of the task
//! ```
//!
//! Invariant: what is marked of a part does not depend on the others. At a safe cut a piece starts, whatever stands before
//! it, and the piece before it ends there, whatever comes behind; so each part is a scan of its own.
//!
//! Left out: blocks without safe cuts near their quarters, short ones, and texts in which many bytes are not ASCII. These
//! are run in one go.
//! Cost: two CPU cycles for each byte of English, against six or seven in one go.

use super::running::{CHUNK, Found, Lane, N_LANES, Position, Reached, Running};
use super::scan::{Scan, Task};
use crate::bits::Marked;

/// Shorter stretches are not worth the effort.
const MIN_LEN: usize = 2048;

/// With more bytes that are not ASCII it does not pay.
const MIN_BYTES_PER_OTHER: usize = 8;

/// Bytes of a part that are looked at to see whether it pays.
const SAMPLE: usize = 256;

/// A part of the text and how far it has been run.
#[derive(Clone, Copy)]
struct Part {
    from: usize,
    end: usize,
    reached: Position,
    /// That of the part's own [`Scan`].
    unmatched_end: Option<usize>,
}

/// Marks the pieces of a task by the automaton alone, in lanes where that pays; returns where it stopped, which is the
/// end of the last complete piece.
pub(crate) fn run(scan: &mut Scan<'_>, running: &Running) -> usize {
    let mut limit = scan.task.limit.min(scan.task.text.len());
    let mut position = Position::between_pieces(scan.task.from);
    if let Some((rest, reached)) = run_in_lanes(running, Task { limit, ..scan.task }, scan.marked) {
        scan.task = rest;
        position = reached;
    }
    let Task { text, from, .. } = scan.task;
    loop {
        let Reached { position: reached, is_stopped } = scan.run_on(running, position, limit);
        let Position { offset, state } = reached;
        let is_at_end = !is_stopped && offset >= text.len();
        if is_at_end && running.ends_here(state) {
            return text.len();
        }
        if is_stopped || is_at_end {
            position = scan.look_back(running, offset);
            continue;
        }
        if let Some(boundary) = scan.last_settled(reached, running.unmatched_state()) {
            return boundary;
        }
        limit = text.len().min(limit + (limit - from).max(64));
        position = reached;
    }
}

/// Runs the first parts of a task to their ends and the last one some way; returns the task that is left
/// and the place it has reached. `None` if the text is short or has no safe cuts at the right places.
fn run_in_lanes<'t>(
    running: &Running,
    task: Task<'t>,
    marked: &mut Marked,
) -> Option<(Task<'t>, Position)> {
    let mut parts = parts(running, &task)?;
    marked.reserve((task.limit + CHUNK).wrapping_add(task.shift));
    while let Some(chunks) = chunks(&task, &parts) {
        let mut lanes = std::array::from_fn(|index| Lane {
            chunk: chunks[index],
            state: parts[index].reached.state,
        });
        let (n_bytes, found) = running.advance(&mut lanes);
        for (index, part) in parts.iter_mut().enumerate() {
            mark(part.reached.offset.wrapping_add(task.shift), found[index], marked);
            part.reached.offset += n_bytes;
            part.reached.state = lanes[index].state;
            let next = chunks[index].get(n_bytes);
            if next.is_some_and(|&byte| running.stops_at(part.reached.state, byte)) {
                run_to(running, &task, part, part.reached.offset + 1, marked);
            }
        }
    }
    let (last, before) = parts.split_last_mut()?;
    for part in before {
        run_to(running, &task, part, part.end, marked);
    }
    Some((Task { from: last.from, ..task }, last.reached))
}

/// Four parts of about the same length.
fn parts(running: &Running, task: &Task<'_>) -> Option<[Part; N_LANES]> {
    let length = task.limit - task.from;
    if length < MIN_LEN || !is_mostly_ascii(&task.text[task.from..task.limit]) {
        return None;
    }
    let mut ends = [task.limit; N_LANES];
    for (index, end) in ends.iter_mut().enumerate().take(N_LANES - 1) {
        let near = task.from + (index + 1) * length / N_LANES;
        *end = running.automaton().safe_cut(&task.text[..task.limit], near, length / 8)?;
    }
    let part = |index: usize| {
        let from = if index == 0 { task.from } else { ends[index - 1] };
        let reached = Position::between_pieces(from);
        Part { from, end: ends[index], reached, unmatched_end: None }
    };
    Some(std::array::from_fn(part))
}

/// Judged by a sample from each part.
fn is_mostly_ascii(text: &[u8]) -> bool {
    let samples =
        text.chunks(text.len().div_ceil(N_LANES)).flat_map(|part| part.iter().take(SAMPLE));
    samples.filter(|byte| !byte.is_ascii()).count() <= N_LANES * SAMPLE / MIN_BYTES_PER_OTHER
}

/// The next chunk of each part; `None` if a part is about to end.
fn chunks<'t>(task: &Task<'t>, parts: &[Part; N_LANES]) -> Option<[&'t [u8; CHUNK]; N_LANES]> {
    let mut chunks = [&[0; CHUNK]; N_LANES];
    for (part, chunk) in parts.iter().zip(&mut chunks) {
        *chunk = task.text.get(part.reached.offset..part.end)?.first_chunk()?;
    }
    Some(chunks)
}

/// Runs one part alone, to the first symbol at or after `limit`.
fn run_to(running: &Running, task: &Task<'_>, part: &mut Part, limit: usize, marked: &mut Marked) {
    let Part { from, unmatched_end, .. } = *part;
    // Behind the last part nobody has been.
    let end = if part.end < task.limit { part.end } else { task.text.len() };
    let mut scan = Scan { task: Task { from, ..*task }, marked, unmatched_end, end };
    while part.reached.offset < limit {
        let Reached { position, is_stopped } = scan.run_on(running, part.reached, limit);
        part.reached = if is_stopped { scan.look_back(running, position.offset) } else { position };
    }
    part.unmatched_end = scan.unmatched_end;
}

/// Adds what was found in a chunk at a place.
fn mark(place: usize, found: Found, marked: &mut Marked) {
    marked.starts.insert_word(place, found.starts);
    if found.unmatched != 0 {
        marked.unmatched.insert_word(place, found.unmatched);
    }
}
