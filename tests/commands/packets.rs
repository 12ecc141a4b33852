//! The dwords that commands become: those of the vectors, which are what RADV's macros give.

use std::{fs, path::Path};

use amdgpu_winsys::{
    cs::{
        PacketBuf, Target,
        commands::{Access, Barrier, Commands, Point, Scope, Span, Stages},
        layout,
        pm4::{self, Compare},
    },
    vamgr::GpuVa,
    winsys::{GfxLevel, Ip},
};
use serde_json::Value;

use crate::{
    rig::{dwords, pm4_recorder, record},
    support::device,
};

const A: u64 = 0x81_2345_6780;
const B: u64 = 0x80_0010_0000;

fn va(address: u64) -> GpuVa {
    GpuVa::new(address).unwrap()
}

fn span(address: u64, bytes: u64) -> Span {
    Span::new(va(address), bytes).unwrap()
}

/// The dwords of a vector.
fn vector(name: &str) -> Vec<u32> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/packets/tests/data/packets/vectors.json");
    let json: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let found = find(&json, name).unwrap_or_else(|| panic!("there is no vector {name}"));
    let dwords = found["dwords"].as_array().unwrap().iter();
    dwords.map(|dword| u32::from_str_radix(dword.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()).collect()
}

fn find<'a>(json: &'a Value, name: &str) -> Option<&'a Value> {
    match json {
        Value::Object(fields) if fields.get("id").and_then(Value::as_str) == Some(name) => Some(json),
        Value::Object(fields) => fields.values().find_map(|value| find(value, name)),
        Value::Array(values) => values.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}

fn recorded(level: GfxLevel, ip: Ip, commands: impl FnOnce(&mut dyn Commands)) -> Vec<u32> {
    dwords(&record(&device("navi21"), Target::new(level, ip).unwrap(), commands))
}

