//! The contents of `/proc/PID/fdinfo` for an open file.

use std::{collections::BTreeMap, fmt::Write as _};

use amdgpu_hw::Ip;
use amdgpu_uapi::{GemCreateFlags, GemDomain};

use crate::{
    SimKernel,
    features::Features,
    kernel::{
        files::file::File,
        mm::bo::{Bo, Placement},
    },
};

/// The default PCI address of the device.
const PCI_ADDRESS: &str = "0000:03:00.0";
/// The first ID of an address space, of 65536 (`amdgpu_pasid_alloc` with 16 bits).
const FIRST_PASID: u64 = 0x8000;

impl SimKernel {
    /// Returns the driver's part of `/proc/PID/fdinfo` for this file: lines with a key, a colon, a tab and a value.
    ///
    /// The memory numbers cover the BOs of the file's address space: always valid BOs, and BOs that were mapped at least once since
    /// they got their handle; with [`Features::MEMORY_REGIONS`] all BOs that have a handle. Page tables are not simulated and not counted. Engines that were never used have no line.
    ///
    /// The client number is the number of the file on its device, and the PCI address is `0000:03:00.0`; [`SimKernel::fdinfo_as`]
    /// uses others.
    ///
    /// Source: Linux 6.12 and 7.2 `drm_file.c`, `drm_show_fdinfo`; `amdgpu_fdinfo.c`, `amdgpu_show_fdinfo`; Linux 6.12
    /// `amdgpu_object.c`, `amdgpu_bo_get_memory`; Linux 7.2 `amdgpu_vm.c`, `amdgpu_vm_update_stats_locked`.
    pub fn fdinfo(&self) -> String {
        self.fdinfo_as(self.file().number, PCI_ADDRESS)
    }

    /// Returns the same text with the caller's client number and PCI address, which must be unique in a machine.
    pub fn fdinfo_as(&self, client: u64, pci_address: &str) -> String {
        let file = self.file();
        file.gpu.suspend_if_due();
        let pasid = FIRST_PASID + client.saturating_sub(1) % FIRST_PASID;
        let mut text = format!("drm-driver:\tamdgpu\ndrm-client-id:\t{client}\ndrm-pdev:\t{pci_address}\n");
        let name = file.client_name.lock().clone();
        if !name.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(text, "drm-client-name:\t{name}");
        }
        let _ = if file.gpu.facts.has(Features::MEMORY_REGIONS) {
            write!(text, "pasid:\t{pasid}\n{}", Regions::of(file))
        } else {
            write!(text, "pasid:\t{pasid}\n{}", Memory::of(file))
        };
        for (ip, time) in file.work.times().filter(|(_, time)| !time.is_zero()) {
            let _ = writeln!(text, "drm-engine-{}:\t{} ns", engine(ip), time.as_nanos());
        }
        text
    }
}

/// Returns the name of an IP's engines.
///
/// Source: Linux 6.12 `amdgpu_fdinfo.c`, `amdgpu_ip_name`.
const fn engine(ip: Ip) -> &'static str {
    match ip {
        Ip::Gfx => "gfx",
        Ip::Compute => "compute",
        Ip::Sdma => "dma",
        Ip::Uvd | Ip::VcnDec => "dec",
        Ip::Vce | Ip::VcnEnc => "enc",
        Ip::UvdEnc => "enc_1",
        Ip::VcnJpeg => "jpeg",
        Ip::Vpe => "vpe",
    }
}

/// The sizes in bytes of a file's BOs, by their current and preferred domains.
#[derive(Debug, Default)]
struct Memory {
    vram: u64,
    gtt: u64,
    cpu: u64,
    visible_vram: u64,
    evicted_vram: u64,
    evicted_visible_vram: u64,
    requested_vram: u64,
    requested_visible_vram: u64,
    requested_gtt: u64,
    shared_vram: u64,
    shared_gtt: u64,
    shared_cpu: u64,
}

impl Memory {
    fn of(file: &File) -> Self {
        // The BOs are dropped after the lock is released: dropping the last reference takes other locks.
        let bos = file.vm.lock().known();
        let mut memory = Self::default();
        for bo in &bos {
            memory.add(bo);
        }
        memory
    }

    fn add(&mut self, bo: &Bo) {
        let Some(residency) = bo.allocation.residency() else { return };
        let bytes = residency.bytes;
        let shared = if bo.is_shared() { bytes } else { 0 };
        match residency.place {
            Placement::Vram { .. } => {
                self.vram += bytes;
                self.shared_vram += shared;
                self.visible_vram += if residency.is_visible() { bytes } else { 0 };
            }
            Placement::Gtt => {
                self.gtt += bytes;
                self.shared_gtt += shared;
            }
            Placement::System | Placement::Nowhere => {
                self.cpu += bytes;
                self.shared_cpu += shared;
            }
        }
        let for_cpu = if residency.for_cpu { bytes } else { 0 };
        if residency.preferred.contains(GemDomain::VRAM) {
            self.requested_vram += bytes;
            self.requested_visible_vram += for_cpu;
            if !matches!(residency.place, Placement::Vram { .. }) {
                self.evicted_vram += bytes;
                self.evicted_visible_vram += for_cpu;
            }
        } else if residency.preferred.contains(GemDomain::GTT) {
            self.requested_gtt += bytes;
        }
    }
}

