//! The parts of the workspace in floors, each above all that it uses.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    path::Path,
};

use crate::graph::Edges;

/// The lines around the picture in ARCHITECTURE.md.
pub(crate) const BEGIN: &str = "```text floors\n";
pub(crate) const END: &str = "```\n";

/// Parts that each part uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns the part that a file belongs to: its crate, or its folder in the library.
pub(crate) fn part(root: &Path, file: &Path) -> Option<String> {
    let segments: Vec<_> = file.strip_prefix(root).ok()?.iter().map(|segment| segment.to_string_lossy()).collect();
    match segments.as_slice() {
        [first, name, ..] if first == "crates" => Some(name.to_string()),
        [first, name, _, ..] if first == "src" => Some(format!("src/{name}")),
        // The library's own root only re-exports.
        _ => None,
    }
}

/// Returns which part uses which, by what their files import.
pub(crate) fn uses(root: &Path, edges: &Edges) -> Uses {
    let mut uses = Uses::new();
    for (file, used) in edges {
        let Some(from) = part(root, file) else { continue };
        let parts = used.keys().filter_map(|file| part(root, file)).filter(|to| *to != from);
        uses.entry(from.clone()).or_default().extend(parts);
    }
    uses
}

/// Draws the floors, the highest first. Panics where parts use one another.
pub(crate) fn draw(uses: &Uses) -> String {
    let mut floors: BTreeMap<&str, usize> = BTreeMap::new();
    while floors.len() < uses.len() {
        let before = floors.len();
        for (part, used) in uses {
            let below: Option<Vec<usize>> = used.iter().map(|part| floors.get(part.as_str()).copied()).collect();
            if let Some(below) = below {
                floors.entry(part).or_insert_with(|| below.iter().max().map_or(0, |floor| floor + 1));
            }
        }
        let left: Vec<_> = uses.keys().filter(|part| !floors.contains_key(part.as_str())).collect();
        assert!(floors.len() > before, "these parts use one another: {left:?}");
    }
    let mut parts: Vec<_> = floors.iter().map(|(part, floor)| (std::cmp::Reverse(*floor), *part)).collect();
    parts.sort();
    let mut picture = String::new();
    for (floor, part) in parts {
        let used: Vec<_> = uses[part].iter().map(|part| part.trim_start_matches("src/")).collect();
        let line = format!("{}  {part:<14} {}", floor.0, used.join(" "));
        let _ = writeln!(picture, "{}", line.trim_end());
    }
    picture
}