#[test]
fn commands_begin_with_the_dwords_of_the_vectors() {
    use GfxLevel::*;
    type Record = fn(&mut dyn Commands);
    let cases: &[(&str, &[GfxLevel], &[Ip], Record)] = &[
        ("copy_data_timestamp", &[Gfx7, Gfx8, Gfx9, Gfx10, Gfx11, Gfx12], &[Ip::Gfx, Ip::Compute], |commands| {
            commands.timestamp(va(A), Point::Top).unwrap();
        }),
        ("release_mem_ts", &[Gfx10, Gfx10_3, Gfx11, Gfx12], &[Ip::Gfx], |commands| {
            commands.timestamp(va(A), Point::Bottom).unwrap();
        }),
        ("release_mem_ts", &[Gfx9, Gfx10, Gfx11, Gfx12], &[Ip::Compute], |commands| {
            commands.timestamp(va(A), Point::Bottom).unwrap();
        }),
        ("event_write_eop_ts", &[Gfx6], &[Ip::Gfx], |commands| {
            commands.timestamp(va(A), Point::Bottom).unwrap();
        }),
        ("release_mem_mec_gfx8", &[Gfx7, Gfx8], &[Ip::Compute], |commands| {
            commands.set_event(va(A), Point::Bottom).unwrap();
        }),
        ("event_write_eos", &[Gfx6, Gfx7, Gfx8], &[Ip::Gfx], |commands| {
            commands.set_event(va(A), Point::PixelShaders).unwrap();
        }),
        ("write_data_pfp", &[Gfx7, Gfx8, Gfx9, Gfx10, Gfx11, Gfx12], &[Ip::Gfx], |commands| {
            commands.set_event(va(A), Point::Top).unwrap();
        }),
        ("wait_mem_equal", &[Gfx6, Gfx7, Gfx9, Gfx12], &[Ip::Gfx, Ip::Compute], |commands| {
            commands.wait_event(va(A)).unwrap();
        }),
        ("sdma_poll_mem", &[Gfx7, Gfx9, Gfx10, Gfx11, Gfx12], &[Ip::Sdma], |commands| {
            commands.wait(va(A), Compare::Equal, 9, u32::MAX).unwrap();
        }),
        ("sdma_timestamp", &[Gfx7, Gfx8, Gfx9, Gfx12], &[Ip::Sdma], |commands| {
            commands.timestamp(va(A), Point::Bottom).unwrap();
        }),
        ("sdma5_fence", &[Gfx10, Gfx10_3, Gfx11], &[Ip::Sdma], |commands| {
            commands.store(va(A), 9, Point::Bottom).unwrap();
        }),
        ("sdma1_copy_bytes", &[Gfx6], &[Ip::Sdma], |commands| {
            commands.copy(span(A, 256), span(B, 256)).unwrap();
        }),
        ("sdma1_fill", &[Gfx6], &[Ip::Sdma], |commands| {
            commands.fill(span(A, 256), 0xdead_beef).unwrap();
        }),
        ("sdma3_copy", &[Gfx7, Gfx8], &[Ip::Sdma], |commands| {
            commands.copy(span(A, 4096), span(B, 4096)).unwrap();
        }),
        ("sdma4_copy", &[Gfx9, Gfx10, Gfx10_3, Gfx11, Gfx12], &[Ip::Sdma], |commands| {
            commands.copy(span(A, 4096), span(B, 4096)).unwrap();
        }),
        ("sdma4_write", &[Gfx9, Gfx10, Gfx12], &[Ip::Sdma], |commands| {
            commands.update(span(A, 8), &[1, 2]).unwrap();
        }),
        ("sdma_atomic_add", &[Gfx8, Gfx9, Gfx10, Gfx11, Gfx12], &[Ip::Sdma], |commands| {
            let add = amdgpu_winsys::cs::commands::Atomic::dword(amdgpu_winsys::cs::commands::AtomicOp::Add, 5);
            commands.atomic(va(A), add).unwrap();
        }),
        ("dma_data_fill_gfx9", &[Gfx9, Gfx10], &[Ip::Gfx], |commands| {
            commands.fill(span(A, 4096), 0xdead_beef).unwrap();
        }),
        ("dma_data_copy_gfx11", &[Gfx11, Gfx12], &[Ip::Gfx, Ip::Compute], |commands| {
            commands.copy(span(A, 0x7fe0), span(B, 0x7fe0)).unwrap();
        }),
    ];
    for &(name, levels, ips, commands) in cases {
        let expected = vector(name);
        for (&level, &ip) in levels.iter().flat_map(|level| ips.iter().map(move |ip| (level, ip))) {
            let found = recorded(level, ip, commands);
            assert_eq!(found.get(..expected.len()), Some(&expected[..]), "{name} on {level} {ip}");
        }
    }
}

/// The packets' names, in order.
fn names(level: GfxLevel, ip: Ip, commands: impl FnOnce(&mut dyn Commands)) -> Vec<&'static str> {
    let list = record(&device("navi21"), Target::new(level, ip).unwrap(), commands);
    let Target::Pm4(target) = list.target() else { unreachable!() };
    let ibs: Vec<_> = list.dwords().collect();
    let all: Vec<_> = ibs.iter().flat_map(|ib| pm4::decode(ib, target)).collect();
    all.into_iter().map(|packet| packet.unwrap().command.name()).filter(|&name| name != "NOP").collect()
}

