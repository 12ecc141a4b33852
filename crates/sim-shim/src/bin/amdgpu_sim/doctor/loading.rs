//! Libraries that the processes of a program looked for and loaded, as the dynamic linker tells them.
//!
//! Source: glibc `elf/dl-load.c`, whose `LD_DEBUG=files` writes `file=NAME [0];  needed by ...` or `dynamically loaded by ...` for a
//! library that is looked for, and `generating link map` when it was found.

use std::{collections::BTreeSet, fs, io, path::Path};

/// Value of LD_DEBUG.
pub(super) const DEBUG: &str = "files";

/// Libraries by their file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Libraries {
    /// Those that were loaded.
    pub(super) loaded: BTreeSet<String>,
    /// Those that were looked for and are nowhere.
    pub(super) missing: BTreeSet<String>,
}

/// Reads what the processes wrote into a directory: a file each, which `execve` goes on with.
pub(super) fn processes(directory: &Path) -> io::Result<Vec<Libraries>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory)? {
        let text = fs::read(entry?.path())?;
        all.push(libraries(&String::from_utf8_lossy(&text)));
    }
    Ok(all)
}

/// Reads what one process wrote.
fn libraries(text: &str) -> Libraries {
    let mut found = Libraries::default();
    let mut wanted = BTreeSet::new();
    for line in text.lines() {
        let Some((_, rest)) = line.split_once("file=") else { continue };
        let Some((name, what)) = rest.split_once(" [0];") else { continue };
        let name = name.rsplit('/').next().unwrap_or(name).to_owned();
        if what.contains("generating link map") {
            found.loaded.insert(name);
        } else if what.contains("needed by") || what.contains("dynamically loaded by") {
            wanted.insert(name);
        }
    }
    found.missing = wanted.difference(&found.loaded).cloned().collect();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_without_a_link_map_is_missing() {
        let text = "\
      7:\tfile=libc.so.6 [0];  needed by /bin/true [0]
      7:\tfile=libc.so.6 [0];  generating link map
      7:\tfile=/opt/shim.so [0];  needed by /bin/true [0]
      7:\tfile=/opt/shim.so [0];  generating link map
      7:\tfile=libdrm.so.2 [0];  dynamically loaded by /lib/x.so [0]
      7:\tcalling init: /lib/libc.so.6
";
        let found = libraries(text);
        assert_eq!(found.loaded.into_iter().collect::<Vec<_>>(), ["libc.so.6", "shim.so"]);
        assert_eq!(found.missing.into_iter().collect::<Vec<_>>(), ["libdrm.so.2"]);
    }
}
