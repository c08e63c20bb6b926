//! Which lines of a table have a piece that is asked for so often that it should be at home.
//!
//! Lines are counted by some bits of their number: how often pieces were asked for that belong there and stand
//! elsewhere. Counting begins anew every few thousand times, so that only such pieces come to their number as are a good
//! part of all these. Each exchange doubles what the next one takes: two pieces that come equally often do not drive each
//! other out for ever, and the one that stays at home comes about half as often as the other, or more. A kilobyte.

/// Lines that are told apart.
const N_LINES: usize = 256;
/// How often what stands elsewhere is asked for, before it is exchanged for the first time.
const MIN_NEEDED: u16 = 32;
/// After so many of all, counting begins anew.
const PERIOD: u32 = 4096;

/// What was asked for away from home, by line.
pub(super) struct Crowds {
    n_asked: [u16; N_LINES],
    needed: [u16; N_LINES],
    n_all: u32,
}

impl Default for Crowds {
    fn default() -> Self {
        Self { n_asked: [0; N_LINES], needed: [MIN_NEEDED; N_LINES], n_all: 0 }
    }
}

impl Crowds {
    /// Notes that a piece was asked for that belongs to a line and is not at home; says whether it should be.
    #[inline]
    pub(super) fn note(&mut self, line: usize) -> bool {
        self.n_all += 1;
        if self.n_all == PERIOD {
            (self.n_asked, self.n_all) = ([0; N_LINES], 0);
        }
        let (n_asked, needed) =
            (&mut self.n_asked[line % N_LINES], &mut self.needed[line % N_LINES]);
        *n_asked += 1;
        let is_due = *n_asked >= *needed;
        if is_due {
            (*n_asked, *needed) = (0, needed.saturating_mul(2));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_due_when_it_is_a_good_part_of_what_was_asked_for_and_then_half_as_often() {
        let mut crowds = Crowds::default();
        let due: Vec<_> = (1..2000).filter(|_| crowds.note(7)).collect();
        assert_eq!(due, [32, 96, 224, 480, 992]);
        let mut crowds = Crowds::default();
        assert!((0..100_000).all(|number| !crowds.note(number)));
    }
}
