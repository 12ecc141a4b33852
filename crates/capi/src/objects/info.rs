//! Facts about a device.

use std::ffi::c_char;

use amdgpu_hw::num::count;
use amdgpu_winsys::winsys::{Device, GfxLevel, Ip, IpBlock, ShadowAreas};

use super::device::{agw_device, device};
use crate::border::{Out, Versioned, entry, text, write};

/// Number of IP types that the kernel defines.
pub const AGW_IP_COUNT: usize = 10;

/// The graphics IP.
pub const AGW_IP_GFX: u32 = 0;
/// The compute IP.
pub const AGW_IP_COMPUTE: u32 = 1;
/// The copy engines (SDMA).
pub const AGW_IP_SDMA: u32 = 2;
/// Video decoders of UVD, before VCN.
pub const AGW_IP_UVD: u32 = 3;
/// Video encoders of VCE, on chips with UVD.
pub const AGW_IP_VCE: u32 = 4;
/// Video encoders of UVD.
pub const AGW_IP_UVD_ENC: u32 = 5;
/// Video decoders of VCN. From VCN 4 on, `AGW_IP_VCN_ENC` both decodes and encodes.
pub const AGW_IP_VCN_DEC: u32 = 6;
/// Video encoders of VCN.
pub const AGW_IP_VCN_ENC: u32 = 7;
/// JPEG decoders of VCN.
pub const AGW_IP_VCN_JPEG: u32 = 8;
/// The video processing engine.
pub const AGW_IP_VPE: u32 = 9;

/// Facts about a device.
///
/// The structure grows with new versions. Fields that do not fit the caller's `struct_size` are not written.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_device_info {
    /// `sizeof(struct agw_device_info)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// Major version of the kernel driver.
    pub drm_major: u32,
    /// Minor version of the kernel driver.
    pub drm_minor: u32,
    /// Patch level of the kernel driver.
    pub drm_patch: u32,
    /// PCI device ID.
    pub device_id: u32,
    /// PCI revision.
    pub pci_revision: u32,
    /// The kernel's `external_rev`.
    pub external_revision: u32,
    /// Generation of the graphics IP: 60, 70, 80, 90, 100, 103, 110, 115, 120.
    pub gfx_level: u32,
    /// Not zero if the GPU has its own VRAM.
    pub has_dedicated_vram: u32,
    /// The bits of `amdgpu_winsys::winsys::Capabilities`.
    pub capabilities: u32,
    /// Upper 32 bits of the addresses in the 32-bit window.
    pub address32_hi: u32,
    /// Page size of the GART in bytes.
    pub gart_page: u32,
    /// Fragment size of the page tables in bytes.
    pub pte_fragment: u32,
    /// Size of VRAM in bytes.
    pub vram: u64,
    /// Size of CPU-visible VRAM in bytes.
    pub visible_vram: u64,
    /// Size of the system memory that the GPU can access, bytes.
    pub gtt: u64,
    /// Number of rings of each IP.
    pub rings: [u32; 10],
    /// Alignment of IBs for each IP in bytes.
    pub ib_alignment: [u32; 10],
    /// Mask for the padding of IBs for each IP: a power of two minus one, in dwords.
    pub ib_pad_mask: [u32; 10],
    /// Maximum number of IBs in one submission to the kernel, for each IP.
    pub max_ibs: [u32; 10],
    /// Size of a compute unit's vector cache in bytes: L0 from GFX10 on, L1 before.
    pub vector_cache: u64,
    /// Size of the scalar data cache in bytes; 0 if unknown.
    pub scalar_cache: u64,
    /// Size of the instruction cache in bytes; 0 if unknown.
    pub instruction_cache: u64,
    /// Size of the L1 cache that a shader array shares, bytes; 0 before GFX10.
    pub shader_array_cache: u64,
    /// Size of the L2 cache in bytes, all slices.
    pub l2_cache: u64,
    /// Size of the infinity cache in bytes; 0 if the chip has none.
    pub infinity_cache: u64,
    /// Number of scalar caches and of instruction caches of a work-group processor; 0 if unknown.
    pub scalar_caches_per_wgp: u32,
    /// Lowest shader clock in MHz; 0 if unknown, as before DRM minor 50.
    pub min_shader_clock: u32,
    /// Highest shader clock in MHz.
    pub max_shader_clock: u32,
    /// Lowest memory clock in MHz; 0 if unknown, as before DRM minor 50.
    pub min_memory_clock: u32,
    /// Highest memory clock in MHz.
    pub max_memory_clock: u32,
    /// Size of the register shadowing area in bytes; 0 if the driver need not provide it.
    pub shadow_size: u32,
    /// Alignment of the register shadowing area in bytes.
    pub shadow_alignment: u32,
    /// Size of the context save area (CSA) in bytes; 0 if the driver need not provide it.
    pub csa_size: u32,
    /// Alignment of the context save area in bytes.
    pub csa_alignment: u32,
    /// Number of bytes of `struct drm_amdgpu_info_device` that the kernel returned; see `agw_device_answered` for single
    /// fields.
    pub device_answer: u32,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_device_info {
    const NAME: &'static str = "struct agw_device_info";
}

