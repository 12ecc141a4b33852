//! The INFO request.
//!
//! Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`.

use amdgpu_hw::{GfxLevel, Ip};
use amdgpu_uapi::{
    DevInfo, Errno, IdsFlags, Info, InfoFirmware, InfoHwIp, InfoMaxIbs, InfoVbios, InfoVceClockTable, InfoVramGtt,
    UqFwAreas, firmware, query,
};
use zerocopy::{Immutable, IntoBytes};

use super::registers;
use crate::{
    chips,
    features::Features,
    gpu::Clock,
    kernel::{files::file::File, ioctl::args::argument, user, userq},
};

/// Performs INFO. The answer is cut to the size that the caller gave; the rest of the caller's buffer is not changed.
pub(crate) fn info(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: Info = argument(bytes)?;
    if request.return_size == 0 || request.return_pointer == 0 {
        return Err(Errno::EINVAL);
    }
    let answer = Answer { address: request.return_pointer, room: request.return_size as usize };
    let input = request.input;
    let profile = &file.gpu.facts.profile;
    file.gpu.machine.descriptors.sweep();
    let memory = file.gpu.pools.memory_info();
    match request.query {
        query::ACCEL_WORKING => answer.put(&1_u32),
        query::HW_IP_INFO => answer.put(&hw_ip_info(file, input[0], input[1])?),
        query::HW_IP_COUNT => answer.put(&hw_ip_count(file, input[0])?),
        query::TIMESTAMP => answer.put(&file.gpu.board.clock.ticks()),
        query::FW_VERSION => answer.put(&fw_version(file, input)?),
        query::NUM_BYTES_MOVED => answer.put(&file.gpu.pools.moves().bytes),
        query::NUM_EVICTIONS => answer.put(&file.gpu.pools.moves().evictions),
        query::NUM_VRAM_CPU_PAGE_FAULTS => answer.put(&file.gpu.pools.moves().cpu_page_faults),
        query::VRAM_USAGE => answer.put(&memory.vram.heap_usage),
        query::GTT_USAGE => answer.put(&memory.gtt.heap_usage),
        query::VIS_VRAM_USAGE => answer.put(&memory.cpu_accessible_vram.heap_usage),
        query::GDS_CONFIG => answer.put(&chips::gds_config(profile.gfx_level)),
        query::VRAM_GTT => answer.put(&InfoVramGtt {
            vram_size: memory.vram.usable_heap_size,
            vram_cpu_accessible_size: memory.cpu_accessible_vram.usable_heap_size,
            gtt_size: memory.gtt.usable_heap_size,
        }),
        query::READ_MMR_REG => answer.put_bytes(registers::read(file, input)?.as_bytes()),
        query::DEV_INFO => answer.put_bytes(&dev_info(file)),
        query::MEMORY => answer.put(&memory),
        query::VCE_CLOCK_TABLE => answer.put(&InfoVceClockTable::ZEROED),
        query::VBIOS => vbios(&answer, input),
        query::SENSOR => answer.put(&sensor(file, input[0])?),
        query::VRAM_LOST_COUNTER => answer.put(&file.gpu.rings.losses()),
        query::MAX_IBS if file.gpu.facts.options.max_ibs => answer.put(&InfoMaxIbs { max_ibs: Ip::ALL.map(max_ibs) }),
        query::UQ_FW_AREAS if file.gpu.facts.has(Features::USER_QUEUES) => {
            answer.put(&firmware_areas(profile.gfx_level, input[0])?)
        }
        query::GPUVM_FAULT if file.gpu.facts.options.drm_minor >= 55 => answer.put(&file.faults.last()),
        query::VIDEO_CAPS if file.gpu.facts.options.drm_minor >= 41 => {
            let encodes = match input[0] {
                0 => false,
                1 => true,
                _ => return Err(Errno::EINVAL),
            };
            answer.put(&profile.video_caps(encodes).ok_or(Errno::EINVAL)?)
        }
        query::CRTC_FROM_ID
        | query::NUM_HANDLES
        | query::RAS_ENABLED_FEATURES
        | query::VIDEO_CAPS
        | query::MAX_IBS
        | query::GPUVM_FAULT => Err(Errno::EINVAL),
        unknown => {
            file.gpu.board.complaints.report(format!("INFO: unknown query {unknown:#x}"));
            Err(Errno::EINVAL)
        }
    }
}

/// Returns the bytes of DEV_INFO. On kernels with user queues, a mask of the IPs that have them follows the earlier fields.
fn dev_info(file: &File) -> Vec<u8> {
    let mut info = file.gpu.facts.profile.dev_info;
    if file.gpu.facts.has(Features::GANG_FLAG) {
        info.ids_flags |= IdsFlags::GANG_SUBMIT.bits();
    }
    let mut bytes = info.as_bytes().to_vec();
    if file.gpu.facts.has(Features::USER_QUEUES) {
        let mask = file.gpu.facts.user_queue_ips().to_le_bytes();
        bytes.truncate(std::mem::offset_of!(DevInfo, tail));
        bytes.extend(mask);
    }
    bytes
}

