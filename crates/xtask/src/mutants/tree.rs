//! The copy of the workspace that the mutants are written into.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use syn::Item;

use crate::{
    mutant::{Mutant, Site},
    points::{self, Skipped},
};

/// A crate of the library.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) package: String,
    /// Its manifest, from the workspace's root.
    pub(crate) manifest: String,
    /// The root of its library target, from the workspace's root.
    pub(crate) root: String,
}

/// A file that gets mutants.
#[derive(Debug)]
pub(crate) struct MutatedFile {
    pub(crate) path: String,
    pub(crate) source: String,
    pub(crate) sites: Vec<Site>,
}

/// All that can be mutated.
#[derive(Debug, Default)]
pub(crate) struct Points {
    pub(crate) members: Vec<Member>,
    pub(crate) files: Vec<MutatedFile>,
    pub(crate) mutants: Vec<Mutant>,
    pub(crate) skipped: Skipped,
}

/// Runs a command and returns what it prints.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Finds the library's crates, those that `package` leans on inside the workspace, and every place in them.
pub(crate) fn points(root: &Path, package: &str, without: &[String]) -> Result<Points> {
    let mut points = Points { members: members(root, package)?, ..Points::default() };
    points.members.retain(|member| !without.contains(&member.package));
    for member in &points.members {
        let mut files = Vec::new();
        walk(root, Path::new(&member.root), true, &mut files)?;
        for (path, source, items) in files {
            let sites = points::collect(&path, &source, &items, &mut points.mutants, &mut points.skipped);
            points.files.push(MutatedFile { path, source, sites });
        }
    }
    Ok(points)
}

fn members(root: &Path, package: &str) -> Result<Vec<Member>> {
    let mut metadata = Command::new("cargo");
    metadata.args(["metadata", "--format-version=1", "--no-deps"]).current_dir(root);
    let metadata: Value = serde_json::from_str(&output(&mut metadata)?)?;
    let packages: BTreeMap<&str, &Value> =
        metadata["packages"].as_array().into_iter().flatten().map(|p| (p["name"].as_str().unwrap_or(""), p)).collect();

    let (mut found, mut waiting) = (Vec::new(), vec![package]);
    while let Some(name) = waiting.pop() {
        if found.contains(&name) || !packages.contains_key(name) {
            continue;
        }
        found.push(name);
        let dependencies = packages[name]["dependencies"].as_array().into_iter().flatten();
        // A dependency for tests only is no part of the library.
        waiting.extend(dependencies.filter(|d| d["kind"].is_null()).filter_map(|d| d["name"].as_str()));
    }
    found.sort_unstable();
    let relative = |path: &Value| -> Result<String> {
        let path = Path::new(path.as_str().context("a path")?);
        Ok(path.strip_prefix(root)?.to_str().context("a path in UTF-8")?.to_owned())
    };
    let member = |name: &str| {
        let package = packages[name];
        let is_library = |target: &&Value| target["kind"][0] == "lib";
        let target = package["targets"].as_array().into_iter().flatten().find(is_library).context("no library")?;
        Ok(Member {
            package: name.to_owned(),
            manifest: relative(&package["manifest_path"])?,
            root: relative(&target["src_path"])?,
        })
    };
    found.into_iter().map(member).collect()
}

/// Collects a file and the files of its modules, except those for tests.
fn walk(root: &Path, file: &Path, owns_folder: bool, files: &mut Vec<(String, String, Vec<Item>)>) -> Result<()> {
    let source = fs::read_to_string(root.join(file)).with_context(|| file.display().to_string())?;
    let syntax = syn::parse_file(&source).with_context(|| file.display().to_string())?;
    let folder = file.parent().context("no folder")?;
    let folder = if owns_folder || file.file_name().is_some_and(|name| name == "mod.rs") {
        folder.to_owned()
    } else {
        folder.join(file.file_stem().context("no name")?)
    };
    let modules: Vec<PathBuf> = syntax
        .items
        .iter()
        .filter_map(|item| match item {
            Item::Mod(module) if module.content.is_none() && !points::is_for_tests(&module.attrs) => {
                let name = module.ident.to_string();
                let flat = folder.join(format!("{name}.rs"));
                Some(if root.join(&flat).exists() { flat } else { folder.join(name).join("mod.rs") })
            }
            _ => None,
        })
        .collect();
    files.push((file.to_str().context("a path in UTF-8")?.to_owned(), source, syntax.items));
    modules.iter().try_for_each(|module| walk(root, module, false, files))
}

