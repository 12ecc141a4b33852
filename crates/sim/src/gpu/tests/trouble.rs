//! Page faults, streams that make no sense, and what is said about them.

use amdgpu_packets::pm4::{
    Compare, CopyData, CopySize, CopySource, CopyTo, CpDma, EndOfPipe, Target, WaitRegMem, WriteData,
};

use super::*;

fn write_fault(at: u64) -> PageFault {
    PageFault { va: va(at), access: Access::Write }
}

fn read_fault(at: u64) -> PageFault {
    PageFault { va: va(at), access: Access::Read }
}

#[test]
fn a_write_to_nowhere_is_lost_told_and_survived() {
    for target in Target::all() {
        let rig = Rig::new();
        Stream::new(target)
            .add(WriteData::new(va(HOLE), &[1]))
            .add(EndOfPipe::fence(va(READ_ONLY), 1))
            .add(WriteData::new(va(DATA), &[2]))
            .run(&rig)
            .unwrap();
        assert_eq!(rig.faults(), [write_fault(HOLE), write_fault(READ_ONLY)]);
        assert_eq!((rig.u32(READ_ONLY), rig.u32(DATA)), (0, 2));
        assert_eq!(rig.faults.borrow()[0].1.packet, "WRITE_DATA");
    }
}

#[test]
fn a_read_from_nowhere_is_zero() {
    for target in Target::all() {
        let rig = Rig::new();
        rig.put(DATA, &[u32::MAX; 2]);
        let copy = CopyData::new(CopySource::Memory(va(HOLE)), CopyTo::Memory(va(DATA)), CopySize::Qword);
        Stream::new(target).add(copy).run(&rig).unwrap();
        assert_eq!((rig.u64(DATA), rig.faults()), (0, vec![read_fault(HOLE)]));
    }
}

#[test]
fn a_write_over_the_edge_of_a_mapping_loses_only_what_is_behind_it() {
    for target in Target::all() {
        let rig = Rig::new();
        Stream::new(target).add(WriteData::new(va(HOLE - 4), &[1, 2])).run(&rig).unwrap();
        assert_eq!((rig.u32(HOLE - 4), rig.faults()), (1, vec![write_fault(HOLE)]));
    }
}

#[test]
fn a_copy_across_a_hole_moves_the_rest_and_zeros_what_it_could_not_read() {
    for version in dma::Version::ALL {
        let rig = Rig::new();
        rig.memory.fill(va(BASE + 0x1000), 0x5555_5555, 0x3000).unwrap();
        rig.put(HOLE - 4, &[7]);
        rig.put(HOLE + PAGE, &[8]);
        let copy = dma::CopyLinear::new(va(BASE + 0x1010), va(HOLE - 4), PAGE as u32 + 8);
        Stream::new(version).add(copy).run(&rig).unwrap();
        assert_eq!((rig.u32(BASE + 0x1010), rig.u32(BASE + 0x1014)), (7, 0));
        assert_eq!((rig.u32(BASE + 0x2010), rig.u32(BASE + 0x2014), rig.u32(BASE + 0x2018)), (0, 8, 0x5555_5555));
        assert_eq!(rig.faults(), [read_fault(HOLE)], "{version}: told once");
    }
}

#[test]
fn a_fill_across_a_hole_keeps_its_pattern_in_step() {
    for target in Target::all() {
        let rig = Rig::new();
        let fill = CpDma::fill(target.level, va(HOLE - 3), 0x0403_0201, PAGE as u32 + 6);
        Stream::new(target).add(fill).run(&rig).unwrap();
        assert_eq!((rig.u32(HOLE - 4), rig.u32(HOLE + PAGE)), (0x0302_0100, 0x0002_0104));
        assert_eq!(rig.faults(), [write_fault(HOLE)]);
    }
}

#[test]
fn data_at_the_very_end_of_the_address_space_faults_and_no_more() {
    let rig = Rig::new();
    let version = dma::Version::V5_2;
    Stream::new(version)
        .add(dma::ConstFill::new(va(0x7fff_ffff_fffc), 1, 64))
        .add(dma::CopyLinear::new(va(DATA), va(u64::MAX), 64))
        .add(dma::WriteLinear { to: va(0xffff_ffff_ffff_fffc), data: &[1, 2] })
        .run(&rig)
        .unwrap();
    assert_eq!(rig.faults().len(), 3);
}

