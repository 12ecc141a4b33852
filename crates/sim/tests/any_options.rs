//! Any options, any name of a chip: a device comes up or is refused with a typed error, and never panics.

use std::time::Duration;

use amdgpu_sim::{Features, LockupTimeout, SimDevice, SimOptions, profile, profiles};
use amdgpu_winsys::winsys::Device;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_device_with_any_options_opens_or_says_why_not(
        chip in prop::sample::select(profiles().iter().map(|profile| profile.name.as_str()).collect::<Vec<_>>()),
        features: u64,
        drm_minor in prop_oneof![Just(61), 0..100, any::<i32>()],
        hang in 0..=u64::MAX,
        switches: [bool; 7],
        kernel_vram in prop_oneof![Just(0), 0..1_u64 << 36, any::<u64>()],
    ) {
        let options = SimOptions {
            features: Features::from_bits_truncate(features),
            drm_minor,
            lockup_timeout: LockupTimeout::all(Duration::from_nanos(hang)),
            sdma: switches[0],
            max_ibs: switches[1],
            may_raise_priority: switches[2],
            ring_reset: switches[3],
            strict: switches[4],
            wide_fills: switches[5],
            user_queues: switches[6],
            kernel_vram,
            ..SimOptions::default()
        };
        let gpu = SimDevice::new(profile(chip).unwrap(), options);
        if let Err(error) = Device::new(gpu.open()) {
            prop_assert!(!error.to_string().is_empty());
        }
        prop_assert_eq!(gpu.census().files, 0);
    }

    #[test]
    fn any_text_is_a_chip_or_none(text in ".{0,30}") {
        prop_assert!(profile(&text).is_none_or(|profile| profile.name == text));
    }
}
