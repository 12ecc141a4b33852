//! Public signatures: what is shared clones cheaply by itself, so none names `Arc`; and none names a type of the crate nix, whose
//! next version would then be a change of ours.

use std::{collections::BTreeSet, fs};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::rooms;

/// Words that a public function, constant or alias begins with after `pub`. A name is that of a field instead.
const ITEMS: [&str; 6] = ["fn", "const", "unsafe", "async", "static", "type"];
/// Words of items whose public parts are looked at one by one.
const CONTAINERS: [&str; 6] = ["struct", "enum", "trait", "mod", "use", "union"];

fn is_group(token: Option<&TokenTree>, delimiter: Delimiter) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
}

fn names(token: &TokenTree, words: &BTreeSet<String>) -> bool {
    match token {
        TokenTree::Ident(word) => words.contains(&word.to_string()),
        TokenTree::Group(group) => group.stream().into_iter().any(|token| names(&token, words)),
        _ => false,
    }
}

/// Returns the names of the public functions, fields and aliases whose type names one of `words`, and of the functions of
/// public traits.
fn named(tokens: TokenStream, words: &BTreeSet<String>) -> Vec<String> {
    public(tokens, words, false)
}

fn public(tokens: TokenStream, words: &BTreeSet<String>, in_trait: bool) -> Vec<String> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let word = |at: usize| tokens.get(at).map(ToString::to_string).unwrap_or_default();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(group) = token {
            found.extend(public(group.stream(), words, is_body_of_public_trait(&tokens[..at])));
        }
        let is_of_trait = in_trait && word(at) == "fn";
        // `pub(crate)` and narrower ones are not public.
        if word(at) != "pub" && !is_of_trait
            || is_group(tokens.get(at + 1), Delimiter::Parenthesis)
            || CONTAINERS.contains(&&*word(at + 1))
        {
            continue;
        }
        let is_field = !is_of_trait && !ITEMS.contains(&&*word(at + 1));
        let end = |token: &TokenTree| {
            is_group(Some(token), Delimiter::Brace) || token.to_string() == if is_field { "," } else { ";" }
        };
        let signature: Vec<_> = tokens[at + 1..].iter().take_while(|token| !end(token)).collect();
        if signature.iter().any(|token| names(token, words)) {
            found.push(signature.iter().take(3).map(ToString::to_string).collect::<Vec<_>>().join(" "));
        }
    }
    found
}

/// Returns `true` if a braced group behind these tokens is the body of a public trait.
fn is_body_of_public_trait(before: &[TokenTree]) -> bool {
    let item = before.rsplit(|token| is_group(Some(token), Delimiter::Brace) || token.to_string() == ";").next();
    let words: Vec<_> = item.unwrap_or_default().iter().map(ToString::to_string).collect();
    words.iter().position(|word| word == "trait").is_some_and(|at| words[..at].iter().any(|word| word == "pub"))
}

/// Returns the types that a file imports from the crate nix, and `nix` itself.
fn names_of_nix(tokens: TokenStream) -> BTreeSet<String> {
    fn idents(tokens: &[TokenTree], found: &mut BTreeSet<String>) {
        for token in tokens {
            match token {
                TokenTree::Ident(word) => _ = found.insert(word.to_string()),
                TokenTree::Group(group) => idents(&group.stream().into_iter().collect::<Vec<_>>(), found),
                _ => {}
            }
        }
    }
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut found = BTreeSet::from(["nix".to_owned()]);
    for at in 1..tokens.len() {
        if tokens[at - 1].to_string() == "use" && tokens[at].to_string() == "nix" {
            let path: Vec<_> = tokens[at..].iter().take_while(|token| token.to_string() != ";").cloned().collect();
            idents(&path, &mut found);
        }
    }
    found.retain(|word| word == "nix" || word.starts_with(char::is_uppercase));
    found
}

/// Returns the public signatures below `folders` that name one of a file's `words`.
fn signatures(folders: &[&str], words: impl Fn(TokenStream) -> BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    for file in folders.iter().flat_map(|folder| rooms::files(folder)).flat_map(|(_, files)| files) {
        let source = fs::read_to_string(crate::root().join(&file)).unwrap();
        let shipped = source.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let tokens: TokenStream = shipped.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let words = words(tokens.clone());
        found.extend(named(tokens, &words).into_iter().map(|what| format!("{}: {what}", file.display())));
    }
    found
}

#[test]
fn no_public_signature_of_the_library_names_a_type_of_nix() {
    let found = signatures(&["src", "crates/uapi/src", "crates/hw/src"], names_of_nix);
    assert!(found.is_empty(), "a new version of nix would break whoever calls these: {found:#?}");
}

#[test]
fn public_signatures_that_name_a_type_of_nix_are_found() {
    let source = "use nix::{errno::Errno, sys::mman::{ProtFlags, mmap_anonymous}};
        pub fn map(flags: ProtFlags) -> usize { mmap_anonymous(flags) }
        fn own() -> Result<(), Errno> {}
        pub struct Failed { pub errno: Option<Errno>, pub len: usize }
        pub fn len() -> usize { let errno: Errno = 0; 0 }
        pub unsafe trait Kernel: Send { fn file(&self) -> u32; unsafe fn ioctl(&self) -> Result<i32, Errno>; }
        pub(crate) trait Own { fn ioctl(&self) -> usize; }
        pub type Poll = nix::poll::PollFlags;";
    let tokens: TokenStream = source.parse().unwrap();
    let words = names_of_nix(tokens.clone());
    let expected = ["fn map (flags : ProtFlags)", "errno : Option", "ioctl (& self) -", "type Poll ="];
    assert_eq!(named(tokens, &words), expected);
}

#[test]
fn no_public_signature_of_the_library_names_arc() {
    let found = signatures(&["src/winsys", "src/heaps", "src/cs"], |_| BTreeSet::from(["Arc".to_owned()]));
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
    let arc = BTreeSet::from(["Arc".to_owned()]);
    assert_eq!(
        named(source.parse().unwrap(), &arc),
        ["shared : Option", "fn of (state : & Arc < State >)", "type Shared ="]
    );
}
