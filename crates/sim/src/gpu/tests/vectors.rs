//! Every recorded packet does what its description says, wherever it claims to be valid.

use amdgpu_packets::pm4::{Register, Target as Pm4};
use amdgpu_packets::sdma::Version;
use serde_json::Value;

use super::*;

/// The two addresses of the recorded packets.
const A: u64 = 0x81_2345_6780;
const B: u64 = 0x80_0010_0000;
/// Bytes that are mapped from the page of each of them on.
const LEN: usize = 0x1_0000;
/// A read of the rig's clock gives this first.
const NOW: [u32; 2] = [1, 1];
const FILL: u32 = 0xdead_beef;

/// Two windows of memory.
struct Windows(RefCell<[(u64, Vec<u8>); 2]>);

impl Windows {
    fn new() -> Self {
        Self(RefCell::new([A, B].map(|at| (at & !0xfff, vec![0; LEN]))))
    }

    fn with(&self, va: GpuVa, len: usize, access: Access, visit: impl FnOnce(&mut [u8])) -> Result<(), PageFault> {
        let mut windows = self.0.borrow_mut();
        let range = |base: u64| usize::try_from(va.as_u64().checked_sub(base)?).ok().map(|start| start..start + len);
        let found = windows.iter_mut().find_map(|(base, bytes)| bytes.get_mut(range(*base)?));
        found.map(visit).ok_or(PageFault { va, access })
    }

    fn dwords(&self, at: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.read(va(at), &mut bytes).unwrap();
        bytes.as_chunks::<4>().0.iter().map(|&bytes| u32::from_le_bytes(bytes)).collect()
    }

    fn put(&self, at: u64, dwords: &[u32]) {
        let bytes: Vec<_> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.write(va(at), &bytes).unwrap();
    }
}

impl Memory for Windows {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.with(va, out.len(), Access::Read, |bytes| out.copy_from_slice(bytes))
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        self.with(va, data.len(), Access::Write, |bytes| bytes.copy_from_slice(data))
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        let mut bytes = vec![0; len as usize];
        self.read(from, &mut bytes)?;
        self.write(to, &bytes)
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        let bytes: Vec<_> = pattern.to_le_bytes().into_iter().cycle().take(len as usize).collect();
        self.write(to, &bytes)
    }
}

/// Memory before a packet, the packets after it in the stream, and memory afterwards.
#[derive(Default)]
struct Case {
    before: Vec<u32>,
    behind: Vec<u32>,
    after: Vec<u32>,
    registers: Vec<(u32, u32)>,
    tally: Tally,
    /// The engine stops, and what it says has this in it.
    stops: Option<&'static str>,
}

impl Case {
    fn of(before: &[u32], after: &[u32]) -> Self {
        Self { before: before.to_vec(), after: after.to_vec(), ..Self::default() }
    }

    fn stores(after: &[u32]) -> Self {
        Self::of(&[], after)
    }

    fn sets(registers: &[(u32, u32)]) -> Self {
        Self { registers: registers.to_vec(), ..Self::default() }
    }

    fn behind(self, behind: &[u32]) -> Self {
        Self { behind: behind.to_vec(), ..self }
    }

    fn starts(self, draws: u64, dispatches: u64) -> Self {
        Self { tally: Tally { draws, dispatches }, ..self }
    }
}

/// A store of 0x77 at A + 4 and a filler, six dwords in all.
const SIX: [u32; 6] = [0xc003_3700, 0x0010_0500, 0x2345_6784, 0x81, 0x77, 0x8000_0000];

