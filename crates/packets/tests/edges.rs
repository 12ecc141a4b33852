//! The values on either side of each limit that a packet's fields have.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::{DecodeFault, FieldError, Packet, dump::Dumper, pm4, registers, sdma};

fn va(raw: u64) -> GpuVa {
    GpuVa::new(raw).unwrap()
}

/// Encodes a packet for a ring, whatever comes of it.
fn encodes<P: Packet<Language = pm4::Target>>(packet: P, target: pm4::Target) -> bool {
    let mut ib = [0; 64];
    let written = packet.encode(target, &mut ib);
    assert_eq!(written.is_ok(), packet.put(target, &mut ib).is_some(), "the hot path agrees");
    assert_eq!(packet.len_dwords(target).ok(), written.ok(), "the length is known before");
    written.is_ok()
}

#[test]
fn every_sdma_version_has_its_number_for_a_name() {
    let names = sdma::Version::ALL.map(sdma::Version::name);
    assert_eq!(names, ["1.0", "2.0", "2.4", "3.0", "4.0", "5.0", "5.2", "6.0", "7.0"]);
}

#[test]
fn cache_actions_of_events_are_known_from_gfx7_to_gfx9() {
    for level in GfxLevel::ALL {
        let known = match level {
            GfxLevel::Gfx7 | GfxLevel::Gfx8 => 0x0003_b000,
            GfxLevel::Gfx9 => pm4::TcActions::all().bits(),
            _ => 0,
        };
        assert_eq!(pm4::TcActions::known(level).bits(), known, "{level}");
    }
}

#[test]
fn numbers_without_a_meaning_are_refused_in_two_bit_fields() {
    let target = pm4::Target::gfx(GfxLevel::Gfx10);
    let with = |bits| pm4::AcquireMem {
        gcr: pm4::Gcr::from_bits_retain(bits),
        ..pm4::AcquireMem::all(target, pm4::CacheActions::empty())
    };
    for number in 0..4 {
        assert_eq!(encodes(with(number << 2), target), number != 1, "gl1_range {number}");
        assert_eq!(encodes(with(number << 16), target), number != 3, "gcr_seq {number}");
    }
}

#[test]
fn what_the_end_of_the_pipe_stores_is_aligned_to_its_own_size() {
    for level in GfxLevel::ALL {
        let target = pm4::Target::gfx(level);
        let at = |address| {
            let va = va(address);
            [
                pm4::EopStore::Dword { va, value: 7 },
                pm4::EopStore::Qword { va, value: 7 },
                pm4::EopStore::GpuClock { va },
            ]
            .map(|store| encodes(pm4::EndOfPipe::new(pm4::EopEvent::BottomOfPipe, store), target))
        };
        assert_eq!(at(0x1000), [true; 3], "{level}");
        assert_eq!(at(0x1004), [true, false, false], "{level}");
        assert_eq!(at(0x1002), [false; 3], "{level}");
    }
}

#[test]
fn headers_of_each_type_are_read_as_what_they_are() {
    let target = pm4::Target::gfx(GfxLevel::Gfx10);
    let first = |header: u32| pm4::decode(&[header, 0, 0], target).next().map(|item| item.map(|_| ()));
    for kind in 0..2 {
        let fault = first(kind << 30).unwrap().unwrap_err();
        assert!(matches!(fault.fault, DecodeFault::HeaderType { kind: read } if u32::from(read) == kind), "{fault:?}");
    }
    let fault = first(0x8000_0001).unwrap().unwrap_err();
    let bits = FieldError::Reserved { dword: 0, bits: 1 };
    assert!(matches!(fault.fault, DecodeFault::Field { packet: "NOP", source } if source == bits), "{fault:?}");
}

#[test]
fn a_comparison_holds_as_its_sign_says() {
    use pm4::Compare;
    for (value, reference) in [(4, 5), (5, 5), (6, 5)] {
        let holds = [
            (Compare::Always, true),
            (Compare::Less, value < reference),
            (Compare::LessOrEqual, value <= reference),
            (Compare::Equal, value == reference),
            (Compare::NotEqual, value != reference),
            (Compare::GreaterOrEqual, value >= reference),
            (Compare::Greater, value > reference),
        ];
        for (compare, expected) in holds {
            assert_eq!(compare.holds(value, reference), expected, "{compare:?} of {value} and {reference}");
        }
    }
}

