//! The report of a run.

use amdgpu_winsys::{
    heaps::{HeapFlags, HeapKind, MemoryPropertyFlags},
    winsys::{GpuInfo, Ip},
};
use serde::{Deserialize, Serialize};

use crate::{
    gpu::ring::Ring,
    hardware::state::{HardwareEvent, Watched},
    identity::{board::Board, machine::Machine},
    level::Level,
    result::{
        check_result::CheckResult,
        conclusion::Conclusion,
        soak::Soak,
        status::{Expected, Status},
    },
};

/// The name and version of the JSON schema.
pub const SCHEMA: &str = "amdgpu-smoke/1";

/// The report of a run on one GPU.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The schema of the report, always [`SCHEMA`].
    pub schema: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The time at which the report was made, in seconds since 1970; 0 if the clock of the computer is before that.
    pub made: u64,
    /// The computer, without anything personal; for a simulated GPU only a name, and only if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// The tested GPU.
    pub gpu: Gpu,
    /// The requested level.
    pub level: &'static str,
    /// The seed of the random numbers. The same seed gives the same data.
    pub seed: u32,
    /// The results of the checks that ran, in order.
    pub results: Vec<CheckResult>,
    /// `true` if the plan ended early.
    pub aborted: bool,
    /// The reason why the plan ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The rounds and failure rates of a soak, if the plan was repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soak: Option<Soak>,
    /// The number of results with each status.
    pub summary: Summary,
    /// The common ground of the failures, and the next steps; `None` if nothing failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<Conclusion>,
    /// The checks of the plan that did not run, for reports that have an entry for each.
    #[serde(skip)]
    pub(crate) not_run: Vec<String>,
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
    pub(crate) fn before(level: Level, seed: u32, machine: Option<Machine>) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            made: now(),
            machine,
            gpu: Gpu::default(),
            level: level.name(),
            seed,
            results: Vec::new(),
            aborted: true,
            reason: Some("the run was killed before a check was started".to_owned()),
            soak: None,
            summary: Summary::default(),
            conclusion: None,
            not_run: Vec::new(),
        }
    }
}

/// Returns the time in seconds since 1970.
pub(crate) fn now() -> u64 {
    let passed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    passed.map_or(0, |passed| passed.as_secs())
}

/// The tested GPU.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Gpu {
    /// `true` if the GPU is simulated.
    pub simulated: bool,
    /// `true` if the simulator is used because there is no Radeon.
    pub fallback: bool,
    /// The deliberate mistake of the simulator, by its name on the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutation: Option<String>,
    /// The reason why this GPU was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// The other AMD GPUs of the computer, which are not tested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
    /// The sources of the hardware watch, if the hardware is watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<Watched>,
    /// The board of the GPU, if sysfs shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// The path of the node with its PCI address, or the name of the simulated chip.
    pub location: String,
    /// The facts that are known after the GPU was opened.
    #[serde(flatten)]
    pub facts: Option<Facts>,
}

impl Gpu {
    /// Returns the location as all reports show it, with the word "simulated" and the mutation if they apply.
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
    /// The marketing name.
    pub name: String,
    /// RADV's name of the chip.
    pub chip: String,
    /// The graphics generation.
    pub gfx_level: String,
    /// The version of the kernel driver's interface.
    pub driver: String,
    /// The release of the running kernel; `None` if it cannot be read or the GPU is simulated.
    pub kernel: Option<String>,
    /// The firmware of the command processors: name and version.
    pub firmware: Vec<(String, u32)>,
    /// `true` if the kernel is a stub that accepts every request and does nothing, like Mesa's no-op shim.
    pub stand_in: bool,
    /// The names of the tested rings.
    pub rings: Vec<String>,
    /// The memory heaps, by index.
    pub heaps: Vec<HeapRow>,
    /// The memory types, by index.
    pub memory_types: Vec<TypeRow>,
}

/// A memory heap in a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeapRow {
    /// The size in bytes.
    pub size: u64,
    /// The Vulkan names of the flags, without prefix and suffix.
    pub flags: Vec<String>,
    /// The kind of memory.
    pub kind: String,
}

/// A memory type in a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TypeRow {
    /// The index of the heap.
    pub heap: u32,
    /// The Vulkan names of the property flags, without prefix and suffix.
    pub properties: Vec<String>,
    /// The width of addresses in bits: 32 or 64.
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

/// The number of results with each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The number of checks that passed.
    pub pass: usize,
    /// The number of checks that failed.
    pub fail: usize,
    /// The number of checks that were skipped.
    pub skip: usize,
    /// The number of checks that crashed.
    pub crash: usize,
    /// The number of checks that passed with a warning of this program.
    pub warn: usize,
    /// The number of checks that exceeded their time limit.
    pub timeout: usize,
    /// The number of checks that did not end.
    pub incomplete: usize,
    /// The number of checks that passed with a warning in the kernel log.
    #[serde(rename = "dmesg-warn")]
    pub dmesg_warn: usize,
    /// The number of checks that did not run because the plan ended early.
    pub notrun: usize,
    /// The number of failures that the user's lists expect. They are also counted under their status.
    pub expected: usize,
    /// The number of passes that the user's lists do not expect.
    pub unexpected_pass: usize,
}

impl Summary {
    pub(crate) fn of(results: &[CheckResult], notrun: usize) -> Self {
        let count = |status| results.iter().filter(|result| result.status == status).count();
        let expected = |which: &[Expected]| {
            results.iter().filter(|result| result.expected.is_some_and(|found| which.contains(&found))).count()
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
            expected: expected(&[Expected::Fail, Expected::Flake]),
            unexpected_pass: expected(&[Expected::UnexpectedPass]),
        }
    }

    /// Returns the number of results with this status.
    pub const fn count(&self, status: Status) -> usize {
        match status {
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
        for status in Status::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.name());
        }
    }
}
