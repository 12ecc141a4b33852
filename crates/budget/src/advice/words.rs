//! Wishes, and what advice consists of.

use serde::Serialize;

use crate::{
    files::Files,
    snapshot::model::{Effective, Gpu, System},
};

/// The wish of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Wish {
    /// Programs should be able to have so many bytes on the GPU.
    Models {
        /// The number of bytes.
        bytes: u64,
    },
    /// So many bytes of VRAM of a cgroup should not be evicted for others.
    Keep {
        /// The number of bytes.
        bytes: u64,
        /// The cgroup: a path, a systemd unit, or a process ID.
        of: String,
    },
}

/// The answer to the wish: met now, met after changes, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is met already.
    Met,
    /// One of the choices meets it.
    Possible,
    /// The machine cannot meet it.
    Impossible,
    /// A figure that is needed is unknown.
    Unknown,
}

/// Lines that do one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The effect of the lines.
    pub text: String,
    /// The lines for a shell, or for the file that `text` names.
    pub lines: Vec<String>,
}

impl Step {
    pub(super) fn new(text: impl Into<String>, lines: impl IntoIterator<Item = String>) -> Self {
        Self { text: text.into(), lines: lines.into_iter().collect() }
    }
}

/// A way to meet the wish.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// A name.
    pub title: String,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// `true` if it takes effect at the next boot only.
    pub reboot: bool,
    /// The price: memory or features that are lost.
    pub loses: String,
    /// The steps that undo it.
    pub undo: Vec<Step>,
}

/// Something that would make the advice fail, or that the kernel only logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// A stable name.
    pub code: &'static str,
    /// A sentence or two.
    pub text: String,
}

/// The advice for one GPU.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The index of the GPU.
    pub index: usize,
    /// Its PCI address.
    pub pci: String,
    /// Its name.
    pub name: Option<String>,
    /// The memory that can be had now.
    pub now: Effective,
    /// The answer to the wish: met now, met after changes, or not.
    pub verdict: Verdict,
    /// The reason.
    pub reason: String,
    /// Ways to meet it, the best first.
    pub choices: Vec<Choice>,
    /// Settings that contradict it.
    pub conflicts: Vec<Conflict>,
}

/// The facts from which advice is made.
pub(super) struct Case<'c> {
    pub(super) files: &'c dyn Files,
    pub(super) gpu: &'c Gpu,
    pub(super) system: &'c System,
}

/// The findings of one kind of wish.
pub(super) struct Finding {
    pub(super) verdict: Verdict,
    pub(super) reason: String,
    pub(super) choices: Vec<Choice>,
    pub(super) conflicts: Vec<Conflict>,
}

impl Finding {
    pub(super) fn without_choice(verdict: Verdict, reason: impl Into<String>) -> Self {
        Self { verdict, reason: reason.into(), choices: Vec::new(), conflicts: Vec::new() }
    }
}

/// Bytes as a person reads them.
pub(super) fn size(bytes: u64) -> String {
    crate::snapshot::units::Units::Auto.text(bytes)
}
