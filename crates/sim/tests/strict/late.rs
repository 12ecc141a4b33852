//! The late schedule: a stream that waits for what it depends on has the same results as in the order of its packets, and one without a
//! wait has others.

use std::sync::Arc;

use amdgpu_sim::{
    Strictness,
    gpu::{Scene, Shaders, Unfinished, Work},
};
use amdgpu_winsys::{
    cs::{
        Stream,
        pm4::{Compare, CpDma, EndOfPipe, Event, EventWrite, Target, WaitRegMem, WriteData},
    },
    vamgr::GpuVa,
    winsys::{GfxLevel, Ip},
};

use crate::{CHIPS, Rig, Store, start_alone};

/// A shader executor whose dispatches add one to the dword at an address, and store the sum behind it.
struct Sum(GpuVa);

impl Shaders for Sum {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        if let Work::Dispatch(_) = work {
            let mut value = [0; 4];
            scene.memory.read(self.0, &mut value).unwrap();
            let sum = u32::from_le_bytes(value) + 1;
            scene.memory.write(self.0.checked_add(4).unwrap(), &sum.to_le_bytes()).unwrap();
        }
        Ok(())
    }
}

fn rings() -> impl Iterator<Item = (&'static str, Ip)> {
    CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)])
}

fn late(chip: &str, ip: Ip) -> Rig {
    Rig::strictly(chip, ip, Strictness::Late)
}

fn flush(stream: &mut Stream<Target>) {
    stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH)).unwrap();
}

/// Copies a dword within the memory by DMA.
fn copy(rig: &Rig, stream: &mut Stream<Target>, from: u64, to: u64, syncs: bool) {
    stream.push(&CpDma::copy(rig.level(), rig.at(to), rig.at(from), 4).with_sync(syncs)).unwrap();
}

#[test]
fn a_copy_finds_what_a_dispatch_stores_behind_a_partial_flush_alone() {
    for (chip, ip) in rings() {
        for (flushes, found) in [(true, 7), (false, 0)] {
            let rig = late(chip, ip);
            rig.gpu.plug_shaders(Arc::new(Store(rig.at(0))));
            rig.run(|stream| {
                start_alone(stream);
                if flushes {
                    flush(stream);
                }
                copy(&rig, stream, 0, 4096, true);
            });
            assert_eq!([rig.peek(0), rig.peek(4096)], [7, found], "{chip} {ip}");
        }
    }
}

#[test]
fn a_dispatch_finds_inputs_that_a_packet_behind_it_overwrites_without_a_wait() {
    for (chip, ip) in rings() {
        for (flushes, sum) in [(true, 2), (false, 10)] {
            let rig = late(chip, ip);
            rig.gpu.plug_shaders(Arc::new(Sum(rig.at(0))));
            rig.poke(0, 1);
            rig.run(|stream| {
                start_alone(stream);
                if flushes {
                    flush(stream);
                }
                stream.push(&WriteData::new(rig.at(0), &[9])).unwrap();
            });
            assert_eq!(rig.peek(4), sum, "{chip} {ip}");
        }
    }
}

#[test]
fn a_value_at_the_end_of_the_pipe_is_stored_behind_the_dispatches_before_it_and_found_by_a_wait() {
    for (chip, ip) in rings() {
        for (waits, found) in [(true, [7, 1]), (false, [0, 0])] {
            let rig = late(chip, ip);
            rig.gpu.plug_shaders(Arc::new(Store(rig.at(0))));
            rig.run(|stream| {
                start_alone(stream);
                stream.end_of_pipe(EndOfPipe::fence(rig.at(8), 1)).unwrap();
                if waits {
                    stream.push(&WaitRegMem::new(rig.at(8), Compare::Equal, 1)).unwrap();
                }
                copy(&rig, stream, 0, 4096, true);
                copy(&rig, stream, 8, 4104, true);
            });
            assert_eq!([rig.peek(4096), rig.peek(4104)], found, "{chip} {ip}");
            assert_eq!([rig.peek(0), rig.peek(8)], [7, 1], "{chip} {ip}");
        }
    }
}

#[test]
fn a_wait_for_what_a_dispatch_itself_stores_ends() {
    for (chip, ip) in rings() {
        let rig = late(chip, ip);
        rig.gpu.plug_shaders(Arc::new(Store(rig.at(0))));
        rig.run(|stream| {
            start_alone(stream);
            stream.push(&WaitRegMem::new(rig.at(0), Compare::Equal, 7)).unwrap();
            copy(&rig, stream, 0, 4096, true);
        });
        assert_eq!(rig.peek(4096), 7, "{chip} {ip}");
    }
}

#[test]
fn dma_of_a_graphics_ring_is_over_when_a_later_one_is_synchronized_and_at_no_end_of_the_pipe() {
    for (chip, ip) in rings() {
        // The copy of the copy is in order, and what the engine reads in between is old.
        let rig = late(chip, ip);
        let is_late = ip == Ip::Gfx && rig.level() >= GfxLevel::Gfx7;
        rig.poke(0, 5);
        rig.run(|stream| {
            copy(&rig, stream, 0, 4096, false);
            stream.end_of_pipe(EndOfPipe::fence(rig.at(8), 1)).unwrap();
            stream.push(&WaitRegMem::new(rig.at(8), Compare::Equal, 1)).unwrap();
            stream.push(&WriteData::new(rig.at(0), &[6])).unwrap();
            copy(&rig, stream, 4096, 4100, true);
            stream.push(&WriteData::new(rig.at(4096), &[8])).unwrap();
        });
        // The wait for the fence finds nothing at first, so all that is late is executed, the DMA too.
        assert_eq!([rig.peek(4096), rig.peek(4100)], [8, 5], "{chip} {ip}");

        let rig = late(chip, ip);
        rig.poke(0, 5);
        rig.run(|stream| {
            copy(&rig, stream, 0, 4096, false);
            stream.push(&WriteData::new(rig.at(0), &[6])).unwrap();
            stream.push(&WriteData::new(rig.at(4096), &[8])).unwrap();
        });
        assert_eq!(rig.peek(4096), if is_late { 6 } else { 8 }, "{chip} {ip}");
    }
}

#[test]
fn a_job_is_over_when_all_that_it_has_issued_is() {
    for (chip, ip) in rings() {
        let rig = late(chip, ip);
        rig.gpu.plug_shaders(Arc::new(Store(rig.at(0))));
        rig.poke(8, 3);
        rig.run(|stream| {
            start_alone(stream);
            copy(&rig, stream, 8, 4096, false);
            stream.end_of_pipe(EndOfPipe::fence(rig.at(12), 4)).unwrap();
        });
        assert_eq!([rig.peek(0), rig.peek(4096), rig.peek(12)], [7, 3, 4], "{chip} {ip}");
        assert!(rig.gpu.hazards().is_empty());
    }
}
