//! Definitions, imports and names of a Rust file, as far as the import graph needs them.

use std::{collections::BTreeSet, fs, path::Path};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A name that a module takes from elsewhere.
pub(crate) struct Import {
    /// The segments as written, such as `super`, `ring`, `Ring`.
    pub(crate) path: Vec<String>,
    /// The name that it has here; `None` for a glob.
    pub(crate) name: Option<String>,
    /// `true` for a re-export: a face of the module and not a use of what it names.
    pub(crate) is_public: bool,
}

/// A module that is declared in another.
pub(crate) struct Child {
    pub(crate) name: String,
    /// Its content where it is inline.
    pub(crate) inline: Option<Module>,
    /// The value of `#[path]`.
    pub(crate) path: Option<String>,
}

/// A module's own content, without its tests.
#[derive(Default)]
pub(crate) struct Module {
    pub(crate) items: BTreeSet<String>,
    /// Every identifier in a macro call at module level: it may define any of them.
    pub(crate) perhaps: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
    pub(crate) children: Vec<Child>,
    /// Paths of two segments and more in the code.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// Single identifiers in the code, which a glob import may have brought in.
    pub(crate) words: BTreeSet<String>,
}

/// Reads a file. Panics where it is no Rust: the compiler says so better.
pub(crate) fn read(file: &Path) -> Module {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    module(&tokens.into_iter().collect::<Vec<_>>())
}

/// Attributes in front of an item.
#[derive(Default)]
struct Attributes {
    is_test: bool,
    path: Option<String>,
}

fn module(tokens: &[TokenTree]) -> Module {
    let mut module = Module::default();
    let mut at = 0;
    let mut attributes = Attributes::default();
    let mut is_public = false;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                // `#![..]` has a mark between.
                at += if is_punct(tokens.get(at + 1), '!') { 2 } else { 1 };
                if let Some(TokenTree::Group(group)) = tokens.get(at) {
                    attribute(group, &mut attributes);
                }
                at += 1;
                continue;
            }
            TokenTree::Ident(word) if word == "pub" => {
                is_public = true;
                at += 1;
                if matches!(tokens.get(at), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
                {
                    at += 1;
                }
                continue;
            }
            TokenTree::Ident(_) => {
                let end = item(tokens, at, is_public, &attributes, &mut module);
                at = end;
            }
            _ => at += 1,
        }
        attributes = Attributes::default();
        is_public = false;
    }
    module
}

/// Takes the item at `at` and returns the place after it.
fn item(tokens: &[TokenTree], at: usize, is_public: bool, attributes: &Attributes, module: &mut Module) -> usize {
    // Words such as `unsafe`, `const` and `async` may stand in front of `fn`; so may `extern "C"`.
    let mut keyword = at;
    while matches!(word(tokens.get(keyword)).as_deref(), Some("unsafe" | "async" | "default" | "extern"))
        || matches!(word(tokens.get(keyword)).as_deref(), Some("const"))
            && matches!(word(tokens.get(keyword + 1)).as_deref(), Some("fn" | "unsafe"))
        || matches!(tokens.get(keyword), Some(TokenTree::Literal(_)))
    {
        keyword += 1;
    }
    let name = word(tokens.get(keyword + 1));
    match word(tokens.get(keyword)).as_deref() {
        Some("use") => {
            let end = semicolon(tokens, keyword);
            if !attributes.is_test {
                use_tree(&tokens[keyword + 1..end], &mut Vec::new(), is_public, &mut module.imports);
            }
            end + 1
        }
        Some("mod") => {
            let name = name.unwrap_or_default();
            let inline = match tokens.get(keyword + 2) {
                Some(TokenTree::Group(group)) => Some(group),
                _ => None,
            };
            if !attributes.is_test {
                let inline = inline.map(|group| self::module(&group.stream().into_iter().collect::<Vec<_>>()));
                module.children.push(Child { name, inline, path: attributes.path.clone() });
            }
            keyword + 3
        }
        Some("macro_rules") => {
            if let Some(name) = word(tokens.get(keyword + 2)) {
                module.items.insert(name);
            }
            named(&tokens[keyword..(keyword + 4).min(tokens.len())], module);
            keyword + 4
        }
        // A macro call that makes items.
        Some(_) if is_punct(tokens.get(keyword + 1), '!') => {
            if let (false, Some(TokenTree::Group(group))) = (attributes.is_test, tokens.get(keyword + 2)) {
                collect_words(&group.stream(), &mut module.perhaps);
            }
            named(&tokens[keyword..(keyword + 3).min(tokens.len())], module);
            keyword + 3
        }
        Some(kind) => {
            let end = end_of_item(tokens, keyword, kind);
            if !attributes.is_test {
                if kind != "impl"
                    && let Some(name) =
                        if name.as_deref() == Some("mut") { word(tokens.get(keyword + 2)) } else { name }
                {
                    module.items.insert(name);
                }
                named(&tokens[keyword..end], module);
            }
            end
        }
        None => keyword + 1,
    }
}

