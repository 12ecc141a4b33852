//! The snapshot: everything known at one moment, with the names of the JSON schema `amdgpu-budget/1`.
//!
//! Every view (text, CSV, Prometheus, plot, screen) is made from a [`Snapshot`] alone. A figure is therefore the same in all views,
//! and a recording can be viewed like a live GPU. Bytes are integers; an unknown value is `null`, never zero.

pub use amdgpu_pool::Largest;
pub use amdgpu_pool::model::{
    CgroupLimit, Client, Domain, Domains, Effective, Evicted, Heap, Missing, Pair, Process, System, Unattributed,
    Unreadable, add,
};
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
    /// The reasons for which the firmware holds the clocks back (`gpu_metrics`); empty if it does not, or if that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttled: Vec<String>,
    /// The resets of the GPU while the program looks; absent if there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets: Option<Resets>,
    /// The limit of this process's cgroup on the GPU's memory.
    #[serde(default)]
    pub cgroup_limit: Option<CgroupLimit>,
    /// The limits and the protection of the cgroups whose processes hold memory of the GPU, each once; empty where the kernel has no
    /// `dmem` controller.
    #[serde(default)]
    pub groups: Vec<CgroupLimit>,
    /// Every limit on the GPU's memory; `explain` has the reasons.
    #[serde(default)]
    pub limits: Vec<Limit>,
    /// The largest single allocation.
    #[serde(default)]
    pub largest: Largest,
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

/// The resets of a GPU of which the kernel has told (Linux 6.15 and later).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resets {
    /// The number of resets since the program that takes the snapshots was started.
    pub count: u64,
    /// The process whose job was stuck at the last reset; `null` if the kernel did not name one.
    pub pid: Option<u32>,
    /// The name of that process; `null` if the kernel did not name one.
    pub process: Option<String>,
}

/// A limit on the memory of a GPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The name, as [`amdgpu_pool::model::Limit`] has it.
    pub name: String,
    /// The limit in bytes; `null` if it is unknown or not set.
    pub bytes: Option<u64>,
    /// Its effect: `counts`, `slack`, `apart` or `unknown`.
    pub state: String,
}

impl From<amdgpu_pool::model::Limit> for Limit {
    fn from(limit: amdgpu_pool::model::Limit) -> Self {
        Self { name: limit.name.to_owned(), bytes: limit.bytes, state: limit.state.to_string() }
    }
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
