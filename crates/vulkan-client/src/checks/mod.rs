//! Checks, one function each.

mod check;
pub(crate) mod copies;
mod devices;
mod events;
mod hang;
mod heaps;
mod host;
mod images;
mod order;
mod shaders;
pub(crate) mod share;
mod sparse;
mod time;
mod video;
mod waits;

use self::check::Check;
pub(crate) use self::check::PlannedCheck;

/// Every check, in order.
pub(crate) fn plan() -> Vec<PlannedCheck> {
    [
        copies::CHECKS,
        shaders::CHECKS,
        images::CHECKS,
        time::CHECKS,
        events::CHECKS,
        order::CHECKS,
        waits::CHECKS,
        sparse::CHECKS,
        share::CHECKS,
        host::CHECKS,
        heaps::CHECKS,
        video::CHECKS,
        devices::CHECKS,
        images::compressed::CHECKS,
        hang::CHECKS,
    ]
    .into_iter()
    .flatten()
    .flat_map(Check::steps)
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    #[test]
    fn names_occur_once() {
        let mut seen = HashSet::new();
        for step in super::plan() {
            assert!(seen.insert(step.id.clone()), "{} twice", step.id);
        }
    }
}
