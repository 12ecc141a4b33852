//! The rows beside the Vulkan Memory Allocator's virtual block.
//!
//! It is C++, and a workspace must build without a compiler for that. So it is behind the feature `vma`, and a program
//! built without it has cargo build it once more with the feature and run it as a child, as it does for other peers.

#[cfg(not(feature = "vma"))]
use std::{env, process::Command};

#[cfg(not(feature = "vma"))]
use crate::child;
use crate::{child::Wanted, contest::traces::PARTS, row::Row};
#[cfg(feature = "vma")]
use crate::{
    contest::{
        ours::Addresses,
        parts::{noting_failures, parts},
        race::{contest, empty},
        traces::{Kind, VA},
    },
    peers::vma::{Locked, Vma},
    row::Goal,
};

const VMA: &str = "VMA virtual block";
/// The peer that threads can share, as they share our manager.
#[cfg(feature = "vma")]
const LOCKED: &str = "VMA virtual block, locked";

/// Every row beside VMA.
pub(crate) fn all(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    let mut benches = ["va-empty", "va"].into_iter().chain(PARTS.iter().map(|trace| trace.name));
    if benches.any(|bench| wanted.has(bench)) {
        measured(wanted, add);
    }
}

#[cfg(not(feature = "vma"))]
fn measured(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    match built_on_demand().and_then(|command| child::rows_of(command, wanted, &[])) {
        Ok(rows) => rows.into_iter().for_each(add),
        Err(why) => add(Row::missing("va, S, T, S32", VMA, why)),
    }
}

/// This program with the feature.
#[cfg(not(feature = "vma"))]
fn built_on_demand() -> Result<Command, String> {
    const COMPILER: &str = "c++";
    let compiler = env::var_os("CXX").unwrap_or_else(|| COMPILER.into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        return Err(format!("no C++ compiler: {} cannot be run", compiler.display()));
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--quiet", "--release", "--features", "vma", "--manifest-path"]);
    cargo.args([concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"), "--", "memory", "--beside-vma"]);
    Ok(cargo)
}

#[cfg(feature = "vma")]
fn measured(wanted: &Wanted, add: &mut impl FnMut(Row)) {
    /// About what a GPU has.
    const SPACE: u64 = 1 << 47;
    /// With a million ranges alive, more pairs than these would take it minutes.
    const CHURN: u64 = 400_000;
    if wanted.has("va-empty") {
        let (ours, theirs) = empty(&mut Addresses::new(), &mut Vma::new(SPACE), 64 << 10);
        add(Row::times("va-empty", 0, ours, VMA, theirs, Goal::RatioAtMost(1.0)));
        let (ours, theirs) = empty(&mut Addresses::new(), &mut Locked::new(SPACE), 64 << 10);
        add(Row::times("va-empty", 0, ours, LOCKED, theirs, Goal::RatioAtMost(1.0)));
    }
    for trace in wanted.traces(&VA) {
        let churn = (4 * trace.live).min(CHURN);
        let (ours, theirs) = contest(trace, Addresses::new(), Vma::new(SPACE), churn);
        let row = Row::times("va", trace.live, ours.pair, VMA, theirs.pair, Goal::RatioAtMost(1.0));
        add(noting_failures(row, ours, theirs));
        add(Row::space("va-use", trace.live, ours.space_use, VMA, theirs.space_use, Goal::None));
        let (ours, theirs) = contest(trace, Addresses::new(), Locked::new(SPACE), churn);
        let row = Row::times("va", trace.live, ours.pair, LOCKED, theirs.pair, Goal::RatioAtMost(1.0));
        add(noting_failures(row, ours, theirs));
    }
    for trace in wanted.traces(&PARTS) {
        if let Kind::Parts { space, .. } = trace.kind {
            parts(trace, VMA, space, Vma::new(space), add);
        }
    }
}
