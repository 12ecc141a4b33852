//! The snapshot: everything known at one moment, with the names of the JSON schema `amdgpu-budget/1`.
//!
//! Every view (text, CSV, Prometheus, plot, screen) is made from a [`Snapshot`] alone. A figure is therefore the same in all views,
//! and a recording can be viewed like a live GPU. Bytes are integers; an unknown value is `null`, never zero.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The name and major version of the JSON schema.
pub const SCHEMA: &str = "amdgpu-budget/1";

/// The state of all GPUs at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The schema, always [`SCHEMA`].
    pub schema: String,
    /// The time of the snapshot: UTC, RFC 3339 with milliseconds.
    pub time: String,
    /// The time of the snapshot on a monotonic clock in nanoseconds, comparable only within one recording.
    pub monotonic_ns: u64,
    /// The version of the program that took the snapshot.
    pub tool: String,
    /// The source of the figures: `live`, `sim`, `root` or `recording`.
    pub source: String,
    /// The system memory of the machine.
    #[serde(default)]
    pub system: System,
    /// The GPUs, ordered by PCI address.
    #[serde(default)]
    pub gpus: Vec<Gpu>,
    /// Warnings about the state of the GPUs.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// The system memory of the machine, from `/proc/meminfo`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct System {
    /// `MemTotal` in bytes.
    pub mem_total: Option<u64>,
    /// `MemAvailable` in bytes.
    pub mem_available: Option<u64>,
}

/// The state of one GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gpu {
    /// The index of the GPU in the order of PCI addresses.
    pub index: usize,
    /// The PCI address, which identifies the GPU across snapshots.
    pub pci: String,
    /// The path of the render node.
    pub render: Option<String>,
    /// The marketing name.
    pub name: Option<String>,
    /// The code name of the chip in lower case.
    pub chip: Option<String>,
    /// `true` if the GPU is an APU, whose memory is system memory.
    pub apu: Option<bool>,
    /// The runtime power state as the kernel reports it, such as `active` or `suspended`.
    pub power: Option<String>,
    /// The version of the kernel driver.
    pub driver: Option<String>,
    /// The manufacturer of the video memory.
    pub vram_vendor: Option<String>,
    /// The memory domains, as the kernel reports them.
    pub domains: Domains,
    /// The memory that a program can actually allocate.
    pub effective: Effective,
    /// The driver's counters, which start when the driver is loaded.
    pub counters: Counters,
    /// Load, clocks, temperature and power, as far as the kernel reports them.
    #[serde(default)]
    pub sensors: Sensors,
    /// The limit of this process's cgroup on the GPU's memory.
    #[serde(default)]
    pub cgroup_limit: Option<CgroupLimit>,
    /// The Vulkan heaps, as a process that has just started sees them; `null` if the GPU could not be queried.
    pub heaps: Option<Vec<Heap>>,
    /// The Vulkan memory types; `null` if the GPU could not be queried.
    #[serde(default)]
    pub memory_types: Option<Vec<MemoryType>>,
    /// The processes that hold memory; `null` if processes were not read.
    pub processes: Option<Vec<Process>>,
    /// Memory in use that belongs to no process.
    pub unattributed: Option<Unattributed>,
    /// The processes that could not be read.
    pub unreadable: Unreadable,
    /// The sources that could not be read, with the reason.
    #[serde(default)]
    pub missing: Vec<Missing>,
}

/// The memory domains of a GPU, as the kernel reports them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Domains {
    /// Video memory (VRAM); on an APU the carve-out.
    pub vram: Domain,
    /// The part of VRAM that the CPU can map.
    pub visible_vram: Domain,
    /// System memory that the GPU may map.
    pub gtt: Domain,
}

/// The state of one memory domain. All figures are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// The size of the domain.
    pub total: Option<u64>,
    /// The size without pinned and reserved memory.
    pub usable: Option<u64>,
    /// The memory in use by all processes and the kernel.
    pub used: Option<u64>,
    /// The largest allocation that the kernel recommends.
    pub max_allocation: Option<u64>,
    /// The evicted memory of all clients: bytes whose preferred domain this is, but which are elsewhere.
    pub evicted: Option<u64>,
}

impl Domain {
    /// Returns the number of free bytes: the usable size, or the total if that is unknown, minus the memory in use.
    pub fn free(&self) -> Option<u64> {
        Some(self.usable.or(self.total)?.saturating_sub(self.used?))
    }
}

