//! The effect of each PM4 packet, on every generation and ring.

use amdgpu_packets::pm4::{
    AcquireMem, CacheActions, CopyData, CopySize, CopySource, CopyTo, CpDma, DmaTo, EndOfPipe, EopEvent, EopStore,
    Event, EventWrite, Nop, PfpSyncMe, Register, Target, WriteData, WriteTo,
};

use super::*;

/// A stream for each target.
fn everywhere() -> impl Iterator<Item = Stream<Target>> {
    Target::all().map(Stream::new)
}

fn scratch(level: GfxLevel) -> Register {
    Register::at_byte(if level == GfxLevel::Gfx6 { 0x8500 } else { 0x30100 }).unwrap()
}

#[test]
fn write_data_stores_dwords_one_after_the_other() {
    for stream in everywhere() {
        let rig = Rig::new();
        stream.add(WriteData::new(va(DATA), &[1, 2, 3])).run(&rig).unwrap();
        assert_eq!([0, 4, 8, 12].map(|at| rig.u32(DATA + at)), [1, 2, 3, 0]);
    }
}

#[test]
fn write_data_without_increment_leaves_the_last_dword() {
    for stream in everywhere() {
        let rig = Rig::new();
        stream.add(WriteData { no_increment: true, ..WriteData::new(va(DATA), &[1, 2, 3]) }).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA), 3);
    }
}

#[test]
fn registers_are_written_in_a_row_and_read_back() {
    for stream in everywhere() {
        let rig = Rig::new();
        let first = scratch(stream.0.level);
        let to = WriteTo::Register(first);
        let copy = CopyData::new(CopySource::Register(first), CopyTo::Memory(va(DATA)), CopySize::Qword);
        let engine = stream.add(WriteData { to, ..WriteData::new(va(0), &[7, 8]) }).add(copy).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA), 8 << 32 | 7);
        assert_eq!(engine.registers().get(first), 7);
    }
}

#[test]
fn copy_data_moves_a_dword_and_leaves_the_rest_of_the_qword() {
    for stream in everywhere() {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2, u32::MAX, u32::MAX]);
        let (from, to) = (CopySource::Memory(va(DATA)), CopyTo::Memory(va(DATA + 8)));
        stream.add(CopyData::new(from, to, CopySize::Dword)).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA + 8), 0xffff_ffff_0000_0001);
    }
}

#[test]
fn copy_data_moves_a_qword_through_a_pair_of_registers() {
    for stream in everywhere() {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2]);
        let register = scratch(stream.0.level);
        let load = CopyData::new(CopySource::L2(va(DATA)), CopyTo::Register(register), CopySize::Qword);
        let store = CopyData::new(CopySource::Register(register), CopyTo::L2(va(DATA + 8)), CopySize::Qword);
        stream.add(load).add(store).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA + 8), rig.u64(DATA));
    }
}

#[test]
fn copy_data_stores_what_travels_in_the_packet() {
    for stream in everywhere() {
        let rig = Rig::new();
        let copy = |n, at, size| CopyData::new(CopySource::Immediate(n), CopyTo::Memory(va(at)), size);
        stream
            .add(copy(0x1_2345_6789, DATA, CopySize::Qword))
            .add(copy(0xcafe, DATA + 8, CopySize::Dword))
            .run(&rig)
            .unwrap();
        assert_eq!((rig.u64(DATA), rig.u64(DATA + 8)), (0x1_2345_6789, 0xcafe));
    }
}

#[test]
fn timestamps_never_go_back() {
    for stream in everywhere() {
        let rig = Rig::new();
        stream
            .add(CopyData::timestamp(va(DATA)))
            .add(EndOfPipe::timestamp(va(DATA + 8)))
            .add(CopyData::timestamp(va(DATA + 16)))
            .run(&rig)
            .unwrap();
        let stamps = [0, 8, 16].map(|at| rig.u64(DATA + at));
        assert_eq!(stamps, [0x1_0000_0001, 0x1_0000_0002, 0x1_0000_0003]);
    }
}

