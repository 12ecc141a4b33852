//! What a run found.

use std::time::Duration;

use amdgpu_winsys::{
    heaps::{HeapFlags, HeapKind, MemoryPropertyFlags},
    winsys::GpuInfo,
};
use serde::Serialize;

use crate::ring::Ring;

/// The version of the JSON layout.
pub const SCHEMA: &str = "amdgpu-smoke/1";

/// One run over one GPU.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this layout.
    pub schema: &'static str,
    /// Version of this program.
    pub version: &'static str,
    /// What was tested.
    pub gpu: Gpu,
    /// The level asked for.
    pub level: &'static str,
    /// One entry for each check that ran, in order.
    pub results: Vec<CheckResult>,
    /// Whether the plan ended early because the GPU was lost.
    pub aborted: bool,
    /// How often each word occurs.
    pub summary: Summary,
}

/// What was tested.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Gpu {
    /// Whether this is the simulator.
    pub simulated: bool,
    /// Whether nobody asked for the simulator: there is no Radeon.
    pub fallback: bool,
    /// Where: a node with its PCI address, or the simulator's profile.
    pub location: String,
    /// What is known once it is open.
    #[serde(flatten)]
    pub facts: Option<Facts>,
}

/// What is known of a GPU once it is open.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// Marketing name.
    pub name: String,
    /// RADV's name of the chip.
    pub chip: &'static str,
    /// Graphics generation.
    pub gfx_level: &'static str,
    /// Version of the driver's interface.
    pub driver: String,
    /// Whether the kernel only pretends: it takes every request and does nothing, as Mesa's no-op shim.
    pub stand_in: bool,
    /// Rings that are tested.
    pub rings: Vec<String>,
    /// Memory heaps, by index.
    pub heaps: Vec<HeapRow>,
    /// Memory types, by index.
    pub memory_types: Vec<TypeRow>,
}

/// One memory heap.
#[derive(Clone, Debug, Serialize)]
pub struct HeapRow {
    /// Bytes.
    pub size: u64,
    /// Vulkan's names of the flags, without prefix and suffix.
    pub flags: Vec<String>,
    /// What it is made of.
    pub kind: &'static str,
}

/// One memory type.
#[derive(Clone, Debug, Serialize)]
pub struct TypeRow {
    /// Index of its heap.
    pub heap: u32,
    /// Vulkan's names of the property flags, without prefix and suffix.
    pub properties: Vec<String>,
    /// Width of its addresses in bits: 32 or 64.
    pub addressing: u32,
}

impl Facts {
    pub(crate) fn new(
        info: &GpuInfo,
        memory: &amdgpu_winsys::heaps::MemoryProperties,
        rings: &[Ring],
        stand_in: bool,
    ) -> Self {
        let driver = info.driver;
        Self {
            name: info.marketing_name.clone(),
            chip: info.chip_name(),
            gfx_level: info.gfx_level.name(),
            driver: format!("{}.{}.{}", driver.major, driver.minor, driver.patch),
            stand_in,
            rings: rings.iter().map(Ring::to_string).collect(),
            heaps: memory.heaps().iter().map(HeapRow::new).collect(),
            memory_types: memory.types().iter().map(TypeRow::new).collect(),
        }
    }
}

impl HeapRow {
    fn new(heap: &amdgpu_winsys::heaps::MemoryHeap) -> Self {
        let kind = match heap.kind {
            HeapKind::InvisibleVram => "invisible VRAM",
            HeapKind::Gtt => "GTT",
            HeapKind::VisibleVram => "visible VRAM",
        };
        let flags = heap.flags.iter_names().map(|(name, _): (&str, HeapFlags)| name.to_owned()).collect();
        Self { size: heap.size, flags, kind }
    }
}

impl TypeRow {
    fn new(memory_type: &amdgpu_winsys::heaps::MemoryType) -> Self {
        let names = memory_type.properties.iter_names();
        Self {
            heap: memory_type.heap,
            properties: names.map(|(name, _): (&str, MemoryPropertyFlags)| name.to_owned()).collect(),
            addressing: match memory_type.addressing {
                amdgpu_winsys::heaps::Addressing::Bits32 => 32,
                amdgpu_winsys::heaps::Addressing::Bits64 => 64,
            },
        }
    }
}

/// The outcome of one check, in IGT's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It could not be tried here; the reason says why.
    Skip,
    /// The check itself broke.
    Crash,
}

/// The outcome of one check.
#[derive(Clone, Debug, Serialize)]
pub struct CheckResult {
    /// `area.name`, stable; the ring follows where the check is for a ring.
    pub id: String,
    /// The outcome.
    pub word: Word,
    /// What was found: figures on a pass, evidence on a failure, the reason of a skip.
    pub detail: String,
    /// How long it took; in milliseconds in JSON.
    #[serde(serialize_with = "milliseconds", rename = "ms")]
    pub time: Duration,
}

/// How often each word occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Checks that passed.
    pub pass: usize,
    /// Checks that failed.
    pub fail: usize,
    /// Checks that were skipped.
    pub skip: usize,
    /// Checks that broke.
    pub crash: usize,
    /// Checks that an abort kept from running.
    pub notrun: usize,
}

impl Summary {
    pub(crate) fn of(results: &[CheckResult], notrun: usize) -> Self {
        let count = |word| results.iter().filter(|result| result.word == word).count();
        Self {
            pass: count(Word::Pass),
            fail: count(Word::Fail),
            skip: count(Word::Skip),
            crash: count(Word::Crash),
            notrun,
        }
    }
}

fn milliseconds<S: serde::Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    // Three digits after the point are what a clock can tell.
    serializer.serialize_f64((time.as_secs_f64() * 1e6).round() / 1e3)
}
