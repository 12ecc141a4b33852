//! The captures that are part of the simulator.

use std::sync::LazyLock;

use super::profile::Profile;

macro_rules! captures {
    ($($name:literal)*) => {
        [$( include_str!(concat!("../../data/devices/", $name, ".json")), )*]
    };
}

/// The captures of Mesa's collection for its no-op shim, by name.
const CAPTURES: [&str; 12] = captures! {
    "navi10" "navi21" "navi31" "pitcairn" "polaris10" "polaris12" "raphael_mendocino" "raven" "renoir" "stoney" "vangogh"
    "vega10"
};

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

/// Returns the names of all of them, as text for error messages.
pub(super) fn names() -> String {
    profiles().iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_capture_that_comes_with_the_simulator_is_one() {
        for capture in CAPTURES {
            let profile = Profile::from_capture(capture).unwrap();
            assert_eq!(super::profile(&profile.name), Some(&profile));
        }
        assert_eq!(profiles().len(), CAPTURES.len());
    }
}
