//! Leaving merges out by chance (BPE-dropout), in a way that a seed decides.
//!
//! Each round of merging draws for each pair of a word. A draw depends on the seed, the line, the word, the round and
//! the place of the pair, and on nothing else: neither threads nor the order in which pairs are looked at change it.
//!
//! Source: Provilkov, Emelianenko and Voita, "BPE-Dropout" (2020). The numbers are not those of Python's generator, so
//! one seed gives other cuts than in subword-nmt, as probable as there.

use bytepair::Dropout;

/// Which pairs of a word are left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    /// A draw below it leaves a pair out; of 2^53.
    bound: f64,
    state: u64,
}

impl Chance {
    /// For one word of a line.
    #[expect(clippy::cast_precision_loss, reason = "2^53 is exact")]
    pub(super) fn new(dropout: Dropout, line: u64, word: u64) -> Self {
        let bound = dropout.probability * (1_u64 << 53) as f64;
        Self { bound, state: mixed(mixed(mixed(dropout.seed) ^ line) ^ word) }
    }

    /// The chance of the pairs of one round.
    pub(super) fn of_round(self, round: u64) -> Self {
        Self { state: mixed(self.state ^ round), ..self }
    }

    /// Whether the pair at a place is left out.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    pub(super) fn leaves_out(self, place: usize) -> bool {
        ((mixed(self.state ^ place as u64) >> 11) as f64) < self.bound
    }
}

/// Mixes a number: each of its 64 bits comes to depend on all others.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014), with the constants
/// of Stafford's thirteenth variant.
fn mixed(number: u64) -> u64 {
    let state = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The draws of three rounds at three places, as the bits of a number.
    fn pattern_of(chance: Chance) -> usize {
        let draw =
            |bit: u64| chance.of_round(bit / 3).leaves_out(usize::try_from(bit % 3).unwrap());
        (0..9).fold(0, |pattern, bit| pattern * 2 + usize::from(draw(bit)))
    }

    /// Chi-squared of the patterns of 20,000 lines, and the number of patterns that it is of.
    fn chi_squared(found: &[f64], probability: f64) -> (f64, f64) {
        let expected = |pattern: usize| {
            let n_left_out = i32::try_from(pattern.count_ones()).unwrap();
            20_000.0 * probability.powi(n_left_out) * (1.0 - probability).powi(9 - n_left_out)
        };
        let patterns = found.iter().enumerate().map(|(pattern, &found)| (found, expected(pattern)));
        let frequent = patterns.filter(|&(_, expected)| expected > 5.0);
        frequent.fold((0.0, 0.0), |(sum, n), (found, expected)| {
            (sum + (found - expected).powi(2) / expected, n + 1.0)
        })
    }

    /// Those of neighbouring lines, rounds and places: all patterns are as frequent as they are probable.
    #[test]
    fn draws_are_independent() {
        for probability in [0.1, 0.5] {
            let mut found = vec![0.0; 512];
            for line in 0..20_000 {
                found[pattern_of(Chance::new(Dropout { probability, seed: 3 }, line, 0))] += 1.0;
            }
            // Its mean is the number of patterns, its variance twice that.
            let (deviation, n_patterns) = chi_squared(&found, probability);
            let bound = 5.0 * f64::sqrt(2.0 * n_patterns);
            assert!((deviation - n_patterns).abs() < bound, "{deviation} of {n_patterns}");
        }
    }

    #[test]
    fn probabilities_of_0_and_1_leave_nothing_to_chance() {
        for (probability, expected) in [(0.0, 0), (1.0, 1000)] {
            let chance = Chance::new(Dropout { probability, seed: 7 }, 1, 2).of_round(3);
            assert_eq!((0..1000).filter(|&place| chance.leaves_out(place)).count(), expected);
        }
    }
}
