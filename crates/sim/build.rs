//! Lists the captures in `data/devices`, so that a chip that comes with the simulator is one file and nothing else.

use std::{env, error::Error, fmt::Write as _, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("data/devices");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "json") {
            files.push(path);
        }
    }
    files.sort();
    let mut list = String::from("[\n");
    for path in &files {
        let name = path.file_stem().and_then(|name| name.to_str()).ok_or("the name of a capture is not UTF-8")?;
        let path = path.to_str().ok_or("the path of a capture is not UTF-8")?;
        writeln!(list, "    ({name:?}, include_str!({path:?})),")?;
    }
    list += "]\n";
    Ok(fs::write(PathBuf::from(env::var("OUT_DIR")?).join("captures.rs"), list)?)
}
