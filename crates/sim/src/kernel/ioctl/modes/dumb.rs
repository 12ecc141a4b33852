//! Dumb buffers: BOs for images whose layout the kernel chooses.
//!
//! Source: Linux 6.12 `drm_dumb_buffers.c`, `drm_mode_create_dumb`; `amdgpu_gem.c`, `amdgpu_mode_dumb_create` and
//! `amdgpu_gem_align_pitch`. Linux 7.2 `drm_mode_create_dumb_ioctl` and `drm_mode_mmap_dumb_ioctl` for what a failure leaves.

use amdgpu_uapi::{
    Answered as _, Errno, GemClose, GemCreate, GemCreateAnswer, GemCreateFlags, GemDomain, GemMmap, ModeCreateDumb,
    ModeDestroyDumb, ModeMapDumb,
};
use zerocopy::IntoBytes as _;

use crate::kernel::{
    files::file::File,
    ioctl::{
        args::{argument, fill},
        memory::gem,
    },
    mm::bo::PAGE,
};

/// Returns the pitch in pixels for a width.
fn aligned(width: u32, pixel_bytes: u32) -> Option<u32> {
    let multiple = match pixel_bytes {
        1 => 256,
        2 => 128,
        3 | 4 => 64,
        _ => 1,
    };
    width.checked_next_multiple_of(multiple)
}

/// Performs MODE_CREATE_DUMB. A failure leaves no handle, pitch or size in the argument.
pub(crate) fn create(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ModeCreateDumb = argument(bytes)?;
    let made = make(file, request);
    fill(bytes, &made.unwrap_or(ModeCreateDumb { handle: 0, pitch: 0, size: 0, ..request }))?;
    made.map(drop)
}

/// Makes the BO and returns the request with its answers.
fn make(file: &File, request: ModeCreateDumb) -> Result<ModeCreateDumb, Errno> {
    let ModeCreateDumb { height, width, bpp, .. } = request;
    if height == 0 || width == 0 || bpp == 0 {
        return Err(Errno::EINVAL);
    }
    let pixel_bytes = bpp.div_ceil(8);
    let row = pixel_bytes.checked_mul(width).ok_or(Errno::EINVAL)?;
    let whole = u64::from(row) * u64::from(height);
    if u32::try_from(whole.next_multiple_of(PAGE)).is_err() {
        return Err(Errno::EINVAL);
    }
    let pitch = aligned(width, pixel_bytes).and_then(|width| width.checked_mul(pixel_bytes)).ok_or(Errno::EINVAL)?;
    let size = (u64::from(pitch) * u64::from(height)).next_multiple_of(PAGE);
    let domains = if file.gpu.facts.profile.is_apu() { GemDomain::VRAM | GemDomain::GTT } else { GemDomain::VRAM };
    let flags = GemCreateFlags::CPU_ACCESS_REQUIRED | GemCreateFlags::CPU_GTT_USWC | GemCreateFlags::VRAM_CLEARED;
    let mut create = GemCreate { bo_size: size, alignment: 0, domains: domains.bits(), domain_flags: flags.bits() };
    gem::create(file, create.as_mut_bytes()).map_err(|_| Errno::ENOMEM)?;
    let GemCreateAnswer { handle, .. } = create.answer();
    Ok(ModeCreateDumb { handle, pitch, size, ..request })
}

/// Performs MODE_MAP_DUMB. A failure leaves no offset in the argument.
pub(crate) fn map(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ModeMapDumb = argument(bytes)?;
    let mut mmap = GemMmap { handle: request.handle, pad: 0 };
    let mapped = gem::mmap(file, mmap.as_mut_bytes());
    let offset = mapped.map_or(0, |()| mmap.answer().addr_ptr);
    fill(bytes, &ModeMapDumb { offset, ..request })?;
    mapped
}

/// Performs MODE_DESTROY_DUMB.
pub(crate) fn destroy(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeDestroyDumb { handle } = argument(bytes)?;
    gem::close(file, GemClose { handle, pad: 0 }.as_mut_bytes())
}