#[test]
fn an_end_of_pipe_carries_the_cache_actions_of_its_generation() {
    let actions = pm4::CacheActions::INVALIDATE_L2 | pm4::CacheActions::INVALIDATE_VECTOR;
    let new = pm4::EndOfPipe::fence(va(0x1000), 1);
    for level in GfxLevel::ALL {
        let with = new.with_caches(level, actions);
        assert_eq!(with.tc, pm4::TcActions::new(level, actions), "{level}");
        let gcr = if level >= GfxLevel::Gfx10 {
            pm4::Gcr::GL2_INVALIDATE | pm4::Gcr::GLV_INVALIDATE | pm4::Gcr::FORWARD
        } else {
            pm4::Gcr::empty()
        };
        assert!(with.gcr.contains(gcr), "{level}: {:?}", with.gcr);
        assert_eq!(with.gcr.is_empty(), level < GfxLevel::Gfx10, "{level}");
        assert_eq!(with.store, new.store, "{level}");
        assert!(encodes(with, pm4::Target::gfx(level)), "{level}");
        assert_eq!(new.with_caches(level, pm4::CacheActions::empty()), new, "{level}: nothing is forwarded");
    }
}

#[test]
fn a_range_of_caches_covers_every_block_that_its_bytes_touch() {
    for (start, bytes, base, blocks) in [
        (0x1000, 256, 0x10, 1),
        (0x1000, 257, 0x10, 2),
        (0x10ff, 1, 0x10, 1),
        (0x10ff, 2, 0x10, 2),
        (0x1100, 0, 0x11, 0),
    ] {
        assert_eq!(pm4::CacheRange::of(va(start), bytes), pm4::CacheRange { base, blocks }, "{start:#x} + {bytes}");
    }
}

#[test]
fn a_header_without_a_length_ends_the_walk() {
    let mut ib = vec![0x8000_0000; 0x5000];
    ib[0] = 0xffff_1000;
    let mut walk = pm4::decode(&ib, pm4::Target::gfx(GfxLevel::Gfx6));
    assert!(walk.next().is_some_and(|first| first.is_err()), "GFX6 has no NOP of one dword");
    assert!(walk.next().is_none());
}

#[test]
fn what_a_register_writer_was_given_it_has() {
    let mut writer = registers::RegisterWriter::new(pm4::Target::gfx(GfxLevel::Gfx10));
    assert!(writer.is_empty());
    writer.set_at(0x2_8000, 7).unwrap();
    assert!(!writer.is_empty());
    for packet in writer.packets() {
        assert!(encodes(packet, pm4::Target::gfx(GfxLevel::Gfx10)));
        let mut ib = [0; 16];
        assert_eq!(packet.put(pm4::Target::gfx(GfxLevel::Gfx10), &mut ib), Some(3));
        assert_eq!(ib[2], 7);
    }
}

#[test]
fn a_copied_number_fits_the_size_of_the_copy() {
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    let copy =
        |size, value| pm4::CopyData::new(pm4::CopySource::Immediate(value), pm4::CopyTo::Memory(va(0x1000)), size);
    let largest = u64::from(u32::MAX);
    for (size, value, fits) in [
        (pm4::CopySize::Dword, 0, true),
        (pm4::CopySize::Dword, largest, true),
        (pm4::CopySize::Dword, largest + 1, false),
        (pm4::CopySize::Qword, largest + 1, true),
        (pm4::CopySize::Qword, u64::MAX, true),
    ] {
        assert_eq!(encodes(copy(size, value), target), fits, "{size:?} {value:#x}");
    }
}

#[test]
fn only_graphics_rings_since_gfx8_are_told_of_a_preamble() {
    for target in pm4::Target::all() {
        let knows = target.ring == pm4::Ring::Gfx && target.level >= GfxLevel::Gfx8;
        let preamble = pm4::IndirectBuffer { preamble: true, ..pm4::IndirectBuffer::chain(va(0x1000), 16) };
        assert_eq!(encodes(preamble, target), knows, "{target}");
        let mut ib = [0; 4];
        if preamble.encode(target, &mut ib).is_ok() {
            assert_eq!(ib[3] >> 21 & 1, 1, "{target}");
        }
        let plain = |dwords| pm4::IndirectBuffer::chain(va(0x1000), dwords);
        assert!(plain(1).encode(target, &mut ib).is_ok());
        assert_eq!(ib[3] >> 21 & 1, 0, "{target}");
        assert!(encodes(plain(0xf_ffff), target) && !encodes(plain(0x10_0000), target), "{target}");
    }
}

