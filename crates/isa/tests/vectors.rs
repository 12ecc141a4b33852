//! Machine code and text agree with what LLVM printed and assembled.
//!
//! `AMDGPU_ISA_GOLDENS` names another folder with files of the same form: `gfxN.jsonl` or `gfxN.jsonl.gz`, each line
//! `[hex, text, wave, flag]`; flag 0 is decode-only.

#[path = "support/code.rs"]
mod code;
mod support;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble, decode};
use code::dwords;
use support::{folder, level, text};

/// One line of a file.
struct Vector {
    words: Vec<u32>,
    text: String,
    wave: WaveSize,
    assembles: bool,
}

fn vector(line: &str) -> Vector {
    let (hex, text, wave, flag): (String, String, u32, u32) = serde_json::from_str(line).unwrap();
    let words = dwords(&hex);
    let wave = if wave == 32 { WaveSize::Wave32 } else { WaveSize::Wave64 };
    Vector { words, text, wave, assembles: flag == 1 }
}

/// The generations that have a file.
const GENERATIONS: [&str; 9] = ["gfx6", "gfx7", "gfx8", "gfx9", "gfx10", "gfx10_3", "gfx11", "gfx11_5", "gfx12"];

/// Compares every vector of every generation; at least 99.5 % of each generation's must agree.
fn compare(what: &str, mut misfit: impl FnMut(GfxLevel, &Vector) -> Option<String>) {
    let folder = folder("AMDGPU_ISA_GOLDENS", "tests/data/vectors");
    let mut failed = false;
    for name in GENERATIONS {
        let Some(text) = text(&folder.join(format!("{name}.jsonl"))) else { continue };
        let vectors: Vec<_> = text.lines().map(vector).collect();
        let wrong: Vec<_> = vectors.iter().filter_map(|vector| misfit(level(name), vector)).collect();
        println!("{name}: {} of {} {what}", vectors.len() - wrong.len(), vectors.len());
        for line in &wrong {
            println!("{name}: {line}");
        }
        failed |= wrong.len() * 1000 > vectors.len() * 5;
    }
    assert!(!failed, "more than 5 of 1000 differ");
}

#[test]
fn decoded_text_equals_llvms() {
    compare("printed as LLVM prints them", |level, vector| {
        let printed = match decode(level, vector.wave, &vector.words) {
            Ok(instruction) if instruction.dwords().len() != vector.words.len() => {
                format!("{instruction} (of {} dwords)", instruction.dwords().len())
            }
            Ok(instruction) => instruction.to_string(),
            Err(error) => error.to_string(),
        };
        (printed != vector.text.trim_end()).then(|| format!("{:08x?} {} printed {printed}", vector.words, vector.text))
    });
}

#[test]
fn text_assembles_to_llvms_bytes() {
    compare("assembled as LLVM assembles them, where it does", |level, vector| {
        if !vector.assembles {
            return None;
        }
        match assemble(level, vector.wave, &vector.text) {
            Ok(instruction) if instruction.dwords() == vector.words => None,
            Ok(instruction) => {
                Some(format!("{} {:08x?} became {:08x?}", vector.text, vector.words, instruction.dwords()))
            }
            Err(error) => Some(error.to_string()),
        }
    });
}
