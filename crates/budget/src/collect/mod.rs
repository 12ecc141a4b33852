//! Collection of a [`Snapshot`] from files of the kernel and from INFO queries.

pub mod fdinfo;
mod gpus;
pub mod info;
mod proc_file;
mod processes;
mod sums;

use std::{collections::BTreeMap, io};

use amdgpu_winsys::winsys::GpuInfo;

use self::{gpus::Node, processes::Scanner};
use crate::{
    machine::Machine,
    snapshot::{
        effective::effective,
        model::{Gpu, Process, SCHEMA, Snapshot, System, Unreadable},
        warnings,
    },
};

/// Options for collecting a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectOptions {
    /// `true` to open GPUs that are suspended, which wakes them.
    pub wake: bool,
    /// `true` to read the processes that use the GPUs.
    pub processes: bool,
    /// `true` to include the figures of each open file.
    pub per_client: bool,
}

impl Default for CollectOptions {
    fn default() -> Self {
        Self { wake: false, processes: true, per_client: false }
    }
}

/// The reason why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum LookError {
    /// sysfs has no GPU that uses the amdgpu driver.
    #[error("no amdgpu GPU: {0}")]
    NoGpu(String),
    /// The process has no permission to read sysfs.
    #[error("nothing may be read: {0}")]
    NotReadable(String),
    /// The recording is damaged.
    #[error("{0}")]
    Recording(String),
}

/// A collector that takes snapshots of a machine, and caches facts that do not change.
pub struct Collector<M> {
    machine: M,
    wishes: CollectOptions,
    known: BTreeMap<String, GpuInfo>,
    scanner: Scanner,
    is_first: bool,
}

impl<M: Machine> Collector<M> {
    /// Creates a collector for a machine, with an empty cache.
    pub fn new(machine: M, wishes: CollectOptions) -> Self {
        Self { machine, wishes, known: BTreeMap::new(), scanner: Scanner::default(), is_first: true }
    }

    /// Returns the machine whose snapshots are taken.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Takes the next snapshot; `None` if the machine does not change any more.
    ///
    /// # Errors
    ///
    /// [`LookError`] if there is no GPU, or none of its files can be read. A source that cannot be read is not an error; it is
    /// listed in [`Gpu::missing`].
    pub fn look(&mut self) -> Result<Option<Snapshot>, LookError> {
        if !self.is_first {
            if !self.machine.changes() {
                return Ok(None);
            }
            self.machine.advance();
        }
        self.is_first = false;
        self.look_again().map(Some)
    }

    /// Takes a snapshot of the machine's current moment, without advancing simulated time.
    ///
    /// # Errors
    ///
    /// The errors of [`look`](Self::look).
    pub fn look_again(&mut self) -> Result<Snapshot, LookError> {
        let nodes = gpus::enumerate(self.machine.files()).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => LookError::NotReadable(format!("/sys/class/drm: {error}")),
            _ => LookError::NoGpu(format!("/sys/class/drm: {}", crate::files::reason(&error))),
        })?;
        if nodes.is_empty() {
            return Err(LookError::NoGpu("no render node in /sys/class/drm is one of driver amdgpu".to_owned()));
        }
        Ok(self.snapshot(nodes))
    }

    fn snapshot(&mut self, nodes: Vec<Node>) -> Snapshot {
        let now = self.machine.now();
        let system = proc_file::meminfo(self.machine.files());
        let mut by_pci = BTreeMap::new();
        let mut unreadable = Unreadable::default();
        if self.wishes.processes {
            (by_pci, unreadable) = self.scanner.scan(self.machine.files(), self.wishes.per_client);
        }
        let mut gpus = Vec::new();
        for (index, node) in nodes.into_iter().enumerate() {
            let processes = self.wishes.processes.then(|| by_pci.remove(&node.pci).unwrap_or_default());
            gpus.push(self.gpu(index, &node, &system, processes, &unreadable));
        }
        let mut snapshot = Snapshot {
            schema: SCHEMA.to_owned(),
            time: now.rfc3339(),
            monotonic_ns: now.monotonic_ns,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            source: self.machine.kind().to_owned(),
            system,
            gpus,
            warnings: Vec::new(),
        };
        snapshot.warnings = warnings::of(&snapshot);
        snapshot
    }

    fn gpu(
        &mut self,
        index: usize,
        node: &Node,
        system: &System,
        processes: Option<Vec<Process>>,
        unreadable: &Unreadable,
    ) -> Gpu {
        let mut gpu = gpus::from_sysfs(self.machine.files(), index, node);
        if gpu.power.as_deref() == Some("suspended") && !self.wishes.wake {
            gpu.missing.push(gpus::missing("INFO", "the GPU is asleep; --wake would open it and wake it"));
        } else {
            gpus::ask(&self.machine, node, &mut self.known, &mut gpu);
        }
        gpu.cgroup_limit = gpus::cgroup_limit(self.machine.files(), &node.pci);
        gpu.effective = effective(gpu.apu, &gpu.domains, system, gpu.cgroup_limit.as_ref());
        gpu.unreadable = unreadable.clone();
        if let Some(processes) = processes {
            gpu.domains.vram.evicted = sums::evicted(&processes);
            gpu.unattributed = Some(sums::unattributed(&gpu.domains, &processes));
            gpu.processes = Some(processes);
        } else {
            gpu.missing.push(gpus::missing("processes", "not asked for"));
        }
        gpu
    }
}