/// The memory that programs can actually use, over all domains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Effective {
    /// The maximum number of bytes that programs can allocate.
    pub total: Option<u64>,
    /// The number of bytes that can still be allocated.
    pub available: Option<u64>,
    /// The rule by which the figures were computed: `dgpu`, `apu` or `unknown`.
    pub rule: String,
    /// The term that limits `available`: `vram`, `gtt`, `mem_available` or `cgroup`.
    pub limited_by: Option<String>,
}

/// Counters of the kernel driver; `null` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Number of evictions that copied memory.
    pub evictions: Option<u64>,
    /// Number of bytes copied by moves and evictions.
    pub bytes_moved: Option<u64>,
    /// Number of CPU page faults on VRAM outside the visible part.
    pub cpu_page_faults: Option<u64>,
    /// Number of GPU resets that lost VRAM.
    pub vram_lost: Option<u64>,
}

/// Load, clocks, temperature and power of a GPU; unknown while the GPU is suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensors {
    /// Load of the graphics engine in percent (`gpu_busy_percent`).
    pub busy_percent: Option<u64>,
    /// Load of the memory controller in percent (`mem_busy_percent`).
    pub memory_busy_percent: Option<u64>,
    /// Shader clock in Hz (hwmon `freq1_input`).
    pub shader_clock_hz: Option<u64>,
    /// Memory clock in Hz (hwmon `freq2_input`).
    pub memory_clock_hz: Option<u64>,
    /// Edge temperature in thousandths of a degree Celsius (hwmon `temp1_input`).
    pub temperature_mc: Option<u64>,
    /// Power in microwatts (hwmon `power1_average`, or else `power1_input`).
    pub power_uw: Option<u64>,
}

/// The limits of a cgroup (v2) on the GPU's memory, from its `dmem` controller. All figures are in bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CgroupLimit {
    /// The path of the cgroup.
    pub path: String,
    /// The memory in use: `dmem.current`.
    pub current: Option<u64>,
    /// The memory that is protected from eviction if possible: `dmem.low`.
    pub low: Option<u64>,
    /// The memory that is always protected from eviction: `dmem.min`.
    pub min: Option<u64>,
    /// The limit: `dmem.max`; `null` if there is none.
    pub max: Option<u64>,
}

/// A Vulkan memory heap with its budget.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Heap {
    /// The index of the heap (`heapIndex`).
    pub index: usize,
    /// The names of the flags (`VkMemoryHeapFlagBits`), without prefix.
    pub flags: Vec<String>,
    /// Kind of memory: `invisible_vram`, `visible_vram` or `gtt`.
    #[serde(default)]
    pub kind: String,
    /// The size of the heap in bytes (`size`).
    pub size: u64,
    /// The budget of the process in bytes (`heapBudget`).
    pub budget: u64,
    /// The bytes that the querying process uses (`heapUsage`); 0 for a process that has just started.
    pub usage: u64,
    /// Indices of the heaps that share memory with this one.
    pub shares_with: Vec<usize>,
}

/// A Vulkan memory type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryType {
    /// The index of the memory type (`memoryTypeIndex`).
    pub index: usize,
    /// The index of the type's heap (`heapIndex`).
    pub heap: usize,
    /// The names of the property flags (`VkMemoryPropertyFlagBits`), without prefix.
    pub flags: Vec<String>,
}

/// The memory of a process on one GPU. A client (open file) that several processes share is charged to the process with the lowest
/// process ID; the others only list it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// The process ID.
    pub pid: u32,
    /// The process ID of the parent.
    #[serde(default)]
    pub ppid: Option<u32>,
    /// The name of the process (`comm`).
    pub name: Option<String>,
    /// The user of the process: the name, or the number if there is no name.
    pub user: Option<String>,
    /// The cgroup of the process.
    #[serde(default)]
    pub cgroup: Option<String>,
    /// The container of the process, and its pod, if the cgroup belongs to a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// The age of the process in seconds.
    #[serde(default)]
    pub age_s: Option<u64>,
    /// The client numbers of the GPU's open files that the process holds, each once.
    pub clients: Vec<u64>,
    /// The members of `clients` that are charged to another process.
    #[serde(default)]
    pub charged_elsewhere: Vec<u64>,
    /// Bytes in VRAM, including shared memory.
    pub vram: Option<u64>,
    /// Bytes in VRAM that no other client holds: `vram` minus `shared.vram`.
    #[serde(default)]
    pub own_vram: Option<u64>,
    /// Bytes of `vram` that the CPU can map.
    pub visible_vram: Option<u64>,
    /// Bytes in GTT, including shared memory.
    pub gtt: Option<u64>,
    /// Bytes in GTT that no other client holds: `gtt` minus `shared.gtt`.
    #[serde(default)]
    pub own_gtt: Option<u64>,
    /// Bytes that were moved out to system memory.
    pub cpu: Option<u64>,
    /// Bytes of `vram` and `gtt` that are shared with other clients.
    pub shared: Pair,
    /// Bytes that the process requested, by preferred domain.
    pub requested: Pair,
    /// Bytes that were evicted.
    pub evicted: Evicted,
    /// The time that each engine has worked for the process, in nanoseconds.
    pub engines_ns: BTreeMap<String, u64>,
    /// The figures of each open file, if they were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_client: Vec<Client>,
}