#[test]
fn registers_are_set_from_the_first_to_the_last_of_their_aperture() {
    use amdgpu_packets::EncodeError;
    let target = pm4::Target::gfx(GfxLevel::Gfx10);
    let set = |first, values| registers::SetRegisters::new(first, values).encode(target, &mut [0; 8]);
    let source = |result| match result {
        Err(EncodeError::Field { source, .. }) => source,
        other => panic!("{other:?}"),
    };
    assert_eq!(set(0x2_8000, &[1, 2]), Ok(4));
    assert_eq!(source(set(0x2_8000, &[])), FieldError::Empty { field: "values" });
    for off in 1..4 {
        let crooked = FieldError::Misaligned { field: "first", value: u64::from(0x2_8000 + off), multiple: 4 };
        assert_eq!(source(set(0x2_8000 + off, &[1])), crooked);
    }
    // Context registers end where those of GFX10's user configuration begin.
    let last = (0x2_8000..0x3_0000).step_by(4).rfind(|&first| set(first, &[1]).is_ok()).unwrap();
    assert_eq!(source(set(last, &[1, 2])), FieldError::TooWide { field: "values", value: 2, max: 1 });
    assert_eq!(source(set(last - 4, &[1, 2, 3])), FieldError::TooWide { field: "values", value: 3, max: 2 });
    assert_eq!(set(last - 4, &[1, 2]), Ok(4));
    assert!(matches!(set(0, &[1]), Err(EncodeError::NoSuchPacket { .. })), "no aperture begins at zero");
}

#[test]
fn a_copy_stores_at_multiples_of_its_size() {
    let target = pm4::Target::gfx(GfxLevel::Gfx9);
    for (size, bytes) in [(pm4::CopySize::Dword, 4), (pm4::CopySize::Qword, 8)] {
        for at in 0..16 {
            let copy = pm4::CopyData::new(pm4::CopySource::Immediate(1), pm4::CopyTo::Memory(va(0x1000 + at)), size);
            assert_eq!(encodes(copy, target), at % bytes == 0, "{size:?} to {at}");
            let read = pm4::CopySource::Memory(va(0x1000 + at));
            let copy = pm4::CopyData::new(read, pm4::CopyTo::Memory(va(0x1000)), size);
            assert_eq!(encodes(copy, target), at % bytes == 0, "{size:?} from {at}");
        }
    }
}

#[test]
fn a_linear_write_takes_the_dwords_that_its_count_can_say() {
    for (version, most) in [
        (sdma::Version::V2_4, 0x3f_ffff),
        (sdma::Version::V3_0, 0x3f_ffff),
        (sdma::Version::V4_0, 0x10_0000),
        (sdma::Version::V6_0, 0x10_0000),
    ] {
        let data = vec![7; most + 1];
        let mut ib = vec![0; most + 8];
        let mut write = |data| sdma::WriteLinear { to: va(0x1000), data }.encode(version, &mut ib);
        assert_eq!(write(&data[..most]).unwrap(), most + 4, "{version}");
        assert!(write(&data).is_err(), "{version}");
        assert!(write(&[]).is_err(), "{version}");
    }
}

#[test]
fn a_dump_names_the_cache_actions_of_every_generation() {
    let shown = |level| {
        let target = pm4::Target::gfx(level);
        let mut ib = [0; 8];
        let len = pm4::AcquireMem::all(target, pm4::CacheActions::ACQUIRE).encode(target, &mut ib).unwrap();
        Dumper::new(target).dump(&ib[..len], None).to_string()
    };
    let text = shown(GfxLevel::Gfx10);
    let fields =
        "gli_inv = 1 (all), glm_wb = 1, glm_inv = 1, glk_inv = 1, glv_inv = 1, gl1_inv = 1, gl2_inv = 1, gl2_wb = 1";
    assert!(text.contains(&format!("gcr_cntl = 0xc3b1  {{{fields}}}")), "{text}");
    let text = shown(GfxLevel::Gfx9);
    assert!(text.contains("tc_action_ena = 1") && !text.contains("gcr_cntl"), "{text}");
}
