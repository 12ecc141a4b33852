//! The checks there are, in order.

use crate::{checks, cli::Level, lab::Lab, outcome::Outcome, ring::Ring};

/// One check: what it proves, and how.
#[derive(Clone, Copy)]
pub(crate) struct Check {
    /// `area.name`, stable. A check that runs on each ring gets the ring appended.
    pub(crate) id: &'static str,
    /// The level it belongs to.
    pub(crate) level: Level,
    /// What it proves, in one sentence.
    pub(crate) proves: &'static str,
    /// How it is tried.
    pub(crate) body: Body,
    /// Whether a kernel that [only pretends](Lab::is_stand_in) makes its failure a skip.
    pub(crate) needs_a_kernel: bool,
}

/// How a check is tried.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    /// Once for the GPU.
    Once(fn(&Lab<'_>) -> Outcome),
    /// On each ring.
    EachRing(fn(&Lab<'_>, Ring) -> Outcome),
}

impl Check {
    /// A check that only reads.
    pub(crate) const fn inventory(id: &'static str, proves: &'static str, body: fn(&Lab<'_>) -> Outcome) -> Self {
        Self { id, level: Level::Inventory, proves, body: Body::Once(body), needs_a_kernel: false }
    }

    /// A check of the quick level that runs once.
    pub(crate) const fn once(id: &'static str, proves: &'static str, body: fn(&Lab<'_>) -> Outcome) -> Self {
        Self { id, level: Level::Quick, proves, body: Body::Once(body), needs_a_kernel: false }
    }

    /// A check of the quick level that runs on each ring.
    pub(crate) const fn each_ring(id: &'static str, proves: &'static str, body: fn(&Lab<'_>, Ring) -> Outcome) -> Self {
        Self { id, level: Level::Quick, proves, body: Body::EachRing(body), needs_a_kernel: false }
    }

    /// The same, skipped where the kernel only pretends to have what is checked.
    pub(crate) const fn needing_a_kernel(self) -> Self {
        Self { needs_a_kernel: true, ..self }
    }

    /// The id with the place of the ring held.
    pub(crate) fn pattern(&self) -> String {
        match self.body {
            Body::Once(_) => self.id.to_owned(),
            Body::EachRing(_) => format!("{}.RING", self.id),
        }
    }

    fn try_with(&self, lab: &Lab<'_>, body: impl FnOnce() -> Outcome) -> Outcome {
        use crate::outcome::Stop;
        match body() {
            Err(Stop::Fail(evidence)) if self.needs_a_kernel && lab.is_stand_in() => {
                Err(Stop::Skip(format!("this kernel only pretends: {evidence}")))
            }
            outcome => outcome,
        }
    }
}

/// A check on the ring it is for, if it is for one.
#[derive(Clone)]
pub(crate) struct Step {
    /// The full id.
    pub(crate) id: String,
    check: Check,
    ring: Option<Ring>,
}

impl Step {
    /// Tries it.
    pub(crate) fn run(&self, lab: &Lab<'_>) -> Outcome {
        self.check.try_with(lab, || match (self.check.body, self.ring) {
            (Body::Once(body), _) => body(lab),
            (Body::EachRing(body), Some(ring)) => body(lab, ring),
            (Body::EachRing(_), None) => crate::outcome::skip("no ring to run on"),
        })
    }

    fn of(check: &Check, rings: &[Ring]) -> Vec<Self> {
        match check.body {
            Body::Once(_) => vec![Self { id: check.id.to_owned(), check: *check, ring: None }],
            Body::EachRing(_) => rings
                .iter()
                .map(|&ring| Self { id: format!("{}.{ring}", check.id), check: *check, ring: Some(ring) })
                .collect(),
        }
    }
}

/// Every check there is, in the order of the plan.
pub(crate) fn all() -> impl Iterator<Item = &'static Check> {
    [
        checks::inventory::CHECKS,
        checks::address::CHECKS,
        checks::object::CHECKS,
        checks::memory::CHECKS,
        checks::share::CHECKS,
        checks::sync::CHECKS,
        checks::execute::CHECKS,
        checks::order::CHECKS,
        checks::userptr::CHECKS,
        checks::leak::CHECKS,
    ]
    .into_iter()
    .flatten()
}

/// What a run does: every check of the level and below, on each of `rings` where it is for rings, whose id contains the
/// filter.
pub(crate) fn plan(rings: &[Ring], level: Level, filter: Option<&str>) -> Vec<Step> {
    all()
        .filter(|check| check.level <= level)
        .flat_map(|check| Step::of(check, rings))
        .filter(|step| filter.is_none_or(|text| step.id.contains(text)))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const RINGS: [Ring; 2] =
        [Ring { ip: amdgpu_winsys::winsys::Ip::Gfx, index: 0 }, Ring { ip: amdgpu_winsys::winsys::Ip::Sdma, index: 1 }];

    #[test]
    fn ids_are_an_area_and_a_name_and_none_occurs_twice() {
        let mut seen = HashSet::new();
        for check in all() {
            let (area, name) = check.id.split_once('.').expect("an area and a name");
            let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase());
            assert!(plain(area) && plain(name), "{}", check.id);
            assert!(seen.insert(check.id), "{} twice", check.id);
        }
    }

    #[test]
    fn checks_for_rings_are_repeated_with_the_ring_appended() {
        let ids: Vec<_> = plan(&RINGS, Level::Quick, Some("exec.nop")).into_iter().map(|step| step.id).collect();
        assert_eq!(ids, ["exec.nop.gfx0", "exec.nop.sdma1"]);
    }

    #[test]
    fn a_level_includes_the_ones_before_it() {
        let count = |level| plan(&RINGS, level, None).len();
        assert!(0 < count(Level::Inventory) && count(Level::Inventory) < count(Level::Quick));
    }
}
