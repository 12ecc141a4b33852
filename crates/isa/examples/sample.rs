//! Writes a sample of instructions of every generation, for a comparison with another assembler and disassembler.
//!
//! Usage: `sample FOLDER`. `FOLDER/gfxN.txt` then has a line for each instruction: its bytes in hexadecimal, the wave size and the
//! text, with tabs between them. Each operation of each format has a few, with fields drawn at random but always the same, as the
//! assembler makes them of the text: unused fields are not part of it. `FOLDER/gfxN.missing` names the operations of the table that
//! have no instruction in the sample, because none of their dwords is decoded, or none of their texts assembled.

use std::{
    collections::{HashMap, HashSet},
    error::Error,
    fmt::Write as _,
    fs,
    path::Path,
};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Format, Instruction, Opcode, WaveSize, assemble, decode, table};

/// Instructions of each operation of each format.
const EACH: u32 = 10;
/// Draws for each value of the upper half of the first dword, where most formats have their number and the operation.
const ROUNDS: u32 = 24;

/// Returns the next of a sequence of numbers (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns the line of an instruction.
fn line(instruction: &Instruction, text: &str) -> String {
    let bytes = instruction.dwords().iter().flat_map(|word| word.to_le_bytes());
    let code = bytes.fold(String::new(), |mut code, byte| {
        let _ = write!(code, "{byte:02x}");
        code
    });
    format!("{code}\t{}\t{text}\n", instruction.wave().lanes())
}

/// Returns the lines of a generation, and those of the operations without an instruction.
fn lines(level: GfxLevel) -> (String, String) {
    let (mut state, mut out, mut missing) = (0, String::new(), String::new());
    let mut found = HashMap::<(Format, &str, Option<&str>, WaveSize, bool), u32>::new();
    let mut present = HashSet::new();
    for round in 0..ROUNDS {
        for upper in 0..=u16::MAX {
            let (low, high) = (next(&mut state), next(&mut state));
            // Every other round has small fields: constants, offsets and modifiers that are mostly zero.
            let mask = if round % 2 == 0 { u64::MAX } else { next(&mut state) & next(&mut state) };
            let words = [
                u32::from(upper) << 16 | low as u32 & 0xffff,
                (high & mask) as u32,
                (high >> 32 & mask) as u32,
                (low >> 32) as u32,
                0,
            ];
            let wave = if level >= GfxLevel::Gfx10 && round % 3 == 0 { WaveSize::Wave32 } else { WaveSize::Wave64 };
            let Ok(instruction) = decode(level, wave, &words) else { continue };
            let second = instruction.second_opcode();
            let second_name = second.map(Opcode::name);
            let extended = instruction.extension().is_some();
            let count =
                found.entry((instruction.format(), instruction.name(), second_name, wave, extended)).or_default();
            if *count == EACH {
                continue;
            }
            let text = instruction.to_string();
            // Assembled from its text, the instruction has no bits in fields that it does not use.
            let Ok(plain) = assemble(level, wave, &text) else { continue };
            if plain.to_string() == text {
                *count += 1;
                out += &line(&plain, &text);
                present.extend([Some(instruction.opcode()), second].into_iter().flatten().map(key_of));
            }
        }
    }
    for opcode in table(level).opcodes().iter().filter(|opcode| !present.contains(&key_of(opcode))) {
        let _ = writeln!(missing, "{} {} {}", opcode.format.name(), opcode.number, opcode.name());
    }
    (out, missing)
}

/// Returns the format and number of an operation.
fn key_of(opcode: &Opcode) -> (Format, u16) {
    (opcode.format, opcode.number)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: sample FOLDER")?;
    for level in GfxLevel::ALL {
        let (sample, missing) = lines(level);
        for (text, ending) in [(sample, "txt"), (missing, "missing")] {
            fs::write(Path::new(&folder).join(format!("{}.{ending}", level.name().to_ascii_lowercase())), text)?;
        }
    }
    Ok(())
}