/// Returns the areas that the firmware needs beside a graphics queue. No other queue has such areas.
///
/// Source: Linux 6.17 `amdgpu_kms.c`, `amdgpu_userq_metadata_info_gfx`; `gfx_v11_0.c`,
/// `gfx_v11_0_get_gfx_shadow_info_nocheck`.
fn firmware_areas(level: GfxLevel, ip: u32) -> Result<UqFwAreas, Errno> {
    if ip != Ip::Gfx as u32 {
        return Err(Errno::EINVAL);
    }
    if level < GfxLevel::Gfx11 {
        return Err(Errno::EOPNOTSUPP);
    }
    Ok(userq::AREAS)
}

/// The buffer for an answer.
struct Answer {
    address: u64,
    room: usize,
}

impl Answer {
    fn put<T: IntoBytes + Immutable>(&self, value: &T) -> Result<(), Errno> {
        self.put_bytes(value.as_bytes())
    }

    fn put_bytes(&self, bytes: &[u8]) -> Result<(), Errno> {
        user::write_bytes(self.address, &bytes[..bytes.len().min(self.room)])
    }
}

/// Returns the most IBs that a submission can have for one entity.
///
/// Source: Linux 6.12 `amdgpu_ring.c`, `amdgpu_ring_max_ibs`.
pub(crate) fn max_ibs(ip: Ip) -> u32 {
    match ip {
        Ip::Gfx => 192,
        Ip::Compute => 125,
        Ip::VcnJpeg => 16,
        _ => 49,
    }
}

/// Describes a hardware IP. For a block that the chip lacks, the answer is zeros and no error.
fn hw_ip_info(file: &File, kind: u32, instance: u32) -> Result<InfoHwIp, Errno> {
    let ip = Ip::from_raw(kind).ok_or(Errno::EINVAL)?;
    if instance != 0 {
        return Err(Errno::EINVAL);
    }
    let block = file.gpu.facts.video(ip).map(|known| known.block).or_else(|| file.gpu.facts.ip(ip));
    Ok(block.unwrap_or(InfoHwIp::ZEROED))
}

/// Returns the number of instances of a hardware IP; EINVAL for a block that the chip lacks.
fn hw_ip_count(file: &File, kind: u32) -> Result<u32, Errno> {
    let ip = Ip::from_raw(kind).ok_or(Errno::EINVAL)?;
    if let Some(known) = file.gpu.facts.video(ip) {
        return Ok(known.instances);
    }
    file.gpu.facts.ip(ip).ok_or(Errno::EINVAL)?;
    Ok(if ip == Ip::Sdma { file.gpu.facts.profile.sdma_engines } else { 1 })
}

/// Returns the version of a firmware. It is 0 if the firmware is absent or was not captured.
fn fw_version(file: &File, [kind, instance, index, _]: [u32; 4]) -> Result<InfoFirmware, Errno> {
    let known = &file.gpu.facts.profile.firmware;
    let indices = match kind {
        firmware::GFX_MEC => 2,
        firmware::SDMA => file.gpu.facts.profile.sdma_engines,
        // Trusted applications: xgmi, ras, hdcp, dtm, rap, securedisplay.
        0x13 => 6,
        _ => u32::MAX,
    };
    let exists = (1..=firmware::VPE).contains(&kind) && kind != 0x09;
    if instance != 0 || !exists || index >= indices {
        return Err(Errno::EINVAL);
    }
    Ok(match (kind, index) {
        (firmware::GFX_ME, _) => known.me,
        (firmware::GFX_PFP, _) => known.pfp,
        (firmware::GFX_MEC, 0) => known.mec,
        _ => InfoFirmware::ZEROED,
    })
}

/// Returns the value of a sensor. A kernel without power management has no sensors.
///
/// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`, AMDGPU_INFO_SENSOR.
fn sensor(file: &File, kind: u32) -> Result<u32, Errno> {
    let (gpu, profile) = (&file.gpu, &file.gpu.facts.profile);
    if !gpu.facts.options.power {
        return Err(Errno::ENOENT);
    }
    let figures = gpu.board.power.figures(profile, gpu.board.health.heat());
    let limits = figures.limits;
    Ok(match kind {
        1 => figures.shader_clock,
        2 => figures.memory_clock,
        3 => figures.edge.cast_unsigned(),
        4 => figures.gpu_busy,
        5 => figures.power / 1000,
        6 if profile.is_apu() => figures.northbridge_voltage,
        7 => figures.graphics_voltage,
        // The clocks of the stable power state, and of its peak.
        8 => limits.shader_clock.0.midpoint(limits.shader_clock.1),
        9 => limits.memory_clock.0.midpoint(limits.memory_clock.1),
        10 => limits.shader_clock.1,
        11 => limits.memory_clock.1,
        12 if profile.is_apu() || profile.gfx_level >= GfxLevel::Gfx11 => figures.power / 1000,
        _ => return Err(Errno::EINVAL),
    })
}

/// Answers a request for the video BIOS with zero bytes, because none was captured.
fn vbios(answer: &Answer, [kind, ..]: [u32; 4]) -> Result<(), Errno> {
    match kind {
        1 => answer.put(&0_u32),
        3 => answer.put(&InfoVbios::ZEROED),
        _ => Err(Errno::EINVAL),
    }
}
