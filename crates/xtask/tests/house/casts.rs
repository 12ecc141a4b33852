//! Conversions between integers have names: `as` says nothing of what it loses.

use std::{fs, iter};

use proc_macro2::{TokenStream, TokenTree};

use crate::{questions, rooms};

/// The number of casts with `as` in a thousand lines of the library's code from which the test asks.
const MOST: usize = 5;

const NUMBERS: &[&str] =
    &["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64"];

/// Returns the source without its tests.
fn shipped(source: &str) -> &str {
    source.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default()
}

fn casts(tokens: TokenStream) -> usize {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let is_word = |token: Option<&TokenTree>, words: &[&str]| matches!(token, Some(TokenTree::Ident(word)) if words.contains(&word.to_string().as_str()));
    let here = (0..tokens.len()).filter(|&at| is_word(tokens.get(at), &["as"]) && is_word(tokens.get(at + 1), NUMBERS));
    let inside = tokens.iter().map(|token| if let TokenTree::Group(group) = token { casts(group.stream()) } else { 0 });
    here.count() + inside.sum::<usize>()
}

fn lines_of_code(source: &str) -> usize {
    source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

#[test]
fn conversions_have_names() {
    let (mut lines, mut all) = (0, 0);
    for file in rooms::files("src").into_values().flatten().filter(|file| !file.ends_with("tests.rs")) {
        let source = fs::read_to_string(crate::root().join(&file)).unwrap();
        let source = shipped(&source);
        let casts = casts(source.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display())));
        println!("{casts:3} {}", file.display());
        (lines, all) = (lines + lines_of_code(source), all + casts);
    }
    assert!(lines > 10_000, "{lines} lines");
    let in_thousand = all * 1000 / lines;
    if in_thousand >= MOST {
        let question = "can casts of src be u64::from, try_from or amdgpu_hw::num (in a thousand lines)?";
        questions::ask(&[(question.to_owned(), in_thousand)]);
    }
}

#[test]
fn a_cast_is_counted_wherever_it_stands() {
    let source = "use a as b; fn f(x: u8) -> u64 { g(x as u32, [x as usize; 2], \"x as u8\") } // x as u8";
    assert_eq!(casts(source.parse().unwrap()), 2);
    let tested: String = iter::once(source).chain(["\n#[cfg(test)]\nmod tests { x as u8 }"]).collect();
    assert_eq!(shipped(&tested), source);
}
