//! The files of the workspace and which uses which, with re-exports resolved to the file that defines the name.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{
    source::{Module, read},
    workspace::Package,
};

/// Files that each file uses, and the names it uses them for.
pub(crate) type Edges = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// Target of a name.
#[derive(Clone, Debug, PartialEq)]
enum Found {
    Module(usize),
    /// A file that defines it.
    Item(PathBuf),
}

struct Node {
    /// Its crate's root module.
    root: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    file: PathBuf,
    module: Module,
}

/// All modules of the workspace.
#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    /// Root modules by the crate's name in `use`.
    crates: BTreeMap<String, usize>,
}

impl Graph {
    /// Reads the sources of all packages.
    pub(crate) fn read(packages: &[Package]) -> Self {
        let mut graph = Self::default();
        for target in packages.iter().flat_map(|package| &package.targets) {
            let root = graph.add(None, &target.source, read(&target.source), true);
            if target.is_library {
                graph.crates.insert(target.name.replace('-', "_"), root);
            }
        }
        graph
    }

    fn add(&mut self, parent: Option<usize>, file: &Path, mut module: Module, owns_folder: bool) -> usize {
        let index = self.nodes.len();
        let root = parent.map_or(index, |parent| self.nodes[parent].root);
        let children = std::mem::take(&mut module.children);
        let file = file.to_path_buf();
        self.nodes.push(Node { root, parent, children: BTreeMap::new(), file: file.clone(), module });
        let here = file.parent().unwrap_or(Path::new(""));
        // `foo.rs` has its children in `foo/`; a crate's root and `mod.rs` have them beside.
        let folder = if owns_folder { here.to_path_buf() } else { here.join(file.file_stem().unwrap_or_default()) };
        for child in children {
            let node = if let Some(inline) = child.inline {
                self.add(Some(index), &file, inline, owns_folder)
            } else {
                let flat = folder.join(format!("{}.rs", child.name));
                let (path, owns) = match child.path {
                    Some(path) => (here.join(path), true),
                    None if flat.exists() => (flat, false),
                    None => (folder.join(&child.name).join("mod.rs"), true),
                };
                self.add(Some(index), &path, read(&path), owns)
            };
            self.nodes[index].children.insert(child.name, node);
        }
        index
    }

    /// Returns which file uses which.
    pub(crate) fn edges(&self) -> Edges {
        let mut edges = Edges::new();
        for (index, node) in self.nodes.iter().enumerate() {
            edges.entry(node.file.clone()).or_default();
            let imported = node
                .module
                .imports
                .iter()
                .filter(|import| !import.is_public && import.name.is_some())
                .map(|import| &import.path);
            for path in imported.chain(&node.module.paths) {
                if let Some(Found::Item(file)) = self.resolve(index, path, &mut Vec::new()) {
                    note(&mut edges, &node.file, file, path.join("::"));
                }
            }
            // What globs bring in.
            for glob in node.module.imports.iter().filter(|import| !import.is_public && import.name.is_none()) {
                let Some(Found::Module(from)) = self.resolve(index, &glob.path, &mut Vec::new()) else { continue };
                for word in &node.module.words {
                    if let Some(Found::Item(file)) = self.lookup(from, word, &mut Vec::new()) {
                        note(&mut edges, &node.file, file, word.clone());
                    }
                }
            }
        }
        edges
    }

    fn resolve(&self, from: usize, path: &[String], visited: &mut Vec<(usize, String)>) -> Option<Found> {
        let (first, rest) = path.split_first()?;
        let mut found = match first.as_str() {
            "crate" => Found::Module(self.nodes[from].root),
            "self" => Found::Module(from),
            "super" => Found::Module(self.nodes[from].parent?),
            name => {
                self.lookup(from, name, visited).or_else(|| self.crates.get(name).map(|&root| Found::Module(root)))?
            }
        };
        for segment in rest {
            found = match found {
                Found::Module(module) if segment == "super" => Found::Module(self.nodes[module].parent?),
                Found::Module(module) => self.lookup(module, segment, visited)?,
                item @ Found::Item(_) => return Some(item),
            };
        }
        Some(found)
    }

    fn lookup(&self, module: usize, name: &str, visited: &mut Vec<(usize, String)>) -> Option<Found> {
        let key = (module, name.to_owned());
        if visited.contains(&key) {
            return None;
        }
        visited.push(key);
        let found = self.lookup_unvisited(module, name, visited);
        visited.pop();
        found
    }

    fn lookup_unvisited(&self, module: usize, name: &str, visited: &mut Vec<(usize, String)>) -> Option<Found> {
        let node = &self.nodes[module];
        if node.module.items.contains(name) {
            return Some(Found::Item(node.file.clone()));
        }
        if let Some(&child) = node.children.get(name) {
            return Some(Found::Module(child));
        }
        let imports = node.module.imports.iter().filter(|import| import.name.as_deref() == Some(name));
        if let Some(found) = imports.into_iter().find_map(|import| self.resolve(module, &import.path, visited)) {
            return Some(found);
        }
        let mut globs = node.module.imports.iter().filter(|import| import.name.is_none());
        let through_globs = globs.find_map(|glob| match self.resolve(module, &glob.path, visited)? {
            Found::Module(from) if from != module => self.lookup(from, name, visited),
            _ => None,
        });
        through_globs.or_else(|| node.module.perhaps.contains(name).then(|| Found::Item(node.file.clone())))
    }
}

fn note(edges: &mut Edges, from: &Path, to: PathBuf, name: String) {
    if from != to {
        edges.entry(from.to_path_buf()).or_default().entry(to).or_default().insert(name);
    }
}

/// Returns the sets of files of which each reaches each other, largest first.
pub(crate) fn circles(edges: &Edges) -> Vec<Vec<PathBuf>> {
    let files: Vec<&PathBuf> = edges.keys().collect();
    let reach: BTreeMap<&Path, BTreeSet<&Path>> =
        files.iter().map(|file| (file.as_path(), reachable(edges, file))).collect();
    let mut circles: Vec<Vec<PathBuf>> = Vec::new();
    let mut seen = BTreeSet::new();
    for file in files {
        if !seen.contains(file) && reach[file.as_path()].contains(file.as_path()) {
            let circle: Vec<_> = reach[file.as_path()]
                .iter()
                .filter(|other| reach[**other].contains(file.as_path()))
                .map(|other| other.to_path_buf())
                .collect();
            seen.extend(circle.iter().cloned());
            circles.push(circle);
        }
    }
    circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    circles
}

fn reachable<'e>(edges: &'e Edges, from: &Path) -> BTreeSet<&'e Path> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&Path> = vec![from];
    while let Some(file) = waiting.pop() {
        for to in edges.get(file).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(to.as_path()) {
                waiting.push(to);
            }
        }
    }
    reached
}
