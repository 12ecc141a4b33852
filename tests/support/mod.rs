//! Helpers shared by the tests on the simulator.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub(crate) mod jobs;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use amdgpu_sim::{Profile, SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{self, Queue},
    heaps::{self, AllocateFlags, AllocateInfo, DeviceMemory, MemoryManager, MemoryPropertyFlags, TableOptions},
    vamgr::{GpuVa, VaRequest},
    winsys::{self, Binding, Context, Deadline, Device, Ip, Priority},
};
use serde_json::Value;

/// The names of the chips that tests run on: file names in `tests/data/devices`, profiles of the simulator.
pub(crate) fn chips() -> Vec<&'static str> {
    let chosen = amdgpu_sim::chosen_profiles().unwrap();
    chosen.iter().map(|profile| profile.name.as_str()).collect()
}

/// Those of them with recorded answers of RADV, file names in `tests/data/radv`.
pub(crate) fn chips_with_answers() -> Vec<&'static str> {
    let has_answers = |name: &&str| answers_of(name).exists();
    chips().into_iter().filter(has_answers).collect()
}

fn answers_of(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/radv").join(format!("{name}.json"))
}

/// The simulator's profile of a chip.
pub(crate) fn chip(name: &str) -> &'static Profile {
    amdgpu_sim::profile(name).unwrap_or_else(|| panic!("the simulator has no {name}"))
}

/// A device on the simulator as it is by default.
pub(crate) fn device(name: &str) -> Device {
    Device::new(SimDevice::new(chip(name), SimOptions::default()).open()).unwrap()
}

/// Far more than any job of a test needs.
pub(crate) fn job_time() -> Deadline {
    Deadline::after(Duration::from_mins(1))
}

/// Runs `work` on a thread of its own, and fails if it does not end.
pub(crate) fn ends<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, outcome) = mpsc::channel();
    let worker = thread::spawn(move || done.send(work()));
    let outcome = outcome.recv_timeout(Duration::from_secs(20)).expect("the thread waits for itself");
    worker.join().unwrap().unwrap();
    outcome
}

/// Tells whether a binding still exists, without being one of its handles: its addresses are leased exactly as long.
#[derive(Debug)]
pub(crate) struct Watch {
    device: Device,
    at: GpuVa,
}

impl Watch {
    pub(crate) fn of(binding: &Binding) -> Self {
        Self { device: binding.device().clone(), at: binding.address() }
    }

    pub(crate) fn is_bound(&self) -> bool {
        self.device.addresses().allocate(VaRequest::new(1).at(self.at)).is_err()
    }
}

/// Any error of the library.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Winsys(#[from] winsys::Error),
    #[error(transparent)]
    Memory(#[from] heaps::MemoryError),
    #[error(transparent)]
    Submission(#[from] cs::Error),
    #[error("a job was not done in time")]
    NotDone,
}

/// Converts the errors of operations.
macro_rules! of_operations {
    ($($operation:ident)+) => {
        $(impl From<winsys::$operation> for Trouble {
            fn from(error: winsys::$operation) -> Self {
                Self::Winsys(error.into())
            }
        })+
    };
}

/// Converts the errors of operations on device memory.
macro_rules! of_memory {
    ($($operation:ident)+) => {
        $(impl From<heaps::$operation> for Trouble {
            fn from(error: heaps::$operation) -> Self {
                Self::Memory(error.into())
            }
        })+
    };
}

of_memory! { AllocateMemoryError CreateManagerError ExportImageError ExportMemoryError FdTypesError FlushError }
of_memory! { ImportFdError ImportHostPointerError MapPlacedError SparseQueueError SparseRangeError UnmapError }
of_memory! { UnsupportedHandleType WorkingSetError }

/// Converts the errors of operations on queues and streams.
macro_rules! of_submissions {
    ($($operation:ident)+) => {
        $(impl From<cs::$operation> for Trouble {
            fn from(error: cs::$operation) -> Self {
                Self::Submission(error.into())
            }
        })+
    };
}

of_submissions! { GangError PollableError QueueError RecordError SubmitError SubmitterError UserQueueError }

of_operations! { AccessError BindError CreateBoError CreateBoundError ExportError ImportError KernelError MapError OutOfRange SetMetadataError UserMemoryError }

/// RADV's answers for a chip.
pub(crate) struct RadvResults(Value);

impl RadvResults {
    pub(crate) fn read(name: &str) -> Self {
        let path = answers_of(name);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(serde_json::from_str(&text).unwrap())
    }

    /// Returns the answers without options.
    pub(crate) fn default(&self) -> &Value {
        &self.0["default"]
    }

    /// The address windows of libdrm.
    pub(crate) fn windows(&self) -> &Value {
        &self.0["libdrm"]["va_windows"]
    }

    pub(crate) fn radeon_info(&self) -> Value {
        self.0["radeon_info"].clone()
    }
}

/// A device on the simulator as the captures were taken: the driver's version of then, no copy engine, no MAX_IBS.
pub(crate) fn device_like_the_recording(name: &str) -> Device {
    Device::new(SimDevice::new(chip(name), SimOptions::RECORDING).open()).unwrap()
}

/// A number of the recordings: JSON's own, or a string in hexadecimal.
pub(crate) fn number(value: &Value) -> u64 {
    match value.as_str() {
        Some(text) => u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).unwrap(),
        None => value.as_u64().unwrap_or_else(|| panic!("{value} is no number")),
    }
}

/// A queue of a context of its own.
pub(crate) fn queue(device: &Device, ip: Ip, ring: u32) -> Queue {
    Queue::new(&Context::new(device, Priority::Normal).unwrap(), ip, ring).unwrap()
}

/// Mapped system memory.
pub(crate) fn host_memory(device: &Device, size: u64) -> DeviceMemory {
    host_memory_with(device, size, AllocateFlags::empty())
}

/// Mapped system memory with wishes.
pub(crate) fn host_memory_with(device: &Device, size: u64, wishes: AllocateFlags) -> DeviceMemory {
    let manager = MemoryManager::new(device, &TableOptions::default()).unwrap();
    let tables = manager.properties();
    let flags = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_CACHED;
    let usable = tables.buffer_types(heaps::Addressing::Bits64, false);
    let memory_type = tables.find_type(usable, flags, MemoryPropertyFlags::empty()).unwrap();
    let info = AllocateInfo { flags: wishes, ..AllocateInfo::new(memory_type, size) };
    let memory = manager.allocate(&info).unwrap();
    memory.map().unwrap();
    memory
}
