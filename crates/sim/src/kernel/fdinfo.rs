//! Contents of `/proc/PID/fdinfo` for an open file.

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

/// Default PCI address of the device.
const PCI_ADDRESS: &str = "0000:03:00.0";
/// The first number of an address space among 65536 (`amdgpu_pasid_alloc` with 16 bits).
const FIRST_PASID: u64 = 0x8000;

impl SimKernel {
    /// Returns the driver's part of `/proc/PID/fdinfo` for this file: lines of a key, a colon, a tab and a value.
    ///
    /// Memory is what the file's address space knows: BOs that are always valid in it, and those that were bound there at
    /// least once since they got their handle. Page tables are not simulated and not counted. An engine that was never used
    /// has no line.
    ///
    /// The client is the number of the file on its device, and the device is at `0000:03:00.0`; see
    /// [`SimKernel::fdinfo_as`].
    ///
    /// Source: Linux 6.12 `drm_file.c`, `drm_show_fdinfo`; `amdgpu_fdinfo.c`, `amdgpu_show_fdinfo`; `amdgpu_object.c`,
    /// `amdgpu_bo_get_memory`.
    pub fn fdinfo(&self) -> String {
        self.fdinfo_as(self.file().number, PCI_ADDRESS)
    }

    /// Returns the same for a client number and a PCI address of the caller's choice: both are a whole machine's, of which one
    /// device knows nothing.
    pub fn fdinfo_as(&self, client: u64, pci_address: &str) -> String {
        let file = self.file();
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

/// The name of an IP's engines.
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

/// Bytes of a file's BOs, by where they are and where they would be.
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
        // The BOs are let go after the lock: the last reference to one takes other locks.
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