/// The place after an item: after its braces, or after its semicolon.
fn end_of_item(tokens: &[TokenTree], at: usize, kind: &str) -> usize {
    let by_semicolon = matches!(kind, "const" | "static" | "type");
    tokens[at..]
        .iter()
        .position(|token| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !by_semicolon,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            _ => false,
        })
        .map_or(tokens.len(), |len| at + len + 1)
}

fn semicolon(tokens: &[TokenTree], at: usize) -> usize {
    tokens[at..].iter().position(|token| is_punct(Some(token), ';')).map_or(tokens.len(), |len| at + len)
}

fn attribute(group: &Group, attributes: &mut Attributes) {
    let words: Vec<_> = group.stream().into_iter().collect();
    match word(words.first()).as_deref() {
        Some("cfg") => {
            let Some(TokenTree::Group(condition)) = words.get(1) else { return };
            let condition: Vec<_> = condition.stream().into_iter().collect();
            attributes.is_test |=
                condition.len() == 1 && matches!(word(condition.first()).as_deref(), Some("test" | "interleaved"));
        }
        Some("test") => attributes.is_test = true,
        Some("path") => attributes.path = words.get(2).map(|path| path.to_string().trim_matches('"').to_owned()),
        _ => {}
    }
}

fn use_tree(tokens: &[TokenTree], before: &mut Vec<String>, is_public: bool, imports: &mut Vec<Import>) {
    let depth = before.len();
    for branch in tokens.split(|token| is_punct(Some(token), ',')) {
        let mut name = None;
        let mut is_branch = false;
        let mut is_renamed = false;
        for token in branch {
            match token {
                TokenTree::Ident(ident) if ident == "as" => is_renamed = true,
                TokenTree::Ident(ident) if is_renamed => name = Some(ident.to_string()),
                TokenTree::Ident(ident) => before.push(ident.to_string()),
                TokenTree::Group(group) => {
                    use_tree(&group.stream().into_iter().collect::<Vec<_>>(), before, is_public, imports);
                    is_branch = true;
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    imports.push(Import { path: before.clone(), name: None, is_public });
                    is_branch = true;
                }
                _ => {}
            }
        }
        if !is_branch && before.len() > depth {
            if before.last().is_some_and(|last| last == "self") && before.len() > 1 {
                before.pop();
            }
            let name = name.or_else(|| before.last().cloned());
            imports.push(Import { path: before.clone(), name, is_public });
        }
        before.truncate(depth);
    }
}

/// Collects the paths and words of code, which may hold `use` declarations of its own.
fn named(tokens: &[TokenTree], module: &mut Module) {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            TokenTree::Group(group) => named(&group.stream().into_iter().collect::<Vec<_>>(), module),
            TokenTree::Ident(ident) if ident == "use" => {
                let end = semicolon(tokens, at);
                let mut imports = Vec::new();
                use_tree(&tokens[at + 1..end], &mut Vec::new(), false, &mut imports);
                module.paths.extend(imports.into_iter().map(|import| import.path));
                at = end;
            }
            TokenTree::Ident(first) if !is_punct(at.checked_sub(1).and_then(|at| tokens.get(at)), '.') => {
                let mut path = vec![first.to_string()];
                while is_punct(tokens.get(at + 1), ':') && is_punct(tokens.get(at + 2), ':') {
                    let Some(segment) = word(tokens.get(at + 3)) else { break };
                    path.push(segment);
                    at += 3;
                }
                if path.len() > 1 {
                    module.paths.insert(path);
                } else {
                    module.words.extend(path);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn collect_words(tokens: &TokenStream, words: &mut BTreeSet<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(ident) => {
                words.insert(ident.to_string());
            }
            TokenTree::Group(group) => collect_words(&group.stream(), words),
            _ => {}
        }
    }
}

fn word(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}
