//! The table that a run ends with.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};

use crate::{hunt::Fate, mutant::Mutant};

/// A mutant that was drawn, and its fate.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    pub(crate) mutant: Mutant,
    pub(crate) fate: Fate,
}

#[derive(Default)]
struct Row {
    drawn: usize,
    caught: usize,
    survived: usize,
    unreached: usize,
}

/// Returns a table by module, and a list of those that were not caught.
pub(crate) fn report(outcomes: &[Outcome]) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for outcome in outcomes {
        for name in [outcome.mutant.module(), "~"] {
            let row = rows.entry(name).or_default();
            row.drawn += 1;
            match &outcome.fate {
                Fate::Caught { .. } | Fate::TimedOut { .. } => row.caught += 1,
                Fate::Survived { .. } => row.survived += 1,
                Fate::Unreached => row.unreached += 1,
            }
        }
    }
    let mut text =
        "| module | mutants | caught | survived | not reached | share |\n|---|---|---|---|---|---|\n".to_owned();
    for (name, Row { drawn, caught, survived, unreached }) in rows {
        let name = if name == "~" { "all" } else { name };
        #[expect(clippy::cast_precision_loss)]
        let share = caught as f64 * 100.0 / drawn as f64;
        let _ = writeln!(text, "| {name} | {drawn} | {caught} | {survived} | {unreached} | {share:.1} % |");
    }
    let missed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.fate.is_caught()).collect();
    if !missed.is_empty() {
        text.push_str("\nNot caught:\n");
    }
    for outcome in missed {
        let how = if outcome.fate == Fate::Unreached { " (not reached)" } else { "" };
        let _ = writeln!(text, "* {}{how}", outcome.mutant);
    }
    text
}
