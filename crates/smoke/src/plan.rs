//! The checks there are, in order, and those that a run takes.

use amdgpu_winsys::winsys;

use crate::{
    checks::{
        bos,
        check::{Body, Check},
        computer, draws, engines, inventory, kfd, leak, process, queues, shaders,
    },
    choice::{Choice, Shard},
    gpu::{ring::Ring, target::Target, test_context::TestContext},
    level::Level,
    options::Options,
    result::outcome::{Outcome, skip},
};

/// A check on the ring it is for, if it is for one.
#[derive(Clone)]
pub(crate) struct PlannedCheck {
    /// The full id.
    pub(crate) id: String,
    pub(crate) check: Check,
    ring: Option<Ring>,
}

impl PlannedCheck {
    /// Tries it.
    pub(crate) fn run(&self, test: &TestContext<'_>) -> Outcome {
        self.check.try_with(test, || match (self.check.body, self.ring) {
            (Body::Once(body), _) => body(test),
            (Body::EachRing(body) | Body::EachShaderRing(body), Some(ring)) => body(test, ring),
            (Body::EachRing(_) | Body::EachShaderRing(_), None) => skip("no ring to run on"),
            (Body::Alone(_), _) => skip("it runs without an open GPU"),
        })
    }

    fn of(check: &Check, rings: &[Ring]) -> Vec<Self> {
        let shaders = matches!(check.body, Body::EachShaderRing(_));
        match check.body {
            Body::Once(_) | Body::Alone(_) => vec![Self { id: check.id.to_owned(), check: *check, ring: None }],
            Body::EachRing(_) | Body::EachShaderRing(_) => rings
                .iter()
                .filter(|ring| !shaders || ring.dispatches())
                .map(|&ring| Self { id: format!("{}.{ring}", check.id), check: *check, ring: Some(ring) })
                .collect(),
        }
    }
}

/// Every check there is, in the order of the plan.
pub(crate) fn all() -> impl Iterator<Item = &'static Check> {
    let areas = [
        inventory::CHECKS,
        bos::address::CHECKS,
        bos::object::CHECKS,
        bos::memory::CHECKS,
        bos::share::CHECKS,
        queues::sync::CHECKS,
        queues::execute::CHECKS,
        queues::order::CHECKS,
        bos::userptr::CHECKS,
        leak::CHECKS,
        queues::transfer::CHECKS,
        queues::bandwidth::CHECKS,
        queues::peers::CHECKS,
        queues::sizes::CHECKS,
        shaders::memory::CHECKS,
        shaders::groups::CHECKS,
        shaders::image::CHECKS,
        shaders::arithmetic::CHECKS,
        draws::CHECKS,
        bos::sparse::CHECKS,
        bos::placement::CHECKS,
        process::CHECKS,
        queues::gang::CHECKS,
        kfd::CHECKS,
        engines::CHECKS,
        bos::pressure::CHECKS,
        queues::march::CHECKS,
        queues::whole::CHECKS,
        queues::reset::CHECKS,
        // The last ones: afterwards a real GPU may have another node.
        computer::CHECKS,
    ];
    areas.into_iter().flatten()
}

/// Returns the steps of a run: every chosen check of the level and below, once per ring of `rings` if it is a ring check.
pub(crate) fn plan(rings: &[Ring], level: Level, choice: &Choice) -> Vec<PlannedCheck> {
    let Shard { index, count } = choice.shard.unwrap_or(Shard { index: 1, count: 1 });
    let steps = all()
        .filter(|check| check.level <= level)
        .flat_map(|check| PlannedCheck::of(check, rings))
        .filter(|step| choice.filter.as_ref().is_none_or(|filter| filter.fits(&step.id)))
        .skip(index.saturating_sub(1))
        .step_by(count.max(1));
    steps.flat_map(|step| std::iter::repeat_n(step, choice.repeat.max(1) as usize)).collect()
}

/// Returns the ids of the checks that a run on `target` would take; the GPU is opened for its rings.
pub(crate) fn ids(target: &Target, options: &Options) -> winsys::Result<Vec<String>> {
    let rings = Ring::all(target.open()?.info());
    Ok(plan(&rings, options.level, &options.choice).into_iter().map(|step| step.id).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::choice::{BadShard, Filter};

    const RINGS: [Ring; 2] =
        [Ring { ip: amdgpu_winsys::winsys::Ip::Gfx, index: 0 }, Ring { ip: amdgpu_winsys::winsys::Ip::Sdma, index: 1 }];

    fn ids(choice: &Choice) -> Vec<String> {
        plan(&RINGS, Level::Destructive, choice).into_iter().map(|step| step.id).collect()
    }

    #[test]
    fn ids_are_an_area_and_a_name_and_none_occurs_twice() {
        let mut seen = HashSet::new();
        for check in all() {
            let (area, name) = check.id.split_once('.').expect("an area and a name");
            let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase());
            assert!(plain(area) && name.split('.').all(plain), "{}", check.id);
            assert!(seen.insert(check.id), "{} twice", check.id);
        }
    }

    #[test]
    fn checks_for_rings_are_repeated_with_the_ring_appended() {
        let choice = Choice { filter: Some(Filter::new("exec.nop").unwrap()), ..Choice::default() };
        assert_eq!(ids(&choice), ["exec.nop.gfx0", "exec.nop.sdma1"]);
    }

    #[test]
    fn a_level_includes_the_ones_before_it() {
        let count = |level| plan(&RINGS, level, &Choice::default()).len();
        let counts = Level::ALL.map(count);
        assert!(counts[0] > 0 && counts.is_sorted_by(|a, b| a < b), "{counts:?}");
    }

    #[test]
    fn shards_are_the_whole_and_have_nothing_in_common() {
        let all = ids(&Choice::default());
        let shards = ["1/3", "2/3", "3/3"]
            .map(|shard| ids(&Choice { shard: Some(shard.parse().unwrap()), ..Choice::default() }));
        let mut together: Vec<_> = shards.concat();
        assert_eq!(together.len(), all.len());
        together.sort();
        let mut sorted = all;
        sorted.sort();
        assert_eq!(together, sorted);
        for bad in ["", "1", "0/3", "4/3", "-1/3", "1/0", "a/b"] {
            assert_eq!(bad.parse::<Shard>(), Err(BadShard), "{bad}");
        }
    }

    #[test]
    fn a_repeated_check_follows_itself() {
        let choice = Choice { filter: Some(Filter::exactly("bo.map").unwrap()), repeat: 3, ..Choice::default() };
        assert_eq!(ids(&choice), ["bo.map"; 3]);
    }
}
