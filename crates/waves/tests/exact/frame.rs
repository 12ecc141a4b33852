//! The code around the random instructions, which loads the registers and stores them, and the memory.

use std::{cell::RefCell, fmt::Write as _};

use amdgpu_descriptors::view::BufferView;
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_isa::{WaveSize, assemble, decode};
use amdgpu_waves::{Access, Dispatch, Limits, Memory, Outcome, PageFault, Vectors, run};

use crate::draw::Draw;

const PROGRAM: u64 = 0x10_0000;
const DATA: u64 = 0x20_0000;
/// The vector registers that instructions may name, and those of the frame behind them.
pub(crate) const VECTORS: u32 = 32;
const ADDRESS: u32 = 36;
const QUAD: u32 = 37;
const WORD: u32 = 38;
/// The scalar registers that instructions may name.
pub(crate) const SCALARS: u32 = 48;
/// The bytes of a row: a dword of 64 lanes. Four vector registers are a quad, which takes four rows: four dwords of each lane.
const ROW: u32 = 256;
/// Rows of inputs, of memory for the instructions, and of results: vector registers, then scalar ones as lanes of two rows.
const INPUTS: u32 = VECTORS;
const SCRATCH: u32 = 32;
const RESULTS: u32 = VECTORS + 2;
/// Scalar registers in a row: a wave may have 32 lanes.
const IN_ROW: u32 = 32;
const BYTES: u32 = ROW * (INPUTS + SCRATCH + RESULTS);
/// The value that stands for a literal that each program sets.
const LITERAL: u32 = 0x1357_9bdf;

/// The registers and memory that a program leaves.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    outcome: Outcome,
    data: Vec<u8>,
}

impl End {
    /// Returns the number of instructions that were executed, if the program ended.
    pub(crate) fn instructions(&self) -> u64 {
        match &self.outcome {
            Outcome::Done(counters) | Outcome::Fault { counters, .. } => counters.instructions,
            _ => 0,
        }
    }

    /// Returns `true` if the program ended.
    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.outcome, Outcome::Done(_) | Outcome::Fault { .. })
    }
}

/// The start of a program: its words so far, its data and its float mode.
pub(crate) struct Start {
    words: Vec<u32>,
    body: usize,
    data: Vec<u8>,
    mode: u32,
    /// The waves that execute the program, one after the other: the first decodes it, the last find blocks.
    pub(crate) waves: u32,
}

impl Start {
    /// Adds an instruction.
    pub(crate) fn add(&mut self, words: &[u32]) {
        self.words.extend(words);
    }
}

struct Ram {
    program: Vec<u8>,
    data: RefCell<Vec<u8>>,
}

fn range(va: u64, base: u64, len: usize, size: usize, access: Access) -> Result<std::ops::Range<usize>, PageFault> {
    let start = va.checked_sub(base).and_then(|start| usize::try_from(start).ok());
    let end = start.and_then(|start| start.checked_add(len));
    start.zip(end).filter(|(_, end)| *end <= size).map(|(start, end)| start..end).ok_or(PageFault { va, access })
}

impl Memory for Ram {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        let data = self.data.borrow();
        out.copy_from_slice(&data[range(va, DATA, out.len(), data.len(), Access::Load)?]);
        Ok(())
    }

    fn store(&self, va: u64, bytes: &[u8]) -> Result<(), PageFault> {
        let mut data = self.data.borrow_mut();
        let range = range(va, DATA, bytes.len(), data.len(), Access::Store)?;
        data[range].copy_from_slice(bytes);
        Ok(())
    }

    fn atomic(&self, va: u64, len: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let mut data = self.data.borrow_mut();
        let range = range(va, DATA, len.into(), data.len(), Access::Store)?;
        let mut word = [0; 8];
        word[..len.into()].copy_from_slice(&data[range.clone()]);
        let old = u64::from_le_bytes(word);
        data[range].copy_from_slice(&change(old).to_le_bytes()[..len.into()]);
        Ok(old)
    }

    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        out.copy_from_slice(&self.program[range(va, PROGRAM, out.len(), self.program.len(), Access::Fetch)?]);
        Ok(())
    }
}

/// The code around the instructions of a generation and wave size.
pub(crate) struct Frame {
    pub(crate) level: GfxLevel,
    pub(crate) wave: WaveSize,
    before: Vec<u32>,
    after: Vec<u32>,
}

