//! Sorted runs in fixed arrays: inserting, removing and moving values.
//!
//! The invariants of the callers keep every index below `N`; no argument from outside the crate is used as an index.

/// Inserts `value` at `at`. The last value is lost.
pub(super) fn open<T: Copy, const N: usize>(run: &mut [T; N], at: usize, value: T) {
    run.copy_within(at..N - 1, at + 1);
    run[at] = value;
}

/// Removes the value at `at`. The last place becomes `unused`.
pub(super) fn close<T: Copy, const N: usize>(run: &mut [T; N], at: usize, unused: T) {
    run.copy_within(at + 1..N, at);
    run[N - 1] = unused;
}

/// Moves values between two adjacent runs until the lower one has `want`.
pub(super) fn share<T: Copy, const N: usize>(
    (lower, lower_len): (&mut [T; N], usize),
    (upper, upper_len): (&mut [T; N], usize),
    want: usize,
    unused: T,
) {
    if want < lower_len {
        let up = lower_len - want;
        upper.copy_within(..upper_len, up);
        upper[..up].copy_from_slice(&lower[want..lower_len]);
        lower[want..lower_len].fill(unused);
    } else {
        let down = want - lower_len;
        lower[lower_len..want].copy_from_slice(&upper[..down]);
        upper.copy_within(down..upper_len, 0);
        upper[upper_len - down..upper_len].fill(unused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_share_keeps_the_order_and_loses_nothing() {
        for (a, b) in (0..=4usize).flat_map(|a| (0..=4).map(move |b| (a, b))) {
            for want in (a + b).saturating_sub(4)..=(a + b).min(4) {
                let (mut lower, mut upper) = ([0; 4], [0; 4]);
                (0..a).for_each(|i| lower[i] = i + 1);
                (0..b).for_each(|i| upper[i] = a + i + 1);
                share((&mut lower, a), (&mut upper, b), want, 0);
                let all: Vec<_> = lower[..want].iter().chain(&upper[..a + b - want]).copied().collect();
                assert_eq!(all, (1..=a + b).collect::<Vec<_>>(), "{a} + {b} into {want}");
                assert!(lower[want..].iter().chain(&upper[a + b - want..]).all(|&unused| unused == 0));
            }
        }
    }

    #[test]
    fn close_undoes_open() {
        for at in 0..3 {
            let mut run = [1, 2, 3, 0];
            open(&mut run, at, 9);
            assert_eq!(run[at], 9);
            close(&mut run, at, 0);
            assert_eq!(run, [1, 2, 3, 0]);
        }
    }
}
