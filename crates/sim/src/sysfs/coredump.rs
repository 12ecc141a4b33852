//! Core dumps of devices: what the kernel keeps of a job that timed out.

use std::{fmt::Write as _, time::Duration};

use crate::{
    device::SimDevice,
    features::Features,
    kernel::hangs::{HangEnd, HangRecord, RingImage},
    release::KernelRelease,
};

/// The directory of all core dumps.
pub const COREDUMPS: &str = "/sys/class/devcoredump";
/// The file that ends all core dumps: its contents are `0` before, and `1` after that.
pub const COREDUMPS_DISABLED: &str = "/sys/class/devcoredump/disabled";
/// The time after which the kernel deletes a core dump.
///
/// Source: Linux 6.12 `drivers/base/devcoredump.c`, `DEVCD_TIMEOUT`.
pub const COREDUMP_LIFE: Duration = Duration::from_mins(5);

/// The bytes of a dword in the dump of an IB, with the line break.
const DWORD: usize = 11;

impl HangRecord {
    /// Returns `true` if the kernel made a core dump of the hang: the job timed out.
    pub fn has_coredump(&self) -> bool {
        self.ip_type.is_some() && self.recovered.is_some() && !matches!(self.end, HangEnd::Pending | HangEnd::Lost)
    }
}

/// Returns the core dump of a job that hung, in the form of the device's kernel. `time` is the time since the computer was started.
///
/// It has the sections that the simulator knows: no discovery table, and of the registers the header of the packet.
/// Linux 7.2 adds the address space and the contents of the job's IBs; an IB that could not be read has a title alone, and the dump ends
/// in as many NULs as its contents would take.
///
/// Source: Linux 6.12 and 7.2 `amdgpu_dev_coredump.c`, `amdgpu_devcoredump_read` and `amdgpu_devcoredump_format`.
pub fn coredump(device: &SimDevice, hang: &HangRecord, time: Duration) -> Vec<u8> {
    format(device, hang, time, device.has(Features::COREDUMP_IBS)).unwrap_or_default()
}

/// Returns the core dump with the contents of the job's IBs, whatever the kernel. See [`coredump`].
pub fn coredump_with_ibs(device: &SimDevice, hang: &HangRecord, time: Duration) -> Vec<u8> {
    format(device, hang, time, true).unwrap_or_default()
}

fn format(device: &SimDevice, hang: &HangRecord, time: Duration, has_ibs: bool) -> Result<Vec<u8>, std::fmt::Error> {
    let (profile, release) = (device.profile(), KernelRelease::within(device.features()));
    let (dev, memory) = (&profile.dev_info, device.memory_info());
    let mut text = format!(
        "**** AMDGPU Device Coredump ****\nversion: 1\nkernel: {release}.0\nmodule: amdgpu\ntime: {}.{:09}\n",
        time.as_secs(),
        time.subsec_nanos()
    );
    if has_ibs {
        writeln!(text, "pasid: {}\nvmid: {}", hang.pasid, hang.vmid)?;
    }
    if let Some(process) = &hang.process {
        let (name, pid) = (&process.name, process.pid);
        if has_ibs {
            writeln!(text, "process_name: {name} TGID: {pid} thread: {name} PID: {pid}")?;
        } else {
            writeln!(text, "process_name: {name} PID: {pid}")?;
        }
    }
    writeln!(text, "\nSOC Information\nSOC Device id: {}\nSOC PCI Revision id: {}", dev.device_id, dev.pci_rev)?;
    writeln!(text, "SOC Family: {}\nSOC Revision id: {}", dev.family, dev.chip_rev)?;
    writeln!(text, "SOC External Revision id: {}", dev.external_rev)?;
    writeln!(text, "\nSOC Memory Information\nreal vram size: {}", memory.vram.total_heap_size)?;
    writeln!(text, "visible vram size: {}", memory.cpu_accessible_vram.total_heap_size)?;
    writeln!(text, "gtt size: {}", memory.gtt.total_heap_size)?;
    if let Some(version) = version(&profile.gfx_level.to_string()) {
        writeln!(text, "\nHW IP Version Information\nHWIP: GC[1][0]: v{version}.0.0")?;
    }
    writeln!(text, "\nIP Firmwares")?;
    for (name, firmware) in [("ME", profile.firmware.me), ("PFP", profile.firmware.pfp), ("MEC", profile.firmware.mec)]
    {
        writeln!(text, "{name} feature version: {}, fw version: {:#010x}", firmware.feature, firmware.ver)?;
    }
    writeln!(text, "\nVBIOS Information: NA")?;
    if let Some(kind) = hang.ip_type {
        writeln!(text, "\nRing timed out details\nIP Type: {kind} Ring Name: {}", hang.ring)?;
    }
    let hub = if hang.fault.vmhub as u8 == 0 { "gfxhub" } else { "mmhub" };
    writeln!(text, "\n[{hub}] Page fault observed\nFaulty page starting at address: {:#018x}", hang.fault.addr)?;
    writeln!(text, "Protection fault status register: {:#x}\n", hang.fault.status)?;
    if let Some(header) = hang.header.filter(|_| matches!(hang.ip_type, Some(0 | 1))) {
        let register = if hang.ip_type == Some(0) { "mmCP_ME_HEADER_DUMP" } else { "mmCP_MEC_ME1_HEADER_DUMP" };
        writeln!(text, "IP Dump\nIP: gfx\n{register:<50} \t {header:#010x}\n")?;
    }
    if !hang.rings.is_empty() {
        writeln!(text, "Ring buffer information")?;
    }
    for RingImage { name, read, write, dwords, .. } in &hang.rings {
        let mask = dwords.len().saturating_sub(1);
        writeln!(text, "ring name: {name}\nRptr: {read:#x} Wptr: {write:#x} RB mask: {mask:x}")?;
        writeln!(text, "Ring size in dwords: {}\nRing contents\nOffset \t Value", dwords.len())?;
        for (index, dword) in dwords.iter().enumerate() {
            writeln!(text, "{:#x} \t {dword:#x}", 4 * index)?;
        }
    }
    writeln!(text, "VRAM lost check is skipped!")?;
    let mut missing = 0;
    for (index, (va, len, dwords)) in hang.ibs.iter().enumerate().filter(|_| has_ibs) {
        writeln!(text, "\nIB #{index} {:#x} {len} dw", va.as_u64())?;
        for dword in dwords {
            writeln!(text, "{dword:#010x}")?;
        }
        missing += len.saturating_sub(dwords.len()) * DWORD;
    }
    let mut bytes = text.into_bytes();
    bytes.resize(bytes.len() + missing, 0);
    Ok(bytes)
}

/// Returns the version of the graphics core, which the kernel prints from GFX9 on.
fn version(level: &str) -> Option<&'static str> {
    let versions = [
        ("GFX9", "9.0.1"),
        ("GFX10", "10.1.1"),
        ("GFX10_3", "10.3.0"),
        ("GFX11", "11.0.0"),
        ("GFX11_5", "11.5.0"),
        ("GFX12", "12.0.0"),
    ];
    versions.into_iter().find(|(name, _)| *name == level).map(|(_, version)| version)
}
