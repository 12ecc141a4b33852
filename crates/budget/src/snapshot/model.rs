//! The snapshot: everything known at one moment, as the JSON schema `amdgpu-budget/1` names it.
//!
//! Every view (text, CSV, Prometheus, plot, screen) is made from a [`Snapshot`] and nothing else, so that a figure is the same
//! everywhere and a recording can be looked at as if it were now. Bytes are integers; what is unknown is `null`, never zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Name and major version of the schema.
pub const SCHEMA: &str = "amdgpu-budget/1";

/// All GPUs at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// [`SCHEMA`].
    pub schema: String,
    /// When, UTC, RFC 3339 with milliseconds.
    pub time: String,
    /// The same moment on a clock that never steps, nanoseconds; comparable within one recording.
    pub monotonic_ns: u64,
    /// Version of this program.
    pub tool: String,
    /// Source of the figures: `live`, `sim`, `root` or `recording`.
    pub source: String,
    /// The machine's own memory.
    #[serde(default)]
    pub system: System,
    /// By PCI address.
    #[serde(default)]
    pub gpus: Vec<Gpu>,
    /// Warnings.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// `/proc/meminfo` and the limits of this process's cgroup.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// MemTotal, bytes.
    pub mem_total: Option<u64>,
    /// MemAvailable, bytes.
    pub mem_available: Option<u64>,
}

/// One GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// Place in the order of PCI addresses.
    pub index: usize,
    /// PCI address: the name that stays.
    pub pci: String,
    /// The render node.
    pub render: Option<String>,
    /// The name on the box.
    pub name: Option<String>,
    /// The chip, lower case.
    pub chip: Option<String>,
    /// `true` if its memory is the system's.
    pub apu: Option<bool>,
    /// `active`, `suspended`, ...: the kernel's word.
    pub power: Option<String>,
    /// Version of the kernel's driver.
    pub driver: Option<String>,
    /// Manufacturer of the memory.
    pub vram_vendor: Option<String>,
    /// The kernel's view.
    pub domains: Domains,
    /// The memory that a program can really get.
    pub effective: Effective,
    /// Counters since the driver was loaded.
    pub counters: Counters,
    /// Load, clocks, temperature and power, as far as the kernel reports them.
    #[serde(default)]
    pub sensors: Sensors,
    /// The limit of this process's cgroup on the GPU's memory.
    #[serde(default)]
    pub cgroup_limit: Option<CgroupLimit>,
    /// Vulkan's view, as a process that has just started sees it; `null` when the GPU could not be asked.
    pub heaps: Option<Vec<Heap>>,
    /// Vulkan's memory types.
    #[serde(default)]
    pub memory_types: Option<Vec<MemoryType>>,
    /// Processes that hold memory; `null` if they were not read.
    pub processes: Option<Vec<Process>>,
    /// Memory in use that belongs to no process.
    pub unattributed: Option<Unattributed>,
    /// Processes that could not be looked at.
    pub unreadable: Unreadable,
    /// Sources that gave nothing, with the reason.
    #[serde(default)]
    pub missing: Vec<Missing>,
}

/// The kernel's memory domains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Domains {
    /// Video memory; on an APU the carve-out.
    pub vram: Domain,
    /// The part of it that the CPU can map.
    pub visible_vram: Domain,
    /// System memory that the GPU may map.
    pub gtt: Domain,
}

/// One domain, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// Size.
    pub total: Option<u64>,
    /// Size less what is pinned or reserved.
    pub usable: Option<u64>,
    /// In use by all processes and the kernel.
    pub used: Option<u64>,
    /// The largest allocation the kernel advises.
    pub max_allocation: Option<u64>,
    /// Sum of what all clients would like here and do not have here.
    pub evicted: Option<u64>,
}

impl Domain {
    /// Returns the unused bytes: of the usable size if it is known, else of the total.
    pub fn free(&self) -> Option<u64> {
        Some(self.usable.or(self.total)?.saturating_sub(self.used?))
    }
}