impl std::fmt::Display for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (key, bytes) in [
            ("drm-memory-vram:", self.vram),
            ("drm-memory-gtt: ", self.gtt),
            ("drm-memory-cpu: ", self.cpu),
            ("amd-memory-visible-vram:", self.visible_vram),
            ("amd-evicted-vram:", self.evicted_vram),
            ("amd-evicted-visible-vram:", self.evicted_visible_vram),
            ("amd-requested-vram:", self.requested_vram),
            ("amd-requested-visible-vram:", self.requested_visible_vram),
            ("amd-requested-gtt:", self.requested_gtt),
            ("drm-shared-vram:", self.shared_vram),
            ("drm-shared-gtt:", self.shared_gtt),
            ("drm-shared-cpu:", self.shared_cpu),
        ] {
            writeln!(f, "{key}\t{} KiB", bytes >> 10)?;
        }
        Ok(())
    }
}

/// The memory regions in the order of fdinfo, each with the domain whose BOs are at home there. The kernel's own region for remapped
/// registers has no domain.
const REGIONS: [(&str, GemDomain); 8] = [
    ("cpu", GemDomain::CPU),
    ("gtt", GemDomain::GTT),
    ("vram", GemDomain::VRAM),
    ("gds", GemDomain::GDS),
    ("gws", GemDomain::GWS),
    ("oa", GemDomain::OA),
    ("doorbell", GemDomain::DOORBELL),
    ("mmioremap", GemDomain::empty()),
];

/// The sizes in bytes of the BOs of a region.
#[derive(Clone, Copy, Debug, Default)]
struct Region {
    /// BOs that are at home here, wherever they are.
    total: u64,
    /// Those of them that others have too.
    shared: u64,
    /// BOs that are here.
    resident: u64,
    /// Those of them whose contents the kernel may drop.
    purgeable: u64,
    /// BOs that are at home here and are where they do not want to be.
    evicted: u64,
}

/// The sizes of a file's BOs by region, each BO once.
#[derive(Debug, Default)]
struct Regions([Region; REGIONS.len()]);

impl Regions {
    fn of(file: &File) -> Self {
        // The BOs are dropped after the lock is released.
        let bos: BTreeMap<_, _> = {
            let handles = file.handles.lock();
            handles.iter().map(|(_, bo)| (bo.mmap_offset(), std::sync::Arc::clone(bo))).collect()
        };
        let mut regions = Self::default();
        for bo in bos.values() {
            regions.add(bo);
        }
        regions
    }

    fn add(&mut self, bo: &Bo) {
        let attributes = bo.attributes();
        let (preferred, bytes) = (attributes.preferred, bo.size());
        let home =
            REGIONS.iter().rposition(|(_, domain)| !domain.is_empty() && preferred.contains(*domain)).unwrap_or(0);
        self.0[home].total += bytes;
        self.0[home].shared += if bo.is_shared() { bytes } else { 0 };
        let place = match bo.allocation.residency().map(|residency| residency.place) {
            Some(Placement::Vram { .. }) => GemDomain::VRAM,
            Some(Placement::Gtt) => GemDomain::GTT,
            Some(Placement::System) => GemDomain::CPU,
            // Resources on the chip stay where they are; what was dropped is nowhere.
            Some(Placement::Nowhere) if home > 2 => REGIONS[home].1,
            Some(Placement::Nowhere) | None => return,
        };
        let here = REGIONS.iter().position(|(_, domain)| *domain == place).unwrap_or(0);
        self.0[here].resident += bytes;
        self.0[here].purgeable += if attributes.flags.contains(GemCreateFlags::DISCARDABLE) { bytes } else { 0 };
        self.0[home].evicted += if preferred.intersects(place) { 0 } else { bytes };
    }
}

impl std::fmt::Display for Regions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for ((name, _), region) in REGIONS.iter().zip(&self.0) {
            for (key, bytes) in [
                ("total", region.total),
                ("shared", region.shared),
                ("resident", region.resident),
                ("purgeable", region.purgeable),
            ] {
                let (size, unit) = in_units(bytes);
                writeln!(f, "drm-{key}-{name}:\t{size}{unit}")?;
            }
        }
        let [cpu, gtt, vram, ..] = &self.0;
        for (key, bytes) in [
            ("drm-memory-vram:", vram.resident),
            ("drm-memory-gtt: ", gtt.resident),
            ("drm-memory-cpu: ", cpu.resident),
            ("amd-evicted-vram:", vram.evicted),
            ("amd-requested-vram:", vram.total),
            ("amd-requested-gtt:", gtt.total),
        ] {
            writeln!(f, "{key}\t{} KiB", bytes >> 10)?;
        }
        Ok(())
    }
}

/// Returns a size in the largest unit up to MiB in which it is a whole number that is not 0, and the unit.
///
/// Source: Linux 7.2 `drm_file.c`, `drm_fdinfo_print_size`.
fn in_units(bytes: u64) -> (u64, &'static str) {
    [(20, " MiB"), (10, " KiB")]
        .into_iter()
        .find(|(shift, _)| bytes != 0 && bytes.trailing_zeros() >= *shift)
        .map_or((bytes, ""), |(shift, unit)| (bytes >> shift, unit))
}