/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_write_event_eop`.
#[test]
fn an_end_of_pipe_comes_with_what_its_generation_wants_beside_it() {
    for level in GfxLevel::ALL {
        let found = names(level, Ip::Gfx, |commands| commands.timestamp(va(A), Point::Bottom).unwrap());
        let expected: &[_] = match level {
            GfxLevel::Gfx7 | GfxLevel::Gfx8 => &["RELEASE_MEM", "RELEASE_MEM"],
            GfxLevel::Gfx9 => &["EVENT_WRITE", "RELEASE_MEM"],
            _ => &["RELEASE_MEM"],
        };
        assert_eq!(found, expected, "{level}");
        let found = names(level, Ip::Compute, |commands| commands.timestamp(va(A), Point::Bottom).unwrap());
        assert_eq!(found, ["RELEASE_MEM"], "{level}");
    }
}

#[test]
fn the_first_of_two_events_stores_where_nobody_looks() {
    for level in [GfxLevel::Gfx7, GfxLevel::Gfx8] {
        let target = Target::new(level, Ip::Gfx).unwrap();
        let list = record(&device("navi21"), target, |commands| commands.store(va(A), 7, Point::Bottom).unwrap());
        let Target::Pm4(target) = target else { unreachable!() };
        let ib = list.dwords().next().unwrap();
        let [first, second] = [0, 1].map(|at| pm4::decode(&ib, target).nth(at).unwrap().unwrap().command);
        let event = pm4::EndOfPipe::fence(va(A), 7);
        assert_eq!(second, event.into(), "{level}");
        let pm4::Command::EndOfPipe(first) = first else { panic!("{level} {first:?}") };
        let pm4::EopStore::Dword { va: scratch, value } = first.store else { panic!("{level} {first:?}") };
        assert_eq!((first.event, value), (event.event, 7), "{level}");
        assert_ne!(scratch, va(A), "{level}");
    }
}

/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush` and `gfx10_cs_emit_cache_flush`.
#[test]
fn a_barrier_is_flushes_then_caches_and_pfp_behind_me() {
    let shaders = Barrier::new(Scope::COMPUTE, Scope::new(Stages::COMPUTE, Access::SHADER_READ));
    let execution = Barrier::new(Scope::new(Stages::COMPUTE, Access::empty()), Scope::default());
    for level in GfxLevel::ALL {
        let is_new = level >= GfxLevel::Gfx10;
        let barrier = |ip, barrier| names(level, ip, |commands| commands.barrier(barrier).unwrap());
        let expected: &[_] =
            if is_new { &["EVENT_WRITE", "ACQUIRE_MEM"] } else { &["EVENT_WRITE", "PFP_SYNC_ME", "ACQUIRE_MEM"] };
        assert_eq!(barrier(Ip::Gfx, shaders), expected, "{level}");
        assert_eq!(barrier(Ip::Compute, shaders), ["EVENT_WRITE", "ACQUIRE_MEM"], "{level}");
        assert_eq!(barrier(Ip::Gfx, execution), ["EVENT_WRITE", "PFP_SYNC_ME"], "{level}");
        assert_eq!(barrier(Ip::Compute, execution), ["EVENT_WRITE"], "{level}");
    }
}

