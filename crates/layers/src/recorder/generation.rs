//! The query for the generation of a chip.

use amdgpu_hw::{Family, GfxLevel, Ip, gfx10_minor, identify};
use amdgpu_uapi::{Argument, DevInfo, Info, InfoHwIp, Kernel, query, send_raw};
use zerocopy::FromBytes;

/// Size of the answer buffer in bytes. It is longer than any answer, because some kernels write more than the requested size.
const ANSWER_BYTES: usize = 1024;

#[repr(C, align(8))]
struct Answer([u8; ANSWER_BYTES]);

/// Queries the generation of the chip; `None` if the kernel does not report it, or if it is unknown.
pub(super) fn ask(kernel: &dyn Kernel) -> Option<GfxLevel> {
    let device: DevInfo = info(kernel, query::DEV_INFO, 0)?;
    let family = Family::from(device.family);
    let chip = identify(family, device.external_rev)?;
    let has_rings =
        |ip| info::<InfoHwIp>(kernel, query::HW_IP_INFO, ip as u32).filter(|block| block.available_rings > 0);
    let block = has_rings(Ip::Gfx).or_else(|| has_rings(Ip::Compute))?;
    let discovered = block.ip_discovery_version;
    if discovered != 0 {
        return GfxLevel::of_version(discovered >> 16 & 0xff, discovered >> 8 & 0xff);
    }
    let minor = gfx10_minor(family, chip).unwrap_or(block.hw_ip_version_minor);
    GfxLevel::of_version(block.hw_ip_version_major, minor)
}

/// Makes one INFO query. Bytes that the kernel did not write are zero.
fn info<T: FromBytes>(kernel: &dyn Kernel, query: u32, input: u32) -> Option<T> {
    const { assert!(size_of::<T>() <= ANSWER_BYTES) };
    let mut answer = Answer([0; ANSWER_BYTES]);
    let return_pointer = answer.0.as_mut_ptr().expose_provenance() as u64;
    let mut argument = Info { return_pointer, return_size: size_of::<T>() as u32, query, input: [input, 0, 0, 0] };
    // SAFETY: the only address is that of `answer`, which is exclusive, outlives the call and is at least as long as any kernel writes.
    // The request is a query.
    unsafe { send_raw(kernel, Info::REQUEST, &mut argument) }.ok()?;
    T::read_from_prefix(&answer.0).ok().map(|(answer, _)| answer)
}
