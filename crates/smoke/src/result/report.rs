//! The report of a run.

use amdgpu_winsys::{
    heaps::{HeapFlags, HeapKind, MemoryPropertyFlags},
    winsys::{GpuInfo, Ip},
};
use serde::{Deserialize, Serialize};

use crate::{
    gpu::ring::Ring,
    hardware::state::{HardwareEvent, Watched},
    level::Level,
    result::{
        check_result::CheckResult,
        soak::Soak,
        status::{Expected, Status},
    },
};

/// The version of the JSON layout.
pub const SCHEMA: &str = "amdgpu-smoke/1";

/// One run over one GPU.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of this layout.
    pub schema: &'static str,
    /// Version of this program.
    pub version: &'static str,
    /// The tested GPU.
    pub gpu: Gpu,
    /// The level asked for.
    pub level: &'static str,
    /// Seed of the random numbers: the same seed gives the same bytes.
    pub seed: u32,
    /// One entry for each check that ran, in order.
    pub results: Vec<CheckResult>,
    /// `true` if the plan ended early.
    pub aborted: bool,
    /// The reason it ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Rounds and failure rates, if the plan was run over and over again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soak: Option<Soak>,
    /// Number of results by status.
    pub summary: Summary,
}

impl Report {
    /// Returns the hardware's events, each after the id of its check.
    pub(crate) fn hardware_events(&self) -> impl Iterator<Item = (&str, &HardwareEvent)> {
        self.results.iter().flat_map(|result| {
            let events = result.hardware.iter().flat_map(|hardware| &hardware.events);
            events.map(|event| (&*result.id, event))
        })
    }

    /// Returns the report of a run that was killed before it began.
    pub(crate) fn before(level: Level, seed: u32) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            gpu: Gpu::default(),
            level: level.name(),
            seed,
            results: Vec::new(),
            aborted: true,
            reason: Some("the run was killed before a check was started".to_owned()),
            soak: None,
            summary: Summary::default(),
        }
    }
}

/// The tested GPU.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Gpu {
    /// `true` if this is the simulator.
    pub simulated: bool,
    /// `true` if the simulator stands in for a Radeon that is not there.
    pub fallback: bool,
    /// The mistake that the simulator makes on purpose, by its name on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation: Option<String>,
    /// The reason why this GPU is tested and not another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// Other AMD GPUs of the computer, which are not tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// The sources of the watch on the hardware, if it is watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Watched>,
    /// A node with its PCI address, or the simulator's profile.
    pub location: String,
    /// Facts known once it is open.
    #[serde(flatten)]
    pub facts: Option<Facts>,
}

impl Gpu {
    /// Returns the location as every report names it: with the word "simulated" and the mutation where they apply.
    pub fn label(&self) -> String {
        let simulated = if self.simulated { "simulated " } else { "" };
        format!("{simulated}{}", self.location_and_mutation())
    }

    pub(crate) fn location_and_mutation(&self) -> String {
        let mutation = self.mutation.as_ref().map(|name| format!(", broken by {name}")).unwrap_or_default();
        format!("{}{mutation}", self.location)
    }

    /// Returns the GPU with the sources of the watch on it, if there are any.
    #[must_use]
    pub(crate) fn with_watched(self, watched: Option<Watched>) -> Self {
        Self { watched: watched.or(self.watched.clone()), ..self }
    }

    /// Returns the GPU with its facts. A simulated GPU has no release of this computer's kernel.
    pub(crate) fn with_facts(&self, facts: Facts) -> Self {
        let kernel = facts.kernel.clone().filter(|_| !self.simulated);
        Self { facts: Some(Facts { kernel, ..facts }), ..self.clone() }
    }
}

/// Facts about an open GPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Facts {
    /// Marketing name.
    pub name: String,
    /// RADV's name of the chip.
    pub chip: String,
    /// Graphics generation.
    pub gfx_level: String,
    /// Version of the driver's interface.
    pub driver: String,
    /// Release of the kernel, where it can be read and the GPU is not simulated.
    pub kernel: Option<String>,
    /// Firmware of the command processors: which, and its version.
    pub firmware: Vec<(String, u32)>,
    /// `true` if the kernel only pretends: it accepts every request and does nothing, as Mesa's no-op shim.
    pub stand_in: bool,
    /// Rings that are tested.
    pub rings: Vec<String>,
    /// Memory heaps, by index.
    pub heaps: Vec<HeapRow>,
    /// Memory types, by index.
    pub memory_types: Vec<TypeRow>,
}