/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cp_dma.c`, `radv_cp_dma_fill_memory`: PFP may fetch what was filled.
#[test]
fn pfp_waits_for_me_behind_a_fill_and_before_a_condition() {
    for level in GfxLevel::ALL {
        for (ip, has_pfp) in [(Ip::Gfx, true), (Ip::Compute, false)] {
            let found = names(level, ip, |commands| commands.fill(span(A, 64), 7).unwrap());
            assert_eq!(
                (found.len(), found.last() == Some(&"PFP_SYNC_ME")),
                (1 + usize::from(has_pfp), has_pfp),
                "{level}"
            );
            let Target::Pm4(target) = Target::new(level, ip).unwrap() else { unreachable!() };
            let mut recorder = pm4_recorder(&device("navi21"), target);
            recorder.conditional(va(A), &PacketBuf::new(target)).unwrap();
            let list = recorder.finish().unwrap();
            let ib = list.dwords().next().unwrap();
            let first = pm4::decode(&ib, target).next().unwrap().unwrap();
            assert_eq!(first.command.name() == "PFP_SYNC_ME", has_pfp, "{level} {ip}");
        }
    }
}

/// A wait for everything waits for CP DMA first, which does not count as done at the end of the pipe.
#[test]
fn stores_and_timestamps_at_the_bottom_wait_for_cp_dma() {
    type Record = fn(&mut dyn Commands);
    let bottom: [Record; 2] = [
        |commands| commands.store(va(A + 64), 1, Point::Bottom).unwrap(),
        |commands| commands.timestamp(va(A + 64), Point::Bottom).unwrap(),
    ];
    for (level, ip) in GfxLevel::ALL.into_iter().flat_map(|level| [(level, Ip::Gfx), (level, Ip::Compute)]) {
        for record in bottom {
            let found = names(level, ip, |commands| {
                commands.copy(span(A, 64), span(B, 64)).unwrap();
                record(commands);
            });
            let dma = |name: &&&str| **name == "DMA_DATA" || **name == "CP_DMA";
            let in_front = found.iter().take_while(dma).count();
            let expected = if level == GfxLevel::Gfx6 { 1 } else { 2 };
            assert_eq!((in_front, found.iter().filter(dma).count()), (expected, expected), "{level} {ip}: {found:?}");
        }
    }
}

/// The end of a list waits for CP DMA, as RADV's does: a copy of nothing that holds ME up.
#[test]
fn a_list_that_copied_ends_with_a_wait_for_cp_dma() {
    let wait = vector("dma_data_wait_idle");
    for level in [GfxLevel::Gfx9, GfxLevel::Gfx10, GfxLevel::Gfx11, GfxLevel::Gfx12] {
        let found = recorded(level, Ip::Gfx, |commands| commands.copy(span(A, 64), span(B, 64)).unwrap());
        assert_eq!(found.get(7..14), Some(&wait[..]), "{level}");
        let filled = recorded(level, Ip::Gfx, |commands| commands.fill(span(A, 64), 0).unwrap());
        assert_ne!(filled.get(7..14), Some(&wait[..]), "{level}: a fill has waited already");
    }
}

/// Every piece of a command that the ring's language has a field for, on every generation.
fn fields(level: GfxLevel, ip: Ip, field: &str, commands: impl FnOnce(&mut dyn Commands)) -> Vec<(&'static str, u32)> {
    let list = record(&device("navi21"), Target::new(level, ip).unwrap(), commands);
    let Target::Pm4(target) = list.target() else { unreachable!() };
    let ibs: Vec<_> = list.dwords().collect();
    let packets = ibs.iter().flat_map(|ib| layout::packets(ib, target)).filter_map(|packet| packet.content.unwrap());
    let found = |packet: layout::Fields<'_>| {
        packet.iter().find(|(found, _)| found.name() == field).map(|(_, value)| (packet.name(), value))
    };
    packets.filter_map(found).collect()
}

/// A fill is done when ME goes on. So is a copy on GFX6; later ones wait once, with a copy of nothing, where that is needed.
#[test]
fn the_last_piece_of_a_fill_holds_me_up_and_that_of_a_copy_on_gfx6_alone() {
    // Two pieces on each generation, and three where 2 MiB are the most.
    let bytes = 96 << 20;
    for (level, ip) in GfxLevel::ALL.into_iter().flat_map(|level| [(level, Ip::Gfx), (level, Ip::Compute)]) {
        let sync = |commands: &dyn Fn(&mut dyn Commands)| -> Vec<u32> {
            fields(level, ip, "cp_sync", commands).into_iter().map(|(_, sync)| sync).collect()
        };
        let filled = sync(&|commands| commands.fill(span(A & !0xff, bytes), 7).unwrap());
        assert!(filled.len() > 1, "{level}");
        assert_eq!(filled.iter().rposition(|&sync| sync == 0), Some(filled.len() - 2), "{level} {ip}: {filled:?}");
        assert_eq!(filled.iter().sum::<u32>(), 1, "{level} {ip}: {filled:?}");
        let copied = sync(&|commands| commands.copy(span(A & !0xff, bytes), span(B, bytes)).unwrap());
        // The last of all is the copy of nothing.
        let pieces = if level == GfxLevel::Gfx6 { &copied[..] } else { &copied[..copied.len() - 1] };
        assert_eq!(pieces.len(), filled.len(), "{level} {ip}");
        assert_eq!(copied.iter().sum::<u32>(), 1, "{level} {ip}: {copied:?}");
        assert_eq!(copied.last(), Some(&1), "{level} {ip}: {copied:?}");
    }
}

/// Source: Mesa 25.0.7 `src/amd/vulkan/meta/radv_meta_buffer.c`, `radv_update_memory_cp`.
#[test]
fn an_update_stores_in_order_with_registers_where_the_ring_can() {
    for level in GfxLevel::ALL {
        for ip in [Ip::Gfx, Ip::Compute] {
            let found = fields(level, ip, "dst_sel", |commands| commands.update(span(A, 12), &[1, 2, 3]).unwrap());
            // GFX6 has no MEC: its compute rings are MEs.
            let is_mec = ip == Ip::Compute && level >= GfxLevel::Gfx7;
            assert_eq!(found, [("WRITE_DATA", if is_mec { 5 } else { 1 })], "{level} {ip}");
        }
    }
}
