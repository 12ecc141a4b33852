//! The values on either side of each limit that a packet's fields have.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::{DecodeFault, FieldError, Packet, pm4, sdma};

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
