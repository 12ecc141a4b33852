//! The checks as text, for people and for the documentation.

use std::fmt::Write;

use crate::{checks::check::Check, choice::Filter, level::Level, plan};

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
