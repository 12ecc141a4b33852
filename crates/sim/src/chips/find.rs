//! Selection of a chip by a name or the file of a capture.

use std::{fs::File, io::Read as _, path::Path, sync::Arc};

use super::{
    capture::MOST_BYTES,
    changes::{Changes, key_of},
    error::ChipError,
    known::{profile, profiles},
    profile::Profile,
    variants::{Variant, names, variant},
};

/// Returns the chip that an argument of a command line selects: a known name of a chip, card or machine, or the path of a capture. A
/// path contains a slash or ends in `.json`. [`Changes`] may follow after a colon, as in `navi31:bar=256M:vram=20G`.
///
/// # Errors
///
/// [`ChipError`] if there is no such chip, the capture cannot be read or is not valid, or the chip cannot have the changes.
pub fn chip(word: &str) -> Result<Arc<Profile>, ChipError> {
    let (word, changes) = split(word);
    let found = named(word)?;
    if changes.is_empty() {
        return Ok(found);
    }
    let changed = changes.parse().and_then(|changes: Changes| found.changed(&changes));
    changed.map(Arc::new).map_err(|source| ChipError::Changes { name: word.to_owned(), source })
}

/// Returns the names of all chips and machines that come with the simulator, as text for error messages.
fn known_names() -> String {
    let chips = profiles().iter().map(|profile| profile.name.as_str());
    chips.chain(names()).collect::<Vec<_>>().join(", ")
}

/// The variable that [`chosen_profiles`] reads.
const CHOSEN: &str = "AMDGPU_CHIPS";

/// Returns the chips for tests of each chip: those that the variable `AMDGPU_CHIPS` names, with commas or spaces between, or all
/// that come with the simulator, sorted by name. The word `all` stands for no choice. CI sets it to a part of them, so that its time does not grow with their number.
///
/// # Errors
///
/// [`ChipError::NoSuchChip`] if a name is not that of a chip that comes with the simulator.
pub fn chosen_profiles() -> Result<Vec<&'static Profile>, ChipError> {
    let names = std::env::var(CHOSEN).unwrap_or_default();
    let words: Vec<&str> = names.split([',', ' ']).filter(|word| !word.is_empty() && *word != "all").collect();
    let unknown = words.iter().find(|word| profile(word).is_none());
    if let Some(name) = unknown {
        return Err(ChipError::NoSuchChip { name: (*name).to_owned(), known: known_names() });
    }
    Ok(profiles().iter().filter(|profile| words.is_empty() || words.contains(&profile.name.as_str())).collect())
}

/// Splits a word before its changes: before the first colon that a known key with an equals sign follows.
fn split(word: &str) -> (&str, &str) {
    let starts_change = |&(at, _): &(usize, &str)| word.get(at + 1..).is_some_and(|rest| key_of(rest).is_some());
    match word.match_indices(':').find(starts_change) {
        Some((at, _)) => word.split_at(at),
        None => (word, ""),
    }
}

fn named(word: &str) -> Result<Arc<Profile>, ChipError> {
    if let Some(known) = profile(word).or_else(|| variant(word).map(Variant::profile)) {
        return Ok(Arc::new(known.clone()));
    }
    let path = Path::new(word);
    let is_path = word.contains('/') || path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json"));
    if !is_path {
        let word = word.to_owned();
        return Err(match amdgpu_hw::LaterChip::named(&word) {
            Some(later) => ChipError::LaterChip { later },
            None => ChipError::NoSuchChip { name: word, known: known_names() },
        });
    }
    let failed = |source| ChipError::Read { path: path.to_owned(), source };
    let mut text = Vec::new();
    // One byte more than the limit is enough to detect that the capture is too long.
    File::open(path).map_err(failed)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut text).map_err(failed)?;
    Profile::from_capture(&text).map(Arc::new).map_err(|source| ChipError::Capture { path: path.to_owned(), source })
}
