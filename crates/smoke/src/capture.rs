//! `capture`: the facts of a GPU, for others to simulate it.

use amdgpu_sim::{Firmware, Origin, Profile, RecordedFiles, Register, VideoBlock};
use amdgpu_winsys::{
    uapi::{HeapInfo, MemoryInfo},
    winsys::{self, Device, Ip, RawInfo},
};

/// Queries the kernel of a device, and returns its answers as a chip profile for the simulator.
///
/// The names are the library's. Memory usage is omitted, so that two captures of the same GPU are equal.
///
/// # Errors
///
/// The errors of [`RawInfo::query`].
pub fn capture(device: &Device) -> winsys::Result<Profile> {
    let raw = RawInfo::query(device.kernel())?;
    let info = device.info();
    let block = |ip: Ip| raw.ip_blocks[ip.index()];
    let idle = |heap: HeapInfo| HeapInfo { heap_usage: 0, ..heap };
    let MemoryInfo { vram, cpu_accessible_vram, gtt } = raw.memory;
    let registers = raw.registers.iter().map(|register| Register {
        name: register.index.map_or_else(|| register.name.to_owned(), |index| format!("{}{index}", register.name)),
        dword_offset: register.dword_offset,
        instance: register.instance,
        value: register.value,
    });
    let video = [Ip::Uvd, Ip::Vce, Ip::UvdEnc, Ip::VcnDec, Ip::VcnEnc, Ip::VcnJpeg].into_iter();
    let video = video.map(|ip| VideoBlock { ip, block: block(ip), instances: raw.ip_counts[ip.index()] });
    // The kernel answers zeros for a block that the chip lacks.
    let video = video.filter(|known| known.block.hw_ip_version_major != 0);
    Ok(Profile {
        origin: Origin::Captured,
        name: info.chip_name().to_lowercase(),
        marketing_name: info.marketing_name.clone(),
        gfx_level: info.gfx_level,
        dev_info: raw.dev_info,
        memory: MemoryInfo { vram: idle(vram), cpu_accessible_vram: idle(cpu_accessible_vram), gtt: idle(gtt) },
        memory_usable_captured: true,
        system_memory: None,
        gfx: block(Ip::Gfx),
        compute: block(Ip::Compute),
        sdma: Some(block(Ip::Sdma)),
        sdma_engines: raw.ip_counts[Ip::Sdma.index()],
        video: video.collect(),
        firmware: Firmware { me: raw.me_firmware, pfp: raw.pfp_firmware, mec: raw.mec_firmware },
        registers: registers.collect(),
        sysfs: RecordedFiles::default(),
    })
}