fn case(id: &str) -> Case {
    let copied = |dwords: u32| Case::stores(&(0..dwords).collect::<Vec<_>>());
    let filled = |dwords| Case::stores(&vec![FILL; dwords]);
    match id {
        "write_data_mem2" => Case::stores(&[0x1111_1111, 0x2222_2222]),
        "write_data_pfp" | "release_mem_mec_gfx8" | "event_write_eos" => Case::stores(&[1, 0]),
        "write_data_grbm" => Case::stores(&[0xcafe_babe]),
        "write_data_reg" => Case::sets(&[(0x30100, 0x1234)]),
        "release_mem_ts" | "event_write_eop_ts" | "copy_data_timestamp" | "sdma_timestamp" => Case::stores(&NOW),
        "release_mem_flush_gfx9" | "release_mem_gcr_gfx10" => Case::stores(&[7, 0]),
        "event_zpass_done" | "event_write_zpass_gfx11" => Case::stores(&[0, 1 << 31, 0, 0, 0, 1 << 31, 0, 0]),
        "event_sample_pipelinestat" => Case::of(&[9], &[0]),
        "cp_dma_copy_gfx6" | "dma_data_copy_gfx7" | "sdma1_copy_bytes" | "sdma1_copy_dwords" => copied(64),
        "cp_dma_fill_gfx6" | "sdma1_fill" => filled(64),
        "dma_data_fill_gfx9" | "sdma3_fill" | "sdma4_fill" => filled(1024),
        "dma_data_copy_gfx11" => copied(0x7fe0 / 4),
        "sdma3_copy" | "sdma4_copy" => copied(1024),
        "copy_data_imm" => Case::stores(&[0x8000_0001, 0]),
        "copy_data_mem_to_reg" => Case { registers: vec![(0x28b2c, 5)], ..Case::of(&[5], &[5]) },
        "copy_data_mem64_pfp" => Case::stores(&[0, 1]),
        "wait_mem_equal" => Case::of(&[1], &[1]),
        "wait_mem_ge_pfp" => Case::of(&[0x10005], &[0x10005]),
        "ib_chain" | "ib2_call" => Case::stores(&[0, 0x77]),
        "cond_exec_gfx7" | "cond_exec_gfx6" => Case::of(&[1], &[1, 0x77]).behind(&SIX),
        "dispatch_direct" => Case::sets(&[(0xb81c, 64), (0xb820, 1), (0xb824, 1)]).starts(0, 1),
        "dispatch_indirect_mec" => Case::of(&[1, 2, 3], &[1, 2, 3]).starts(0, 1),
        "dispatch_indirect_gfx" => Case::of(&[0, 0, 0, 0, 1, 2, 3], &[]).starts(0, 1),
        "atomic_cmpswap_loop" => Case::stores(&[1]),
        "atomic_sub64" => Case::of(&[2, 1], &[u32::MAX, 0]),
        "set_predication_gfx8" | "set_predication_gfx9" => Case::default().behind(&[0xc001_2d01, 3, 2]),
        "set_predication_off" => Case::default().behind(&[0xc001_2d01, 3, 2]).starts(1, 0),
        "draw_auto_predicated" => Case::default().starts(1, 0),
        "set_context_reg" => Case::sets(&[(0x28238, 15), (0x2823c, 15)]),
        "set_uconfig_reg_index" => Case::sets(&[(0x3090c, 1)]),
        "set_config_reg_gfx6" => Case::sets(&[(0x84fc, 0)]),
        "set_context_reg_pairs" | "set_context_reg_pairs_packed" => Case::sets(&[(0x28238, 15), (0x2823c, 255)]),
        "strmout_load" => Case::of(&[64], &[64]),
        "load_sh_reg_index" => {
            Case { registers: vec![(0xb900, 4), (0xb904, 5), (0xb908, 6)], ..Case::of(&[4, 5, 6], &[]) }
        }
        "sdma1_write" | "sdma3_write" | "sdma4_write" => Case::stores(&[1, 2]),
        "sdma1_fence" | "sdma3_fence" | "sdma5_fence" => Case::stores(&[9]),
        "sdma1_poll" | "sdma_poll_mem" => Case::of(&[9], &[9]),
        "sdma_atomic_add" => Case::of(&[u32::MAX, 3], &[4, 3]),
        // The dwords behind are a fence.
        "sdma_cond_exe" => Case::of(&[1], &[1, 9]).behind(&[5, 0x2345_6784, 0x81, 9]),
        "sdma_indirect" => Case { stops: Some("belongs to the kernel"), ..Case::default() },
        // The sub-window is looked at by itself.
        "sdma4_linear_sub_window"
        | "event_cs_partial_flush"
        | "surface_sync"
        | "acquire_mem_mec_gfx8"
        | "acquire_mem_gfx9"
        | "acquire_mem_gfx10"
        | "pws_pair_gfx11"
        | "dma_data_prefetch_gfx9"
        | "dma_data_wait_idle"
        | "nop_1dw"
        | "nop_type2"
        | "nop_4dw"
        | "nop_trace_point"
        | "pfp_sync_me"
        | "sdma1_nop"
        | "sdma_nop"
        | "sdma_nop_burst"
        | "sdma_trap" => Case::default(),
        id => panic!("no case for {id}"),
    }
}

