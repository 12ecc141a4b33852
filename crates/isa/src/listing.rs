//! Listings of programs: a line for each instruction, with its offset, its dwords, and a label if it is the target of a branch.
//!
//! ```
//! use amdgpu_hw::GfxLevel;
//! use amdgpu_isa::{Listing, WaveSize, program_len};
//!
//! // A loop, its end, and what lies behind it.
//! let memory = [0xbf80_0000, 0xbf82_fffe, 0xbf81_0000, 0xffff_ffff];
//! let len = program_len(GfxLevel::Gfx9, WaveSize::Wave64, &memory).expect("it ends");
//! let listing = Listing::new(GfxLevel::Gfx9, WaveSize::Wave64, &memory[..len]);
//! assert_eq!(len, 3);
//! assert!(listing.to_string().contains("s_branch 65534  ; to 0x0000"));
//! ```

use std::fmt;

use amdgpu_hw::GfxLevel;

use crate::{DecodeError, Field, Format, Instruction, WaveSize, decode};

/// A program, decoded from its first to its last dword.
#[derive(Clone, Debug)]
pub struct Listing {
    lines: Vec<Line>,
}

/// A line of a [`Listing`]: an instruction, or a dword that cannot be decoded.
#[derive(Clone, Debug)]
pub struct Line {
    /// The offset from the start of the program in bytes.
    pub offset: usize,
    /// The dwords of the instruction; one dword if it cannot be decoded.
    pub dwords: Vec<u32>,
    /// The instruction, or the decoding error.
    pub content: Result<Instruction, DecodeError>,
    /// The offset of the branch target from the start of the program in bytes, if the instruction is a branch.
    pub target: Option<i64>,
    /// `true` if the instruction is the target of a branch.
    pub is_label: bool,
}

impl Listing {
    /// Decodes all of `program`. A dword that does not start an instruction becomes a line of its own, and decoding continues with
    /// the next dword.
    pub fn new(level: GfxLevel, wave: WaveSize, program: &[u32]) -> Self {
        let mut lines: Vec<_> = lines(level, wave, program).collect();
        let mut targets: Vec<_> = lines.iter().filter_map(|line| line.target).collect();
        targets.sort_unstable();
        for line in &mut lines {
            line.is_label = i64::try_from(line.offset).is_ok_and(|offset| targets.binary_search(&offset).is_ok());
        }
        Self { lines }
    }

    /// Returns the lines, in the order of the program.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

/// Returns the length in dwords of the program at the start of `memory`: up to the first `s_endpgm` that no earlier branch skips.
/// Returns `None` if there is no such end, or if a dword before it cannot be decoded.
///
/// Jumps by `s_setpc_b64` are not followed.
pub fn program_len(level: GfxLevel, wave: WaveSize, memory: &[u32]) -> Option<usize> {
    let mut farthest = 0;
    for line in lines(level, wave, memory) {
        let instruction = line.content.ok()?;
        farthest = farthest.max(line.target.unwrap_or(0));
        let end = line.offset + 4 * line.dwords.len();
        if instruction.name().starts_with("s_endpgm") && i64::try_from(end).is_ok_and(|end| farthest < end) {
            return Some(end / 4);
        }
    }
    None
}

fn lines(level: GfxLevel, wave: WaveSize, program: &[u32]) -> impl Iterator<Item = Line> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = program.get(at..).filter(|rest| !rest.is_empty())?;
        let content = decode(level, wave, rest);
        let dwords = content.as_ref().map_or(&rest[..1], Instruction::dwords).to_vec();
        let offset = 4 * at;
        at += dwords.len();
        let target = content.as_ref().ok().and_then(|instruction| branch_target(instruction, 4 * at));
        Some(Line { offset, dwords, content, target, is_label: false })
    })
}

/// Returns the offset of a branch's target. `next` is the offset of the next instruction, from which the immediate counts dwords.
fn branch_target(instruction: &Instruction, next: usize) -> Option<i64> {
    let name = instruction.name();
    let is_branch = match instruction.format() {
        Format::Sopp => name == "s_branch" || name.starts_with("s_cbranch_"),
        Format::Sopk => name == "s_call_b64" || name.starts_with("s_subvector_loop_"),
        _ => false,
    };
    let distance = instruction.field(Field::Simm16).to_le_bytes();
    let distance = i16::from_le_bytes([distance[0], distance[1]]);
    is_branch.then(|| i64::try_from(next).ok().map(|next| next + 4 * i64::from(distance))).flatten()
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:04x}: ", if self.is_label { '>' } else { ' ' }, self.offset)?;
        let dwords: Vec<_> = self.dwords.iter().map(|dword| format!("{dword:08x}")).collect();
        write!(f, "{:<18} ", dwords.join(" "))?;
        match &self.content {
            Ok(instruction) => write!(f, "{instruction}")?,
            Err(error) => write!(f, "!! {error}")?,
        }
        match self.target {
            Some(target) if target < 0 => write!(f, "  ; to -{:#06x}", -target),
            Some(target) => write!(f, "  ; to {target:#06x}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: GfxLevel = GfxLevel::Gfx10_3;
    const WAVE: WaveSize = WaveSize::Wave32;
    const NOP: u32 = 0xbf80_0000;
    const END: u32 = 0xbf81_0000;
    /// `s_cbranch_scc0`.
    const BRANCH: u32 = 0xbf84_0000;

    #[test]
    fn an_end_that_a_branch_passes_over_is_not_the_end() {
        assert_eq!(program_len(LEVEL, WAVE, &[BRANCH | 1, END, NOP, END, NOP]), Some(4));
        assert_eq!(program_len(LEVEL, WAVE, &[BRANCH, END, NOP, END]), Some(2));
        assert_eq!(program_len(LEVEL, WAVE, &[NOP, BRANCH | 0xffff]), None);
        assert_eq!(program_len(LEVEL, WAVE, &[0xffff_ffff, END]), None);
    }

    #[test]
    fn labels_stand_where_branches_lead() {
        let listing = Listing::new(LEVEL, WAVE, &[NOP, BRANCH | 0xfffe, BRANCH | 0x8000, END]);
        let labels: Vec<_> = listing.lines().iter().map(|line| line.is_label).collect();
        assert_eq!(labels, [true, false, false, false]);
        let text = listing.to_string();
        assert!(text.starts_with(">0000: bf800000 "), "{text}");
        assert!(text.contains("; to -0x1fff4"), "{text}");
    }

    #[test]
    fn a_dword_that_is_no_instruction_is_shown_with_the_reason() {
        let listing = Listing::new(LEVEL, WAVE, &[0xffff_ffff, END]);
        assert!(listing.lines()[0].content.is_err() && listing.lines()[1].content.is_ok());
        assert!(listing.to_string().contains("ffffffff           !! "), "{listing}");
    }
}
