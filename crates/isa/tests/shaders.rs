//! Machine code that RADV made from real shaders splits into instructions, which print as LLVM prints them.
//!
//! `AMDGPU_ISA_SHADERS` names another folder whose `code` holds files of the same form, `CHIP.waveN.jsonl` or the same
//! with `.gz`.

#[path = "support/code.rs"]
mod code;
mod support;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Format, WaveSize, decode, table};
use code::dwords;
use serde_json::Value;
use support::{folder, level, text};

/// The chips that have files, and their generations.
const CHIPS: [(&str, GfxLevel); 9] = [
    ("pitcairn", GfxLevel::Gfx6),
    ("bonaire", GfxLevel::Gfx7),
    ("polaris10", GfxLevel::Gfx8),
    ("vega10", GfxLevel::Gfx9),
    ("renoir", GfxLevel::Gfx9),
    ("navi10", GfxLevel::Gfx10),
    ("navi21", GfxLevel::Gfx10_3),
    ("navi31", GfxLevel::Gfx11),
    ("gfx1201", GfxLevel::Gfx12),
];

/// Returns `true` if LLVM's text is known to be wrong or missing: image operations of GFX6, GFX7 and GFX12, literals of mixed
/// multiplications, which it cuts to 16 bits, the halves that
/// 16-bit shifts choose, and the names of register halves, which our text gives by their encoded number.
fn is_unknown_to_llvm(level: GfxLevel, text: &str) -> bool {
    let shift = ["v_lshlrev_b16 ", "v_lshrrev_b16 ", "v_ashrrev_i16 "].iter().any(|name| text.starts_with(name));
    let halves = text.contains(".l, ") || text.contains(".h, ");
    let image = level == GfxLevel::Gfx12 && text.starts_with("image_");
    text.ends_with("; no text") || image || shift || halves || text.contains("_mix") && text.contains("0x")
}

/// Returns what differs between a line and its decoded code.
fn misfits(level: GfxLevel, wave: WaveSize, line: &Value) -> Vec<String> {
    let code = dwords(line["code"].as_str().unwrap());
    let end = line["exec_size"].as_u64().unwrap() as usize / 4;
    let texts: Vec<_> = line["text"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let (mut at, mut misfits) = (0, Vec::new());
    for text in texts {
        match decode(level, wave, &code[at..]) {
            Ok(instruction) => {
                at += instruction.dwords().len();
                let printed = instruction.to_string();
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                if printed != text && !is_unknown_to_llvm(level, &text) {
                    misfits.push(format!("{text} printed {printed}"));
                }
            }
            Err(error) => {
                misfits.push(format!("{text}: {error}"));
                return misfits;
            }
        }
    }
    if at != end {
        misfits.push(format!("instructions end at dword {at} instead of {end}"));
    }
    misfits
}

#[test]
fn shaders_of_radv_split_to_the_last_byte_and_print_alike() {
    let folder = folder("AMDGPU_ISA_SHADERS", "tests/data/shaders").join("code");
    let (mut shaders, mut wrong) = (0, Vec::new());
    for (chip, level) in CHIPS {
        for (wave, lanes) in [(WaveSize::Wave32, 32), (WaveSize::Wave64, 64)] {
            let Some(text) = text(&folder.join(format!("{chip}.wave{lanes}.jsonl"))) else { continue };
            for line in text.lines() {
                let line: Value = serde_json::from_str(line).unwrap();
                shaders += 1;
                let found = misfits(level, wave, &line);
                wrong.extend(found.into_iter().map(|misfit| format!("{chip} {lanes} {}: {misfit}", line["shader"])));
            }
        }
    }
    wrong.iter().take(40).for_each(|line| println!("{line}"));
    assert!(shaders > 0, "no shaders in {}", folder.display());
    assert_eq!(wrong.len(), 0, "of {shaders} shaders");
}

/// Every operation that RADV used is in the tables, under its own name or LLVM's.
#[test]
fn every_operation_of_radv_is_known() {
    let path = folder("AMDGPU_ISA_OPCODES", "tests/data").join("radv-opcodes.json");
    let all: Value = serde_json::from_str(&text(&path).unwrap()).unwrap();
    let mut missing = Vec::new();
    for (name, used) in all.as_object().unwrap() {
        let table = table(level(name));
        for pair in used["opcodes"].as_object().unwrap().keys() {
            let (format, operation) = pair.split_once(' ').unwrap();
            let found = table.opcodes().iter().any(|opcode| {
                let same_format = opcode.format.name() == format || opcode.format == Format::Vopd && format == "VOPD";
                same_format && (opcode.name() == operation || format == "VOPD")
            });
            if !found {
                missing.push(format!("{name} {pair}"));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}
