//! Docs open with a noun phrase or a verb, not with a question word.

use std::fs;

use crate::rooms;

/// The most docs of a thousand that may open with a question word.
const MOST: usize = 5;

const QUESTIONS: [&str; 10] =
    ["What", "Whatever", "Who", "Whoever", "Whose", "Where", "Whether", "Which", "How", "Why"];

/// Returns the first line of each run of doc comments in a source.
fn openings(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for line in source.lines().map(str::trim) {
        let outer = line.strip_prefix("///").filter(|rest| !rest.starts_with('/'));
        let doc = outer.or_else(|| line.strip_prefix("//!"));
        found.extend(doc.filter(|text| !is_inside && !text.is_empty()).map(str::trim));
        is_inside = doc.is_some();
    }
    found
}

fn is_question(opening: &str) -> bool {
    opening.split(|letter: char| !letter.is_alphabetic()).next().is_some_and(|word| QUESTIONS.contains(&word))
}

#[test]
fn docs_open_with_a_noun_or_a_verb() {
    let (mut all, mut questions) = (0, 0);
    for part in ["src", "crates", "tests", "examples", "fuzz"] {
        for file in rooms::files(part).into_values().flatten() {
            let source = fs::read_to_string(crate::root().join(&file)).unwrap();
            let openings = openings(&source);
            all += openings.len();
            for opening in openings.into_iter().filter(|opening| is_question(opening)) {
                println!("{}: {opening}", file.display());
                questions += 1;
            }
        }
    }
    assert!(all > 10_000, "{all} docs");
    assert!(questions * 1000 <= MOST * all, "{questions} of {all} docs open with a question word");
}

#[test]
fn an_opening_is_the_first_line_of_its_doc() {
    let source = "//! What it is.\n//! Where it is.\n\n/// Returns it.\n/// Whose it is.\nfn f() {\n    //// no doc\n    /// How.\n}";
    let openings = openings(source);
    assert_eq!(openings, ["What it is.", "Returns it.", "How."]);
    assert_eq!(openings.into_iter().filter(|opening| is_question(opening)).count(), 2);
    assert!(!is_question("Whole pages."));
}
