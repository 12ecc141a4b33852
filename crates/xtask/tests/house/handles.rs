//! Handles: what is shared clones cheaply by itself, and no public signature of the library names `Arc`.

use std::fs;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::rooms;

/// Words that a public function, constant or alias begins with after `pub`. A name is that of a field instead.
const ITEMS: [&str; 6] = ["fn", "const", "unsafe", "async", "static", "type"];
/// Words of items whose public parts are looked at one by one.
const CONTAINERS: [&str; 6] = ["struct", "enum", "trait", "mod", "use", "union"];

fn is_group(token: Option<&TokenTree>, delimiter: Delimiter) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
}

fn names_arc(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(word) => word == "Arc",
        TokenTree::Group(group) => group.stream().into_iter().any(|token| names_arc(&token)),
        _ => false,
    }
}

/// Returns the names of the public functions, fields and aliases whose type names `Arc`.
fn named(tokens: TokenStream) -> Vec<String> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let word = |at: usize| tokens.get(at).map(ToString::to_string).unwrap_or_default();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            found.extend(named(group.stream()));
        }
        // `pub(crate)` and narrower ones are not public.
        if word(at) != "pub"
            || is_group(tokens.get(at + 1), Delimiter::Parenthesis)
            || CONTAINERS.contains(&&*word(at + 1))
        {
            continue;
        }
        let is_field = !ITEMS.contains(&&*word(at + 1));
        let end = |token: &TokenTree| {
            is_group(Some(token), Delimiter::Brace) || token.to_string() == if is_field { "," } else { ";" }
        };
        let signature: Vec<_> = tokens[at + 1..].iter().take_while(|token| !end(token)).collect();
        if signature.iter().any(|token| names_arc(token)) {
            found.push(signature.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join(" "));
        }
    }
    found
}

#[test]
fn no_public_signature_of_the_library_names_arc() {
    let mut found = Vec::new();
    for folder in ["src/winsys", "src/heaps", "src/cs"] {
        for file in rooms::files(folder).into_values().flatten() {
            let source = fs::read_to_string(crate::root().join(&file)).unwrap();
            let shipped = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            let tokens = shipped.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            found.extend(named(tokens).into_iter().map(|what| format!("{}: {what}", file.display())));
        }
    }
    assert!(found.is_empty(), "a handle that clones cheaply hides its Arc, as `Device` and `Bo` do: {found:#?}");
}

#[test]
fn public_signatures_that_name_arc_are_found() {
    let source = "pub struct Handle(Arc<State>);
        pub struct Open { pub shared: Option<Arc<State>>, hidden: Arc<State>, pub len: usize }
        impl Handle {
            pub fn of(state: &Arc<State>) -> Self { Self(Arc::clone(state)) }
            pub(crate) fn own(&self) -> &Arc<State> { &self.0 }
            pub fn len(&self) -> usize { Arc::strong_count(&self.0) }
        }
        pub type Shared = Arc<[u8]>;";
    assert_eq!(named(source.parse().unwrap()), ["shared : Option", "fn of (state : & Arc < State >)", "type Shared ="]);
}