/// The answer to "how much memory is there, really?"
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// Bytes that programs can have at most.
    pub total: Option<u64>,
    /// Bytes that one could still have now.
    pub available: Option<u64>,
    /// `dgpu`, `apu` or `unknown`.
    pub rule: String,
    /// Term that sets the limit of `available`: `vram`, `gtt`, `mem_available` or `cgroup`.
    pub limited_by: Option<String>,
}

/// Counters of the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Evictions that copied.
    pub evictions: Option<u64>,
    /// Bytes copied by moves and evictions.
    pub bytes_moved: Option<u64>,
    /// CPU faults on VRAM that the CPU does not see.
    pub cpu_page_faults: Option<u64>,
    /// Resets that lost VRAM.
    pub vram_lost: Option<u64>,
}

/// Load, clocks, temperature and power of a GPU that is awake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensors {
    /// Percent of the time that the shaders were busy (`gpu_busy_percent`).
    pub busy_percent: Option<u64>,
    /// Percent of the time that the memory controller was busy (`mem_busy_percent`).
    pub memory_busy_percent: Option<u64>,
    /// Clock of the shaders, Hz (hwmon `freq1_input`).
    pub shader_clock_hz: Option<u64>,
    /// Clock of the memory, Hz (hwmon `freq2_input`).
    pub memory_clock_hz: Option<u64>,
    /// Temperature of the die's edge, thousandths of a degree Celsius (hwmon `temp1_input`).
    pub temperature_mc: Option<u64>,
    /// Power, microwatts (hwmon `power1_average`, else `power1_input`).
    pub power_uw: Option<u64>,
}

/// `dmem` of cgroup v2, bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CgroupLimit {
    /// The cgroup.
    pub path: String,
    /// `dmem.current`.
    pub current: Option<u64>,
    /// `dmem.low`.
    pub low: Option<u64>,
    /// `dmem.min`.
    pub min: Option<u64>,
    /// `dmem.max`; `null` without a limit.
    pub max: Option<u64>,
}

/// One Vulkan heap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Heap {
    /// `heapIndex`.
    pub index: usize,
    /// `VkMemoryHeapFlagBits`, without prefix.
    pub flags: Vec<String>,
    /// Kind of memory: `invisible_vram`, `visible_vram` or `gtt`.
    #[serde(default)]
    pub kind: String,
    /// `size`.
    pub size: u64,
    /// `heapBudget`.
    pub budget: u64,
    /// `heapUsage`: what the process that asks has; 0 for one that has just started.
    pub usage: u64,
    /// Heaps that take from the same bytes.
    pub shares_with: Vec<usize>,
}

/// One Vulkan memory type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryType {
    /// `memoryTypeIndex`.
    pub index: usize,
    /// `heapIndex`.
    pub heap: usize,
    /// `VkMemoryPropertyFlagBits`, without prefix.
    pub flags: Vec<String>,
}

/// Memory of one process on one GPU. A client (open file) that several processes share is charged to the one with the lowest
/// number; the others list it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Its parent.
    #[serde(default)]
    pub ppid: Option<u32>,
    /// Its name (`comm`).
    pub name: Option<String>,
    /// Its user: the name, else the number.
    pub user: Option<String>,
    /// Its cgroup.
    #[serde(default)]
    pub cgroup: Option<String>,
    /// Its container, and the pod of that, if the cgroup is one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Seconds since it was started.
    #[serde(default)]
    pub age_s: Option<u64>,
    /// The open files of the GPU that it holds, each once.
    pub clients: Vec<u64>,
    /// Those of `clients` that are charged to another process.
    #[serde(default)]
    pub charged_elsewhere: Vec<u64>,
    /// Bytes in VRAM, shared ones included.
    pub vram: Option<u64>,
    /// Bytes in VRAM that no other client holds: `vram` less `shared.vram`.
    #[serde(default)]
    pub own_vram: Option<u64>,
    /// Bytes of `vram` that the CPU can map.
    pub visible_vram: Option<u64>,
    /// Bytes in GTT, shared ones included.
    pub gtt: Option<u64>,
    /// Bytes in GTT that no other client holds: `gtt` less `shared.gtt`.
    #[serde(default)]
    pub own_gtt: Option<u64>,
    /// Bytes that were moved out to system memory.
    pub cpu: Option<u64>,
    /// Bytes of `vram` and `gtt` that other clients hold too.
    pub shared: Pair,
    /// Bytes that the process would like to have there.
    pub requested: Pair,
    /// Bytes that were evicted.
    pub evicted: Evicted,
    /// Nanoseconds of work by engine.
    pub engines_ns: BTreeMap<String, u64>,
    /// The same for each open file, where asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_client: Vec<Client>,
}

