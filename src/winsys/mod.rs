//! Safe wrappers of the kernel's objects and requests.
//!
//! A [`Device`] is a GPU, used through one open file; the other objects are created from it: [`Bo`], [`Mapping`],
//! [`Context`], [`Syncobj`]. Each object owns its kernel resource and releases it on drop. `unsafe` is confined to the
//! modules that pass addresses to the kernel or access mapped memory.

#[expect(unsafe_code, reason = "descriptors that the kernel answers become owned")]
mod answers;
#[expect(unsafe_code, reason = "GEM_OP, PRIME and USERPTR carry addresses and descriptors")]
mod bo;
mod device;
mod error;
mod feature;
mod memory;
#[expect(unsafe_code, reason = "requests for objects that the library owns")]
mod own;
mod ownership;
mod page;
mod queue;
mod release;
mod usage;
mod watch;

pub(crate) use self::{bo::NewBo, device::installed_vram, memory::PageTableChanges, queue::PageTables};
pub use self::{
    bo::{
        Bo, BoCreateInfo, BoMetadata, BoRequest, BoRuleError, BoWords, Gfx12Tiling, LegacyTiling, Origin,
        SwizzleTiling, Tiling, TilingFieldError, UserMemory,
    },
    device::{
        AttributeRings, CacheSizes, Capabilities, DevInfoAnswer, Device, DeviceOptions, DriverVersion, Firmware,
        GdsSizes, GeometryRings, GpuInfo, IpBlock, IpVersion, LdsLimits, MINIMUM_MINOR, MemorySizes, Node,
        ParameterCache, RadeonField, RawInfo, RegisterValue, RenderNode, ScratchLimits, ShaderArray, ShadowAreas,
        TaskRings, TessellationRings, TilingRegisters, Vbios, VideoCapabilities, VideoCodec, VideoDirection,
        VideoLimits, WaveLimits,
    },
    error::{
        AccessError, BindError, BrokenBoRule, CreateBoError, CreateBoundError, Error, ExportError, HostMemory,
        ImportError, InvalidReply, KernelError, MapError, Misaligned, NoAddress, OpenError, OutOfRange, Result,
        SetMetadataError, Subject, Unmappable, UnsupportedVaFlags, UserMemoryError,
    },
    feature::Feature,
    memory::{Binding, BoundRequest, IsLent, MapOnce, Mapped, Mapping, Reservation, ResidencySet, Resident, Residents},
    ownership::HandleOwnership,
    page::PAGE_SIZE,
    queue::{
        Blame, BoList, ChunkScratch, Chunks, Context, Loss, LossReason, PinnedClocks, Priority, StablePstate, Syncobj,
        Until, UserFence, UserRing, VmidReservation, WaitFor, wait_fences,
    },
    usage::{Account, Charge, MoveCounters, OwnUsage, Sensor, SystemUsage, UsageEntry, UsageTracker},
    watch::{
        BoEntry, BoHistory, Event, FaultAccess, FaultHub, FaultReport, FaultStatus, HistoryEntry, MappedRange, NEAR,
        Observer, PageFault, PressureLevel, VaLookup, VaMap, Verdict,
    },
};
pub use amdgpu_hw::{Chip, Family, GfxLevel, Ip, MecQueue, Mecs, PciAddress, Peaks, Topology, Units, VramType};
use amdgpu_uapi as kernel;
pub use amdgpu_uapi::{
    Deadline, Errno, FileIdentity, Harmless, Kernel, NotReserved, OpenFile, Plain, Protection, replace_by_nothing,
};
