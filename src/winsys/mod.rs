//! The kernel's objects, one safe wrapper per ioctl.
//!
//! [`Device`] is one open file of one GPU and the root of everything: [`Bo`], [`Mapping`], [`Context`], [`Syncobj`].
//! Each owns what the kernel gave it and gives it back on drop. `unsafe` lives in the modules that form ioctl arguments
//! with addresses in them or touch mapped memory, and nowhere else.

mod address_book;
#[expect(unsafe_code, reason = "descriptors that the kernel answers become owned")]
mod answers;
mod binding;
#[expect(unsafe_code, reason = "GEM_OP, PRIME and USERPTR carry addresses and descriptors")]
mod bo;
#[expect(unsafe_code, reason = "BO_LIST carries the address of its entries")]
mod bo_list;
#[expect(unsafe_code, reason = "fcntl and kcmp compare descriptors")]
mod claim;
mod clocks;
mod context;
mod counted_set;
mod device;
mod device_ref;
mod driver_version;
mod error;
mod event;
mod fault_report;
#[expect(unsafe_code, reason = "WAIT_FENCES carries the address of its fences; descriptors")]
mod fence;
mod gpu_info;
mod history;
pub(crate) mod interval_map;
mod ledger;
mod loss;
mod map_once;
#[expect(unsafe_code, reason = "memory that the GPU writes")]
mod mapping;
mod node;
mod observer;
mod page_fault;
mod priority;
#[expect(unsafe_code, reason = "INFO and VERSION carry the address of the answer")]
mod query;
mod release;
#[expect(unsafe_code, reason = "the seam: the system calls themselves")]
mod render_node;
mod reservation;
mod resident_set;
mod statistics;
#[expect(unsafe_code, reason = "CS carries the addresses of its chunks")]
mod submission;
#[expect(unsafe_code, reason = "waits and queries carry the addresses of handles and points")]
mod syncobj;
mod user_fence;
mod vmid;

pub use self::{
    address_book::{AddressBook, BoEntry, Finding, Place},
    binding::Binding,
    bo::{
        Bo, BoCreateInfo, BoMetadata, BoRequest, BoRuleError, Gfx12Tiling, LegacyTiling, Origin, PAGE_SIZE,
        SwizzleTiling, Tiling, TilingFieldError, UserMemory,
    },
    bo_list::BoList,
    clocks::{PinnedClocks, StablePstate},
    context::Context,
    device::Device,
    driver_version::{DriverVersion, MINIMUM_MINOR},
    error::{Error, Result},
    event::{Event, PressureLevel},
    fault_report::{FaultAccess, FaultHub, FaultReport, FaultStatus, NEAR, Verdict},
    fence::wait_fences,
    gpu_info::{Capabilities, Firmware, GpuInfo, IpBlock, IpVersion, MemorySizes, ShaderArray, TilingRegisters},
    history::{BoHistory, HistoryEntry},
    ledger::{Account, Charge, Ledger, LedgerEntry, OwnUsage},
    loss::{Blame, Loss, LossReason},
    map_once::MapOnce,
    mapping::Mapping,
    node::Node,
    observer::Observer,
    page_fault::PageFault,
    priority::Priority,
    render_node::RenderNode,
    reservation::Reservation,
    resident_set::{ResidentSet, Residents},
    statistics::{MoveCounters, Sensor, SystemUsage},
    submission::{ChunkScratch, Chunks},
    syncobj::{Syncobj, Until, WaitFor},
    user_fence::UserFence,
    vmid::VmidReservation,
};
pub(crate) use self::{
    device_ref::{DeviceRef, DeviceRefs},
    gpu_info::installed_vram,
};
pub use amdgpu_hw::{Chip, Family, GfxLevel, Ip, PciAddress, VramType};
use amdgpu_uapi as kernel;
pub use amdgpu_uapi::{Deadline, FileIdentity, Kernel, NotReserved, OpenFile, Plain, Protection, replace_by_nothing};

/// How often giving something back is tried before it is left to the end of the file. A drop can report to nobody, and
/// a kernel under pressure may refuse once what it grants the next time.
const RELEASE_ATTEMPTS: usize = 3;
