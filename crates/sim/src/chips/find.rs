//! Selection of a chip by a name or the file of a capture.

use std::{fs::File, io::Read as _, path::Path, sync::Arc};

use super::{
    capture::MOST_BYTES,
    error::ChipError,
    known::{names, profile},
    profile::Profile,
};

/// Returns the chip that an argument of a command line selects: a known name, or the path of a capture. A path contains a slash or
/// ends in `.json`.
///
/// # Errors
///
/// [`ChipError`] if there is no such chip, or the capture cannot be read or is not valid.
pub fn chip(word: &str) -> Result<Arc<Profile>, ChipError> {
    if let Some(known) = profile(word) {
        return Ok(Arc::new(known.clone()));
    }
    let path = Path::new(word);
    let is_path = word.contains('/') || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    if !is_path {
        return Err(ChipError::NoSuchChip { name: word.to_owned(), known: names() });
    }
    let failed = |source| ChipError::Read { path: path.to_owned(), source };
    let mut text = Vec::new();
    // One byte more than the limit is enough to detect that the capture is too long.
    File::open(path).map_err(failed)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut text).map_err(failed)?;
    Profile::from_capture(&text).map(Arc::new).map_err(|source| ChipError::Capture { path: path.to_owned(), source })
}
