//! The figures of GPUs and of the processes that use them. Bytes are integers; an unknown value is `None`, never zero.

use std::{collections::BTreeMap, fmt};

/// The system memory of the machine, from `/proc/meminfo`, and what the kernel lets GPUs have of it.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct System {
    /// `MemTotal` in bytes.
    pub mem_total: Option<u64>,
    /// `MemAvailable` in bytes.
    pub mem_available: Option<u64>,
    /// The bytes that all GPUs together may hold of it: TTM's page limit; `None` if it cannot be read.
    #[cfg_attr(feature = "serde", serde(default))]
    pub ttm_limit: Option<u64>,
}

/// The memory domains of a GPU, as the kernel reports them.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Domains {
    /// Video memory (VRAM); on an APU the carve-out.
    pub vram: Domain,
    /// The part of VRAM that the CPU can map.
    pub visible_vram: Domain,
    /// System memory that the GPU may map.
    pub gtt: Domain,
}

/// The state of one memory domain. All figures are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Effective {
    /// The maximum number of bytes that programs can allocate.
    pub total: Option<u64>,
    /// The number of bytes that can still be allocated.
    pub available: Option<u64>,
    /// The rule by which the figures were computed: `dgpu`, `apu` or `unknown`.
    pub rule: String,
    /// The term that limits `available`: `vram`, `gtt`, `mem_available`, `ttm_pages_limit` or `cgroup`.
    pub limited_by: Option<String>,
}

/// The limits of a cgroup (v2) on the GPU's memory, from its `dmem` controller. All figures are in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CgroupLimit {
    /// The path of the cgroup.
    pub path: String,
    /// The memory in use: `dmem.current`.
    pub current: Option<u64>,
    /// The memory that is protected from eviction if possible: `dmem.low`.
    pub low: Option<u64>,
    /// The memory that is always protected from eviction: `dmem.min`.
    pub min: Option<u64>,
    /// The limit: `dmem.max`; `None` if there is none.
    pub max: Option<u64>,
    /// The bytes that the cgroup and those above it still allow; `None` if none of them has a limit.
    #[cfg_attr(feature = "serde", serde(default))]
    pub left: Option<u64>,
    /// The cgroup whose limit allows the least, which may be above `path`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub limited_at: Option<String>,
    /// The bytes that are protected from eviction at most: a cgroup is protected only as far as all above it are. `None` if the
    /// controller is not enabled for any of them.
    #[cfg_attr(feature = "serde", serde(default))]
    pub protected: Option<u64>,
    /// The cgroup that protects the least, which may be above `path`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub protected_at: Option<String>,
}

/// A Vulkan memory heap with its budget.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Heap {
    /// The index of the heap (`heapIndex`).
    pub index: usize,
    /// The names of the flags (`VkMemoryHeapFlagBits`), without prefix.
    pub flags: Vec<String>,
    /// Kind of memory: `invisible_vram`, `visible_vram` or `gtt`.
    #[cfg_attr(feature = "serde", serde(default))]
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

