//! READ_MMR_REG: reads of the registers that clients may read.
//!
//! Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`; `soc15.c`, `soc15_allowed_read_registers`, and its siblings of the
//! other generations.

use amdgpu_hw::Ip;
use amdgpu_uapi::Errno;

use crate::kernel::open::file::File;

/// The dword offset of GRBM_STATUS on every generation. Load monitors that do not use fdinfo read the register many times a second.
const GRBM_STATUS: u32 = 0x8010 / 4;
/// Set if the command processor is busy.
const CP_BUSY: u32 = 1 << 29;
/// Set if any block of the graphics engine is busy.
const GUI_ACTIVE: u32 = 1 << 31;

/// Reads registers on the chip's list. The values are those of the capture, except for GRBM_STATUS, which says whether the rings
/// are busy now.
///
/// # Errors
///
/// EINVAL for engines and arrays that no chip has and for more than 128 registers; EFAULT if one of the registers is not on the
/// list.
pub(super) fn read(file: &File, [first, count, instance, _]: [u32; 4]) -> Result<Vec<u32>, Errno> {
    let (engine, array) = (instance & 0xff, instance >> 8 & 0xff);
    if (engine >= 4 && engine != 0xff) || (array >= 2 && array != 0xff) || count > 128 {
        return Err(Errno::EINVAL);
    }
    (0..count)
        .map(|index| first.checked_add(index).and_then(|offset| value(file, offset, instance)).ok_or(Errno::EFAULT))
        .collect()
}

fn value(file: &File, offset: u32, instance: u32) -> Option<u32> {
    if offset == GRBM_STATUS {
        return Some(status(file));
    }
    file.gpu.facts.profile.register(offset, instance).map(|one| one.value)
}

/// Returns the value of GRBM_STATUS. The register does not report the copy engines.
fn status(file: &File) -> u32 {
    if file.gpu.rings.is_busy(Ip::Gfx) || file.gpu.rings.is_busy(Ip::Compute) { GUI_ACTIVE | CP_BUSY } else { 0 }
}
