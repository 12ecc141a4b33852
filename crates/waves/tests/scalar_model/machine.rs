//! A wave that executes one instruction, between code that loads its registers and code that stores them.

use std::{fmt::Write as _, sync::Mutex};

use amdgpu_descriptors::view::BufferView;
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_isa::{Instruction, WaveSize, assemble};
use amdgpu_waves::{Access, Dispatch, Limits, Memory, Outcome, PageFault, run};

use super::table::Env;

/// Addresses of the program and of the data.
const PROGRAM: u64 = 0x10_0000;
const DATA: u64 = 0x20_0000;
/// The bytes of a register of 64 lanes.
const ROW: usize = 256;
/// The register rows in memory: eight inputs, scalars, and the results.
const SCALARS: usize = 8;
const ROWS: usize = 13;

/// A 32-bit value of every lane.
pub(crate) type Lanes = [u32; 64];

/// The registers that an instruction reads and writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// `v2` to `v9`: three sources and the destination, two registers each.
    pub(crate) vectors: [Lanes; 8],
    /// `s8` to `s17`: two sources, the destination, a mask and the destination of a mask, two registers each.
    pub(crate) scalars: [u32; 10],
    pub(crate) vcc: u64,
    pub(crate) exec: u64,
    pub(crate) scc: bool,
    pub(crate) m0: u32,
}

impl State {
    /// Returns two scalar registers, from `s8 + 2 * pair` on.
    pub(crate) fn pair(&self, pair: usize) -> u64 {
        u64::from(self.scalars[2 * pair]) | u64::from(self.scalars[2 * pair + 1]) << 32
    }

    /// Sets two scalar registers.
    pub(crate) fn set_pair(&mut self, pair: usize, value: u64) {
        self.scalars[2 * pair] = value as u32;
        self.scalars[2 * pair + 1] = (value >> 32) as u32;
    }
}

/// The program and the data.
struct Ram {
    program: Vec<u8>,
    data: Mutex<Vec<u8>>,
}

fn range(va: u64, base: u64, len: usize, size: usize, access: Access) -> Result<std::ops::Range<usize>, PageFault> {
    let start = va.checked_sub(base).and_then(|start| usize::try_from(start).ok());
    start.filter(|start| start + len <= size).map(|start| start..start + len).ok_or(PageFault { va, access })
}

impl Memory for Ram {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let data = self.data.lock().unwrap();
        out.copy_from_slice(&data[range(va, DATA, out.len(), data.len(), Access::Load)?]);
        Ok(())
    }

    fn store(&self, va: u64, bytes: &[u8]) -> Result<(), PageFault> {
        let mut data = self.data.lock().unwrap();
        let range = range(va, DATA, bytes.len(), data.len(), Access::Store)?;
        data[range].copy_from_slice(bytes);
        Ok(())
    }

    fn atomic(&self, va: u64, _: u8, _: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        Err(PageFault { va, access: Access::Store })
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        out.copy_from_slice(&self.program[range(va, PROGRAM, out.len(), self.program.len(), Access::Fetch)?]);
        Ok(())
    }
}