fn facts(device: &Device) -> agw_device_info {
    let info = device.info();
    let block = |of: fn(&IpBlock) -> u32| Ip::ALL.map(|ip| info.ip_block(ip).map_or(0, of));
    let caches = &info.caches;
    let shadow = |of: fn(&ShadowAreas) -> u32| info.shadow.as_ref().map_or(0, of);
    agw_device_info {
        struct_size: 0,
        reserved: 0,
        drm_major: info.driver.major.unsigned_abs(),
        drm_minor: info.driver.minor.unsigned_abs(),
        drm_patch: info.driver.patch.unsigned_abs(),
        device_id: info.device_id,
        pci_revision: info.pci_revision,
        external_revision: info.external_revision,
        gfx_level: generation(info.gfx_level),
        has_dedicated_vram: info.has_dedicated_vram.into(),
        capabilities: info.capabilities.bits(),
        address32_hi: device.addresses().windows().address32_hi(),
        gart_page: info.memory.gart_page,
        pte_fragment: info.memory.pte_fragment,
        vram: info.memory.vram,
        visible_vram: info.memory.visible_vram,
        gtt: info.memory.gtt,
        rings: block(|block| block.rings),
        ib_alignment: block(|block| block.ib_alignment),
        ib_pad_mask: block(|block| block.ib_pad_dword_mask),
        max_ibs: info.max_ibs,
        vector_cache: caches.vector,
        scalar_cache: caches.scalar.unwrap_or(0),
        instruction_cache: caches.instruction.unwrap_or(0),
        shader_array_cache: caches.shader_array.unwrap_or(0),
        l2_cache: caches.l2,
        infinity_cache: caches.infinity.unwrap_or(0),
        scalar_caches_per_wgp: caches.scalar_per_wgp.unwrap_or(0),
        min_shader_clock: info.min_engine_clock_mhz,
        max_shader_clock: info.max_engine_clock_mhz,
        min_memory_clock: info.min_memory_clock_mhz,
        max_memory_clock: info.max_memory_clock_mhz,
        shadow_size: shadow(|areas| areas.size),
        shadow_alignment: shadow(|areas| areas.alignment),
        csa_size: shadow(|areas| areas.csa_size),
        csa_alignment: shadow(|areas| areas.csa_alignment),
        device_answer: count(info.answered.bytes()),
    }
}

/// Returns ten times the number of the generation.
fn generation(level: GfxLevel) -> u32 {
    match level {
        GfxLevel::Gfx6 => 60,
        GfxLevel::Gfx7 => 70,
        GfxLevel::Gfx8 => 80,
        GfxLevel::Gfx9 => 90,
        GfxLevel::Gfx10 => 100,
        GfxLevel::Gfx10_3 => 103,
        GfxLevel::Gfx11 => 110,
        GfxLevel::Gfx11_5 => 115,
        GfxLevel::Gfx12 => 120,
    }
}

/// Writes the facts about a device to `info`.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `info` is null, or valid for writing as many bytes as its `struct_size`
/// says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_get_info(device: *const agw_device, info: *mut agw_device_info) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        unsafe { write(info, facts(&state.device)) }
    })
}

/// Queries whether the kernel filled in a field of `struct drm_amdgpu_info_device`, by its name in `amdgpu_drm.h`, and its
/// driver version defines the field. Writes `false` to `is_answered` otherwise, and for unknown names. Newer kernels append
/// fields; a fact that an older kernel does not report is zero in `struct agw_device_info`.
///
/// # Safety
///
/// `device` is null or a device that was not freed; `field` is null or a string; `is_answered` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_answered(
    device: *const agw_device,
    field: *const c_char,
    is_answered: *mut bool,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { self::device(device) }?;
        // SAFETY: the caller's promise.
        let field = unsafe { text(field, "field") }?;
        // SAFETY: the caller's promise.
        let is_answered = unsafe { Out::new(is_answered, "is_answered") }?;
        let answer = state.device.info().answered.has(field);
        is_answered.put(answer);
        Ok(())
    })
}
