//! Advice: the exact lines with which a machine would meet a wish. Nothing is ever applied.
//!
//! ```text
//! wish ----> models: room for so many bytes -----+
//!       \                                        +--> Advice: verdict, choices of steps with their undoing, warnings
//!        \-> keep: VRAM that others cannot evict-+
//! ```

mod conflicts;
mod distribution;
mod keep;
mod models;
#[cfg(test)]
mod tests;
mod words;

use self::words::Case;
pub use self::words::{Advice, Choice, Conflict, Step, Verdict, Wish};
use crate::{
    files::Files,
    snapshot::model::{Gpu, Snapshot},
};

/// Returns the advice for each GPU of a snapshot, which was taken of the machine with these files.
pub fn advise(snapshot: &Snapshot, files: &dyn Files, wish: &Wish) -> Vec<Advice> {
    let one = |gpu: &Gpu| {
        let case = Case { files, gpu, system: &snapshot.system };
        let finding = match wish {
            Wish::Models { bytes } => models::advise(&case, *bytes),
            Wish::Keep { bytes, of } => keep::advise(&case, *bytes, of),
        };
        Advice {
            index: gpu.index,
            pci: gpu.pci.clone(),
            name: gpu.name.clone(),
            now: gpu.effective.clone(),
            verdict: finding.verdict,
            reason: finding.reason,
            choices: finding.choices,
            conflicts: finding.conflicts,
        }
    };
    snapshot.gpus.iter().map(one).collect()
}
