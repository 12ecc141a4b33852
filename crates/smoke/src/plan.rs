//! The checks there are, in order, and which of them a run takes.

use std::{fmt, str::FromStr, time::Duration};

use regex::Regex;

use crate::{
    checks,
    lab::Lab,
    level::Level,
    outcome::{Outcome, Stop, skip},
    ring::Ring,
};

/// One check: what it proves, and how.
#[derive(Clone, Copy)]
pub(crate) struct Check {
    /// `area.name`, stable. A check that runs on each ring gets the ring appended.
    pub(crate) id: &'static str,
    /// The level it belongs to.
    pub(crate) level: Level,
    /// What it proves, in one sentence.
    pub(crate) proves: &'static str,
    /// What it is skipped without, beside an amdgpu that opens.
    pub(crate) needs: &'static str,
    /// The test of the IGT suite that looks after the same thing; empty where there is none.
    pub(crate) anchor: &'static str,
    /// How long it may take.
    pub(crate) budget: Duration,
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
    const fn new(level: Level, id: &'static str, proves: &'static str, body: Body) -> Self {
        let budget = Duration::from_secs(match level {
            Level::Inventory | Level::Quick => 20,
            Level::Core => 60,
            Level::Stress => 300,
            Level::Destructive => 120,
        });
        Self { id, level, proves, needs: "", anchor: "", budget, body, needs_a_kernel: false }
    }

    /// A check that only reads.
    pub(crate) const fn inventory(id: &'static str, proves: &'static str, body: fn(&Lab<'_>) -> Outcome) -> Self {
        Self::new(Level::Inventory, id, proves, Body::Once(body))
    }

    /// A check of the quick level that runs once.
    pub(crate) const fn once(id: &'static str, proves: &'static str, body: fn(&Lab<'_>) -> Outcome) -> Self {
        Self::new(Level::Quick, id, proves, Body::Once(body))
    }

    /// A check of the quick level that runs on each ring.
    pub(crate) const fn each_ring(id: &'static str, proves: &'static str, body: fn(&Lab<'_>, Ring) -> Outcome) -> Self {
        Self::new(Level::Quick, id, proves, Body::EachRing(body))
    }

    /// The same at another level, with that level's time.
    pub(crate) const fn at(self, level: Level) -> Self {
        let moved = Self::new(level, self.id, self.proves, self.body);
        Self { needs: self.needs, anchor: self.anchor, needs_a_kernel: self.needs_a_kernel, ..moved }
    }

    /// The same, skipped where the kernel only pretends to have what is checked.
    pub(crate) const fn needing_a_kernel(self) -> Self {
        Self { needs_a_kernel: true, ..self }
    }

    /// The same with what it is skipped without.
    pub(crate) const fn needs(self, needs: &'static str) -> Self {
        Self { needs, ..self }
    }

    /// The same with its place in IGT.
    pub(crate) const fn anchor(self, anchor: &'static str) -> Self {
        Self { anchor, ..self }
    }

    /// The id with the place of the ring held.
    pub(crate) fn pattern(&self) -> String {
        match self.body {
            Body::Once(_) => self.id.to_owned(),
            Body::EachRing(_) => format!("{}.RING", self.id),
        }
    }

    fn try_with(&self, lab: &Lab<'_>, body: impl FnOnce() -> Outcome) -> Outcome {
        match body() {
            Err(Stop::Fail(failure)) if self.needs_a_kernel && lab.is_stand_in() => {
                skip(format!("this kernel only pretends: {}", failure.detail))
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
    pub(crate) check: Check,
    ring: Option<Ring>,
}

impl Step {
    /// Tries it.
    pub(crate) fn run(&self, lab: &Lab<'_>) -> Outcome {
        self.check.try_with(lab, || match (self.check.body, self.ring) {
            (Body::Once(body), _) => body(lab),
            (Body::EachRing(body), Some(ring)) => body(lab, ring),
            (Body::EachRing(_), None) => skip("no ring to run on"),
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
    let areas = [
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
        checks::transfer::CHECKS,
        checks::sparse::CHECKS,
        checks::placement::CHECKS,
        checks::process::CHECKS,
        checks::gang::CHECKS,
        checks::pressure::CHECKS,
        checks::march::CHECKS,
        checks::reset::CHECKS,
    ];
    areas.into_iter().flatten()
}

/// Which checks of a level are taken. The default takes all.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Only checks whose id the expression matches, anywhere in it.
    pub filter: Option<Filter>,
    /// Only one part of them.
    pub shard: Option<Shard>,
    /// How often each runs; 0 counts as 1.
    pub repeat: u32,
}

/// A regular expression for ids of checks.
#[derive(Clone, Debug)]
pub struct Filter(Regex);

impl Filter {
    /// Takes an expression of the `regex` crate.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression.
    pub fn new(expression: &str) -> Result<Self, BadFilter> {
        Regex::new(expression).map(Self).map_err(|error| BadFilter(last_line(&error)))
    }

    /// The filter that fits one id and no other.
    ///
    /// # Errors
    ///
    /// None for an id of any reasonable length.
    pub fn exactly(id: &str) -> Result<Self, BadFilter> {
        Self::new(&format!("^{}$", regex::escape(id)))
    }

    /// The expression.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Whether it fits an id.
    pub fn fits(&self, id: &str) -> bool {
        self.0.is_match(id)
    }
}

/// The parser's message shows the expression on lines of its own; its last line says what is wrong.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

impl FromStr for Filter {
    type Err = BadFilter;

    fn from_str(text: &str) -> Result<Self, BadFilter> {
        Self::new(text)
    }
}

/// An expression that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a regular expression: {0}")]
pub struct BadFilter(String);

/// One of several parts of a plan, each of which takes every n-th check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: usize,
    count: usize,
}

/// Not a part of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a shard is I/N with 1 <= I <= N")]
pub struct BadShard;

impl FromStr for Shard {
    type Err = BadShard;

    fn from_str(text: &str) -> Result<Self, BadShard> {
        let (index, count) = text.split_once('/').ok_or(BadShard)?;
        let number = |text: &str| text.parse::<usize>().map_err(|_| BadShard);
        let (index, count) = (number(index)?, number(count)?);
        if (1..=count).contains(&index) { Ok(Self { index, count }) } else { Err(BadShard) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// What a run does: every check of the level and below, on each of `rings` where it is for rings, as far as it is chosen.
pub(crate) fn plan(rings: &[Ring], level: Level, choice: &Choice) -> Vec<Step> {
    let Shard { index, count } = choice.shard.unwrap_or(Shard { index: 1, count: 1 });
    let steps = all()
        .filter(|check| check.level <= level)
        .flat_map(|check| Step::of(check, rings))
        .filter(|step| choice.filter.as_ref().is_none_or(|filter| filter.fits(&step.id)))
        .skip(index.saturating_sub(1))
        .step_by(count.max(1));
    steps.flat_map(|step| std::iter::repeat_n(step, choice.repeat.max(1) as usize)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
            assert!(plain(area) && plain(name), "{}", check.id);
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

    #[test]
    fn a_filter_that_is_no_expression_says_why_in_one_line() {
        let error = Filter::new("exec.(nop").unwrap_err().to_string();
        assert_eq!(error, "not a regular expression: unclosed group");
        assert!(Filter::exactly("bo.map").is_ok_and(|filter| !filter.fits("bo.mapped") && !filter.fits("boxmap")));
    }
}