/// The code around the instructions of a generation and wave size.
pub(crate) struct Machine {
    pub(crate) level: GfxLevel,
    pub(crate) wave: WaveSize,
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Machine {
    pub(crate) fn new(level: GfxLevel, wave: WaveSize) -> Self {
        let (before, after) = (before(level), after(level));
        let words = |text: &str| {
            text.lines()
                .flat_map(|line| {
                    let made = assemble(level, wave, line).unwrap_or_else(|error| panic!("{level} {line}: {error}"));
                    made.dwords().to_vec()
                })
                .collect()
        };
        Self { level, wave, before: words(&before), after: words(&after) }
    }

    /// Executes an instruction and returns the state that it leaves, or the reason why it is not executed.
    pub(crate) fn run(&self, instruction: &Instruction, env: Env, state: &State) -> Result<State, String> {
        self.run_words(instruction.dwords(), env, state)
    }

    /// Executes instructions and returns the state that they leave, or the reason why they are not executed.
    pub(crate) fn run_words(&self, words: &[u32], env: Env, state: &State) -> Result<State, String> {
        let words = self.before.iter().chain(words).chain(&self.after);
        let program = words.flat_map(|word| word.to_le_bytes()).collect();
        let mut rows = vec![[0; 64]; ROWS];
        rows[..8].copy_from_slice(&state.vectors);
        let halves = |value: u64| [value as u32, (value >> 32) as u32];
        let scalars = state.scalars.into_iter().chain(halves(state.vcc)).chain(halves(state.exec));
        for (to, value) in rows[SCALARS].iter_mut().zip(scalars.chain([state.m0, state.scc.into()])) {
            *to = value;
        }
        let data: Vec<u8> = rows.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        let buffer = BufferView::raw(GpuVa::from_48_bits(DATA), data.len() as u32);
        let mut user_data = [0; 16];
        user_data[..4].copy_from_slice(&buffer.descriptor(self.level).unwrap().words());
        let dispatch = Dispatch {
            level: self.level,
            wave: self.wave,
            program: PROGRAM,
            // At least 32 VGPRs, the float mode, clamping of NaNs (which has no bit on GFX12), and four user registers.
            resources: [
                7 | env.float_mode << 12 | u32::from(!env.keeps_nan && self.level < GfxLevel::Gfx12) << 21,
                4 << 1,
                0,
            ],
            user_data,
            threads: [self.wave.lanes(), 1, 1],
            partial: [0; 3],
            start: [0; 3],
            end: [1; 3],
            scratch_ring: 0,
            scratch_base: 0,
            chip: None,
            border_colors: 0,
        };
        let ram = Ram { program, data: Mutex::new(data) };
        match run(&dispatch, &ram, Limits::default()) {
            Outcome::Done(_) => {}
            Outcome::Hang(hang) => return Err(hang.reason.to_string()),
            other => return Err(format!("{other:?}")),
        }
        let data = ram.data.into_inner().unwrap();
        let row = |row: usize| -> Lanes {
            let words = data[ROW * row..ROW * (row + 1)].as_chunks().0;
            std::array::from_fn(|lane| u32::from_le_bytes(words[lane]))
        };
        let mut after = state.clone();
        // Lanes that a wave does not have stay.
        let lanes = self.wave.lanes() as usize;
        for (register, stored) in [(0, 9), (6, 10), (7, 11)] {
            after.vectors[register][..lanes].copy_from_slice(&row(stored)[..lanes]);
        }
        let scalars = row(12);
        let pair = |index: usize| u64::from(scalars[index]) | u64::from(scalars[index + 1]) << 32;
        after.scalars.copy_from_slice(&scalars[..10]);
        (after.vcc, after.exec, after.m0, after.scc) = (pair(10), pair(12), scalars[14], scalars[15] != 0);
        Ok(after)
    }
}

/// Returns the text of a load or store of a register, whose row is `row`.
fn access(level: GfxLevel, is_store: bool, register: u32, row: usize) -> String {
    let kind = if is_store { "store" } else { "load" };
    let size = if level >= GfxLevel::Gfx11 { "b32" } else { "dword" };
    let offset = if level >= GfxLevel::Gfx12 { "null" } else { "0" };
    format!("buffer_{kind}_{size} v{register}, v1, s[0:3], {offset} offen offset:{}\n", ROW * row)
}

/// Returns the code that loads the registers.
fn before(level: GfxLevel) -> String {
    let mut code = "v_lshlrev_b32_e32 v1, 2, v0\n".to_owned();
    for row in 0..=SCALARS {
        code += &access(level, false, 2 + row as u32, row);
    }
    for scalar in 0..16 {
        let _ = writeln!(code, "v_readlane_b32 s{}, v10, {scalar}", 8 + scalar);
    }
    let moves = ["vcc_lo, s18", "vcc_hi, s19", "exec_lo, s20", "exec_hi, s21", "m0, s22"];
    for operands in moves {
        let _ = writeln!(code, "s_mov_b32 {operands}");
    }
    code + "s_cmp_lg_u32 s23, 0\n"
}

/// Returns the code that stores the registers.
fn after(level: GfxLevel) -> String {
    let mut code =
        "s_cselect_b32 s23, 1, 0\ns_mov_b32 s22, m0\ns_mov_b32 s20, exec_lo\ns_mov_b32 s21, exec_hi\n".to_owned();
    code += "s_mov_b32 s18, vcc_lo\ns_mov_b32 s19, vcc_hi\ns_mov_b32 exec_lo, -1\ns_mov_b32 exec_hi, -1\n";
    for scalar in 0..16 {
        let _ = writeln!(code, "v_writelane_b32 v10, s{}, {scalar}", 8 + scalar);
    }
    for (row, register) in [(9, 2), (10, 8), (11, 9), (12, 10)] {
        code += &access(level, true, register, row);
    }
    code + "s_endpgm\n"
}