impl Frame {
    pub(crate) fn new(level: GfxLevel, wave: WaveSize) -> Self {
        let words = |text: String| {
            let made = text.lines().map(|line| {
                assemble(level, wave, line).unwrap_or_else(|error| panic!("{level} {line}: {error}")).dwords().to_vec()
            });
            made.flatten().collect()
        };
        Self { level, wave, before: words(before(level)), after: words(after(level)) }
    }

    /// Draws how a program starts.
    pub(crate) fn start(&self, draw: &mut Draw) -> Start {
        let mut words = self.before.clone();
        let buffer = descriptor(self.level, ROW * INPUTS, ROW * SCRATCH);
        let halves = |mask: u64| [mask as u32, (mask >> 32) as u32];
        let (vcc, exec) = (halves(draw.mask()), halves(draw.mask()));
        let mut literals = Vec::new();
        for register in 0..SCALARS {
            // Two buffers, one of them over all data, and two addresses; the others are any values.
            literals.push(match register {
                4..8 | 16..20 => buffer[register as usize % 4],
                8 | 20 => (DATA + u64::from(ROW * INPUTS)) as u32,
                9 | 21 => 0,
                _ => draw.value(),
            });
        }
        literals.extend([vcc[0], vcc[1], draw.value() & 0x1ff, exec[0], exec[1]]);
        let mut literals = literals.into_iter();
        for word in words.iter_mut().filter(|word| **word == LITERAL) {
            *word = literals.next().expect("a literal for each move");
        }
        assert!(literals.next().is_none(), "each literal has its move");
        let mut data = vec![0; BYTES as usize];
        for word in data[..(ROW * (INPUTS + SCRATCH)) as usize].as_chunks_mut::<4>().0 {
            *word = draw.value().to_le_bytes();
        }
        Start { body: words.len(), words, data, mode: draw.word() & 0xff, waves: 1 }
    }

    /// Runs a program.
    pub(crate) fn run(&self, start: &Start, vectors: Vectors) -> End {
        let words = start.words.iter().chain(&self.after).chain(&[0; 5]);
        let ram = Ram {
            program: words.flat_map(|word| word.to_le_bytes()).collect(),
            data: RefCell::new(start.data.clone()),
        };
        let mut user_data = [0; 16];
        user_data[..4].copy_from_slice(&descriptor(self.level, 0, BYTES));
        let dispatch = Dispatch {
            level: self.level,
            wave: self.wave,
            program: PROGRAM,
            // At least 40 VGPRs, the float mode, clamping of NaNs, four user registers and LDS of four units.
            resources: [9 | start.mode << 12 | 1 << 21, 4 << 1 | 4 << 15, 0],
            user_data,
            threads: [start.waves * self.wave.lanes(), 1, 1],
            partial: [0; 3],
            start: [0; 3],
            end: [1; 3],
            scratch_ring: 0,
            scratch_base: 0,
            chip: None,
            border_colors: 0,
        };
        let limits = Limits { instructions: 20_000, vectors, ..Limits::default() };
        let outcome = run(&dispatch, &ram, limits);
        End { outcome, data: ram.data.into_inner() }
    }

    /// Describes the first difference between what a program leaves.
    pub(crate) fn difference(&self, start: &Start, vectors: Vectors, (expected, found): (&End, &End)) -> String {
        let mut text = format!("{}, {} lanes, mode {:#x}, {vectors:?}:\n", self.level, self.wave.lanes(), start.mode);
        let mut rest = &start.words[start.body..];
        while let Ok(instruction) = decode(self.level, self.wave, rest) {
            let _ = writeln!(text, "  {instruction}");
            rest = &rest[instruction.dwords().len()..];
        }
        if expected.outcome != found.outcome {
            let _ = writeln!(text, "{:?} instead of {:?}", found.outcome, expected.outcome);
        }
        let words = |end: &End| -> Vec<u32> {
            end.data.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
        };
        for (place, (expected, found)) in words(expected).into_iter().zip(words(found)).enumerate() {
            if expected != found {
                let (row, lane) = (place as u32 / (ROW / 4), place as u32 % (ROW / 4));
                let first = INPUTS + SCRATCH;
                let name = match row {
                    _ if row < first => format!("row {row} of memory, dword {lane}"),
                    _ if row < first + VECTORS => {
                        let within = place as u32 % ROW;
                        format!("v{}, lane {}", (row - first) / 4 * 4 + within % 4, within / 4)
                    }
                    _ => match (row - first - VECTORS) * IN_ROW + lane {
                        scalar if scalar < SCALARS => format!("s{scalar}"),
                        other => format!("special register {}", other - SCALARS),
                    },
                };
                let _ = writeln!(text, "{name}: {found:#010x} instead of {expected:#010x}");
                break;
            }
        }
        text
    }
}