/// The folder that the copy is in.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// Copies what git knows of the workspace or would take, and writes the runtime beside it.
    pub(crate) fn copy(from: &Path, root: PathBuf, points: &Points) -> Result<Self> {
        let tree = Self { root };
        let mut list = Command::new("git");
        list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(from);
        let listed = output(&mut list)?;
        let names: BTreeSet<&str> = listed.split_terminator('\0').filter(|name| is_kept(&from.join(name))).collect();

        let before = tree.root.join("files");
        for gone in fs::read_to_string(&before).unwrap_or_default().lines().filter(|name| !names.contains(name)) {
            let _ = fs::remove_file(tree.path(gone));
        }
        let mutated: BTreeSet<&str> = points.files.iter().map(|file| file.path.as_str()).collect();
        for name in names.iter().filter(|name| !mutated.contains(*name)) {
            if let Ok(target) = fs::read_link(from.join(name)) {
                link(&tree.path(name), &target)?;
                continue;
            }
            let mut content = fs::read(from.join(name))?;
            if points.members.iter().any(|member| member.manifest == *name) {
                let runtime = tree.root.join("runtime");
                let dependency = format!("\n[dependencies.amdgpu-mutants-runtime]\npath = \"{}\"\n", runtime.display());
                content.extend_from_slice(dependency.as_bytes());
            }
            write(&tree.path(name), &content)?;
        }
        let manifest = "[package]\nname = \"amdgpu-mutants-runtime\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
                        [lib]\npath = \"lib.rs\"\n\n[dependencies]\nlibc = \"0.2\"\n\n[workspace]\n";
        write(&tree.root.join("runtime/Cargo.toml"), manifest.as_bytes())?;
        write(&tree.root.join("runtime/lib.rs"), include_bytes!("runtime/lib.rs"))?;
        fs::write(before, names.into_iter().collect::<Vec<_>>().join("\n"))?;
        Ok(tree)
    }

    /// Returns the path of a workspace file in the copy.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join("workspace").join(name)
    }

    /// Writes a file of the workspace, if it says something else now.
    pub(crate) fn write(&self, name: &str, content: &str) -> Result<()> {
        write(&self.path(name), content.as_bytes())
    }

    /// Starts a cargo command in the copy.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut cargo = Command::new("cargo");
        cargo
            .args(arguments)
            // Most of what is compiled is the many test programs of this package, and most of what runs is in others.
            .args(["--config", "profile.dev.package.amdgpu-winsys.opt-level=0"])
            .current_dir(self.root.join("workspace"))
            .env("CARGO_TARGET_DIR", self.root.join("build"))
            // A mutant may well trip a lint, and the runtime needs one unstable function.
            .env("RUSTFLAGS", "--cap-lints=allow")
            .env("RUSTC_BOOTSTRAP", "amdgpu_mutants_runtime")
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "1");
        cargo
    }
}

/// Returns `true` if a name that git lists is a file or a link. Links are copied as they are: the folder of the captures is one,
/// and tests that do not find it fail with every mutant and without any.
fn is_kept(path: &Path) -> bool {
    path.is_file() || path.is_symlink()
}

/// Makes a link, in place of what has its path.
fn link(path: &Path, target: &Path) -> Result<()> {
    if fs::read_link(path).is_ok_and(|before| before == target) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let _ = fs::remove_file(path);
    symlink(target, path).with_context(|| path.display().to_string())
}

/// Writes a file only if that changes it, so that cargo builds no more than it must.
fn write(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|before| before == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, content).with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_folder_leads_to_the_same_files_in_the_copy() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("captures");
        fs::create_dir(&target).expect("a folder for captures");
        fs::write(target.join("navi21.json"), "{}").expect("a capture");
        let original = folder.path().join("devices");
        symlink("captures", &original).expect("a link");
        assert!(is_kept(&original), "git lists a link to a folder as one name");

        let copy = folder.path().join("copy/devices");
        fs::create_dir_all(folder.path().join("copy/captures")).expect("the folder in the copy");
        fs::write(folder.path().join("copy/captures/navi21.json"), "{}").expect("the capture in the copy");
        for _ in 0..2 {
            link(&copy, &fs::read_link(&original).expect("a link")).expect("the link is made, and kept");
            assert_eq!(fs::read_to_string(copy.join("navi21.json")).expect("the capture"), "{}");
        }
    }
}
