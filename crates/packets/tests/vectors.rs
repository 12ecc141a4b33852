//! The byte-exact packets of `crates/packets/tests/data/packets/vectors.json`, made with the macros of Mesa and of the kernel.
//!
//! For every generation and ring a vector claims, the values written down here must encode to exactly its dwords, and
//! its dwords must decode to exactly those values. Vectors of packets that the library has no type for are listed by
//! name, so none is passed over in silence.

use std::collections::BTreeSet;

use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;
use amdgpu_packets::{Packet, pm4, sdma};
use serde_json::Value;

/// Packets without a type of their own: `tables.rs` reads their vectors through the tables.
const UNCOVERED: [&str; 24] = [
    "atomic_cmpswap_loop",
    "atomic_sub64",
    "cond_exec_gfx6",
    "cond_exec_gfx7",
    "dispatch_direct",
    "dispatch_indirect_gfx",
    "dispatch_indirect_mec",
    "draw_auto_predicated",
    "event_write_zpass_gfx11",
    "load_sh_reg_index",
    "sdma4_linear_sub_window",
    "sdma_atomic_add",
    "sdma_cond_exe",
    "sdma_indirect",
    "sdma_trap",
    "set_config_reg_gfx6",
    "set_context_reg",
    "set_context_reg_pairs",
    "set_context_reg_pairs_packed",
    "set_predication_gfx8",
    "set_predication_gfx9",
    "set_predication_off",
    "set_uconfig_reg_index",
    "strmout_load",
];

fn a() -> GpuVa {
    GpuVa::new(0x81_2345_6780).unwrap()
}

fn b() -> GpuVa {
    GpuVa::new(0x80_0010_0000).unwrap()
}

fn json() -> Value {
    serde_json::from_str(include_str!("data/packets/vectors.json")).unwrap()
}

