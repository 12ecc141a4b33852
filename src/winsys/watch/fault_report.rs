//! Explanation of VM faults: the access, the GPU client and the BO involved.

use std::fmt;

use crate::{
    uapi::VaFlags,
    winsys::{BoHistory, Device, GfxLevel, HistoryEntry, MappedRange, PageFault, Result, VaLookup, VaMap},
};

/// The kind of access that faulted.
///
/// ```
/// use amdgpu_winsys::winsys::{FaultAccess, FaultStatus, GfxLevel};
///
/// let access = |status| FaultStatus::new(status, GfxLevel::Gfx10).access;
/// assert_eq!([access(0), access(1 << 18), access(1 << 19)], [
///     FaultAccess::Read,
///     FaultAccess::Write,
///     FaultAccess::Atomic,
/// ]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultAccess {
    /// A load, or an instruction fetch.
    Read,
    /// A store to memory.
    Write,
    /// An atomic operation.
    Atomic,
}

/// The VM hub, the part of the GPU that translated the address of the faulting access.
///
/// ```
/// use amdgpu_winsys::{vamgr::GpuVa, winsys::{FaultHub, PageFault}};
///
/// let hub = |hub| PageFault { page: GpuVa::NULL, status: 0, hub }.hub();
/// assert_eq!(hub(0), FaultHub::Graphics(0));
/// assert_eq!(hub(0x0301), FaultHub::Multimedia(3)); // on the fourth die
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultHub {
    /// The hub of graphics and compute, on GFX10 and later also of SDMA. The value is the number of the accelerator die.
    Graphics(u8),
    /// The first multimedia hub of a die, for video and display, on GFX9 also for SDMA. The value is the number of the die.
    Multimedia(u8),
    /// The second multimedia hub of a die. The value is the number of the die.
    Multimedia1(u8),
    /// An unknown type of hub, with its number.
    Unknown(u8, u8),
}

/// The decoded fault status register.
///
/// Source: Linux 6.12 `drivers/gpu/drm/amd/include/asic_reg`: VM_L2_PROTECTION_FAULT_STATUS of `gc/gc_9_0_sh_mask.h`, the
/// same bits in GCVM_L2_PROTECTION_FAULT_STATUS of `gc/gc_10_1_0_sh_mask.h` and later; before GFX9
/// VM_CONTEXT1_PROTECTION_FAULT_STATUS of `gmc/gmc_8_1_sh_mask.h`.
///
/// ```
/// use amdgpu_winsys::winsys::{FaultAccess, FaultHub, FaultStatus, GfxLevel};
///
/// let status = FaultStatus::new(1 << 18 | 8 << 9 | 3 << 20, GfxLevel::Gfx10_3);
/// assert_eq!((status.access, status.client, status.vmid), (FaultAccess::Write, 8, 3));
/// assert_eq!(status.client_name(GfxLevel::Gfx10_3, FaultHub::Graphics(0)), Some("TCP"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultStatus {
    /// The kind of access.
    pub access: FaultAccess,
    /// Number of the GPU client within the hub.
    pub client: u16,
    /// Number of the address space (VMID); only the kernel knows its owner.
    pub vmid: u8,
    /// The missing permissions, as bits of a page table entry; 0 before GFX9.
    pub permissions: u8,
    /// Page table level at which the walk failed; 0 if it did not fail, and before GFX9.
    pub walker_error: u8,
    /// `true` if the page table entry was unusable. GFX9 and later; otherwise `false`.
    pub mapping_error: bool,
    /// `true` if further faults occurred that the register does not describe. GFX9 and later; otherwise `false`.
    pub more_faults: bool,
}

impl FaultStatus {
    /// Decodes the fault status register of a GPU of the generation `level`.
    pub const fn new(status: u32, level: GfxLevel) -> Self {
        if (level as u32) < GfxLevel::Gfx9 as u32 { Self::old(status) } else { Self::since_gfx9(status) }
    }

    const fn old(status: u32) -> Self {
        Self {
            access: if bits(status, 24, 1) == 1 { FaultAccess::Write } else { FaultAccess::Read },
            client: bits(status, 12, 9),
            vmid: bits(status, 25, 4) as u8,
            permissions: 0,
            walker_error: 0,
            mapping_error: false,
            more_faults: false,
        }
    }

