//! INFO: one request, many questions.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `drivers/gpu/drm/amd/amdgpu/amdgpu_kms.c`,
//! `amdgpu_info_ioctl`. The kernel writes min(`return_size`, its own size) bytes and leaves the rest alone.

use super::{
    macros::{requests, uapi},
    request::DRIVER_BASE,
};

uapi! {
    /// INFO.
    struct Info = "drm_amdgpu_info", 32 bytes {
        /// Address of the buffer for the answer.
        0 return_pointer: u64,
        /// Its size in bytes.
        8 return_size: u32,
        /// One of [`query`].
        12 query: u32,
        /// Arguments of the query; see the constructors of the wrappers.
        16 input: [u32; 4] as "query_fw",
    }

    /// FW_VERSION.
    struct InfoFirmware = "drm_amdgpu_info_firmware", 8 bytes {
        /// Version.
        0 ver: u32,
        /// Feature version.
        4 feature: u32,
    }

    /// HW_IP_INFO.
    struct InfoHwIp = "drm_amdgpu_info_hw_ip", 32 bytes {
        /// Major version of the driver's IP block.
        0 hw_ip_version_major: u32,
        /// Minor version of the driver's IP block.
        4 hw_ip_version_minor: u32,
        /// Always 0.
        8 capabilities_flags: u64,
        /// Advised alignment of an IB's address, bytes.
        16 ib_start_alignment: u32,
        /// Advised alignment of an IB's size, bytes.
        20 ib_size_alignment: u32,
        /// One bit for each ring.
        24 available_rings: u32,
        /// major << 16 | minor << 8 | revision, or 0 before GFX9 and minor 48.
        28 ip_discovery_version: u32,
    }

    /// One pool of MEMORY.
    struct HeapInfo = "drm_amdgpu_heap_info", 32 bytes {
        /// Size in bytes.
        0 total_heap_size: u64,
        /// Size less what is pinned or reserved, bytes.
        8 usable_heap_size: u64,
        /// In use by all processes and the kernel, bytes.
        16 heap_usage: u64,
        /// Three quarters of the usable size, bytes; not enforced.
        24 max_allocation: u64,
    }

    /// MEMORY.
    struct MemoryInfo = "drm_amdgpu_memory_info", 96 bytes {
        /// All video memory.
        0 vram: HeapInfo,
        /// The part of it that the CPU can map.
        32 cpu_accessible_vram: HeapInfo,
        /// System memory the GPU can map.
        64 gtt: HeapInfo,
    }

    /// VRAM_GTT: the usable sizes.
    struct InfoVramGtt = "drm_amdgpu_info_vram_gtt", 24 bytes {
        /// Usable video memory, bytes.
        0 vram_size: u64,
        /// Usable visible video memory, bytes.
        8 vram_cpu_accessible_size: u64,
        /// Usable GTT, bytes.
        16 gtt_size: u64,
    }

    /// GDS_CONFIG.
    struct InfoGds = "drm_amdgpu_info_gds", 32 bytes {
        /// Always 0.
        0 gds_gfx_partition_size: u32,
        /// GDS bytes.
        4 compute_partition_size: u32,
        /// GDS bytes.
        8 gds_total_size: u32,
        /// Always 0.
        12 gws_per_gfx_partition: u32,
        /// GWS units.
        16 gws_per_compute_partition: u32,
        /// Always 0.
        20 oa_per_gfx_partition: u32,
        /// OA units.
        24 oa_per_compute_partition: u32,
        /// Zero.
        28 pad: u32 as "_pad",
    }

    /// GPUVM_FAULT: the last page fault of this file's VM; all zero if there was none.
    struct GpuvmFault = "drm_amdgpu_info_gpuvm_fault", 16 bytes {
        /// Address of the page, 48 bits, not sign-extended.
        0 addr: u64,
        /// Raw fault status register.
        8 status: u32,
        /// Hub: type in bits 7..0 (0 GFX, 1 and 2 multimedia), index in bits 15..8.
        12 vmhub: u32,
    }

    /// NUM_HANDLES: UVD sessions of old chips.
    struct InfoNumHandles = "drm_amdgpu_info_num_handles", 8 bytes {
        /// The most there can be.
        0 uvd_max_handles: u32,
        /// Number of handles in use.
        4 uvd_used_handles: u32,
    }

    /// VBIOS with type 3.
    struct InfoVbios = "drm_amdgpu_info_vbios", 200 bytes {
        /// Name, NUL-terminated.
        0 name: [u8; 64],
        /// Part number, NUL-terminated.
        64 vbios_pn: [u8; 64],
        /// Version.
        128 version: u32,
        /// Zero.
        132 pad: u32,
        /// Version as text, NUL-terminated.
        136 vbios_ver_str: [u8; 32],
        /// Date, NUL-terminated.
        168 date: [u8; 32],
    }

    /// One clock level of VCE.
    struct InfoVceClockEntry = "drm_amdgpu_info_vce_clock_table_entry", 16 bytes {
        /// System clock.
        0 sclk: u32,
        /// Memory clock.
        4 mclk: u32,
        /// Encoder clock.
        8 eclk: u32,
        /// Zero.
        12 pad: u32,
    }

    /// VCE_CLOCK_TABLE.
    struct InfoVceClockTable = "drm_amdgpu_info_vce_clock_table", 104 bytes {
        /// The levels.
        0 entries: [InfoVceClockEntry; 6],
        /// Number of valid entries.
        96 num_valid_entries: u32,
        /// Zero.
        100 pad: u32,
    }

    /// Limits of one video codec.
    struct InfoVideoCodec = "drm_amdgpu_info_video_codec_info", 24 bytes {
        /// 1 if the codec is supported.
        0 valid: u32,
        /// Pixels.
        4 max_width: u32,
        /// Pixels.
        8 max_height: u32,
        /// Pixels.
        12 max_pixels_per_frame: u32,
        /// Codec level.
        16 max_level: u32,
        /// Zero.
        20 pad: u32,
    }

    /// VIDEO_CAPS: MPEG2, MPEG4, VC1, AVC, HEVC, JPEG, VP9, AV1.
    struct InfoVideoCaps = "drm_amdgpu_info_video_caps", 192 bytes {
        /// By codec number.
        0 codec_info: [InfoVideoCodec; 8],
    }

    /// MAX_IBS: the most IBs of one submission for each IP, by `AMDGPU_HW_IP_*`.
    struct InfoMaxIbs = "", 40 bytes {
        /// By IP number.
        0 max_ibs: [u32; 10],
    }
}

