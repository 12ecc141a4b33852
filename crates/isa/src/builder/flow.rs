//! Branches and structured control flow.

use amdgpu_hw::GfxLevel;

use super::{BuildError, Builder, Label, Scalar};
use crate::WaveSize;

/// The condition of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always branches.
    Always,
    /// Branches if SCC has this value.
    Scc(bool),
    /// Branches if any lane is active (`true`), or if none is (`false`).
    Exec(bool),
    /// Branches if any bit of VCC is set (`true`), or if none is (`false`).
    Vcc(bool),
}

impl Condition {
    const fn name(self) -> &'static str {
        match self {
            Self::Always => "s_branch",
            Self::Scc(true) => "s_cbranch_scc1",
            Self::Scc(false) => "s_cbranch_scc0",
            Self::Exec(true) => "s_cbranch_execnz",
            Self::Exec(false) => "s_cbranch_execz",
            Self::Vcc(true) => "s_cbranch_vccnz",
            Self::Vcc(false) => "s_cbranch_vccz",
        }
    }
}

impl Builder {
    /// Creates a label.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places a label at the current position.
    pub fn place(&mut self, label: Label) {
        self.wait_for_all();
        self.labels[label.0] = Some(self.words.len());
    }

    /// Records a branch to a label.
    pub fn branch(&mut self, condition: Condition, label: Label) {
        self.wait_for_all();
        if matches!(condition, Condition::Vcc(_)) && self.level <= GfxLevel::Gfx9 {
            // The branch looks at a flag that a scalar load makes unreliable (GFX6 and GFX7), and that a write to one half of VCC
            // does not update. A write to the whole register does. LLVM 19 `SIInsertWaitcnts.cpp`, `vccz` bugs.
            self.op("s_mov_b64 vcc, vcc");
        }
        self.branches.push((self.words.len(), label));
        self.op(format_args!("{} 0", condition.name()));
        // Branches with an offset of 0x3f dwords fail on GFX10.1 unless an instruction follows them (LLVM's bug "offset 3f").
        self.op(format_args!("s_nop 0"));
    }

    /// Records `body` so that only the lanes of `mask` execute it.
    pub fn masked(&mut self, mask: Scalar, body: impl FnOnce(&mut Self)) {
        let (saved, end) = (self.mask(), self.label());
        let (bits, exec) = self.mask_words();
        self.op(format_args!("s_and_saveexec_{bits} {saved}, {mask}"));
        self.branch(Condition::Exec(false), end);
        body(self);
        self.place(end);
        self.op(format_args!("s_mov_{bits} {exec}, {saved}"));
        self.free_scalar(saved);
    }

    /// Records `body` in a loop. `body` returns the mask of lanes that stay in the loop.
    pub fn repeat(&mut self, body: impl FnOnce(&mut Self) -> Scalar) {
        let (saved, start) = (self.mask(), self.label());
        let (bits, exec) = self.mask_words();
        self.op(format_args!("s_mov_{bits} {saved}, {exec}"));
        self.place(start);
        let goes_on = body(self);
        self.op(format_args!("s_and_{bits} {exec}, {exec}, {goes_on}"));
        self.branch(Condition::Exec(true), start);
        self.op(format_args!("s_mov_{bits} {exec}, {saved}"));
        self.free_scalar(saved);
    }

    /// Returns the suffix of operations on lane masks, and the name of EXEC.
    pub(super) fn mask_words(&self) -> (&'static str, &'static str) {
        match self.wave {
            WaveSize::Wave32 => ("b32", "exec_lo"),
            WaveSize::Wave64 => ("b64", "exec"),
        }
    }

    /// Writes the distances of all branches.
    pub(super) fn link(&mut self) -> Result<(), BuildError> {
        for &(at, label) in &self.branches {
            let target = self.labels[label.0].ok_or(BuildError::Label(label.0))?;
            let distance = i64::try_from(target).unwrap_or(i64::MAX) - i64::try_from(at + 1).unwrap_or(0);
            let immediate = i16::try_from(distance).map_err(|_| BuildError::Distance(distance))?;
            self.words[at] = self.words[at] & 0xffff_0000 | u32::from(immediate.cast_unsigned());
        }
        Ok(())
    }
}
