//! R8 and R9: who the driver is and what it can do.

use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{GetCap, Version, cap};

use crate::support::{address_mut, file};

// Checks R8.
#[test]
fn version_tells_lengths_first_and_then_fills_exactly_that_much() {
    let file = file();
    let mut version = Version::ZEROED;
    file.send(&mut version).unwrap();
    assert_eq!((version.version_major, version.version_minor, version.version_patchlevel), (3, 61, 0));
    assert_eq!((version.name_len, version.date_len, version.desc_len), (6, 1, 7));
    let (mut name, mut date, mut desc) = ([b'#'; 8], [b'#'; 8], [b'#'; 8]);
    version.name = address_mut(&mut name);
    version.date = address_mut(&mut date);
    version.desc = address_mut(&mut desc);
    file.send(&mut version).unwrap();
    assert_eq!((&name, &date, &desc), (b"amdgpu##", b"0#######", b"AMD GPU#"));
}

// Checks R8.
#[test]
fn a_short_buffer_gets_what_fits_and_the_real_length() {
    let mut name = [b'#'; 8];
    let mut version = Version { name_len: 3, name: address_mut(&mut name), ..Version::ZEROED };
    file().send(&mut version).unwrap();
    assert_eq!((&name, version.name_len), (b"amd#####", 6));
}

// Checks R9.
#[test]
fn capabilities_are_those_of_amdgpu() {
    let file = file();
    let ask = |capability| {
        let mut query = GetCap { capability, value: u64::MAX };
        file.send(&mut query).map(|()| query.value)
    };
    assert_eq!(ask(cap::PRIME), Ok(3));
    assert_eq!(ask(cap::SYNCOBJ), Ok(1));
    assert_eq!(ask(cap::SYNCOBJ_TIMELINE), Ok(1));
    assert_eq!(ask(cap::TIMESTAMP_MONOTONIC), Ok(1));
    assert_eq!(ask(cap::ADDFB2_MODIFIERS), Ok(1));
    for unknown in [0, 0xa, 0xf, 0x16, u64::MAX] {
        assert_eq!(ask(unknown), Err(Errno::EINVAL), "{unknown:#x}");
    }
}