impl Process {
    /// Returns the memory that only this process holds: resident minus shared.
    pub fn own(&self) -> Pair {
        own(Pair { vram: self.vram, gtt: self.gtt }, self.shared)
    }

    /// Returns the sum of VRAM and GTT, including shared memory. Processes are sorted by it.
    pub fn memory(&self) -> u64 {
        self.vram.unwrap_or(0).saturating_add(self.gtt.unwrap_or(0))
    }
}

fn own(resident: Pair, shared: Pair) -> Pair {
    let less = |all: Option<u64>, shared: Option<u64>| Some(all?.saturating_sub(shared.unwrap_or(0)));
    Pair { vram: less(resident.vram, shared.vram), gtt: less(resident.gtt, shared.gtt) }
}

/// The memory of one open file of a GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// The client number of the open file.
    pub client: u64,
    /// Bytes in VRAM, including shared memory.
    pub vram: Option<u64>,
    /// Bytes in VRAM that no other client holds: `vram` minus `shared.vram`.
    #[serde(default)]
    pub own_vram: Option<u64>,
    /// Bytes of `vram` that the CPU can map.
    pub visible_vram: Option<u64>,
    /// Bytes in GTT, including shared memory.
    pub gtt: Option<u64>,
    /// Bytes in GTT that no other client holds: `gtt` minus `shared.gtt`.
    #[serde(default)]
    pub own_gtt: Option<u64>,
    /// Bytes that were moved out to system memory.
    pub cpu: Option<u64>,
    /// Bytes of `vram` and `gtt` that are shared with other clients.
    pub shared: Pair,
    /// Bytes that the client requested, by preferred domain.
    pub requested: Pair,
    /// Bytes that were evicted.
    pub evicted: Evicted,
}

impl Client {
    /// Returns the memory that only this client holds: resident minus shared.
    pub fn own(&self) -> Pair {
        own(Pair { vram: self.vram, gtt: self.gtt }, self.shared)
    }
}

/// Bytes in VRAM and GTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair {
    /// Bytes in VRAM.
    pub vram: Option<u64>,
    /// Bytes in GTT, the system memory that the GPU maps.
    pub gtt: Option<u64>,
}

/// Bytes that were moved out of the memory that their owner prefers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evicted {
    /// Bytes whose preferred domain is VRAM but which are not in VRAM.
    pub vram: Option<u64>,
}

/// Memory in use that belongs to no listed process, so that for each domain `used + overcounted = sum of processes' own + shared +
/// unattributed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unattributed {
    /// VRAM that no listed process holds: the kernel's own memory, page tables, framebuffers, and the memory of processes that
    /// could not be read.
    pub vram: Option<u64>,
    /// GTT that no listed process holds.
    pub gtt: Option<u64>,
    /// A lower bound of the shared memory: the largest amount that any process reports as shared.
    #[serde(default)]
    pub shared: Pair,
    /// The excess of the processes' sum over the memory in use, which occurs because the figures are not read at the same moment.
    #[serde(default)]
    pub overcounted: Pair,
}

/// Processes whose files could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// The number of these processes.
    pub processes: u64,
    /// The reason; `null` if there are none.
    pub reason: Option<String>,
}

/// A source that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The name of the source, such as a file.
    pub source: String,
    /// The reason why it could not be read.
    pub reason: String,
}

/// A warning about a state that needs attention.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The stable name of the kind of warning.
    pub code: String,
    /// The index of the GPU; `null` if the warning is about no single GPU.
    pub gpu: Option<usize>,
    /// The text of the warning.
    pub text: String,
}

/// Adds a value to a sum. An unknown value leaves the sum unchanged, and the sum of unknown values is unknown.
pub fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
