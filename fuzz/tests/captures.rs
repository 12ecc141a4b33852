//! Captures of GPUs, as their users write them.

use amdgpu_fuzz::reach::Reach;
use amdgpu_sim::{CaptureError, Profile, SimDevice, SimOptions, profiles};
use amdgpu_winsys::winsys::GpuInfo;

static ANY: Reach = Reach::new("captures::any_damage_to_a_capture_is_refused_or_makes_a_gpu_that_opens");

/// A place in the text, the bytes that go, and those that come.
type Damage = (u16, u8, Vec<u8>);

#[test]
fn any_damage_to_a_capture_is_refused_or_makes_a_gpu_that_opens() {
    let captures: Vec<String> = profiles().iter().map(Profile::to_capture).collect();
    bolero::check!().with_type::<(u8, Vec<Damage>)>().with_iterations(2_000).for_each(|(chip, damages)| {
        let mut text = captures[usize::from(*chip) % captures.len()].clone().into_bytes();
        for (place, gone, new) in damages {
            let start = usize::from(*place) % (text.len() + 1);
            let end = text.len().min(start + usize::from(gone % 8));
            text.splice(start..end, new.iter().copied().take(8));
        }
        let profile = Profile::from_capture(&text);
        ANY.count(!matches!(profile, Err(CaptureError::Syntax { .. })));
        match profile {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(profile) => {
                let kernel = SimDevice::new(&profile, SimOptions::default()).open();
                GpuInfo::query(&kernel).unwrap_or_else(|error| panic!("{error}: {}", profile.to_capture()));
            }
        }
    });
    ANY.report();
}
