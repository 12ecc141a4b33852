//! Every generation, also those that no simulated chip is of: recorded commands, read back and done by hand.

use amdgpu_winsys::{
    cs::{
        CommandList, Target,
        commands::{Access, Barrier, Commands, Scope, Span, Stages},
        pm4, sdma,
    },
    vamgr::GpuVa,
    winsys::{Device, GfxLevel, Ip},
};

use crate::{
    rig::{IPS, dwords, pm4_recorder, record, sdma_recorder},
    support::device,
};

const BASE: u64 = 0x12_0000_0000;

/// Effects of a list on memory: pieces of copies, fills and updates, by address.
#[derive(Default)]
struct Effects {
    copies: Vec<(u64, u64, u64)>,
    fills: Vec<(u64, u32, u64)>,
    updates: Vec<(u64, Vec<u32>)>,
    /// Transfers that are not waited for yet.
    busy: bool,
}

fn read(list: &CommandList) -> Effects {
    let mut effects = Effects::default();
    for ib in &list.dwords().collect::<Vec<_>>() {
        match list.target() {
            Target::Pm4(target) => {
                pm4::decode(ib, target).for_each(|packet| effects.pm4(packet.unwrap().command));
            }
            Target::Sdma(version) => {
                sdma::decode(ib, version).for_each(|packet| effects.sdma(packet.unwrap().command));
            }
        }
    }
    effects
}

impl Effects {
    fn pm4(&mut self, command: pm4::Command<'_>) {
        match command {
            pm4::Command::CpDma(dma) => {
                self.busy = !dma.sync;
                let (pm4::DmaTo::Memory { va: to, .. } | pm4::DmaTo::Nowhere(to)) = dma.to;
                let bytes = dma.bytes.into();
                match dma.from {
                    _ if bytes == 0 => {}
                    pm4::DmaSource::Memory { va, .. } => self.copies.push((to.as_u64(), va.as_u64(), bytes)),
                    pm4::DmaSource::Pattern(pattern) => self.fills.push((to.as_u64(), pattern, bytes)),
                }
            }
            pm4::Command::WriteData(pm4::WriteData { to: pm4::WriteTo::Memory { va, .. }, data, .. }) => {
                self.updates.push((va.as_u64(), data.to_vec()));
            }
            _ => {}
        }
    }

    fn sdma(&mut self, command: sdma::Command<'_>) {
        match command {
            sdma::Command::CopyLinear(copy) => {
                self.copies.push((copy.to.as_u64(), copy.from.as_u64(), copy.bytes.into()));
            }
            sdma::Command::ConstFill(fill) => self.fills.push((fill.to.as_u64(), fill.pattern, fill.bytes.into())),
            sdma::Command::WriteLinear(write) => self.updates.push((write.to.as_u64(), write.data.to_vec())),
            _ => {}
        }
    }
}

fn span(offset: u64, bytes: u64) -> Span {
    Span::new(GpuVa::new(BASE + offset).unwrap(), bytes).unwrap()
}

fn on_every_generation(check: impl Fn(&Device, Target)) {
    // What is recorded depends on the target alone; any device with addresses that it can say lends its memory.
    let (old, new) = (device("pitcairn"), device("navi21"));
    for (level, ip) in GfxLevel::ALL.into_iter().flat_map(|level| IPS.map(|ip: Ip| (level, ip))) {
        let device = if level < GfxLevel::Gfx9 { &old } else { &new };
        check(device, Target::new(level, ip).unwrap());
    }
}

/// The pieces follow one another without a gap and without an overlap, and end where the whole does.
fn assert_whole(pieces: impl Iterator<Item = (u64, u64)>, start: u64, bytes: u64, what: &str) {
    let end = pieces.fold(start, |next, (at, bytes)| {
        assert!(at == next && bytes > 0, "{what}: {at:#x} after {next:#x}");
        at + bytes
    });
    assert_eq!(end, start + bytes, "{what}");
}

