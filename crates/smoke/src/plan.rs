//! The checks there are, in order.

use crate::{checks, cli::Level, lab::Lab, outcome::Outcome};

/// One check: what it proves, and how.
pub(crate) struct Check {
    /// `area.name`; checks that run once for each ring get the ring appended.
    pub(crate) id: String,
    /// The level it belongs to.
    pub(crate) level: Level,
    /// What it proves, in one sentence.
    pub(crate) proves: &'static str,
    /// Tries it.
    pub(crate) run: Box<dyn Fn(&Lab<'_>) -> Outcome>,
}

impl Check {
    pub(crate) fn new(
        id: impl Into<String>,
        level: Level,
        proves: &'static str,
        run: impl Fn(&Lab<'_>) -> Outcome + 'static,
    ) -> Self {
        Self { id: id.into(), level, proves, run: Box::new(run) }
    }
}

/// Every check of the level and below whose id contains the filter. The rings are those of the opened device.
pub(crate) fn plan(lab: &Lab<'_>, level: Level, filter: Option<&str>) -> Vec<Check> {
    let mut all = checks::inventory::checks();
    all.extend(checks::memory::checks());
    all.extend(checks::share::checks());
    all.extend(checks::sync::checks());
    for (ip, ring) in lab.rings() {
        all.extend(checks::execute::checks(ip, ring));
    }
    all.extend(checks::order::checks());
    all.extend(checks::leak::checks());
    all.retain(|check| check.level <= level && filter.is_none_or(|text| check.id.contains(text)));
    all
}
