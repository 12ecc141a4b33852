//! Examples: each public type of the library and of the VA manager shows in its doc how it is used, and the example runs.
//!
//! The scan is syntactic. It needs no list of what can be reached from outside, because the lint `unreachable_pub` refuses
//! `pub` where nothing can.

use std::fs;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use crate::rooms;

const FOLDERS: [&str; 4] = ["src/winsys", "src/vamgr", "src/heaps", "src/cs"];
const TYPES: [&str; 4] = ["struct", "enum", "trait", "union"];

/// Returns the line of a doc comment that an attribute stands for.
fn doc_line(attribute: &Group) -> Option<String> {
    let tokens: Vec<_> = attribute.stream().into_iter().map(|token| token.to_string()).collect();
    match &tokens[..] {
        [doc, equals, text] if doc == "doc" && equals == "=" => Some(text.trim_matches('"').trim().to_owned()),
        _ => None,
    }
}

/// Returns `true` if a doc has an example that is compiled and run: a fence without a word such as `no_run` or `text`.
fn has_example(docs: &[String]) -> bool {
    let fences = docs.iter().filter_map(|line| line.strip_prefix("```"));
    fences.step_by(2).any(str::is_empty)
}

/// Returns the public types of a source, in macro calls too, each with whether its doc has an example.
fn types(tokens: TokenStream) -> Vec<(String, bool)> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let (mut found, mut docs, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        match &tokens[at..] {
            [TokenTree::Punct(mark), TokenTree::Group(attribute), ..]
                if mark.as_char() == '#' && attribute.delimiter() == Delimiter::Bracket =>
            {
                docs.extend(doc_line(attribute));
                at += 2;
                continue;
            }
            [TokenTree::Ident(public), TokenTree::Ident(kind), TokenTree::Ident(name), ..]
                if public == "pub" && TYPES.iter().any(|word| kind == word) =>
            {
                found.push((name.to_string(), has_example(&docs)));
            }
            [TokenTree::Group(group), ..] => found.extend(types(group.stream())),
            _ => {}
        }
        docs.clear();
        at += 1;
    }
    found
}

#[test]
fn each_public_type_has_an_example_that_runs() {
    let (mut all, mut without) = (0, Vec::new());
    for file in FOLDERS.into_iter().flat_map(rooms::files).flat_map(|(_folder, files)| files) {
        let source = fs::read_to_string(crate::root().join(&file)).unwrap();
        let shipped = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let tokens = shipped.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (name, has_example) in types(tokens) {
            all += 1;
            if !has_example {
                without.push(format!("{}: {name}", file.display()));
            }
        }
    }
    assert!(all > 200, "{all} public types");
    assert!(without.is_empty(), "{} of {all} public types have no example: {without:#?}", without.len());
}

#[test]
fn an_example_counts_for_the_type_below_it_if_it_runs() {
    let source = "
        /// Has one.
        ///
        /// ```
        /// assert!(true);
        /// ```
        #[derive(Debug)]
        #[error(\"{0}\")]
        pub struct Shown(u32);
        /// Is not public.
        pub(crate) struct Hidden;
        /// Only looks like one.
        ///
        /// ```no_run
        /// open();
        /// ```
        pub enum Compiled { One }
        bitflags! {
            /// A picture.
            ///
            /// ```text
            /// a -> b
            /// ```
            pub struct Drawn: u32 {}
        }
        impl Shown {
            /// Returns it.
            ///
            /// ```
            /// assert!(true);
            /// ```
            pub fn get(&self) {}
        }
        pub trait Undocumented {}";
    let expected = [("Shown", true), ("Compiled", false), ("Drawn", false), ("Undocumented", false)];
    assert_eq!(types(source.parse().unwrap()), expected.map(|(name, shown)| (name.to_owned(), shown)));
}