    const fn since_gfx9(status: u32) -> Self {
        let access = match (bits(status, 18, 1), bits(status, 19, 1)) {
            (_, 1) => FaultAccess::Atomic,
            (1, _) => FaultAccess::Write,
            _ => FaultAccess::Read,
        };
        Self {
            access,
            client: bits(status, 9, 9),
            vmid: bits(status, 20, 4) as u8,
            permissions: bits(status, 4, 4) as u8,
            walker_error: bits(status, 1, 3) as u8,
            mapping_error: bits(status, 8, 1) == 1,
            more_faults: bits(status, 0, 1) == 1,
        }
    }

    /// Returns the client's name; `None` if the kernel does not name it. The kernel names clients of the graphics hub of
    /// GFX9 to GFX11.
    ///
    /// Source: Linux 6.12 `gmc_v9_0.c` and `gfxhub_v2_0.c` (the later ones up to GFX11 are the same),
    /// `gfxhub_client_ids`.
    pub fn client_name(&self, level: GfxLevel, hub: FaultHub) -> Option<&'static str> {
        let names: &[&str] = match (hub, level) {
            (FaultHub::Graphics(_), GfxLevel::Gfx9) => &GFX9_CLIENTS,
            (FaultHub::Graphics(_), level) if (GfxLevel::Gfx10..=GfxLevel::Gfx11_5).contains(&level) => &GFX10_CLIENTS,
            _ => return None,
        };
        names.get(usize::from(self.client)).copied()
    }
}

const fn bits(word: u32, low: u32, count: u32) -> u16 {
    (word >> low & ((1 << count) - 1)) as u16
}

/// The clients of GFX9: colour and depth, input assembly and work distribution, the command processors, and the caches of
/// shaders.
const GFX9_CLIENTS: [&str; 13] =
    ["CB", "DB", "IA", "WD", "CPF", "CPC", "CPG", "RLC", "TCP", "SQC (inst)", "SQC (data)", "SQG", "PA"];

/// The clients of GFX10 and GFX11: those of GFX9, and SDMA, which moved to the graphics hub.
const GFX10_CLIENTS: [&str; 18] = [
    "CB/DB",
    "reserved",
    "GE1",
    "GE2",
    "CPF",
    "CPC",
    "CPG",
    "RLC",
    "TCP",
    "SQC (inst)",
    "SQC (data)",
    "SQG",
    "reserved",
    "SDMA0",
    "SDMA1",
    "GCR",
    "SDMA2",
    "SDMA3",
];

impl PageFault {
    /// Returns the hub that reported the fault.
    ///
    /// Source: Linux 6.12 `amdgpu_vm.c`, `amdgpu_vm_update_fault_cache`.
    pub const fn hub(&self) -> FaultHub {
        let index = (self.hub >> 8) as u8;
        match self.hub as u8 {
            0 => FaultHub::Graphics(index),
            1 => FaultHub::Multimedia(index),
            2 => FaultHub::Multimedia1(index),
            kind => FaultHub::Unknown(kind, index),
        }
    }
}

/// The likely cause of a fault, derived from the bindings at and around the address.
///
/// ```
/// use amdgpu_winsys::{heaps::AllocateInfo, winsys::{FaultAccess, Verdict}};
///
/// # let map = amdgpu_winsys::winsys::VaMap::new(64);
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// # let device = amdgpu_winsys::winsys::Device::with_observer(kernel, map.clone())?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 4096))?;
/// let start = memory.address().as_u64();
/// let judge = |address| Verdict::new(&map.lookup(address), FaultAccess::Write);
/// assert_eq!(judge(start + 4096 + 256), Verdict::Overrun { beyond: 256 });
/// drop(memory);
/// assert_eq!(judge(start), Verdict::UseAfterFree);
/// assert_eq!(judge(start + (1 << 30)), Verdict::Wild);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The addresses are bound read-only, and the access was a store.
    ReadOnly,
    /// The addresses are bound now. They were not at the time of the fault, or the access was not permitted.
    BoundNow,
    /// The addresses were bound earlier, but are no longer bound.
    UseAfterFree,
    /// The addresses were never bound, and a bound range ends at most [`NEAR`] bytes before the access.
    Overrun {
        /// Number of bytes between the end of the range and the access.
        beyond: u64,
    },
    /// The addresses were never bound, and a bound range starts at most [`NEAR`] bytes after the access.
    Underrun {
        /// Number of bytes between the access and the start of the range.
        before: u64,
    },
    /// The address is not near any range that is or was bound.
    Wild,
}

