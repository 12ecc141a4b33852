//! Docs open with a noun phrase or a verb, not with a question word; those of public functions with a verb.

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

/// Folders whose public functions are documented by a verb in the third person.
const DOCUMENTED: [&str; 5] = ["src", "crates", "tests", "examples", "fuzz"];

/// Words that end as such a verb does and are none.
const NO_VERBS: [&str; 19] = [
    "Access",
    "Addresses",
    "Always",
    "Anonymous",
    "As",
    "Bits",
    "Bytes",
    "Counters",
    "Dwords",
    "Figures",
    "Flags",
    "Heaps",
    "Its",
    "Memories",
    "Multiples",
    "Rings",
    "Sizes",
    "This",
    "Values",
];

/// Returns `true` if a doc opens with a verb in the third person, such as "Returns".
fn opens_with_a_verb(opening: &str) -> bool {
    let word = opening.split(|letter: char| !letter.is_alphabetic() && letter != '-').next().unwrap_or_default();
    word.ends_with('s') && word.starts_with(char::is_uppercase) && !NO_VERBS.contains(&word)
}

/// Returns the name of each documented public function, and the first line of its doc.
fn functions(source: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    let mut lines = source.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let Some(opening) = line.strip_prefix("/// ") else { continue };
        while lines.next_if(|line| line.starts_with("///")).is_some() {}
        while let Some(mut attribute) = lines.next_if(|line| line.starts_with("#[")) {
            while !attribute.ends_with(']') {
                let Some(rest) = lines.next() else { break };
                attribute = rest;
            }
        }
        let Some(item) = lines.peek().and_then(|item| item.strip_prefix("pub ")) else { continue };
        let mut words = item.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let is_qualifier = |word: &&str| matches!(*word, "const" | "unsafe" | "async" | "extern" | "C" | "");
        if words.find(|word| !is_qualifier(word)) == Some("fn") {
            found.push((words.next().unwrap_or_default().to_owned(), opening));
        }
    }
    found
}

#[test]
fn docs_of_public_functions_open_with_a_verb() {
    let (mut all, mut others) = (0, Vec::new());
    for file in DOCUMENTED.iter().flat_map(|folder| rooms::files(folder)).flat_map(|(_, files)| files) {
        let source = fs::read_to_string(crate::root().join(&file)).unwrap();
        let functions = functions(&source);
        all += functions.len();
        let nouns = functions.into_iter().filter(|(_, opening)| !opens_with_a_verb(opening));
        others.extend(nouns.map(|(name, opening)| format!("{}: {name}: {opening}", file.display())));
    }
    assert!(all > 1500, "{all} functions");
    assert!(others.is_empty(), "a verb in the third person opens the doc of a function: {others:#?}");
}

#[test]
fn the_doc_of_a_function_is_the_one_above_its_attributes() {
    let source = "/// The size.\n///\n/// More.\n#[must_use]\n#[expect(\n    dead_code,\n    reason = \"none\"\n)]\npub const fn size() {}
        /// Returns it.\n    pub unsafe extern \"C\" fn it() {}\n/// The type.\npub struct Type;\n/// The own.\npub(crate) fn own() {}";
    let functions = functions(source);
    assert_eq!(functions, [("size".to_owned(), "The size."), ("it".to_owned(), "Returns it.")]);
    let verbs = ["Returns it.", "Re-reads it.", "The size.", "`x`.", "As it is.", "Bytes of it.", "lists", ""];
    assert_eq!(verbs.map(opens_with_a_verb), [true, true, false, false, false, false, false, false]);
}

#[test]
fn an_opening_is_the_first_line_of_its_doc() {
    let source = "//! What it is.\n//! Where it is.\n\n/// Returns it.\n/// Whose it is.\nfn f() {\n    //// no doc\n    /// How.\n}";
    let openings = openings(source);
    assert_eq!(openings, ["What it is.", "Returns it.", "How."]);
    assert_eq!(openings.into_iter().filter(|opening| is_question(opening)).count(), 2);
    assert!(!is_question("Whole pages."));
}

/// Verbs with which docs of types used to open. A type is a thing, and its doc names it.
const VERBS: [&str; 30] = [
    "Adds",
    "Allocates",
    "Builds",
    "Collects",
    "Compares",
    "Computes",
    "Converts",
    "Creates",
    "Decides",
    "Describes",
    "Escapes",
    "Generates",
    "Gives",
    "Hands",
    "Holds",
    "Keeps",
    "Looks",
    "Makes",
    "Prints",
    "Reads",
    "Records",
    "Remembers",
    "Represents",
    "Runs",
    "Serves",
    "Submits",
    "Takes",
    "Waits",
    "Wraps",
    "Writes",
];

/// Returns the lines that open the docs of public structures, enums and traits, and those types' names. A command line's own doc
/// is its `--help`, which begins as a doc of a function does.
fn types(source: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    let mut lines = source.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let Some(opening) = line.strip_prefix("/// ") else { continue };
        while lines.next_if(|line| line.starts_with("///")).is_some() {}
        let mut is_command_line = false;
        while let Some(attribute) = lines.next_if(|line| line.starts_with("#[")) {
            is_command_line |= attribute.contains("Parser") || attribute.contains("Args");
        }
        let Some(item) = lines.peek().and_then(|item| item.strip_prefix("pub ")) else { continue };
        let mut words = item.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        if !is_command_line && matches!(words.next(), Some("struct" | "enum" | "trait")) {
            found.push((words.next().unwrap_or_default().to_owned(), opening));
        }
    }
    found
}

#[test]
fn docs_of_public_types_open_with_a_noun() {
    let opens_with_one = |opening: &str| opening.split(' ').next().is_some_and(|word| VERBS.contains(&word));
    let (mut all, mut others) = (0, Vec::new());
    for file in DOCUMENTED.iter().flat_map(|folder| rooms::files(folder)).flat_map(|(_, files)| files) {
        let source = fs::read_to_string(crate::root().join(&file)).unwrap();
        let types = types(&source);
        all += types.len();
        let verbs = types.into_iter().filter(|(_, opening)| opens_with_one(opening));
        others.extend(verbs.map(|(name, opening)| format!("{}: {name}: {opening}", file.display())));
    }
    assert!(all > 1000, "{all} types");
    assert!(others.is_empty(), "a noun opens the doc of a type: {others:#?}");
    assert_eq!(types("/// Makes it.\n#[derive(Debug)]\npub struct Maker {")[0], ("Maker".to_owned(), "Makes it."));
}
