//! The last VM fault of an open file.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::Target;
use amdgpu_uapi::GpuvmFault;
use parking_lot::Mutex;

use crate::{
    chips::Profile,
    gpu::{Access, Client, FaultSource, PageFault},
};

/// The last VM fault in a file's address space.
#[derive(Debug)]
pub(crate) struct FaultCell {
    last: Mutex<GpuvmFault>,
    level: GfxLevel,
    is_apu: bool,
    vmid: u32,
    pasid: u32,
}

/// The number of address spaces that graphics may use beside the kernel's and those of KFD: VMIDs 1 to 7.
///
/// Source: Linux 6.12 `gmc_v6_0.c` to `gmc_v12_0.c`, `first_kfd_vmid`.
const VMIDS: u64 = 7;
/// The first number of an address space for the kernel, of 65536 (`amdgpu_pasid_alloc` with 16 bits).
const FIRST_PASID: u32 = 0x8000;

impl FaultCell {
    /// Creates a cell without a fault for the file with this number. A file has the same VMID for all of its jobs, and files that
    /// follow each other have different ones.
    pub(crate) fn new(profile: &Profile, file: u64) -> Self {
        Self {
            last: Mutex::new(GpuvmFault::ZEROED),
            level: profile.gfx_level,
            is_apu: profile.is_apu(),
            vmid: 1 + (file % VMIDS) as u32,
            pasid: FIRST_PASID + (file.saturating_sub(1) % u64::from(FIRST_PASID)) as u32,
        }
    }

    /// Records a fault of a packet or shader.
    pub(crate) fn record(&self, fault: PageFault, source: FaultSource, target: Target) {
        let unit = match (source.client, target) {
            (Client::Vector, _) => Unit::Vector,
            (Client::Scalar, _) => Unit::Scalar,
            (Client::Instructions, _) => Unit::Instructions,
            (Client::Packet, Target::Sdma(_)) => Unit::Copy,
            (Client::Packet, Target::Pm4(_)) if fault.access == Access::Fetch => Unit::Fetcher,
            (Client::Packet, Target::Pm4(target)) if target.is_mec() => Unit::Compute,
            (Client::Indices | Client::Targets, _) | (Client::Packet, Target::Pm4(_)) => Unit::Graphics,
        };
        self.keep(fault, unit, source);
    }

    /// Records a fault of an engine's fetch of commands. A video engine has no target.
    pub(crate) fn record_fetch(&self, fault: PageFault, target: Option<Target>) {
        let unit = match target {
            Some(Target::Pm4(_)) => Unit::Fetcher,
            Some(Target::Sdma(_)) => Unit::Copy,
            None => Unit::Video,
        };
        self.keep(fault, unit, PACKET);
    }

    /// Records a fault of registers that a graphics ring keeps in memory.
    pub(crate) fn record_shadow(&self, fault: PageFault) {
        self.keep(fault, Unit::Graphics, PACKET);
    }

    fn keep(&self, fault: PageFault, unit: Unit, source: FaultSource) {
        let is_write = fault.access == Access::Write;
        let is_multimedia = match unit {
            Unit::Video => self.level >= GfxLevel::Gfx9,
            // The copy engines of GFX9 are clients of the hub of video and display.
            Unit::Copy => self.level == GfxLevel::Gfx9,
            _ => false,
        };
        let status = if self.level >= GfxLevel::Gfx9 {
            // More waves fault before the kernel reads the register; the other units stop at the first fault.
            let more = u32::from(unit == Unit::Vector);
            let permissions = match (is_write, source.is_readable) {
                (true, true) => permission::WRITE,
                (true, false) => permission::VALID | permission::WRITE,
                (false, _) => permission::VALID | permission::READ,
            };
            let (write, atomic) = (u32::from(is_write), u32::from(source.is_atomic));
            let client = self.client(unit, is_write);
            more | permissions << 4 | client << 9 | write << 18 | atomic << 19 | self.vmid << 20
        } else {
            let protections = if source.is_readable { old_protection::WRITE } else { old_protection::UNMAPPED };
            let client = if unit == Unit::Vector { OLD_TEXTURE_CACHE } else { 0 };
            protections | client << 12 | u32::from(is_write) << 24 | self.vmid << 25
        };
        *self.last.lock() = GpuvmFault { addr: fault.va.low_48_bits() & !0xfff, status, vmhub: is_multimedia.into() };
    }

    /// Returns the number of a client within its hub.
    ///
    /// Source: Linux 6.12 `gmc_v9_0.c`, `gfxhub_client_ids` and `mmhub_client_ids_*`, of which discrete chips use Vega 10's;
    /// `gfxhub_v2_0.c`, `gfxhub_client_ids`. GFX12 names none, and public logs of it show the numbers of GFX11.
    const fn client(&self, unit: Unit, is_write: bool) -> u32 {
        match unit {
            Unit::Fetcher => 4,
            Unit::Compute => 5,
            Unit::Graphics => 6,
            Unit::Vector => 8,
            Unit::Instructions => 9,
            Unit::Scalar => 10,
            Unit::Copy if !matches!(self.level, GfxLevel::Gfx9) => 13,
            Unit::Copy if self.is_apu => 27,
            Unit::Copy if is_write => 15,
            Unit::Copy => 46,
            // The numbers of video engines differ with each chip.
            Unit::Video => 0,
        }
    }

    /// Returns the number of the address space for the hardware.
    pub(crate) const fn vmid(&self) -> u32 {
        self.vmid
    }

    /// Returns the number of the address space for the kernel.
    pub(crate) const fn pasid(&self) -> u32 {
        self.pasid
    }

    pub(crate) fn last(&self) -> GpuvmFault {
        *self.last.lock()
    }
}

/// The unit of a GPU that faulted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// The fetcher of the command processor.
    Fetcher,
    /// The micro engine of compute rings.
    Compute,
    /// The micro engines of graphics rings.
    Graphics,
    /// A copy engine.
    Copy,
    /// A video engine.
    Video,
    /// The texture cache, through which vector instructions access memory.
    Vector,
    /// The instruction cache.
    Instructions,
    /// The cache of constants.
    Scalar,
}

/// The source of a fault of an engine itself.
const PACKET: FaultSource = FaultSource { client: Client::Packet, is_atomic: false, is_readable: false };

/// The bits of the field PERMISSION_FAULTS.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg`, GCVM_L2_PROTECTION_FAULT_STATUS of `gc/gc_10_1_0_sh_mask.h`, and
/// public logs of page faults, whose loads of unmapped pages have 3 and stores 5.
mod permission {
    /// The page is not mapped.
    pub(super) const VALID: u32 = 1;
    /// The page may not be read.
    pub(super) const READ: u32 = 2;
    /// The page may not be written.
    pub(super) const WRITE: u32 = 4;
}

/// Values of the field PROTECTIONS before GFX9.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg`, VM_CONTEXT1_PROTECTION_FAULT_STATUS of `gmc/gmc_8_1_sh_mask.h`, and
/// public logs of Polaris, whose accesses to unmapped pages have 0x14.
mod old_protection {
    /// The page is not mapped.
    pub(super) const UNMAPPED: u32 = 0x14;
    /// The page may not be written.
    pub(super) const WRITE: u32 = 0x20;
}

/// The client number of a texture cache (TC6) in public logs of Polaris. Chips before GFX9 have a client for each channel, and
/// their numbers differ; those of other units are not known.
const OLD_TEXTURE_CACHE: u32 = 136;