#[test]
fn cp_dma_copies_and_fills_at_any_alignment() {
    for stream in everywhere() {
        let rig = Rig::new();
        let level = stream.0.level;
        stream
            .add(CpDma::fill(level, va(DATA + 1), 0x0403_0201, 6))
            .add(CpDma::copy(level, va(DATA + 0x103), va(DATA + 2), 4).with_sync(true))
            .add(CpDma::wait_idle(level))
            .run(&rig)
            .unwrap();
        assert_eq!(rig.u64(DATA), 0x0002_0104_0302_0100);
        assert_eq!(rig.u64(DATA + 0x100), 0x0001_0403_0200_0000);
    }
}

#[test]
fn a_prefetch_changes_nothing() {
    for target in Target::all().filter(|target| target.level >= GfxLevel::Gfx9) {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2]);
        let prefetch = CpDma { to: DmaTo::Nowhere(va(DATA)), ..CpDma::copy(target.level, va(0), va(DATA), 8) };
        Stream::new(target).add(prefetch).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA), 2 << 32 | 1);
    }
}

#[test]
fn a_copy_onto_itself_changes_nothing_and_an_overlap_is_refused() {
    for target in Target::all() {
        let rig = Rig::new();
        rig.put(DATA, &[1, 2, 3, 4]);
        let copy = |to| Stream::new(target).add(CpDma::copy(target.level, va(to), va(DATA), 16)).run(&rig);
        copy(DATA).unwrap();
        assert_eq!(rig.u64(DATA + 8), 4 << 32 | 3);
        for to in [DATA + 15, DATA - 15] {
            assert!(matches!(copy(to), Err(Stop::Refused { what: "source and destination overlap", .. })));
        }
        copy(DATA + 16).unwrap();
        assert_eq!(rig.u64(DATA + 16), 2 << 32 | 1);
    }
}

#[test]
fn the_end_of_the_pipe_stores_one_dword_or_two() {
    for stream in everywhere() {
        let rig = Rig::new();
        rig.put(DATA, &[u32::MAX; 4]);
        let qword = EopStore::Qword { va: va(DATA + 8), value: 5 };
        stream
            .add(EndOfPipe::fence(va(DATA), 7))
            .add(EndOfPipe::new(EopEvent::CacheFlushAndInvalidate, qword))
            .add(EndOfPipe::new(EopEvent::BottomOfPipe, EopStore::Nothing))
            .run(&rig)
            .unwrap();
        assert_eq!((rig.u64(DATA), rig.u64(DATA + 8)), (0xffff_ffff_0000_0007, 5));
    }
}

#[test]
fn the_end_of_shaders_stores_a_dword() {
    for stream in everywhere() {
        let rig = Rig::new();
        let store = EopStore::Dword { va: va(DATA), value: 7 };
        stream.add(EndOfPipe::new(EopEvent::ComputeDone, store)).run(&rig).unwrap();
        assert_eq!(rig.u64(DATA), 7);
    }
}

#[test]
fn caches_flushes_and_markers_have_no_effect() {
    for stream in everywhere() {
        let rig = Rig::new();
        let target = stream.0;
        let marker = Nop::Skip(&[0xcafe_0001, 2, 3]);
        stream
            .add(AcquireMem::all(target, CacheActions::all()))
            .add(EventWrite::new(Event::CS_PARTIAL_FLUSH))
            .add(marker)
            .add(WriteData::new(va(DATA), &[1]))
            .run(&rig)
            .unwrap();
        assert_eq!(rig.u32(DATA), 1);
    }
}

#[test]
fn the_graphics_front_end_waits_for_itself() {
    for level in GfxLevel::ALL {
        Stream::new(Target::gfx(level)).add(PfpSyncMe).run(&Rig::new()).unwrap();
    }
}

#[test]
fn every_enabled_render_backend_stores_a_count_that_is_marked_as_there() {
    for level in GfxLevel::ALL {
        let rig = Rig::new();
        let event = if level < GfxLevel::Gfx11 { Event::ZPASS_DONE } else { Event::PIXEL_PIPE_STAT_DUMP };
        let stream = Stream::new(Target::gfx(level)).add(EventWrite::sample(event, va(DATA))).padded();
        let mut engine = Engine::new(super::Target::Pm4(Target::gfx(level))).with_render_backends(0b101);
        rig.run(&mut engine, &stream).unwrap();
        assert_eq!([0, 16, 32].map(|at| rig.u64(DATA + at)), [1 << 63, 0, 1 << 63]);
    }
}
