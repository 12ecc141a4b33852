//! Times.

use amdgpu_winsys::winsys::Errno;
use nix::time::{ClockId, clock_gettime};

/// Makes a relative time absolute. What overflows, and all ones, is for ever.
pub(crate) fn deadline(timeout: u64) -> Result<u64, Errno> {
    if timeout == u64::MAX {
        return Ok(timeout);
    }
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map_err(|_| Errno::last())?;
    let seconds = u64::try_from(now.tv_sec()).unwrap_or(0);
    let now = seconds.wrapping_mul(1_000_000_000).wrapping_add(u64::try_from(now.tv_nsec()).unwrap_or(0));
    Ok(now.saturating_add(timeout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overflows_and_all_ones_is_for_ever() {
        assert_eq!([u64::MAX, u64::MAX - 1].map(deadline), [Ok(u64::MAX); 2]);
        let now = deadline(0).unwrap();
        assert!(
            now > 0 && (now..now + 1_000_000_000_000).contains(&(deadline(1_000_000_000).unwrap() - 1_000_000_000))
        );
    }
}
