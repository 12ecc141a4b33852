//! Recordings from somebody else, which may be damaged.

use std::{
    io::Cursor,
    sync::{Arc, OnceLock},
    time::Duration,
};

use amdgpu_replay::{Recording, Replay, Submissions};
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain},
    winsys::{Bo, BoRequest, Device, Kernel, Mapping},
};

/// What a short run makes of a kernel.
fn run(kernel: impl Kernel + 'static) -> Result<(), amdgpu_winsys::winsys::Error> {
    let device = Device::new(kernel)?;
    let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
    let bo = Arc::new(Bo::create(&device, request)?);
    let mapping = Mapping::new(&bo)?;
    mapping.write(0, &[1, 2, 3])
}

/// A recording of that run.
fn recorded() -> &'static [u8] {
    static RECORDED: OnceLock<Vec<u8>> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("amdgpu-fuzz-{}.recording", std::process::id()));
        let gpu = SimDevice::new(profile("navi21").unwrap(), SimOptions::default());
        let recording = Recording::create(&path).unwrap();
        run(recording.wrap(gpu.open())).unwrap();
        recording.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        bytes
    })
}

/// Plays it, as far as it goes.
fn play(bytes: Vec<u8>) -> bool {
    if let Ok(mut submissions) = Submissions::new(Cursor::new(&bytes)) {
        while submissions.next().is_some() {}
    }
    let Ok(replay) = Replay::new(Cursor::new(bytes)) else { return false };
    let replay = replay.with_patience(Duration::from_millis(1));
    let Ok(file) = replay.open_file() else { return false };
    let played = run(file).is_ok();
    if let Some(error) = replay.error() {
        assert!(!error.to_string().is_empty());
    }
    played
}

#[test]
fn any_damage_to_a_recording_is_survived() {
    assert!(play(recorded().to_vec()), "undamaged it plays");
    bolero::check!().with_type::<(u16, Vec<(u16, u8)>)>().with_iterations(400).for_each(|(cut, changes)| {
        let mut bytes = recorded().to_vec();
        for &(at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        if cut % 4 == 0 {
            bytes.truncate(usize::from(*cut) % bytes.len());
        }
        play(bytes);
    });
}

#[test]
fn any_bytes_are_no_recording_or_one_that_ends() {
    bolero::check!().with_iterations(2_000).for_each(|input: &[u8]| {
        play(input.to_vec());
    });
}
