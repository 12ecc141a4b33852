//! Test data: plain or gzip-compressed, from the repository or a folder that the environment names.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// Returns the folder of shaders.
pub(crate) fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/shaders");
    std::env::var_os("AMDGPU_ISA_SHADERS").map_or(own, PathBuf::from)
}

/// Returns the text of a file, or of the same name with `.gz`; `None` if neither exists.
pub(crate) fn text(path: &Path) -> Option<String> {
    if let Ok(text) = fs::read_to_string(path) {
        return Some(text);
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(name).ok()?).read_to_string(&mut text).unwrap();
    Some(text)
}

/// Returns every job: the lines of `jobs.jsonl`, or the files `NAME.json`.
pub(crate) fn jobs(folder: &Path) -> Vec<Value> {
    if let Some(text) = text(&folder.join("jobs.jsonl")) {
        return text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    }
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.iter().map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()).collect()
}

/// Returns the bytes of a string of hexadecimal digits.
pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}
