//! Collection of a [`Snapshot`] from files of the kernel and from INFO queries.

mod gpus;
pub mod info;
mod throttle;

use std::collections::BTreeMap;

use amdgpu_pool::Looker;
use amdgpu_winsys::winsys::GpuInfo;

use self::gpus::Asked;
use crate::{
    machine::Machine,
    snapshot::{
        model::{Resets, SCHEMA, Snapshot},
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

impl From<amdgpu_pool::LookError> for LookError {
    fn from(error: amdgpu_pool::LookError) -> Self {
        match error {
            amdgpu_pool::LookError::NoGpu(reason) => Self::NoGpu(reason),
            amdgpu_pool::LookError::NotReadable(reason) => Self::NotReadable(reason),
        }
    }
}

/// A collector that takes snapshots of a machine, and caches facts that do not change.
pub struct Collector<M> {
    machine: M,
    wishes: CollectOptions,
    known: BTreeMap<String, GpuInfo>,
    looker: Looker,
    is_first: bool,
    /// The resets of each GPU so far, by PCI address.
    resets: BTreeMap<String, Resets>,
}

impl<M: Machine> Collector<M> {
    /// Creates a collector for a machine, with an empty cache.
    pub fn new(machine: M, wishes: CollectOptions) -> Self {
        Self {
            machine,
            wishes,
            known: BTreeMap::new(),
            looker: Looker::default(),
            is_first: true,
            resets: BTreeMap::new(),
        }
    }

    /// Returns the machine whose snapshots are taken.
    pub fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns the constant facts of a GPU by its PCI address; `None` if no snapshot has opened it.
    pub fn facts(&self, pci: &str) -> Option<&GpuInfo> {
        self.known.get(pci)
    }

    /// Takes the next snapshot; `None` if the machine does not change any more.
    ///
    /// # Errors
    ///
    /// [`LookError`] if there is no GPU, or none of its files can be read. A source that cannot be read is not an error; it is
    /// listed in [`Gpu::missing`](crate::model::Gpu::missing).
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
        let CollectOptions { wake, processes, per_client } = self.wishes;
        let asked = Asked::new(&self.machine, &self.known);
        let report = self.looker.look(&asked, &amdgpu_pool::Options { wake, processes, per_client })?;
        let mut answers = asked.answers.into_inner();
        let now = self.machine.now();
        let mut snapshot = Snapshot {
            schema: SCHEMA.to_owned(),
            time: now.rfc3339(),
            monotonic_ns: now.monotonic_ns,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            source: self.machine.kind().to_owned(),
            system: report.system,
            gpus: Vec::new(),
            warnings: Vec::new(),
        };
        for gpu in report.gpus {
            let answers = answers.remove(&gpu.pci);
            if let Some(answers) = &answers {
                self.known.insert(gpu.pci.clone(), answers.gpu.clone());
            }
            snapshot.gpus.push(gpus::described(self.machine.files(), gpu, answers));
        }
        let events = self.machine.resets();
        for gpu in &mut snapshot.gpus {
            for event in events.iter().filter(|event| event.is_of(&gpu.pci)) {
                let (pid, process) = event.process.clone().unzip();
                let count = self.resets.get(&gpu.pci).map_or(0, |resets| resets.count) + 1;
                self.resets.insert(gpu.pci.clone(), Resets { count, pid, process });
            }
            gpu.resets = self.resets.get(&gpu.pci).cloned();
        }
        snapshot.warnings = warnings::of(&snapshot);
        Ok(snapshot)
    }
}
