//! Machine code and text agree with what LLVM printed and assembled.
//!
//! `AMDGPU_ISA_GOLDENS` names another folder with files of the same form: `gfxN.jsonl` or `gfxN.jsonl.gz`, each line
//! `[hex, text, wave, flag]`; flag 0 is decode-only.

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, decode};

/// One line of a file.
struct Vector {
    words: Vec<u32>,
    text: String,
    wave: WaveSize,
    assembles: bool,
}

fn folder() -> PathBuf {
    std::env::var_os("AMDGPU_ISA_GOLDENS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/vectors"), PathBuf::from)
}

fn text(name: &str) -> Option<String> {
    let plain = folder().join(format!("{name}.jsonl"));
    if let Ok(text) = fs::read_to_string(&plain) {
        return Some(text);
    }
    let packed = fs::File::open(folder().join(format!("{name}.jsonl.gz"))).ok()?;
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    Some(text)
}

fn vector(line: &str) -> Vector {
    let (hex, text, wave, flag): (String, String, u32, u32) = serde_json::from_str(line).unwrap();
    let bytes: Vec<u8> =
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    let words = bytes.chunks_exact(4).map(|dword| u32::from_le_bytes(dword.try_into().unwrap())).collect();
    let wave = if wave == 32 { WaveSize::Wave32 } else { WaveSize::Wave64 };
    Vector { words, text, wave, assembles: flag == 1 }
}

fn level(name: &str) -> GfxLevel {
    GfxLevel::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name)).unwrap()
}

#[test]
fn decoded_text_equals_llvms() {
    let mut failures = BTreeMap::new();
    for name in ["gfx6", "gfx7", "gfx8", "gfx9", "gfx10", "gfx10_3", "gfx11", "gfx12"] {
        let Some(text) = text(name) else { continue };
        let (mut all, mut wrong) = (0, Vec::new());
        for vector in text.lines().map(vector) {
            all += 1;
            let printed = match decode(level(name), vector.wave, &vector.words) {
                Ok(instruction) if instruction.dwords().len() != vector.words.len() => {
                    format!("{instruction} (of {} dwords)", instruction.dwords().len())
                }
                Ok(instruction) => instruction.to_string(),
                Err(error) => error.to_string(),
            };
            if printed != vector.text.trim_end() {
                wrong.push(format!("{:08x?} {} printed {printed}", vector.words, vector.text));
            }
            let _ = vector.assembles;
        }
        println!("{name}: {} of {all}", all - wrong.len());
        failures.insert(name, wrong);
    }
    let shown = std::env::var("SHOW").ok().and_then(|count| count.parse().ok()).unwrap_or(3);
    for (name, wrong) in &failures {
        for line in wrong.iter().step_by((wrong.len() / shown).max(1)).take(shown) {
            println!("{name}: {line}");
        }
    }
    assert!(failures.values().all(Vec::is_empty));
}
