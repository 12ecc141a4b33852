//! The request INFO, which has many queries.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_kms.c`, `amdgpu_info_ioctl`.
//! The kernel writes min(`return_size`, size of the answer) bytes and leaves the rest of the buffer unchanged.

use super::{
    macros::{requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// INFO: queries information about the device and driver.
    struct Info = "drm_amdgpu_info", 32 bytes {
        /// Address of the buffer for the answer.
        0 return_pointer: u64,
        /// Size of the buffer in bytes.
        8 return_size: u32,
        /// A constant of [`query`].
        12 query: u32,
        /// Inputs of the query; see the constants of [`query`].
        16 input: [u32; 4] as "query_fw",
    }

    /// The answer to FW_VERSION.
    struct InfoFirmware = "drm_amdgpu_info_firmware", 8 bytes {
        /// Version of the firmware.
        0 ver: u32,
        /// Feature version of the firmware.
        4 feature: u32,
    }

    /// The answer to HW_IP_INFO.
    struct InfoHwIp = "drm_amdgpu_info_hw_ip", 32 bytes {
        /// Major version of the driver's IP block.
        0 hw_ip_version_major: u32,
        /// Minor version of the driver's IP block.
        4 hw_ip_version_minor: u32,
        /// Always 0.
        8 capabilities_flags: u64,
        /// Recommended alignment of an IB's address in bytes.
        16 ib_start_alignment: u32,
        /// Recommended alignment of an IB's size in bytes.
        20 ib_size_alignment: u32,
        /// Mask of the available rings.
        24 available_rings: u32,
        /// Version of the IP block from the discovery table: `major << 16 | minor << 8 | revision`; 0 before GFX9 and before minor
        /// 48.
        28 ip_discovery_version: u32,
    }

    /// A memory pool in the answer to MEMORY.
    struct HeapInfo = "drm_amdgpu_heap_info", 32 bytes {
        /// Size of the pool in bytes.
        0 total_heap_size: u64,
        /// Size without pinned and reserved memory, in bytes.
        8 usable_heap_size: u64,
        /// Memory in use by all processes and the kernel, in bytes.
        16 heap_usage: u64,
        /// Three quarters of the usable size in bytes. Not enforced by the kernel.
        24 max_allocation: u64,
    }

    /// The answer to MEMORY.
    struct MemoryInfo = "drm_amdgpu_memory_info", 96 bytes {
        /// All video memory.
        0 vram: HeapInfo,
        /// The video memory that the CPU can map.
        32 cpu_accessible_vram: HeapInfo,
        /// System memory that the GPU can map.
        64 gtt: HeapInfo,
    }

    /// The answer to VRAM_GTT: the usable sizes.
    struct InfoVramGtt = "drm_amdgpu_info_vram_gtt", 24 bytes {
        /// Usable video memory in bytes.
        0 vram_size: u64,
        /// Usable video memory that the CPU can map, in bytes.
        8 vram_cpu_accessible_size: u64,
        /// Usable GTT in bytes.
        16 gtt_size: u64,
    }

    /// The answer to GDS_CONFIG.
    struct InfoGds = "drm_amdgpu_info_gds", 32 bytes {
        /// Always 0.
        0 gds_gfx_partition_size: u32,
        /// Size of GDS in bytes.
        4 compute_partition_size: u32,
        /// Size of GDS in bytes.
        8 gds_total_size: u32,
        /// Always 0.
        12 gws_per_gfx_partition: u32,
        /// Number of GWS units.
        16 gws_per_compute_partition: u32,
        /// Always 0.
        20 oa_per_gfx_partition: u32,
        /// Number of OA units.
        24 oa_per_compute_partition: u32,
        /// Always 0.
        28 pad: u32 as "_pad",
    }

    /// The answer to GPUVM_FAULT: the last VM fault in this file's address space; all zero if there was none.
    struct GpuvmFault = "drm_amdgpu_info_gpuvm_fault", 16 bytes {
        /// Address of the page: 48 bits, not sign-extended.
        0 addr: u64,
        /// Value of the fault status register.
        8 status: u32,
        /// The hub: type in bits 7..0 (0 for GFX, 1 and 2 for multimedia), index in bits 15..8.
        12 vmhub: u32,
    }

    /// The answer to NUM_HANDLES: UVD sessions of old chips.
    struct InfoNumHandles = "drm_amdgpu_info_num_handles", 8 bytes {
        /// Maximum number of handles.
        0 uvd_max_handles: u32,
        /// Number of handles in use.
        4 uvd_used_handles: u32,
    }

    /// The answer to VBIOS with type 3.
    struct InfoVbios = "drm_amdgpu_info_vbios", 200 bytes {
        /// Name of the VBIOS, NUL-terminated.
        0 name: [u8; 64],
        /// Part number of the VBIOS, NUL-terminated.
        64 vbios_pn: [u8; 64],
        /// Version of the VBIOS.
        128 version: u32,
        /// Always 0.
        132 pad: u32,
        /// Version of the VBIOS as text, NUL-terminated.
        136 vbios_ver_str: [u8; 32],
        /// Date of the VBIOS, NUL-terminated.
        168 date: [u8; 32],
    }

    /// A clock level of VCE.
    struct InfoVceClockEntry = "drm_amdgpu_info_vce_clock_table_entry", 16 bytes {
        /// System clock.
        0 sclk: u32,
        /// Memory clock.
        4 mclk: u32,
        /// Encoder clock.
        8 eclk: u32,
        /// Always 0.
        12 pad: u32,
    }

    /// The answer to VCE_CLOCK_TABLE.
    struct InfoVceClockTable = "drm_amdgpu_info_vce_clock_table", 104 bytes {
        /// The clock levels.
        0 entries: [InfoVceClockEntry; 6],
        /// Number of valid entries.
        96 num_valid_entries: u32,
        /// Always 0.
        100 pad: u32,
    }

    /// The limits of a video codec.
    struct InfoVideoCodec = "drm_amdgpu_info_video_codec_info", 24 bytes {
        /// 1 if the codec is supported.
        0 valid: u32,
        /// Maximum width in pixels.
        4 max_width: u32,
        /// Maximum height in pixels.
        8 max_height: u32,
        /// Maximum number of pixels of a frame.
        12 max_pixels_per_frame: u32,
        /// Maximum level of the codec.
        16 max_level: u32,
        /// Always 0.
        20 pad: u32,
    }

    /// The answer to VIDEO_CAPS: limits of MPEG2, MPEG4, VC1, AVC, HEVC, JPEG, VP9 and AV1.
    struct InfoVideoCaps = "drm_amdgpu_info_video_caps", 192 bytes {
        /// The limits, indexed by codec number.
        0 codec_info: [InfoVideoCodec; 8],
    }

    /// The answer to MAX_IBS: the maximum number of IBs in a submission for each IP.
    struct InfoMaxIbs = "", 40 bytes {
        /// The numbers, indexed by `AMDGPU_HW_IP_*`.
        0 max_ibs: [u32; 10],
    }
}

requests! {
    Info: "AMDGPU_INFO" = write(DRIVER_BASE + 0x05), 0x4020_6445, query with addresses;
}

/// The queries of INFO, with their answers and inputs.
pub mod query {
    /// u32: 1 if acceleration works.
    pub const ACCEL_WORKING: u32 = 0x00;
    /// u32: index of the CRTC; input: ID of its mode object.
    pub const CRTC_FROM_ID: u32 = 0x01;
    /// [`InfoHwIp`](super::InfoHwIp); input: IP type, instance.
    pub const HW_IP_INFO: u32 = 0x02;
    /// u32: number of instances; input: IP type.
    pub const HW_IP_COUNT: u32 = 0x03;
    /// u64: value of the GPU clock counter.
    pub const TIMESTAMP: u32 = 0x05;
    /// [`InfoFirmware`](super::InfoFirmware); input: firmware type, instance, index.
    pub const FW_VERSION: u32 = 0x0e;
    /// u64: bytes copied by moves and evictions.
    pub const NUM_BYTES_MOVED: u32 = 0x0f;
    /// u64: VRAM in use in bytes.
    pub const VRAM_USAGE: u32 = 0x10;
    /// u64: GTT in use in bytes.
    pub const GTT_USAGE: u32 = 0x11;
    /// [`InfoGds`](super::InfoGds): sizes of GDS, GWS and OA.
    pub const GDS_CONFIG: u32 = 0x13;
    /// [`InfoVramGtt`](super::InfoVramGtt): usable sizes of VRAM and GTT.
    pub const VRAM_GTT: u32 = 0x14;
    /// u32 for each register; input: dword offset, count, instance, flags.
    pub const READ_MMR_REG: u32 = 0x15;
    /// [`DevInfo`](crate::DevInfo): properties of the device.
    pub const DEV_INFO: u32 = 0x16;
    /// u64: visible VRAM in use in bytes.
    pub const VIS_VRAM_USAGE: u32 = 0x17;
    /// u64: number of evictions that copied memory.
    pub const NUM_EVICTIONS: u32 = 0x18;
    /// [`MemoryInfo`](super::MemoryInfo): sizes and usage of the memory pools.
    pub const MEMORY: u32 = 0x19;
    /// [`InfoVceClockTable`](super::InfoVceClockTable): the clock levels of VCE.
    pub const VCE_CLOCK_TABLE: u32 = 0x1a;
    /// Size, image or [`InfoVbios`](super::InfoVbios), by the type; input: type, offset.
    pub const VBIOS: u32 = 0x1b;
    /// [`InfoNumHandles`](super::InfoNumHandles); input: IP type.
    pub const NUM_HANDLES: u32 = 0x1c;
    /// u32: value of a sensor; input: sensor.
    pub const SENSOR: u32 = 0x1d;
    /// u64: number of CPU page faults on VRAM outside the visible part.
    pub const NUM_VRAM_CPU_PAGE_FAULTS: u32 = 0x1e;
    /// u32: number of GPU resets that lost VRAM.
    pub const VRAM_LOST_COUNTER: u32 = 0x1f;
    /// u64: mask of the IP blocks with RAS.
    pub const RAS_ENABLED_FEATURES: u32 = 0x20;
    /// [`InfoVideoCaps`](super::InfoVideoCaps); input: 0 for decoding, 1 for encoding.
    pub const VIDEO_CAPS: u32 = 0x21;
    /// [`InfoMaxIbs`](super::InfoMaxIbs): the maximum number of IBs in a submission.
    pub const MAX_IBS: u32 = 0x22;
    /// [`GpuvmFault`](super::GpuvmFault): the last VM fault of the file.
    pub const GPUVM_FAULT: u32 = 0x23;
    /// [`UqFwAreas`](crate::UqFwAreas): the areas that the firmware needs for a user queue; input: IP type.
    pub const UQ_FW_AREAS: u32 = 0x24;
}

/// The firmware types of FW_VERSION.
pub mod firmware {
    /// Firmware of the video encoder (VCE).
    pub const VCE: u32 = 0x01;
    /// Firmware of the video decoder (UVD).
    pub const UVD: u32 = 0x02;
    /// Firmware of the memory controller (GMC).
    pub const GMC: u32 = 0x03;
    /// Microcode of the micro engine (ME).
    pub const GFX_ME: u32 = 0x04;
    /// Microcode of the prefetch parser (PFP).
    pub const GFX_PFP: u32 = 0x05;
    /// Microcode of the constant engine (CE).
    pub const GFX_CE: u32 = 0x06;
    /// Firmware of the run-list controller (RLC).
    pub const GFX_RLC: u32 = 0x07;
    /// Microcode of the compute micro engine (MEC), with index 0 or 1.
    pub const GFX_MEC: u32 = 0x08;
    /// Firmware of the system management controller (SMC).
    pub const SMC: u32 = 0x0a;
    /// Microcode of the copy engine (SDMA), with the engine's index.
    pub const SDMA: u32 = 0x0b;
    /// Firmware of the security processor (SOS).
    pub const SOS: u32 = 0x0c;
    /// Firmware of the security driver (ASD).
    pub const ASD: u32 = 0x0d;
    /// Firmware of VCN, the video block since Raven.
    pub const VCN: u32 = 0x0e;
    /// Firmware of the video processing engine (VPE), the highest type in Linux 6.12.
    pub const VPE: u32 = 0x1c;
}