/// Maximum distance in bytes between a bound range and an access that [`Verdict`] attributes to it.
pub const NEAR: u64 = 2 << 20;

impl Verdict {
    /// Determines the likely mistake from the result of a lookup in a [`VaMap`].
    pub fn new(finding: &VaLookup, access: FaultAccess) -> Self {
        let is_read_only = |place: &MappedRange| !place.flags.contains(VaFlags::WRITEABLE);
        let near =
            |neighbour: &Option<(MappedRange, u64)>| neighbour.as_ref().map(|&(_, gap)| gap).filter(|&gap| gap <= NEAR);
        match finding {
            VaLookup::Live(place) if access != FaultAccess::Read && is_read_only(place) => Self::ReadOnly,
            VaLookup::Live(_) => Self::BoundNow,
            VaLookup::Freed { .. } => Self::UseAfterFree,
            VaLookup::Nowhere { below, above } => match (near(below), near(above)) {
                // Overruns are more common than underruns, so an overrun is preferred at equal distance.
                (Some(beyond), above) if above.is_none_or(|before| beyond <= before) => Self::Overrun { beyond },
                (_, Some(before)) => Self::Underrun { before },
                _ => Self::Wild,
            },
        }
    }
}

/// A VM fault with all available information about it.
///
/// ```
/// use amdgpu_winsys::{heaps::AllocateInfo, winsys::{FaultReport, PageFault, Verdict}};
///
/// # let map = amdgpu_winsys::winsys::VaMap::new(64);
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// # let device = amdgpu_winsys::winsys::Device::with_observer(kernel, map.clone())?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 4096))?;
/// map.name(memory.bo().handle(), "vertices");
/// let fault = PageFault { page: memory.address(), status: 1 << 18, hub: 0 }; // as `Device::page_fault` returns it
/// drop(memory);
/// let report = FaultReport::new(fault, device.info().gfx_level, &map, None);
/// assert_eq!(report.verdict, Verdict::UseAfterFree);
/// assert!(report.to_string().contains("\"vertices\""), "{report}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultReport {
    /// The fault, as the kernel reports it.
    pub fault: PageFault,
    /// The decoded fault status register.
    pub status: FaultStatus,
    /// The VM hub that reported the fault.
    pub hub: FaultHub,
    /// The client's name, if it is known.
    pub client: Option<&'static str>,
    /// The BO that is or was bound at the page.
    pub finding: VaLookup,
    /// The likely cause of the fault.
    pub verdict: Verdict,
    /// The recorded events of the page, oldest first.
    pub history: Vec<HistoryEntry>,
}

impl FaultReport {
    /// Explains a VM fault of a GPU of the generation `level`.
    pub fn new(fault: PageFault, level: GfxLevel, map: &VaMap, history: Option<&BoHistory>) -> Self {
        let (status, hub) = (FaultStatus::new(fault.status, level), fault.hub());
        let finding = map.lookup(fault.page.as_u64());
        Self {
            fault,
            status,
            hub,
            client: status.client_name(level, hub),
            verdict: Verdict::new(&finding, status.access),
            finding,
            history: history.map_or_else(Vec::new, |history| history.about(fault.page.as_u64())),
        }
    }
}

impl Device {
    /// Returns the last VM fault of this file's address space, explained; `None` if there was none. Needs DRM 3.55.
    ///
    /// The kernel reports the page and not the byte, and keeps reporting the last fault. It does not report the ring
    /// either, only the [client](FaultReport::client) within the hub.
    ///
    /// # Errors
    ///
    /// The errors of [`Device::page_fault`].
    pub fn fault_report(&self, map: &VaMap, history: Option<&BoHistory>) -> Result<Option<FaultReport>> {
        let fault = self.page_fault()?;
        Ok(fault.map(|fault| FaultReport::new(fault, self.info().gfx_level, map, history)))
    }
}

