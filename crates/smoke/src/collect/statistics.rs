//! The exact test of Fisher, and the correction of Holm for many tests.

/// Logarithms of factorials.
#[derive(Debug)]
pub(super) struct Factorials(Vec<f64>);

/// The counts of a table: how many there are with a property, how many of these failed, and both of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Number with the property.
    pub(super) with: usize,
    /// Number of these that failed.
    pub(super) failed_with: usize,
    /// Number of all.
    pub(super) all: usize,
    /// Number of all that failed.
    pub(super) failed: usize,
}

impl Counts {
    /// Returns the number without the property.
    pub(super) const fn without(self) -> usize {
        self.all - self.with
    }

    /// Returns the number without the property that failed.
    pub(super) const fn failed_without(self) -> usize {
        self.failed - self.failed_with
    }
}

impl Factorials {
    /// Makes those of the numbers up to `largest`.
    pub(super) fn up_to(largest: u32) -> Self {
        let logarithms = (1..=largest).scan(0.0, |sum, number| {
            *sum += f64::from(number).ln();
            Some(*sum)
        });
        Self(std::iter::once(0.0).chain(logarithms).collect())
    }

    fn ways(&self, of: usize, chosen: usize) -> f64 {
        let get = |number: usize| self.0.get(number).copied().unwrap_or(f64::NAN);
        get(of) - get(chosen) - get(of - chosen)
    }

    /// Returns the logarithm of the probability that at least as many with the property have failed, if it made no difference.
    ///
    /// This is the one-sided exact test of R. A. Fisher: the sum of the hypergeometric probabilities of the table and of those that
    /// are more extreme.
    pub(super) fn logarithm_of_chance(&self, counts: Counts) -> f64 {
        let Counts { with, failed_with, all, failed } = counts;
        let least = failed.saturating_sub(all - with);
        let most = with.min(failed);
        if failed_with <= least {
            return 0.0;
        }
        let total = self.ways(all, with);
        let terms =
            (failed_with..=most).map(|hit| self.ways(failed, hit) + self.ways(all - failed, with - hit) - total);
        // The largest term is taken out, so that the rest does not vanish where the sum is below what a double can hold.
        let terms: Vec<f64> = terms.collect();
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
        (largest + sum.ln()).min(0.0)
    }
}

/// Returns the chances after correction for all tests that were made, as logarithms: with those below a limit taken for findings,
/// the probability that any of them is none stays below the limit.
///
/// Source: S. Holm, "A simple sequentially rejective multiple test procedure", 1979.
pub(super) fn corrected(logarithms: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..logarithms.len()).collect();
    let get = |at: &usize| logarithms.get(*at).copied().unwrap_or(0.0);
    order.sort_by(|one, other| get(one).total_cmp(&get(other)));
    let mut corrected = vec![0.0; logarithms.len()];
    let mut highest = f64::NEG_INFINITY;
    for (rank, at) in order.iter().enumerate() {
        let left = u32::try_from(logarithms.len() - rank).unwrap_or(u32::MAX);
        highest = highest.max(get(at) + f64::from(left).ln()).min(0.0);
        if let Some(place) = corrected.get_mut(*at) {
            *place = highest;
        }
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(with: usize, failed_with: usize, all: usize, failed: usize) -> f64 {
        Factorials::up_to(u32::try_from(all).unwrap())
            .logarithm_of_chance(Counts { with, failed_with, all, failed })
            .exp()
    }

    #[test]
    fn the_tea_of_the_lady_has_the_chance_of_the_textbook() {
        // 1 of the 70 ways to choose 4 cups of 8 has 4 right, 16 have 3.
        assert!((chance(4, 4, 8, 4) - 1.0 / 70.0).abs() < 1e-12);
        assert!((chance(4, 3, 8, 4) - 17.0 / 70.0).abs() < 1e-12);
        assert!((chance(4, 0, 8, 4) - 1.0).abs() < 1e-12);
    }

    /// All ways to choose who fails, counted one by one.
    #[test]
    fn the_chance_is_the_share_of_all_ways_to_fail() {
        for all in 1..=10_usize {
            for with in 0..=all {
                for failed in 0..=all {
                    let number = |count: usize| u32::try_from(count).unwrap();
                    let ways = (0..(1_u32 << all)).filter(|set| set.count_ones() == number(failed));
                    let hits: Vec<u32> = ways.map(|set| (set & ((1 << with) - 1)).count_ones()).collect();
                    for hit in failed.saturating_sub(all - with)..=with.min(failed) {
                        let extreme = hits.iter().filter(|&&found| found >= number(hit)).count();
                        let right = f64::from(number(extreme)) / f64::from(number(hits.len()));
                        let found = chance(with, hit, all, failed);
                        assert!((found - right).abs() < 1e-9, "{hit} of {with}, {failed} of {all}: {found}, {right}");
                    }
                }
            }
        }
    }

    #[test]
    fn chances_below_the_smallest_double_still_differ() {
        let table = Factorials::up_to(20_000);
        let of = |hit| table.logarithm_of_chance(Counts { with: 5000, failed_with: hit, all: 20_000, failed: 5000 });
        assert!(of(5000) < of(4990) && of(4990) < -800.0, "{} {}", of(5000), of(4990));
    }

    #[test]
    fn the_correction_is_holms() {
        let logarithms = [0.01_f64, 0.04, 0.03, 0.005].map(f64::ln);
        let expected = [0.03, 0.06, 0.06, 0.02];
        for (found, right) in corrected(&logarithms).into_iter().zip(expected) {
            assert!((found.exp() - right).abs() < 1e-12, "{} {right}", found.exp());
        }
        assert_eq!(corrected(&[-0.1, -0.1]), [0.0, 0.0]);
        assert_eq!(corrected(&[]), [0.0; 0]);
    }
}
