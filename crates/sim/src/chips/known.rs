//! The captures that are part of the simulator.

use std::sync::{LazyLock, OnceLock};

use super::profile::Profile;

/// The names of the files in `data/devices` and their texts, sorted by name. The build script lists them.
const CAPTURES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/captures.rs"));

/// The parsed captures, each since it was first asked for: a program that opens one chip does not read 28. A test checks that each of
/// them is valid and has the name of its file.
static PARSED: [OnceLock<Option<Profile>>; CAPTURES.len()] = [const { OnceLock::new() }; CAPTURES.len()];

/// All of them in one slice.
static PROFILES: LazyLock<Vec<Profile>> = LazyLock::new(|| (0..CAPTURES.len()).filter_map(parsed).cloned().collect());

/// Returns the chip of a capture.
fn parsed(index: usize) -> Option<&'static Profile> {
    let (_, text) = CAPTURES.get(index)?;
    PARSED.get(index)?.get_or_init(|| Profile::from_capture(text).ok()).as_ref()
}

/// Returns the position of the capture with a name.
fn position(name: &str) -> Option<usize> {
    CAPTURES.iter().position(|(of, _)| *of == name)
}

/// Returns the chips that are part of the simulator, sorted by name.
pub fn profiles() -> &'static [Profile] {
    &PROFILES
}

/// Returns the chip with a name among those that are part of the simulator.
pub fn profile(name: &str) -> Option<&'static Profile> {
    parsed(position(name)?)
}

/// Returns the text of the capture with a name.
pub(super) fn capture(name: &str) -> Option<&'static str> {
    CAPTURES.get(position(name)?).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capture_that_comes_with_the_simulator_is_one() {
        for (name, text) in CAPTURES {
            let profile = Profile::from_capture(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(profile.name, *name);
            assert_eq!(super::profile(name), Some(&profile));
            assert_eq!(capture(name), Some(*text));
        }
        assert_eq!(profiles().len(), CAPTURES.len());
        assert!(profiles().len() >= 24, "only {}", profiles().len());
    }

    #[test]
    fn chips_are_sorted_by_name() {
        assert!(profiles().is_sorted_by(|one, other| one.name < other.name));
    }
}