impl fmt::Display for FaultHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Graphics(die) => write!(f, "graphics hub {die}"),
            Self::Multimedia(die) => write!(f, "multimedia hub {die}"),
            Self::Multimedia1(die) => write!(f, "second multimedia hub {die}"),
            Self::Unknown(kind, index) => write!(f, "hub {index} of type {kind}"),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadOnly => f.write_str("a store to read-only addresses"),
            Self::BoundNow => f.write_str("the addresses are bound now"),
            Self::UseAfterFree => f.write_str("use after free"),
            Self::Overrun { beyond } => write!(f, "{beyond} bytes beyond the end"),
            Self::Underrun { before } => write!(f, "{before} bytes before the start"),
            Self::Wild => f.write_str("a wild address"),
        }
    }
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = match self.status.access {
            FaultAccess::Read => "a read",
            FaultAccess::Write => "a write",
            FaultAccess::Atomic => "an atomic",
        };
        write!(f, "page fault: {access} in the page at {} by ", self.fault.page)?;
        match self.client {
            Some(name) => write!(f, "{name}")?,
            None => write!(f, "client {}", self.status.client)?,
        }
        write!(f, " of {} (status {:#x}): {}: {}", self.hub, self.fault.status, self.verdict, self.finding)?;
        self.history.iter().try_for_each(|entry| write!(f, "\n  {entry}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_word_of_gfx10_is_taken_apart() {
        // More faults, permission bits 0x5, client 8, a write, VMID 3.
        let status = FaultStatus::new(0x0034_1051, GfxLevel::Gfx10_3);
        assert_eq!((status.access, status.client, status.vmid), (FaultAccess::Write, 8, 3));
        assert_eq!((status.permissions, status.walker_error, status.more_faults), (5, 0, true));
        assert_eq!(status.client_name(GfxLevel::Gfx10_3, FaultHub::Graphics(0)), Some("TCP"));
        assert_eq!(status.client_name(GfxLevel::Gfx10_3, FaultHub::Multimedia(0)), None);
        assert_eq!(status.client_name(GfxLevel::Gfx12, FaultHub::Graphics(0)), None);
    }

    #[test]
    fn the_status_word_of_gfx8_lies_elsewhere() {
        let status = FaultStatus::new(1 << 24 | 5 << 25 | 0x44 << 12, GfxLevel::Gfx8);
        assert_eq!((status.access, status.client, status.vmid), (FaultAccess::Write, 0x44, 5));
    }

    #[test]
    fn no_status_word_panics_and_atomics_are_told_apart() {
        for level in [GfxLevel::Gfx6, GfxLevel::Gfx9, GfxLevel::Gfx12] {
            for status in (0..32).map(|bit| 1 << bit).chain([0, u32::MAX]) {
                let status = FaultStatus::new(status, level);
                let _ = status.client_name(level, FaultHub::Graphics(0));
            }
        }
        assert_eq!(FaultStatus::new(1 << 19, GfxLevel::Gfx9).access, FaultAccess::Atomic);
    }

    #[test]
    fn hubs_have_a_type_and_an_index() {
        let hub = |hub| PageFault { page: crate::vamgr::GpuVa::NULL, status: 0, hub }.hub();
        assert_eq!(hub(0), FaultHub::Graphics(0));
        assert_eq!(hub(0x0301), FaultHub::Multimedia(3));
        assert_eq!(hub(0x0102), FaultHub::Multimedia1(1));
        assert_eq!(hub(0x07), FaultHub::Unknown(7, 0));
    }

    /// Source: Linux 6.12 `gc_10_3_0_sh_mask.h`, the fields of `GCVM_L2_PROTECTION_FAULT_STATUS`.
    #[test]
    fn each_field_of_a_status_word_is_read_where_it_lies() {
        for at in 0..32 {
            let status = FaultStatus::new(1 << at, GfxLevel::Gfx11);
            let field = |low: u32, count: u32| if (low..low + count).contains(&at) { 1 << (at - low) } else { 0 };
            let access = match at {
                18 => FaultAccess::Write,
                19 => FaultAccess::Atomic,
                _ => FaultAccess::Read,
            };
            let expected = FaultStatus {
                access,
                client: field(9, 9),
                vmid: field(20, 4) as u8,
                permissions: field(4, 4) as u8,
                walker_error: field(1, 3) as u8,
                mapping_error: at == 8,
                more_faults: at == 0,
            };
            assert_eq!(status, expected, "bit {at}");
        }
    }
}
