//! The captures that are part of the simulator.

use std::sync::LazyLock;

use super::profile::Profile;

/// The files in `data/devices`, sorted by name. The build script lists them.
const CAPTURES: &[&str] = &include!(concat!(env!("OUT_DIR"), "/captures.rs"));

/// The parsed captures. A test checks that each of them is valid.
static PROFILES: LazyLock<Vec<Profile>> =
    LazyLock::new(|| CAPTURES.iter().filter_map(|capture| Profile::from_capture(capture).ok()).collect());

/// Returns the chips that are part of the simulator, sorted by name.
pub fn profiles() -> &'static [Profile] {
    &PROFILES
}

/// Returns the chip with a name among those that are part of the simulator.
pub fn profile(name: &str) -> Option<&'static Profile> {
    profiles().iter().find(|profile| profile.name == name)
}

/// Returns the text of the capture with a name.
pub(super) fn capture(name: &str) -> Option<&'static str> {
    let index = profiles().iter().position(|profile| profile.name == name)?;
    CAPTURES.get(index).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capture_that_comes_with_the_simulator_is_one() {
        for (index, text) in CAPTURES.iter().enumerate() {
            let profile = Profile::from_capture(text).unwrap_or_else(|error| panic!("file {index}: {error}"));
            assert_eq!(super::profile(&profile.name), Some(&profile));
            assert_eq!(capture(&profile.name), Some(*text));
        }
        assert_eq!(profiles().len(), CAPTURES.len());
        assert!(profiles().len() >= 24, "only {}", profiles().len());
    }

    #[test]
    fn chips_are_sorted_by_name() {
        assert!(profiles().is_sorted_by(|one, other| one.name < other.name));
    }
}