#[test]
fn a_wait_on_nothing_waits_for_zero_to_change_and_is_told_once() {
    let rig = Rig::new();
    rig.patience.set(5);
    let wait = WaitRegMem::new(va(HOLE), Compare::NotEqual, 0);
    let stop = Stream::new(Target::gfx(GfxLevel::Gfx9)).add(wait).run(&rig).unwrap_err();
    assert!(matches!(stop, Stop::GaveUp { last: 0, .. }), "{stop}");
    assert_eq!(rig.faults(), [read_fault(HOLE)]);
}

#[test]
fn an_ib_that_is_not_mapped_stops_the_engine_where_the_mapping_ends() {
    let fetch = |at| PageFault { va: va(at), access: Access::Fetch };
    let gfx = super::Target::Pm4(Target::gfx(GfxLevel::Gfx9));
    for target in [gfx, super::Target::Sdma(dma::Version::V4_0)] {
        let rig = Rig::new();
        let stop = rig.run_at(&mut Engine::new(target), HOLE, 8).unwrap_err();
        assert!(matches!(stop, Stop::Fetch { fault, .. } if fault == fetch(HOLE)), "{stop}");
    }

    // The last dword before the hole is the header of a packet that lies in it.
    let rig = Rig::new();
    let target = Target::gfx(GfxLevel::Gfx9);
    let stream = Stream::new(target).add(WriteData::new(va(DATA), &[1])).1;
    rig.put(HOLE - 24, &stream);
    rig.put(HOLE - 4, &[0xc000_4600]);
    let stop = rig.run_at(&mut Engine::new(target.into()), HOLE - 24, 64).unwrap_err();
    let Stop::Fetch { place, fault } = stop else { panic!("{stop}") };
    assert_eq!((place.offset, fault, rig.u32(DATA)), (5, fetch(HOLE), 1));
    assert!(rig.faults().is_empty(), "a fetch is not a data fault");
}

#[test]
fn an_ib_at_the_end_of_the_address_space_is_not_fetched_beyond() {
    let rig = Rig::new();
    let target = Target::gfx(GfxLevel::Gfx9).into();
    let stop = rig.run_at(&mut Engine::new(target), 0x7fff_ffff_fff0, 64).unwrap_err();
    assert!(matches!(stop, Stop::Fetch { .. }), "{stop}");
}

#[test]
fn an_unknown_packet_is_named_with_its_place() {
    let rig = Rig::new();
    let target = Target::compute(GfxLevel::Gfx10);
    let stop = rig.run(&mut Engine::new(target.into()), &[0xffff_1000, 0xc000_4200, 0]).unwrap_err();
    assert_eq!(
        stop.to_string(),
        "PFP_SYNC_ME at dword 1 of the level-1 IB at 0x100000 (3 dwords), the GFX10 compute ring: \
         unknown packet with opcode 0x42"
    );

    let stop = rig.run(&mut Engine::new(dma::Version::V4_0.into()), &[0, 0x0000_0206]).unwrap_err();
    assert!(matches!(stop, Stop::Unknown { opcode: 0x0206, .. }), "{stop}");
}

#[test]
fn a_packet_past_the_end_of_its_ib_stops_the_engine() {
    let rig = Rig::new();
    for target in Target::all() {
        let stop = rig.run(&mut Engine::new(target.into()), &[0xc004_3700, 0x0010_0500]).unwrap_err();
        let Stop::Malformed { source, .. } = stop else { panic!("{stop}") };
        assert!(source.to_string().contains("takes 6 dwords"), "{source}");
    }
}

#[test]
fn what_has_no_place_in_a_user_stream_stops_the_engine() {
    let on = |target: Target, ib: &[u32]| Rig::new().run(&mut Engine::new(target.into()), ib).unwrap_err();
    let gfx9 = Target::gfx(GfxLevel::Gfx9);
    let malformed = |stop| assert!(matches!(stop, Stop::Malformed { .. }), "{stop}");
    // A VMID in a user IB, a reserved bit, a misaligned qword, a register write of type 0.
    malformed(on(gfx9, &[0xc002_3f00, 0x0010_0000, 0, 0x0300_0008]));
    malformed(on(gfx9, &[0xc000_4600, 0x0000_0417]));
    malformed(on(gfx9, &[0xc004_4000, 0x0011_0509, 0, 0, 0x0010_4004, 0]));
    malformed(on(gfx9, &[0x0000_c040, 1]));
    // A configuration register after GFX6, and a user one on GFX6.
    let write = |byte: u32| [0xc003_3700, 0, byte / 4, 0, 1];
    for (target, byte) in [(gfx9, 0x8500), (Target::gfx(GfxLevel::Gfx6), 0x30100), (gfx9, 0x29000)] {
        let stop = on(target, &write(byte));
        assert!(matches!(stop, Stop::Refused { what: "writes a register outside the apertures", .. }), "{stop}");
    }
}