#[test]
fn a_copy_of_gigabytes_is_whole_and_no_packet_moves_more_than_it_may() {
    on_every_generation(|device, target| {
        for (to, bytes) in [(0, 1), (1, 5000), (3, (3 << 30) + 1), (64, 0x3fff_ff00), (32, 0x3fff_ffe0), (0, 0x7fff)] {
            let list = record(device, target, |commands| {
                commands.copy(span(to, bytes), span(5 << 30, bytes)).unwrap();
            });
            let Effects { copies, busy, .. } = read(&list);
            let most = match target {
                Target::Pm4(target) => pm4::CpDma::max_bytes(target.level),
                Target::Sdma(version) => version.max_copy_bytes(),
            };
            assert!(copies.iter().all(|&(.., bytes)| bytes <= most.into()), "{target}");
            assert!(copies.iter().all(|&(to, from, _)| to.wrapping_sub(from) == copies[0].0.wrapping_sub(copies[0].1)));
            assert_whole(copies.iter().map(|&(to, _, bytes)| (to, bytes)), BASE + to, bytes, &target.to_string());
            assert!(!busy, "{target}: the list ends while CP DMA is under way");
        }
    });
}

/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_sdma.c`, `radv_sdma_copy_memory`.
#[test]
fn the_copy_engine_moves_whole_dwords_where_both_ends_are_at_dwords() {
    on_every_generation(|device, target| {
        let Target::Sdma(version) = target else { return };
        let places = (0..4).flat_map(|to| (0..4).map(move |from| (to, from)));
        for ((to, from), bytes) in places.flat_map(|place| (1..12).map(move |bytes| (place, bytes))) {
            let list = record(device, version.into(), |commands| {
                commands.copy(span(to, bytes), span(4096 + from, bytes)).unwrap();
            });
            let parts = if (to, from) == (0, 0) { vec![bytes & !3, bytes & 3] } else { vec![bytes] };
            let mut at = 0;
            let expected: Vec<_> = parts
                .into_iter()
                .filter(|&part| part > 0)
                .map(|part| {
                    at += part;
                    (BASE + to + at - part, BASE + 4096 + from + at - part, part)
                })
                .collect();
            assert_eq!(read(&list).copies, expected, "{target}");
        }
    });
}

#[test]
fn updates_are_whole_too() {
    on_every_generation(|device, target| {
        let data: Vec<u32> = (0..20_000).collect();
        let list = record(device, target, |commands| commands.update(span(8, 80_000), &data).unwrap());
        let Effects { updates, .. } = read(&list);
        let pieces = updates.iter().map(|(to, data)| (*to, 4 * data.len() as u64));
        assert_whole(pieces, BASE + 8, 80_000, &target.to_string());
        assert!(updates.len() > 1, "{target}");
        assert_eq!(updates.into_iter().flat_map(|(_, data)| data).collect::<Vec<_>>(), data, "{target}");
    });
}

#[test]
fn fills_are_whole_too() {
    on_every_generation(|device, target| {
        let list = record(device, target, |commands| commands.fill(span(4, 5 << 30), 0xabcd_ef01).unwrap());
        let Effects { fills, .. } = read(&list);
        assert!(fills.iter().all(|&(_, pattern, _)| pattern == 0xabcd_ef01));
        assert_whole(fills.iter().map(|&(to, _, bytes)| (to, bytes)), BASE + 4, 5 << 30, &target.to_string());
    });
}

#[test]
fn a_barrier_after_a_copy_waits_for_it_and_nothing_waits_twice() {
    on_every_generation(|device, target| {
        let count = |commands: &dyn Fn(&mut dyn Commands)| record(device, target, |recorder| commands(recorder)).len();
        let copies = |commands: &mut dyn Commands| commands.copy(span(0, 64), span(4096, 64)).unwrap();
        let once = count(&|commands| {
            copies(commands);
            commands.settle().unwrap();
        });
        let thrice = count(&|commands| {
            copies(commands);
            (0..3).for_each(|_| commands.settle().unwrap());
        });
        assert_eq!(once, thrice, "{target}");
        let list = record(device, target, |commands| {
            commands.barrier(Barrier::default()).unwrap();
        });
        assert_eq!(list.len(), target.pad_dwords(), "{target}: an empty barrier is no packet");
    });
}

#[test]
fn every_command_is_understood_by_the_decoder_of_its_generation() {
    on_every_generation(|device, target| {
        let list = record(device, target, |commands| {
            commands.copy(span(0, 77), span(4096, 77)).unwrap();
            commands.barrier(Barrier::FULL).unwrap();
            let at = span(8192, 8).address();
            for point in [crate::signals::POINTS[0], crate::signals::POINTS[1], crate::signals::POINTS[4]] {
                let _ = commands.timestamp(at, point);
                commands.set_event(at, point).unwrap();
            }
            commands.wait_event(at).unwrap();
        });
        read(&list);
    });
}

/// Returns the waits and events that a barrier records on a ring of shaders: whether CP DMA was waited for, and the events.
fn waits_of(device: &Device, target: Target, ring: pm4::Target, from: Stages) -> (bool, Vec<pm4::Event>) {
    let list = record(device, target, |commands| {
        commands.copy(span(0, 64), span(4096, 64)).unwrap();
        commands.barrier(Barrier::new(Scope::new(from, Access::empty()), Scope::ALL)).unwrap();
        commands.update(span(8192, 4), &[1]).unwrap();
    });
    let (mut is_waited_for, mut events) = (false, Vec::new());
    let ibs: Vec<_> = list.dwords().collect();
    for packet in ibs.iter().flat_map(|ib| pm4::decode(ib, ring)) {
        match packet.unwrap().command {
            pm4::Command::CpDma(dma) => is_waited_for = dma.sync,
            pm4::Command::EventWrite(write) => events.push(write.event),
            pm4::Command::WriteData(_) => break,
            _ => {}
        }
    }
    (is_waited_for, events)
}

#[test]
fn a_barrier_waits_for_the_stages_that_it_names_and_for_no_others() {
    use pm4::Event;
    on_every_generation(|device, target| {
        let Target::Pm4(ring) = target else { return };
        let waits = |stages| waits_of(device, target, ring, stages);
        // GFX6 waits with the copy itself.
        let at_once = ring.level == GfxLevel::Gfx6;
        assert_eq!(waits(Stages::TRANSFER), (true, vec![]), "{target}");
        assert_eq!(waits(Stages::COMPUTE), (at_once, vec![Event::CS_PARTIAL_FLUSH]), "{target}");
        if ring.ring == pm4::Ring::Gfx {
            assert_eq!(waits(Stages::VERTEX), (at_once, vec![Event::VS_PARTIAL_FLUSH]), "{target}");
            for stages in [Stages::FRAGMENT, Stages::FRAGMENT | Stages::VERTEX] {
                assert_eq!(waits(stages), (at_once, vec![Event::PS_PARTIAL_FLUSH]), "{target}");
            }
        }
    });
}

#[test]
fn a_cleared_recorder_has_recorded_nothing() {
    on_every_generation(|device, target| {
        let nothing = dwords(&record(device, target, |_| {}));
        let clear = |copied: bool| match target {
            Target::Pm4(target) => {
                let mut recorder = pm4_recorder(device, target);
                if copied {
                    recorder.copy(span(0, 64), span(4096, 64)).unwrap();
                }
                recorder.clear();
                dwords(&recorder.finish().unwrap())
            }
            Target::Sdma(version) => {
                let mut recorder = sdma_recorder(device, version);
                if copied {
                    recorder.copy(span(0, 64), span(4096, 64)).unwrap();
                }
                recorder.clear();
                dwords(&recorder.finish().unwrap())
            }
        };
        assert_eq!(clear(true), nothing, "{target:?}");
        assert_eq!(clear(false), nothing, "{target:?}");
    });
}
