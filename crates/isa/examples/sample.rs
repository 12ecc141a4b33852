//! Writes a sample of instructions of every generation, for a comparison with another assembler and disassembler.
//!
//! Usage: `sample FOLDER`. `FOLDER/gfxN.txt` then has a line for each instruction: its bytes in hexadecimal, the wave size and the
//! text, with tabs between them. Each operation of each format has a few, with fields drawn at random but always the same; those
//! whose text assembles to other bytes are left out, because unused fields are not part of the text.

use std::{collections::HashMap, error::Error, fmt::Write as _, fs, path::Path};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Format, WaveSize, assemble, decode};

/// Instructions of each operation of each format.
const EACH: u32 = 3;
/// Draws for each value of the upper half of the first dword, where most formats have their number and the operation.
const ROUNDS: u32 = 6;

/// Returns the next of a sequence of numbers (splitmix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Returns the lines of a generation.
fn lines(level: GfxLevel) -> Result<String, std::fmt::Error> {
    let (mut state, mut out) = (0, String::new());
    let mut found = HashMap::<(Format, &str, WaveSize, bool), u32>::new();
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
            let key = (instruction.format(), instruction.name(), wave, instruction.extension().is_some());
            let count = found.entry(key).or_default();
            let text = instruction.to_string();
            let is_whole = |again: &amdgpu_isa::Instruction| again.dwords() == instruction.dwords();
            if *count < EACH && assemble(level, wave, &text).is_ok_and(|again| is_whole(&again)) {
                *count += 1;
                for byte in instruction.dwords().iter().flat_map(|word| word.to_le_bytes()) {
                    write!(out, "{byte:02x}")?;
                }
                writeln!(out, "\t{}\t{text}", wave.lanes())?;
            }
        }
    }
    Ok(out)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: sample FOLDER")?;
    for level in GfxLevel::ALL {
        let name = format!("{}.txt", level.name().to_ascii_lowercase());
        fs::write(Path::new(&folder).join(name), lines(level)?)?;
    }
    Ok(())
}
