//! Exports and needs of the shared library.

mod support;

use std::{collections::BTreeSet, path::Path, process::Command};

use support::{ours, output, theirs};

/// The functions that `nm` lists as defined; a symbol with a version or of another kind is an error.
fn functions(library: &Path) -> BTreeSet<String> {
    let text = output(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    text.lines()
        .filter_map(|line| {
            let [_, kind, name] = line.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{line}") };
            // libdrm's own library lists a version of itself as an absolute symbol where it has one.
            (kind != "A").then(|| {
                assert_eq!(kind, "T", "{line}");
                name.split('@').next().unwrap_or(name).to_owned()
            })
        })
        .collect()
}

fn expected() -> BTreeSet<String> {
    include_str!("../exports").lines().map(str::to_owned).collect()
}

#[test]
fn exactly_the_92_functions_of_libdrm_are_exported_without_versions() {
    let functions = functions(&ours());
    assert_eq!(functions.len(), 92);
    assert_eq!(functions, expected());
    let text = output(Command::new("nm").args(["-D", "--defined-only"]).arg(ours()));
    assert!(!text.contains('@'), "{text}");
}

/// A newer libdrm than this library knows fails here by name.
#[test]
fn the_installed_libdrm_exports_nothing_that_this_library_lacks() {
    let Some(theirs) = theirs() else { return };
    let missing: Vec<_> = functions(&theirs).difference(&expected()).cloned().collect();
    assert!(missing.is_empty(), "{} exports what this library has not: {missing:?}", theirs.display());
}

#[test]
fn the_soname_is_that_of_libdrm_and_nothing_but_the_c_library_is_needed() {
    let text = output(Command::new("readelf").arg("-d").arg(ours()));
    let entries = |kind: &str| {
        let entries = text.lines().filter(|line| line.contains(kind));
        entries.filter_map(|line| line.split(['[', ']']).nth(1)).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(entries("(SONAME)"), ["libdrm_amdgpu.so.1"]);
    for needed in entries("(NEEDED)") {
        let known = ["libc.so", "libgcc_s.so", "ld-linux"];
        assert!(known.iter().any(|name| needed.starts_with(name)), "{needed}");
    }
}
