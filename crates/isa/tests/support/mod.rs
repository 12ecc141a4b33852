//! Reading of test data: plain or gzip-compressed, from the repository or from a folder that the environment names.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use amdgpu_hw::GfxLevel;

/// Returns the folder that `variable` names, or the repository's own.
pub(crate) fn folder(variable: &str, own: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join(own), PathBuf::from)
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

/// Returns the generation with a name such as `gfx10_3`.
pub(crate) fn level(name: &str) -> GfxLevel {
    GfxLevel::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name)).unwrap()
}