/// Returns the contents of B: dwords that count, or an IB that stores.
fn source(id: &str) -> Vec<u32> {
    if !id.starts_with("ib") {
        return (0..0x2000).collect();
    }
    let mut ib = SIX.to_vec();
    ib.resize(256, 0x8000_0000);
    ib
}

fn levels(text: &str) -> impl Iterator<Item = GfxLevel> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let level = |name: &str| GfxLevel::ALL.into_iter().find(|level| level.to_string() == name).unwrap();
    let span = level(first)..=level(last);
    GfxLevel::ALL.into_iter().filter(move |level| span.contains(level))
}

fn targets(level: GfxLevel, ring: &str) -> Vec<Target> {
    match ring {
        "sdma" if level == GfxLevel::Gfx8 => vec![Version::V2_4.into(), Version::V3_0.into()],
        "sdma" => vec![Version::of(level).into()],
        "gfx" => vec![Pm4::gfx(level).into()],
        "compute" => vec![Pm4::compute(level).into()],
        _ => vec![Pm4::gfx(level).into(), Pm4::compute(level).into()],
    }
}

fn dword(value: &Value) -> u32 {
    u32::from_str_radix(value.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn run(id: &str, packet: &[u32], target: Target) {
    let (case, memory, rig) = (case(id), Windows::new(), Rig::new());
    memory.put(B, &source(id));
    memory.put(A, &case.before);
    let ib = A + 0xb000;
    let stream = [packet, &case.behind].concat();
    memory.put(ib, &stream);

    let mut engine = Engine::new(target).with_render_backends(0b11);
    let env = Environment { memory: &memory, clock: &rig, job: &rig, shaders: &NoShaders, observer: None };
    let outcome = engine.run(Ib { va: va(ib), dwords: stream.len() as u32 }, &env);
    if let Some(what) = case.stops {
        let stop = outcome.unwrap_err().to_string();
        assert!(stop.contains(what), "{id} on {target}: {stop}");
        return;
    }
    outcome.unwrap_or_else(|stop| panic!("{id} on {target}: {stop}"));
    assert_eq!(memory.dwords(A, case.after.len()), case.after, "{id} on {target}");
    for &(byte, value) in &case.registers {
        assert_eq!(engine.registers().get(Register::at_byte(byte).unwrap()), value, "{id} on {target}: {byte:#x}");
    }
    assert_eq!(engine.state().tally(), case.tally, "{id} on {target}");
    // A dispatch here has no shader, and is told so.
    assert_eq!(rig.faults().len() as u64, case.tally.dispatches, "{id} on {target}");
    if id == "sdma4_linear_sub_window" {
        for (x, y) in [(0, 0), (15, 0), (0, 7), (15, 7)] {
            let there = A + 4 * (u64::from(y + 2) * 128 + u64::from(x + 4));
            assert_eq!(memory.dwords(there - 4, 3)[1], y * 64 + x, "{target}");
        }
        assert_eq!(memory.dwords(A + 4 * (2 * 128 + 20), 1), [0], "{target}");
    }
}

#[test]
fn every_recorded_packet_does_what_it_says() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../../packets/tests/data/packets/vectors.json")).unwrap();
    let all = ["pm4", "sdma"].iter().flat_map(|language| vectors[language].as_array().unwrap());
    let mut runs = 0;
    for vector in all {
        let text = |key: &str| vector[key].as_str().unwrap();
        let packet: Vec<_> = vector["dwords"].as_array().unwrap().iter().map(dword).collect();
        for level in levels(text("gens")) {
            for target in targets(level, text("ring")) {
                // SDMA 2.4 has no atomics; the recording says GFX8 and means 3.0.
                if (text("id"), target) != ("sdma_atomic_add", Version::V2_4.into()) {
                    run(text("id"), &packet, target);
                    runs += 1;
                }
            }
        }
    }
    assert!(runs > 400, "{runs}");
}
