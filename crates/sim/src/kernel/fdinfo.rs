//! The contents of `/proc/PID/fdinfo` for an open file.

use std::fmt::Write as _;

use amdgpu_hw::Ip;
use amdgpu_uapi::GemDomain;

use crate::{
    SimKernel,
    kernel::{
        files::file::File,
        mm::bo::{Bo, Place},
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
    /// they got their handle. Page tables are not simulated and not counted. Engines that were never used have no line.
    ///
    /// The client number is the number of the file on its device, and the PCI address is `0000:03:00.0`; [`SimKernel::fdinfo_as`]
    /// uses others.
    ///
    /// Source: Linux 6.12 `drm_file.c`, `drm_show_fdinfo`; `amdgpu_fdinfo.c`, `amdgpu_show_fdinfo`; `amdgpu_object.c`,
    /// `amdgpu_bo_get_memory`.
    pub fn fdinfo(&self) -> String {
        self.fdinfo_as(self.file().number, PCI_ADDRESS)
    }

    /// Returns the same text with the caller's client number and PCI address, which must be unique in a machine.
    pub fn fdinfo_as(&self, client: u64, pci_address: &str) -> String {
        let file = self.file();
        file.gpu.suspend_if_due();
        let pasid = FIRST_PASID + client.saturating_sub(1) % FIRST_PASID;
        let mut text = format!(
            "drm-driver:\tamdgpu\ndrm-client-id:\t{client}\ndrm-pdev:\t{pci_address}\npasid:\t{pasid}\n{}",
            Memory::of(file)
        );
        for (ip, time) in file.work.times().filter(|(_, time)| !time.is_zero()) {
            // Writing to a string does not fail.
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
        let Some(standing) = bo.taken.standing() else { return };
        let bytes = standing.bytes;
        let shared = if bo.is_shared() { bytes } else { 0 };
        match standing.place {
            Place::Vram { .. } => {
                self.vram += bytes;
                self.shared_vram += shared;
                self.visible_vram += if standing.is_visible() { bytes } else { 0 };
            }
            Place::Gtt => {
                self.gtt += bytes;
                self.shared_gtt += shared;
            }
            Place::System | Place::Nowhere => {
                self.cpu += bytes;
                self.shared_cpu += shared;
            }
        }
        let for_cpu = if standing.for_cpu { bytes } else { 0 };
        if standing.preferred.contains(GemDomain::VRAM) {
            self.requested_vram += bytes;
            self.requested_visible_vram += for_cpu;
            if !matches!(standing.place, Place::Vram { .. }) {
                self.evicted_vram += bytes;
                self.evicted_visible_vram += for_cpu;
            }
        } else if standing.preferred.contains(GemDomain::GTT) {
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