/// Returns the descriptor of a part of the data.
fn descriptor(level: GfxLevel, start: u32, bytes: u32) -> [u32; 4] {
    BufferView::raw(GpuVa::from_48_bits(DATA + u64::from(start)), bytes).descriptor(level).unwrap().words()
}

/// Returns the text of a load or store of a register, or of four.
fn access(level: GfxLevel, is_store: bool, (register, count): (u32, u32), row: u32) -> String {
    let kind = if is_store { "store" } else { "load" };
    let (size, registers, lane) = match (level >= GfxLevel::Gfx11, count) {
        (true, 1) => ("b32", format!("v{register}"), ADDRESS),
        (false, 1) => ("dword", format!("v{register}"), ADDRESS),
        (is_new, _) => {
            (if is_new { "b128" } else { "dwordx4" }, format!("v[{register}:{}]", register + count - 1), QUAD)
        }
    };
    let offset = if level >= GfxLevel::Gfx12 { "null" } else { "0" };
    let (sum, carry) = match level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 => ("v_add_i32_e32", " vcc,"),
        GfxLevel::Gfx8 => ("v_add_u32_e32", " vcc,"),
        GfxLevel::Gfx9 => ("v_add_u32_e32", ""),
        _ => ("v_add_nc_u32_e32", ""),
    };
    format!(
        "{sum} v{WORD},{carry} {:#x}, v{lane}\nbuffer_{kind}_{size} {registers}, v{WORD}, s[0:3], {offset} offen\n",
        ROW * row
    )
}

/// Returns the code that loads the registers.
fn before(level: GfxLevel) -> String {
    let mut code = address();
    for register in (0..VECTORS).step_by(4) {
        code += &access(level, false, (register, 4), register);
    }
    for register in 0..SCALARS {
        let _ = writeln!(code, "s_mov_b32 s{register}, {LITERAL:#x}");
    }
    for register in ["vcc_lo", "vcc_hi", "m0", "exec_lo", "exec_hi"] {
        let _ = writeln!(code, "s_mov_b32 {register}, {LITERAL:#x}");
    }
    code
}

/// Returns the code that puts four times and sixteen times the lane's number into the registers of addresses.
fn address() -> String {
    format!(
        "v_mbcnt_lo_u32_b32_e64 v{ADDRESS}, -1, 0\nv_mbcnt_hi_u32_b32_e64 v{ADDRESS}, -1, v{ADDRESS}\n\
         v_lshlrev_b32_e32 v{QUAD}, 4, v{ADDRESS}\nv_lshlrev_b32_e32 v{ADDRESS}, 2, v{ADDRESS}\n"
    )
}

/// Returns the code that stores the registers.
fn after(level: GfxLevel) -> String {
    // What the instructions may have changed is kept in registers that they cannot name.
    let mut code =
        "s_cselect_b32 s90, 1, 0\ns_mov_b32 s91, exec_lo\ns_mov_b32 s92, exec_hi\ns_mov_b32 s93, vcc_lo\n".to_owned();
    code += "s_mov_b32 s94, vcc_hi\ns_mov_b32 s95, m0\ns_mov_b32 exec_lo, -1\ns_mov_b32 exec_hi, -1\n";
    let kept = 64;
    for register in 0..4 {
        let _ = writeln!(code, "s_mov_b32 s{}, s{register}", kept + register);
    }
    for (register, word) in descriptor(level, 0, BYTES).into_iter().enumerate() {
        let _ = writeln!(code, "s_mov_b32 s{register}, {word:#x}");
    }
    code += &address();
    let first = INPUTS + SCRATCH;
    for register in (0..VECTORS).step_by(4) {
        code += &access(level, true, (register, 4), first + register);
    }
    let scalars = (0..SCALARS).map(|register| if register < 4 { kept + register } else { register });
    let scalars: Vec<u32> = scalars.chain(90..96).collect();
    for (row, registers) in (0..).zip(scalars.chunks(IN_ROW as usize)) {
        for (lane, register) in registers.iter().enumerate() {
            let _ = writeln!(code, "v_writelane_b32 v{row}, s{register}, {lane}");
        }
        code += &access(level, true, (row, 1), first + VECTORS + row);
    }
    code + "s_endpgm\n"
}
