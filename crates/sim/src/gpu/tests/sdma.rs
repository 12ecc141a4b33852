//! The effect of each copy-engine packet, in every version.

use amdgpu_packets::pm4::Compare;
use amdgpu_packets::sdma::{ConstFill, CopyLinear, Fence, FillSize, Nop, PollMem, Timestamp, Version, WriteLinear};

use super::*;

fn everywhere() -> impl Iterator<Item = Stream<Version>> {
    Version::ALL.into_iter().map(Stream::new)
}

#[test]
fn bytes_are_copied_at_any_alignment() {
    for stream in everywhere() {
        let rig = Rig::new();
        rig.put(DATA, &[0x0403_0201, 0x0807_0605]);
        stream.add(CopyLinear::new(va(DATA + 0x101), va(DATA + 1), 6)).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA + 0x100), 0x0007_0605_0403_0200);
    }
}

#[test]
fn the_first_version_copies_dwords_too() {
    let rig = Rig::new();
    rig.put(DATA, &[1, 2, 3]);
    let copy = CopyLinear { in_dwords: true, ..CopyLinear::new(va(DATA + 0x100), va(DATA), 8) };
    Stream::new(Version::V1_0).add(copy).run(&rig).unwrap();
    assert_eq!((rig.u64(DATA + 0x100), rig.u32(DATA + 0x108)), (2 << 32 | 1, 0));
}

#[test]
fn an_overlap_is_refused() {
    for stream in everywhere() {
        let stop = stream.add(CopyLinear::new(va(DATA), va(DATA + 4), 8)).run(&Rig::new()).unwrap_err();
        assert!(matches!(stop, Stop::Refused { what: "source and destination overlap", .. }), "{stop}");
    }
}

#[test]
fn dwords_are_written_filled_and_fenced() {
    for stream in everywhere() {
        let rig = Rig::new();
        let version = stream.0;
        stream
            .add(WriteLinear { to: va(DATA), data: &[1, 2] })
            .add(ConstFill::new(va(DATA + 8), 0xdead_beef, 8))
            .add(Nop::default())
            .add(Fence::new(version, va(DATA + 16), 9))
            .run(&rig)
            .unwrap();
        let expected = [2 << 32 | 1, 0xdead_beef_dead_beef, 9];
        assert_eq!([0, 8, 16].map(|at| rig.u64(DATA + at)), expected, "{version}");
    }
}

#[test]
fn a_fill_of_bytes_takes_any_length_from_2_0_on() {
    for version in Version::ALL.into_iter().skip(1) {
        let rig = Rig::new();
        let fill = ConstFill { to: va(DATA + 1), pattern: 0x7777_7777, bytes: 5, size: FillSize::Byte };
        Stream::new(version).add(fill).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA), 0x0000_7777_7777_7700);
    }
}

/// A fill of 1 GiB, as `amd_basic` of IGT has it on every chip.
#[test]
fn a_fill_takes_30_bits_from_5_2_on_and_before_by_choice() {
    for version in Version::ALL.into_iter().filter(|version| *version >= Version::V4_0) {
        let [low, high] = super::raw::halves(DATA);
        let fill = [2 << 30 | 0x0b, low, high, 0x1234_5678, (1 << 30) - 1];
        for wide in [false, true] {
            let rig = Rig::new();
            let result = rig.run(&mut Engine::new(Target::Sdma(version)).with_wide_fills(wide), &fill);
            match result {
                // All that lies beyond memory is a page fault.
                Ok(()) => assert!(wide || version >= Version::V5_2, "{version}"),
                Err(stop) => {
                    assert!(!wide && version < Version::V5_2, "{version}: {stop}");
                    assert!(stop.to_string().contains("CONST_FILL: bits 0x3fc00000 of dword 4"), "{stop}");
                }
            }
            assert_eq!(rig.faults().is_empty(), !wide && version < Version::V5_2, "{version}");
        }
    }
}

#[test]
fn a_burst_of_nops_skips_what_looks_like_packets() {
    for version in Version::ALL.into_iter().skip(1) {
        let rig = Rig::new();
        let skipped = [2, DATA as u32, 0, 0, 0xff];
        Stream::new(version).add(Nop { skipped: &skipped }).run(&rig).unwrap();
        assert_eq!(rig.u32(DATA), 0);
    }
}

#[test]
fn a_timestamp_is_the_clock() {
    for version in Version::ALL.into_iter().skip(1) {
        let rig = Rig::new();
        Stream::new(version).add(Timestamp { va: va(DATA) }).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA), 0x1_0000_0001);
    }
}

#[test]
fn a_poll_with_retries_goes_on_when_they_are_used_up() {
    for stream in everywhere() {
        let rig = Rig::new();
        rig.patience.set(100);
        let poll = PollMem { retries: 4, ..PollMem::new(va(DATA), Compare::Equal, 9) };
        stream.add(poll).add(WriteLinear { to: va(DATA), data: &[1] }).run(&rig).unwrap();
        assert_eq!((rig.waited.get(), rig.u32(DATA)), (4, 1));
    }
}

#[test]
fn a_poll_without_end_gives_up_with_the_job() {
    for stream in everywhere() {
        let rig = Rig::new();
        let stop = stream.add(PollMem::new(va(DATA), Compare::NotEqual, 0)).run(&rig).unwrap_err();
        assert!(matches!(stop, Stop::GaveUp { reference: 0, last: 0, .. }), "{stop}");
    }
}