requests! {
    Info: "AMDGPU_INFO" = write(DRIVER_BASE + 0x05), 0x4020_6445;
}

/// Questions that INFO answers.
pub mod query {
    /// u32: whether acceleration works.
    pub const ACCEL_WORKING: u32 = 0x00;
    /// u32: the CRTC with a mode object's id.
    pub const CRTC_FROM_ID: u32 = 0x01;
    /// [`InfoHwIp`](super::InfoHwIp); input: IP type, instance.
    pub const HW_IP_INFO: u32 = 0x02;
    /// u32: instances; input: IP type.
    pub const HW_IP_COUNT: u32 = 0x03;
    /// u64: the GPU clock counter.
    pub const TIMESTAMP: u32 = 0x05;
    /// [`InfoFirmware`](super::InfoFirmware); input: firmware type, instance, index.
    pub const FW_VERSION: u32 = 0x0e;
    /// u64: bytes copied by moves and evictions.
    pub const NUM_BYTES_MOVED: u32 = 0x0f;
    /// u64: VRAM in use, bytes.
    pub const VRAM_USAGE: u32 = 0x10;
    /// u64: GTT in use, bytes.
    pub const GTT_USAGE: u32 = 0x11;
    /// [`InfoGds`](super::InfoGds).
    pub const GDS_CONFIG: u32 = 0x13;
    /// [`InfoVramGtt`](super::InfoVramGtt).
    pub const VRAM_GTT: u32 = 0x14;
    /// u32 each; input: dword offset, count, instance, flags.
    pub const READ_MMR_REG: u32 = 0x15;
    /// [`DevInfo`](crate::DevInfo).
    pub const DEV_INFO: u32 = 0x16;
    /// u64: visible VRAM in use, bytes.
    pub const VIS_VRAM_USAGE: u32 = 0x17;
    /// u64: evictions that copied.
    pub const NUM_EVICTIONS: u32 = 0x18;
    /// [`MemoryInfo`](super::MemoryInfo).
    pub const MEMORY: u32 = 0x19;
    /// [`InfoVceClockTable`](super::InfoVceClockTable).
    pub const VCE_CLOCK_TABLE: u32 = 0x1a;
    /// Size, image or [`InfoVbios`](super::InfoVbios); input: type, offset.
    pub const VBIOS: u32 = 0x1b;
    /// [`InfoNumHandles`](super::InfoNumHandles); input: IP type.
    pub const NUM_HANDLES: u32 = 0x1c;
    /// u32; input: sensor.
    pub const SENSOR: u32 = 0x1d;
    /// u64: CPU faults on invisible VRAM.
    pub const NUM_VRAM_CPU_PAGE_FAULTS: u32 = 0x1e;
    /// u32: resets that lost VRAM.
    pub const VRAM_LOST_COUNTER: u32 = 0x1f;
    /// u64: blocks with RAS.
    pub const RAS_ENABLED_FEATURES: u32 = 0x20;
    /// [`InfoVideoCaps`](super::InfoVideoCaps); input: 0 decode, 1 encode.
    pub const VIDEO_CAPS: u32 = 0x21;
    /// [`InfoMaxIbs`](super::InfoMaxIbs).
    pub const MAX_IBS: u32 = 0x22;
    /// [`GpuvmFault`](super::GpuvmFault).
    pub const GPUVM_FAULT: u32 = 0x23;
    /// Areas that the firmware wants beside a user queue of the IP in the first word; [`UqFwAreas`](crate::UqFwAreas).
    pub const UQ_FW_AREAS: u32 = 0x24;
}

/// Firmware types of FW_VERSION.
pub mod firmware {
    /// Video encoder.
    pub const VCE: u32 = 0x01;
    /// Video decoder.
    pub const UVD: u32 = 0x02;
    /// Memory controller.
    pub const GMC: u32 = 0x03;
    /// Micro engine.
    pub const GFX_ME: u32 = 0x04;
    /// Prefetch parser.
    pub const GFX_PFP: u32 = 0x05;
    /// Constant engine.
    pub const GFX_CE: u32 = 0x06;
    /// Run-list controller.
    pub const GFX_RLC: u32 = 0x07;
    /// Compute micro engine; index 0 or 1.
    pub const GFX_MEC: u32 = 0x08;
    /// System management controller.
    pub const SMC: u32 = 0x0a;
    /// Copy engines, by index.
    pub const SDMA: u32 = 0x0b;
    /// Security processor.
    pub const SOS: u32 = 0x0c;
    /// Security driver.
    pub const ASD: u32 = 0x0d;
    /// Video block since Raven.
    pub const VCN: u32 = 0x0e;
    /// Video processing engine: the highest type Linux 6.12 knows.
    pub const VPE: u32 = 0x1c;
}
