//! The checks as text, for people and for the documentation.

use std::{collections::HashSet, fmt::Write};

use amdgpu_winsys::winsys::Ip;

use crate::{
    checks::check::Check,
    choice::{Choice, Filter},
    gpu::ring::Ring,
    level::Level,
    plan,
};

/// One line a check.
pub(crate) fn lines(level: Level, filter: Option<&Filter>) -> Vec<String> {
    let checks = chosen(level, filter);
    checks.map(|check| format!("{:<18} {:<11}  {}", check.pattern(), check.level.name(), check.proves)).collect()
}

/// A table a level.
pub(crate) fn markdown(level: Level) -> String {
    let mut text = String::new();
    for level in Level::ALL.into_iter().take_while(|each| *each <= level) {
        // Writing into a string does not fail.
        let _ = writeln!(text, "### {}\n", level.name());
        let _ = writeln!(text, "| check | proves | needs | at most | IGT |\n|---|---|---|---|---|");
        for check in plan::all().filter(|check| check.level == level) {
            let Check { proves, needs, anchor, budget, .. } = check;
            let anchor = if anchor.is_empty() { String::new() } else { format!("`{anchor}`") };
            let _ =
                writeln!(text, "| `{}` | {proves} | {needs} | {} s | {anchor} |", check.pattern(), budget.as_secs());
        }
        text.push('\n');
    }
    text
}

/// Says at which deeper levels checks fit a filter, and how many; nothing if there are none.
pub(crate) fn deeper(level: Level, filter: Option<&Filter>) -> Option<String> {
    // A filter may name rings, which a GPU that is not open yet may have.
    let ips = [(Ip::Gfx, 1), (Ip::Compute, 8), (Ip::Sdma, 2)];
    let rings: Vec<_> =
        ips.into_iter().flat_map(|(ip, count)| (0..count).map(move |index| Ring { ip, index })).collect();
    let choice = Choice { filter: filter.cloned(), ..Choice::default() };
    let steps = plan::plan(&rings, Level::Destructive, &choice);
    let counts = Level::ALL.into_iter().filter(|deeper| *deeper > level).filter_map(|deeper| {
        let checks: HashSet<_> =
            steps.iter().filter(|step| step.check.level == deeper).map(|step| step.check.id).collect();
        let fit = if checks.len() == 1 { "check fits" } else { "checks fit" };
        (!checks.is_empty()).then(|| format!("{} {fit} at --level {}", checks.len(), deeper.name()))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    (!counts.is_empty()).then(|| format!("{counts}."))
}

fn chosen(level: Level, filter: Option<&Filter>) -> impl Iterator<Item = &'static Check> {
    let wanted = move |check: &&Check| filter.is_none_or(|filter| filter.fits(&check.pattern()));
    plan::all().filter(move |check| check.level <= level).filter(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_is_a_row_of_its_levels_table() {
        let text = markdown(Level::Destructive);
        for check in plan::all() {
            assert_eq!(text.matches(&format!("| `{}` |", check.pattern())).count(), 1, "{}", check.id);
        }
        assert!(!markdown(Level::Inventory).contains("### quick"));
    }
}
