//! Instructions of every operation that the interpreter executes.

use std::collections::BTreeMap;

use amdgpu_isa::decode;
use amdgpu_waves::Vectors;

use crate::{
    draw::Draw,
    frame::{Frame, SCALARS, VECTORS},
};

/// Instructions by the name of their operation and their encoding.
pub(crate) struct Bank {
    kept: Vec<(String, Vec<Vec<u32>>)>,
    /// The places of the operations on vector registers.
    vectors: Vec<usize>,
}

/// Jumps, and the ends of programs and groups: `tests/hostile.rs` has them. What follows the time of the host is not random.
const LEFT_OUT: [&str; 14] = [
    "s_branch",
    "s_cbranch",
    "s_setpc",
    "s_swappc",
    "s_call",
    "s_rfe",
    "s_endpgm",
    "s_code_end",
    "s_sethalt",
    "s_barrier",
    "s_getpc",
    "s_subvector",
    "s_setkill",
    "s_trap",
];

impl Bank {
    /// Draws instructions, up to `variants` of each operation and encoding, that a wave executes without a hang.
    pub(crate) fn new(frame: &Frame, draw: &mut Draw, variants: usize) -> Self {
        let mut found = BTreeMap::<String, Vec<Vec<u32>>>::new();
        // The upper half of the first dword has the encoding, and most of the operation; some have the operation in the lower half.
        for upper in 0..=u32::from(u16::MAX) {
            for _ in 0..draws(upper) {
                let words = words(upper, draw);
                let Ok(instruction) = decode(frame.level, frame.wave, &words) else { continue };
                let name = instruction.name();
                if LEFT_OUT.iter().any(|left_out| name.starts_with(left_out)) {
                    continue;
                }
                let key = format!("{name} {:?}", instruction.format());
                let kept = found.entry(key).or_default();
                if kept.len() >= variants || !names_few_registers(instruction.dwords(), frame) {
                    continue;
                }
                let mut start = frame.start(draw);
                start.add(instruction.dwords());
                if frame.run(&start, Vectors::Plain).is_ended() {
                    kept.push(instruction.dwords().to_vec());
                }
            }
        }
        let bank: Vec<_> = found.into_iter().filter(|(_, kept)| !kept.is_empty()).collect();
        assert!(bank.len() > 500, "{}: {} operations", frame.level, bank.len());
        let vectors = (0..bank.len()).filter(|&at| bank[at].0.starts_with("v_")).collect();
        Self { kept: bank, vectors }
    }

    /// Returns the number of operations.
    pub(crate) fn len(&self) -> usize {
        self.kept.len()
    }

    /// Draws the place of an operation, or of one on vector registers.
    pub(crate) fn place(&self, is_vector: bool, draw: &mut Draw) -> usize {
        if is_vector { self.vectors[draw.below(self.vectors.len())] } else { draw.below(self.len()) }
    }

    /// Draws an instruction of an operation.
    pub(crate) fn draw(&self, at: usize, draw: &mut Draw) -> (&str, &[u32]) {
        let (name, kept) = &self.kept[at % self.kept.len()];
        (name, &kept[draw.below(kept.len())])
    }
}

/// Returns how often instructions are drawn for the upper half of their first dword: those whose operation is in the lower half have
/// many, and those of two dwords have one upper half for each operation.
fn draws(upper: u32) -> u32 {
    match upper {
        // VOP1, SOP1, and encodings of two dwords.
        0x7e00..0x8000 | 0xbe00..0xc000 => 24,
        0xc000.. => 16,
        _ => 3,
    }
}

/// Draws the dwords of an instruction whose register fields name low registers.
fn words(upper: u32, draw: &mut Draw) -> [u32; 5] {
    let lower = draw.word() & 0xffff;
    let lower = match draw.below(4) {
        _ if upper >= 0xc000 => lower & 0xff1f,
        // A literal, DPP, DPP8 or SDWA in place of the first source.
        0 => lower & 0x3e00 | [255, 250, 233, 234, 249][draw.below(5)],
        1 => lower & 0x3f1f | 0x100,
        _ => lower,
    };
    let first = upper << 16 | lower;
    let kinds = draw.word();
    let second = match draw.below(3) {
        0 => draw.word() & 0x1f1f_1f1f,
        1 => {
            // Three operands of nine bits: vector registers, or scalar ones and constants.
            let [a, b, c] = [0, 8, 16].map(|shift| match kinds >> shift & 3 {
                0 => draw.word() % SCALARS,
                1 => 128 + draw.word() % 120,
                _ => 256 + draw.word() % VECTORS,
            });
            a | b << 9 | c << 18 | draw.word() << 27
        }
        _ => draw.word(),
    };
    [first, second, draw.value(), draw.word() & 0x1f1f_1f1f, 0]
}

/// Returns `true` if an instruction leaves alone the scalar registers in which the frame keeps values.
fn names_few_registers(words: &[u32], frame: &Frame) -> bool {
    let text = decode(frame.level, frame.wave, words).map(|instruction| instruction.to_string()).unwrap_or_default();
    let numbers = |letter: char| {
        let starts = text.match_indices(letter).map(|(at, _)| at + 1);
        starts.filter_map(|at| {
            let digits = text[at..].trim_start_matches('[');
            let last = digits.split([']', ',', ' ', '|', ')']).next()?;
            last.rsplit(':').next()?.trim_end_matches(".l").trim_end_matches(".h").parse::<u32>().ok()
        })
    };
    numbers('s').all(|number| number < SCALARS) && numbers('v').all(|number| number < VECTORS)
}