fn dwords(vector: &Value) -> Vec<u32> {
    let hex = |v: &Value| u32::from_str_radix(v.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    vector["dwords"].as_array().unwrap().iter().map(hex).collect()
}

/// The generations of a range such as `GFX7..GFX11_5` or `GFX9`.
fn levels(vector: &Value) -> Vec<GfxLevel> {
    let text = vector["gens"].as_str().unwrap();
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let named = |name: &str| GfxLevel::ALL.into_iter().find(|level| level.name() == name).unwrap();
    GfxLevel::ALL.into_iter().filter(|level| (named(first)..=named(last)).contains(level)).collect()
}

fn pm4_targets(vector: &Value) -> Vec<pm4::Target> {
    let rings = vector["ring"].as_str().unwrap();
    let on = |target: &pm4::Target| match target.ring {
        pm4::Ring::Gfx => rings.contains("gfx"),
        pm4::Ring::Compute => rings.contains("compute"),
    };
    levels(vector).into_iter().flat_map(|l| [pm4::Target::gfx(l), pm4::Target::compute(l)]).filter(on).collect()
}

/// Every version that chips of the generation have.
fn versions(vector: &Value) -> Vec<sdma::Version> {
    let of = |level| match level {
        GfxLevel::Gfx8 => vec![sdma::Version::V2_4, sdma::Version::V3_0],
        _ => vec![sdma::Version::of(level)],
    };
    let versions: BTreeSet<_> = levels(vector).into_iter().flat_map(of).collect();
    versions.into_iter().collect()
}

type Flagged = pm4::Flagged<pm4::Command<'static>>;

fn plain(packet: impl Into<pm4::Command<'static>>) -> Vec<Flagged> {
    vec![pm4::Flagged { flags: pm4::HeaderFlags::empty(), packet: packet.into() }]
}

fn pfp(packet: pm4::WriteData<'static>) -> pm4::WriteData<'static> {
    pm4::WriteData { engine: pm4::Engine::Pfp, ..packet }
}

fn write_data(id: &str) -> Option<Vec<Flagged>> {
    use pm4::{Register, WriteData, WritePath, WriteTo};
    Some(plain(match id {
        "write_data_mem2" => WriteData::new(a(), &[0x1111_1111, 0x2222_2222]),
        "write_data_pfp" => pfp(WriteData::new(a(), &[1])),
        "write_data_grbm" => {
            WriteData { to: WriteTo::Memory { va: a(), path: WritePath::Grbm }, ..WriteData::new(a(), &[0xcafe_babe]) }
        }
        "write_data_reg" => WriteData {
            to: WriteTo::Register(Register::at_byte(0x30100).unwrap()),
            confirm: false,
            ..WriteData::new(a(), &[0x1234])
        },
        _ => return None,
    }))
}

fn end_of_pipe(id: &str) -> Option<Vec<Flagged>> {
    use pm4::{EndOfPipe, EopEvent, EopStore, Gcr, TcActions};
    let store = EopStore::Dword { va: a(), value: 7 };
    let flush = EndOfPipe::new(EopEvent::CacheFlushAndInvalidate, store);
    let gcr = Gcr::GLM_WRITE_BACK | Gcr::GLM_INVALIDATE | Gcr::GLV_INVALIDATE | Gcr::GL1_INVALIDATE;
    let gcr = gcr | Gcr::GL2_INVALIDATE | Gcr::GL2_WRITE_BACK | Gcr::FORWARD;
    Some(plain(match id {
        "release_mem_ts" | "event_write_eop_ts" => EndOfPipe::timestamp(a()),
        "release_mem_flush_gfx9" => EndOfPipe { tc: TcActions::TC | TcActions::TC_WRITE_BACK, ..flush },
        "release_mem_gcr_gfx10" => EndOfPipe { gcr, ..flush },
        "release_mem_mec_gfx8" => EndOfPipe::fence(a(), 1),
        "event_write_eos" => EndOfPipe::new(EopEvent::PixelDone, EopStore::Dword { va: a(), value: 1 }),
        _ => return None,
    }))
}

/// RELEASE_MEM that bumps the pixel-wait-sync counter, and the ACQUIRE_MEM that makes PFP wait for it.
fn pws_pair(id: &str) -> Option<Vec<Flagged>> {
    use pm4::{AcquireMem, AcquireWait, CacheRange, EndOfPipe, EopEvent, EopStore, Gcr, PwsCounter, PwsStage};
    let gcr = Gcr::GLV_INVALIDATE | Gcr::GL1_INVALIDATE | Gcr::GL2_INVALIDATE | Gcr::GL2_WRITE_BACK;
    let release = EndOfPipe {
        gcr: gcr | Gcr::GLK_INVALIDATE | Gcr::FORWARD,
        pws: true,
        ..EndOfPipe::new(EopEvent::CacheFlushAndInvalidate, EopStore::Nothing)
    };
    let acquire = AcquireMem {
        coher: pm4::CoherCntl::empty(),
        gcr: Gcr::FORWARD,
        range: CacheRange { base: 0, blocks: 0x1ff_ffff_ffff_ffff },
        wait: AcquireWait::Pws { stage: PwsStage::Pfp, counter: PwsCounter::EndOfPipe, outstanding: 0 },
    };
    (id == "pws_pair_gfx11").then(|| [plain(release), plain(acquire)].concat())
}

fn events(id: &str) -> Option<Vec<Flagged>> {
    use pm4::{Event, EventWrite};
    Some(plain(match id {
        "event_cs_partial_flush" => EventWrite::new(Event::CS_PARTIAL_FLUSH),
        "event_zpass_done" => EventWrite::sample(Event::ZPASS_DONE, a()),
        "event_sample_pipelinestat" => EventWrite::sample(Event::SAMPLE_PIPELINESTAT, a()),
        _ => return None,
    }))
}

fn acquire_mem(id: &str, target: pm4::Target) -> Option<Vec<Flagged>> {
    use pm4::{AcquireMem, CacheActions as Do, CoherCntl, HeaderFlags};
    let l2 = AcquireMem::all(target, Do::INVALIDATE_L2);
    Some(match id {
        "surface_sync" => plain(AcquireMem { coher: CoherCntl::TC | CoherCntl::TCL1 | CoherCntl::SH_KCACHE, ..l2 }),
        "acquire_mem_mec_gfx8" => vec![pm4::Flagged { flags: HeaderFlags::COMPUTE, packet: l2.into() }],
        "acquire_mem_gfx9" => plain(l2),
        "acquire_mem_gfx10" => plain(AcquireMem::all(target, Do::ACQUIRE)),
        _ => return None,
    })
}

fn cp_dma(id: &str, level: GfxLevel) -> Option<Vec<Flagged>> {
    use pm4::{CpDma, DmaPath, DmaSource, DmaTo};
    Some(plain(match id {
        "cp_dma_copy_gfx6" | "dma_data_copy_gfx7" => {
            CpDma { sync: true, raw_wait: true, ..CpDma::copy(level, a(), b(), 256) }
        }
        "cp_dma_fill_gfx6" => CpDma::fill(level, a(), 0xdead_beef, 256).with_sync(true),
        "dma_data_fill_gfx9" => CpDma::fill(level, a(), 0xdead_beef, 4096).with_sync(true),
        "dma_data_copy_gfx11" => CpDma::copy(level, a(), b(), 0x7fe0),
        "dma_data_prefetch_gfx9" => CpDma {
            from: DmaSource::Memory { va: b(), path: DmaPath::L2 },
            to: DmaTo::Nowhere(b()),
            confirm: false,
            ..CpDma::copy(level, a(), b(), 64)
        },
        "dma_data_wait_idle" => CpDma::wait_idle(level),
        _ => return None,
    }))
}

fn copy_data(id: &str) -> Option<Vec<Flagged>> {
    use pm4::{CopyData, CopySize, CopySource, CopyTo, Engine, Register};
    let filled_size = CopyTo::Register(Register::at_byte(0x28b2c).unwrap());
    Some(plain(match id {
        "copy_data_timestamp" => CopyData::timestamp(a()),
        "copy_data_imm" => CopyData::new(CopySource::Immediate(0x8000_0001), CopyTo::Memory(a()), CopySize::Dword),
        "copy_data_mem_to_reg" => CopyData::new(CopySource::Memory(a()), filled_size, CopySize::Dword),
        "copy_data_mem64_pfp" => CopyData {
            engine: Engine::Pfp,
            confirm: false,
            ..CopyData::new(CopySource::Memory(b()), CopyTo::Memory(a()), CopySize::Qword)
        },
        _ => return None,
    }))
}

fn flow(id: &str) -> Option<Vec<Flagged>> {
    use pm4::{Command, Compare, Engine, IndirectBuffer, Nop, PfpSyncMe, WaitRegMem};
    Some(match id {
        "wait_mem_equal" => plain(WaitRegMem::new(a(), Compare::Equal, 1)),
        "wait_mem_ge_pfp" => {
            plain(WaitRegMem { engine: Engine::Pfp, mask: 0xffff, ..WaitRegMem::new(a(), Compare::GreaterOrEqual, 5) })
        }
        "ib_chain" => plain(IndirectBuffer::chain(b(), 256)),
        "ib2_call" => plain(IndirectBuffer::call(b(), 64)),
        "pfp_sync_me" => plain(PfpSyncMe),
        "nop_1dw" => plain(Command::Nop(Nop::Bare)),
        "nop_type2" => plain(Command::Nop(Nop::Filler)),
        "nop_4dw" => plain(Command::Nop(Nop::Skip(&[0; 3]))),
        "nop_trace_point" => plain(Command::Nop(Nop::Skip(&[0xcafe_002a]))),
        _ => return None,
    })
}

fn pm4_value(id: &str, target: pm4::Target) -> Option<Vec<Flagged>> {
    write_data(id)
        .or_else(|| end_of_pipe(id))
        .or_else(|| pws_pair(id))
        .or_else(|| events(id))
        .or_else(|| acquire_mem(id, target))
        .or_else(|| cp_dma(id, target.level))
        .or_else(|| copy_data(id))
        .or_else(|| flow(id))
}

fn sdma_value(id: &str, version: sdma::Version) -> Option<sdma::Command<'static>> {
    use pm4::Compare;
    use sdma::{ConstFill, CopyLinear, Fence, Nop, PollMem, Timestamp, WriteLinear};
    Some(match id {
        "sdma1_copy_bytes" => CopyLinear::new(a(), b(), 256).into(),
        "sdma1_copy_dwords" => CopyLinear { in_dwords: true, ..CopyLinear::new(a(), b(), 256) }.into(),
        "sdma3_copy" | "sdma4_copy" => CopyLinear::new(a(), b(), 4096).into(),
        "sdma1_fill" => ConstFill::new(a(), 0xdead_beef, 256).into(),
        "sdma3_fill" | "sdma4_fill" => ConstFill::new(a(), 0xdead_beef, 4096).into(),
        "sdma1_write" | "sdma3_write" | "sdma4_write" => WriteLinear { to: a(), data: &[1, 2] }.into(),
        "sdma1_fence" | "sdma3_fence" | "sdma5_fence" => Fence::new(version, a(), 9).into(),
        "sdma1_poll" => PollMem { interval: 32, retries: 255, ..PollMem::new(a(), Compare::Equal, 9) }.into(),
        "sdma_poll_mem" => PollMem::new(a(), Compare::Equal, 9).into(),
        "sdma_timestamp" => Timestamp { va: a() }.into(),
        "sdma1_nop" | "sdma_nop" => Nop::default().into(),
        "sdma_nop_burst" => Nop { skipped: &[0; 3] }.into(),
        _ => return None,
    })
}

/// Encodes and decodes; the number of generations and rings tried.
fn check_pm4(vector: &Value) -> Option<usize> {
    let (id, dwords) = (vector["id"].as_str().unwrap(), dwords(vector));
    let targets = pm4_targets(vector);
    for &target in &targets {
        let packets = pm4_value(id, target)?;
        let mut out = [0xcccc_cccc; 32];
        let mut len = 0;
        for packet in &packets {
            assert_eq!(packet.len_dwords(target), packet.encode(target, &mut out[len..]), "{id} on {target}");
            len += packet.len_dwords(target).unwrap();
        }
        assert_eq!(format!("{:08x?}", &out[..len]), format!("{dwords:08x?}"), "{id} on {target}");

        let decoded = pm4::decode(&dwords, target).map(|d| d.unwrap_or_else(|e| panic!("{id}: {e}")));
        let decoded: Vec<_> = decoded.map(|d| pm4::Flagged { flags: d.flags, packet: d.command }).collect();
        assert_eq!(decoded, packets, "{id} on {target}");
    }
    Some(targets.len())
}

fn check_sdma(vector: &Value) -> Option<usize> {
    let (id, dwords) = (vector["id"].as_str().unwrap(), dwords(vector));
    let versions = versions(vector);
    for &version in &versions {
        let packet = sdma_value(id, version)?;
        let mut out = [0xcccc_cccc; 32];
        let len = packet.encode(version, &mut out).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(packet.len_dwords(version), Ok(len), "{id} on {version}");
        assert_eq!(format!("{:08x?}", &out[..len]), format!("{dwords:08x?}"), "{id} on {version}");

        let decoded = sdma::decode(&dwords, version).map(|d| d.unwrap_or_else(|e| panic!("{id}: {e}")));
        assert_eq!(decoded.map(|d| d.command).collect::<Vec<_>>(), [packet], "{id} on {version}");
    }
    Some(versions.len())
}

#[test]
fn every_vector_is_what_we_write_and_read_wherever_it_claims_to_hold() {
    let json = json();
    let mut uncovered = BTreeSet::new();
    let (mut vectors, mut places) = (0, 0);
    for (language, check) in [("pm4", check_pm4 as fn(&Value) -> Option<usize>), ("sdma", check_sdma)] {
        for vector in json[language].as_array().unwrap() {
            match check(vector) {
                Some(n) => (vectors, places) = (vectors + 1, places + n),
                None => assert!(uncovered.insert(vector["id"].as_str().unwrap().to_owned())),
            }
        }
    }
    println!("{vectors} vectors covered, on {places} rings; {} not covered", uncovered.len());
    let expected: BTreeSet<_> = UNCOVERED.into_iter().map(str::to_owned).collect();
    assert_eq!(uncovered, expected);
    assert_eq!(vectors, 57);
}

#[test]
fn an_uncovered_pm4_vector_decodes_as_unknown_packets_kept_whole() {
    let json = json();
    for vector in json["pm4"].as_array().unwrap() {
        let id = vector["id"].as_str().unwrap();
        for target in pm4_targets(vector).into_iter().filter(|_| UNCOVERED.contains(&id)) {
            let (dwords, mut again) = (dwords(vector), Vec::new());
            for packet in pm4::decode(&dwords, target).map(Result::unwrap) {
                assert!(matches!(packet.command, pm4::Command::Unknown { .. }), "{id}");
                assert_ne!(packet.command.name(), "unknown", "{id}");
                let mut out = [0; 32];
                let packet = pm4::Flagged { flags: packet.flags, packet: packet.command };
                let len = packet.encode(target, &mut out).unwrap();
                again.extend_from_slice(&out[..len]);
            }
            assert_eq!(again, dwords, "{id}");
        }
    }
}