/// The memory of a process on one GPU. A client (open file) that several processes share is charged to the process with the lowest
/// process ID; the others only list it.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Process {
    /// The process ID.
    pub pid: u32,
    /// The process ID of the parent.
    #[cfg_attr(feature = "serde", serde(default))]
    pub ppid: Option<u32>,
    /// The name of the process (`comm`).
    pub name: Option<String>,
    /// The user of the process: the name, or the number if there is no name.
    pub user: Option<String>,
    /// The cgroup of the process.
    #[cfg_attr(feature = "serde", serde(default))]
    pub cgroup: Option<String>,
    /// The container of the process, and its pod, if the cgroup belongs to a container.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub container: Option<String>,
    /// The age of the process in seconds.
    #[cfg_attr(feature = "serde", serde(default))]
    pub age_s: Option<u64>,
    /// The client numbers of the GPU's open files that the process holds, each once.
    pub clients: Vec<u64>,
    /// The members of `clients` that are charged to another process.
    #[cfg_attr(feature = "serde", serde(default))]
    pub charged_elsewhere: Vec<u64>,
    /// Bytes in VRAM, including shared memory.
    pub vram: Option<u64>,
    /// Bytes in VRAM that no other client holds: `vram` minus `shared.vram`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub own_vram: Option<u64>,
    /// Bytes of `vram` that the CPU can map.
    pub visible_vram: Option<u64>,
    /// Bytes in GTT, including shared memory.
    pub gtt: Option<u64>,
    /// Bytes in GTT that no other client holds: `gtt` minus `shared.gtt`.
    #[cfg_attr(feature = "serde", serde(default))]
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
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
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
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Client {
    /// The client number of the open file.
    pub client: u64,
    /// Bytes in VRAM, including shared memory.
    pub vram: Option<u64>,
    /// Bytes in VRAM that no other client holds: `vram` minus `shared.vram`.
    #[cfg_attr(feature = "serde", serde(default))]
    pub own_vram: Option<u64>,
    /// Bytes of `vram` that the CPU can map.
    pub visible_vram: Option<u64>,
    /// Bytes in GTT, including shared memory.
    pub gtt: Option<u64>,
    /// Bytes in GTT that no other client holds: `gtt` minus `shared.gtt`.
    #[cfg_attr(feature = "serde", serde(default))]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Pair {
    /// Bytes in VRAM.
    pub vram: Option<u64>,
    /// Bytes in GTT, the system memory that the GPU maps.
    pub gtt: Option<u64>,
}

/// Bytes that were moved out of the memory that their owner prefers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Evicted {
    /// Bytes whose preferred domain is VRAM but which are not in VRAM.
    pub vram: Option<u64>,
    /// The part of `vram` that the CPU must be able to reach, so that it fits in visible VRAM only. Linux 6.1 to 6.13 report it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub visible_vram: Option<u64>,
}

/// Memory in use that belongs to no listed process, so that for each domain `used + overcounted = sum of processes' own + shared +
/// unattributed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unattributed {
    /// VRAM that no listed process holds: the kernel's own memory, page tables, framebuffers, and the memory of processes that
    /// could not be read.
    pub vram: Option<u64>,
    /// GTT that no listed process holds.
    pub gtt: Option<u64>,
    /// A lower bound of the shared memory: the largest amount that any process reports as shared.
    #[cfg_attr(feature = "serde", serde(default))]
    pub shared: Pair,
    /// The excess of the processes' sum over the memory in use, which occurs because the figures are not read at the same moment.
    #[cfg_attr(feature = "serde", serde(default))]
    pub overcounted: Pair,
}

/// Processes whose files could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unreadable {
    /// The number of these processes.
    pub processes: u64,
    /// The reason; `null` if there are none.
    pub reason: Option<String>,
}

/// A source that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Missing {
    /// The name of the source, such as a file.
    pub source: String,
    /// The reason why it could not be read.
    pub reason: String,
    /// `true` if it was read but makes no sense, and another figure was taken instead: nothing is missing then.
    #[cfg_attr(feature = "serde", serde(default))]
    pub is_replaced: bool,
}

/// The effect of a limit on the memory that is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is a term of the sum, or the smallest of several bounds.
    Counts,
    /// Another bound is smaller.
    Slack,
    /// It does not limit the GPU's memory at all.
    Apart,
    /// It is not known, or not set.
    Unknown,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counts => "counts",
            Self::Slack => "slack",
            Self::Apart => "apart",
            Self::Unknown => "unknown",
        })
    }
}

/// A limit on the memory of a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The name: `vram`, `carve_out`, `carve_out_next_boot`, `visible_vram`, `gtt`, `gttsize`, `ttm_pages_limit`, `mem_total`,
    /// `mem_available`, `cgroup_dmem` or `cgroup_memory`.
    pub name: &'static str,
    /// The limit in bytes; `None` if it is unknown or not set.
    pub bytes: Option<u64>,
    /// Its effect.
    pub state: State,
    /// The file or request that it was read from.
    pub source: String,
    /// The reason why it is what it is, and what would change it.
    pub why: String,
}

/// Adds a value to a sum. An unknown value leaves the sum unchanged, and the sum of unknown values is unknown.
pub fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or(0).saturating_add(more));
    }
}