/// One memory heap.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeapRow {
    /// Bytes.
    pub size: u64,
    /// Vulkan's names of the flags, without prefix and suffix.
    pub flags: Vec<String>,
    /// The kind of memory.
    pub kind: String,
}

/// One memory type.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
            chip: info.chip_name().to_owned(),
            gfx_level: info.gfx_level.name().to_owned(),
            driver: format!("{}.{}.{}", driver.major, driver.minor, driver.patch),
            kernel: kernel_release(),
            firmware: firmware(info).into_iter().map(|(name, version)| (name.to_owned(), version)).collect(),
            stand_in,
            rings: rings.iter().map(Ring::to_string).collect(),
            heaps: memory.heaps().iter().map(HeapRow::new).collect(),
            memory_types: memory.types().iter().map(TypeRow::new).collect(),
        }
    }
}

/// The command processors that the GPU has, and their firmware.
pub(crate) fn firmware(info: &GpuInfo) -> Vec<(&'static str, u32)> {
    let (graphics, compute) = (info.ip_block(Ip::Gfx).is_some(), info.ip_block(Ip::Compute).is_some());
    let mec = compute && info.gfx_level > amdgpu_winsys::winsys::GfxLevel::Gfx6;
    let engines =
        [("ME", info.me_firmware, graphics), ("PFP", info.pfp_firmware, graphics), ("MEC", info.mec_firmware, mec)];
    let running = engines.into_iter().filter(|(.., exists)| *exists);
    running.map(|(name, firmware, _)| (name, firmware.version)).collect()
}

fn kernel_release() -> Option<String> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    Some(release.trim().to_owned())
}

impl HeapRow {
    fn new(heap: &amdgpu_winsys::heaps::MemoryHeap) -> Self {
        let kind = match heap.kind {
            HeapKind::InvisibleVram => "invisible VRAM",
            HeapKind::Gtt => "GTT",
            HeapKind::VisibleVram => "visible VRAM",
        };
        let flags = heap.flags.iter_names().map(|(name, _): (&str, HeapFlags)| name.to_owned()).collect();
        Self { size: heap.size, flags, kind: kind.to_owned() }
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

/// Number of results by status.
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
    /// Checks that passed with a warning of this program.
    pub warn: usize,
    /// Checks that took too long.
    pub timeout: usize,
    /// Checks that could not be ended.
    pub incomplete: usize,
    /// Checks that passed with a warning of the kernel.
    #[serde(rename = "dmesg-warn")]
    pub dmesg_warn: usize,
    /// Checks that an abort kept from running.
    pub notrun: usize,
    /// Failures that the user's lists expect; they are counted under their words too.
    pub expected: usize,
    /// Passes that the user's lists do not expect.
    pub unexpected_pass: usize,
}

impl Summary {
    pub(crate) fn of(results: &[CheckResult], notrun: usize) -> Self {
        let count = |word| results.iter().filter(|result| result.word == word).count();
        let told = |which: &[Expected]| {
            results.iter().filter(|result| result.expected.is_some_and(|told| which.contains(&told))).count()
        };
        Self {
            pass: count(Status::Pass),
            fail: count(Status::Fail),
            skip: count(Status::Skip),
            crash: count(Status::Crash),
            warn: count(Status::Warn),
            timeout: count(Status::Timeout),
            incomplete: count(Status::Incomplete),
            dmesg_warn: count(Status::DmesgWarn),
            notrun,
            expected: told(&[Expected::Fail, Expected::Flake]),
            unexpected_pass: told(&[Expected::UnexpectedPass]),
        }
    }

    /// Returns the number of results with this status.
    pub const fn count(&self, word: Status) -> usize {
        match word {
            Status::Pass => self.pass,
            Status::Fail => self.fail,
            Status::Skip => self.skip,
            Status::Crash => self.crash,
            Status::Warn => self.warn,
            Status::Timeout => self.timeout,
            Status::Incomplete => self.incomplete,
            Status::DmesgWarn => self.dmesg_warn,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_as_igt_writes_them() {
        for word in Status::ALL {
            assert_eq!(serde_json::to_value(word).unwrap(), word.name());
        }
    }
}