impl Process {
    /// Returns the memory of this process alone: resident less shared.
    pub fn own(&self) -> Pair {
        own(Pair { vram: self.vram, gtt: self.gtt }, self.shared)
    }

    /// Returns VRAM and GTT together, shared memory included. Sorting by memory uses it.
    pub fn memory(&self) -> u64 {
        self.vram.unwrap_or(0).saturating_add(self.gtt.unwrap_or(0))
    }
}

fn own(resident: Pair, shared: Pair) -> Pair {
    let less = |all: Option<u64>, shared: Option<u64>| Some(all?.saturating_sub(shared.unwrap_or(0)));
    Pair { vram: less(resident.vram, shared.vram), gtt: less(resident.gtt, shared.gtt) }
}

/// One open file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// Its number.
    pub client: u64,
    /// Bytes in VRAM, shared ones included.
    pub vram: Option<u64>,
    /// Bytes in VRAM that no other client holds: `vram` less `shared.vram`.
    #[serde(default)]
    pub own_vram: Option<u64>,
    /// Bytes of `vram` that the CPU can map.
    pub visible_vram: Option<u64>,
    /// Bytes in GTT, shared ones included.
    pub gtt: Option<u64>,
    /// Bytes in GTT that no other client holds: `gtt` less `shared.gtt`.
    #[serde(default)]
    pub own_gtt: Option<u64>,
    /// Bytes that were moved out to system memory.
    pub cpu: Option<u64>,
    /// Bytes of `vram` and `gtt` that other clients hold too.
    pub shared: Pair,
    /// Bytes that the client would like to have there.
    pub requested: Pair,
    /// Bytes that were evicted.
    pub evicted: Evicted,
}

impl Client {
    /// Returns the memory of this client alone: resident less shared.
    pub fn own(&self) -> Pair {
        own(Pair { vram: self.vram, gtt: self.gtt }, self.shared)
    }
}

/// Bytes in the two domains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Video memory.
    pub vram: Option<u64>,
    /// System memory that the GPU maps.
    pub gtt: Option<u64>,
}

/// Bytes that were moved out of the memory that their owner prefers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evicted {
    /// Bytes that prefer VRAM and are not there.
    pub vram: Option<u64>,
}

/// The difference that makes the columns add up, for each domain:
/// `used + overcounted = sum of processes' own + shared + the figure here`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unattributed {
    /// VRAM that no listed process holds: the kernel's own, page tables, framebuffers, processes that could not be read.
    pub vram: Option<u64>,
    /// GTT likewise.
    pub gtt: Option<u64>,
    /// Lower bound of what clients share: the most that any process reports as shared.
    #[serde(default)]
    pub shared: Pair,
    /// Excess of the processes' sum over the use: the figures are not all of one moment.
    #[serde(default)]
    pub overcounted: Pair,
}

/// Processes that could not be looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// Number of processes.
    pub processes: u64,
    /// The reason; `null` if there are none.
    pub reason: Option<String>,
}

/// A source that gave nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The source.
    pub source: String,
    /// The reason.
    pub reason: String,
}

/// Something to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A name that stays.
    pub code: String,
    /// The GPU's index.
    pub gpu: Option<usize>,
    /// For people.
    pub text: String,
}

/// Adds what is known; unknown and unknown is unknown.
pub fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
