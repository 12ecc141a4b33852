//! IP blocks, their rings, and the requirements for their IBs.

use amdgpu_hw::gfx10_minor;

use super::{Chip, DriverVersion, Error, Family, GfxLevel, Ip, Kernel, Result};
use crate::{
    uapi::{Errno, InfoHwIp, InfoMaxIbs, query},
    winsys::{InvalidReply, KernelError, OpenError, device::query::info},
};

/// The version of an IP block.
///
/// ```
/// use amdgpu_winsys::winsys::{Ip, IpVersion};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let sdma = device.info().ip_block(Ip::Sdma).ok_or("no copy engine")?;
/// assert_eq!(sdma.version, IpVersion { major: 5, minor: 2, revision: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IpVersion {
    /// Major version.
    pub major: u32,
    /// Minor version.
    pub minor: u32,
    /// Revision.
    pub revision: u32,
}

/// An IP block with at least one ring.
///
/// ```
/// use amdgpu_winsys::winsys::Ip;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let compute = device.info().ip_block(Ip::Compute).ok_or("no compute rings")?;
/// assert_eq!((compute.ip, compute.rings), (Ip::Compute, 4));
/// assert!(compute.ib_alignment >= 256);
/// assert_eq!(compute.ib_pad_dword_mask, 7); // an IB's length is a multiple of 8 dwords
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpBlock {
    /// The kind of IP block.
    pub ip: Ip,
    /// Version of the block, from IP discovery if available, otherwise from the driver, corrected for GFX10.
    pub version: IpVersion,
    /// Number of rings that user space may submit to; queue indices are below it.
    pub rings: u32,
    /// Alignment of an IB's address and size in bytes: the kernel's value, but at least 256.
    pub ib_alignment: u32,
    /// Padding mask of an IB: its length in dwords must have zeros in these low bits.
    pub ib_pad_dword_mask: u32,
}

/// Queries every IP block.
pub(super) fn query(
    kernel: &dyn Kernel,
    driver: DriverVersion,
    chip: Chip,
    family: Family,
) -> Result<[Option<IpBlock>; 10]> {
    let mut blocks = [None; 10];
    for (ip, slot) in Ip::ALL.into_iter().zip(&mut blocks) {
        *slot = query_one(kernel, driver, chip, family, ip)?;
    }
    if blocks[Ip::Gfx.index()].is_none() && blocks[Ip::Compute.index()].is_none() {
        return Err(Error::Open(OpenError::NoRings));
    }
    Ok(blocks)
}

fn query_one(
    kernel: &dyn Kernel,
    driver: DriverVersion,
    chip: Chip,
    family: Family,
    ip: Ip,
) -> Result<Option<IpBlock>> {
    let answer = match info::<InfoHwIp>(kernel, "HW_IP_INFO", query::HW_IP_INFO, [ip.raw(), 0, 0, 0]) {
        Ok(answer) => answer,
        // A kernel refuses types that it is too old to know.
        Err(Error::Kernel(KernelError { errno: Errno::EINVAL, .. })) => return Ok(None),
        Err(error) => return Err(error),
    };
    if answer.available_rings == 0 {
        return Ok(None);
    }
    for (field, value) in
        [("ib_start_alignment", answer.ib_start_alignment), ("ib_size_alignment", answer.ib_size_alignment)]
    {
        if value > 1 << 20 || (value != 0 && !value.is_power_of_two()) {
            let reason = "not a power of two of at most 1 MiB";
            return Err(Error::InvalidReply(InvalidReply { field, value: value.into(), reason }));
        }
    }
    Ok(Some(IpBlock {
        ip,
        version: ip_version(&answer, driver, chip, family, ip),
        rings: answer.available_rings.count_ones(),
        ib_alignment: answer.ib_start_alignment.max(answer.ib_size_alignment).max(256),
        ib_pad_dword_mask: ib_pad_dword_mask(ip),
    }))
}

/// Source: Mesa `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`: the driver's own version is 10.0 for all of GFX10, so
/// the minor version is corrected by family.
fn ip_version(answer: &InfoHwIp, driver: DriverVersion, chip: Chip, family: Family, ip: Ip) -> IpVersion {
    let discovered = answer.ip_discovery_version;
    if driver.minor >= 48 && discovered != 0 {
        return IpVersion {
            major: discovered >> 16 & 0xff,
            minor: discovered >> 8 & 0xff,
            revision: discovered & 0xff,
        };
    }
    let corrected = if matches!(ip, Ip::Gfx | Ip::Compute) { gfx10_minor(family, chip) } else { None };
    let minor = corrected.unwrap_or(answer.hw_ip_version_minor);
    IpVersion { major: answer.hw_ip_version_major, minor, revision: 0 }
}

/// Source: Mesa `src/amd/common/ac_gpu_info.c`, `ib_pad_dw_mask`.
const fn ib_pad_dword_mask(ip: Ip) -> u32 {
    match ip {
        Ip::Gfx | Ip::Compute => 0x7,
        Ip::Vce | Ip::UvdEnc | Ip::VcnEnc => 0x3f,
        Ip::Sdma | Ip::Uvd | Ip::VcnDec | Ip::VcnJpeg | Ip::Vpe => 0xf,
    }
}

/// Returns the generation, derived from the IP version alone.
pub(super) fn gfx_level(blocks: &[Option<IpBlock>; 10]) -> Result<GfxLevel> {
    let block = blocks[Ip::Gfx.index()].or(blocks[Ip::Compute.index()]).ok_or(Error::Open(OpenError::NoRings))?;
    let IpVersion { major, minor, .. } = block.version;
    GfxLevel::of_version(major, minor).ok_or(Error::Open(OpenError::UnknownGfxVersion { major, minor }))
}

/// Returns the maximum number of IBs in a submission for each IP. If the kernel does not report it, RADV's limits are used.
///
/// RADV submits one IB at a time to the old video blocks, even if the kernel allows more. Source: Mesa `ac_gpu_info.c` (MAX_IBS and
/// its fallback), `radv_amdgpu_winsys.c`.
pub(super) fn max_ibs(kernel: &dyn Kernel, gfx_level: GfxLevel, blocks: &[Option<IpBlock>; 10]) -> [u32; 10] {
    let answer = info::<InfoMaxIbs>(kernel, "MAX_IBS", query::MAX_IBS, [0; 4]).map(|answer| answer.max_ibs);
    let mut limits = match answer {
        // A shim that does not know the query leaves all limits zero.
        Ok(limits) if limits.iter().any(|&limit| limit != 0) => limits,
        _ => {
            let gfx = if gfx_level >= GfxLevel::Gfx7 { 192 } else { 144 };
            let mut fallback = [gfx, 124, 50, 50, 50, 50, 50, 50, 16, 50];
            for (limit, block) in fallback.iter_mut().zip(blocks) {
                if block.is_none() {
                    *limit = 0;
                }
            }
            fallback
        }
    };
    for ip in [Ip::Uvd, Ip::Vce, Ip::UvdEnc, Ip::VcnDec, Ip::VcnEnc] {
        limits[ip.index()] = 1;
    }
    limits
}

#[cfg(test)]
mod tests {
    use amdgpu_sim::{SimDevice, SimKernel, SimOptions, profile};

    use super::*;

    fn kernel(max_ibs: bool) -> SimKernel {
        SimDevice::new(profile("navi21").unwrap(), SimOptions { max_ibs, ..SimOptions::default() }).open()
    }

    fn block(ip: Ip) -> IpBlock {
        let version = IpVersion { major: 9, minor: 0, revision: 0 };
        IpBlock { ip, version, rings: 1, ib_alignment: 256, ib_pad_dword_mask: 7 }
    }

    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_query_gpu_info`, and
    /// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_winsys.c`, `radv_amdgpu_winsys_query_info`.
    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn a_kernel_that_does_not_tell_its_limits_has_those_of_the_generation() {
        let all = Ip::ALL.map(|ip| Some(block(ip)));
        for level in GfxLevel::ALL {
            let gfx = if level == GfxLevel::Gfx6 { 144 } else { 192 };
            assert_eq!(max_ibs(&kernel(false), level, &all), [gfx, 124, 50, 1, 1, 1, 1, 1, 16, 50], "{level}");
        }
        let mut some = all;
        (some[Ip::Compute.index()], some[Ip::Sdma.index()]) = (None, None);
        assert_eq!(max_ibs(&kernel(false), GfxLevel::Gfx9, &some), [192, 0, 0, 1, 1, 1, 1, 1, 16, 50]);
        let told = max_ibs(&kernel(true), GfxLevel::Gfx9, &all);
        assert!(told != max_ibs(&kernel(false), GfxLevel::Gfx9, &all), "{told:?}");
        assert!((3..8).all(|old_video| told[old_video] == 1), "{told:?}");
    }

    #[test]
    fn a_version_is_that_of_discovery_where_there_is_one() {
        let answer = InfoHwIp {
            hw_ip_version_major: 10,
            hw_ip_version_minor: 7,
            ip_discovery_version: 0x0a0b_0305,
            ..InfoHwIp::ZEROED
        };
        let of = |answer: &InfoHwIp, minor, ip| {
            let driver = DriverVersion { major: 3, minor, patch: 0 };
            let IpVersion { major, minor, revision } = ip_version(answer, driver, Chip::CHIP_NAVI10, Family::NV, ip);
            (major, minor, revision)
        };
        assert_eq!([48, 60].map(|minor| of(&answer, minor, Ip::Gfx)), [(11, 3, 5); 2]);
        assert_eq!(of(&answer, 47, Ip::Gfx), (10, 1, 0));
        let untold = InfoHwIp { ip_discovery_version: 0, ..answer };
        let versions = [Ip::Gfx, Ip::Compute, Ip::Sdma].map(|ip| of(&untold, 60, ip));
        assert_eq!(versions, [(10, 1, 0), (10, 1, 0), (10, 7, 0)]);
    }

    #[test]
    fn a_generation_is_that_of_graphics_or_else_of_compute() {
        let with = |major| move |ip| Some(IpBlock { version: IpVersion { major, minor: 0, revision: 0 }, ..block(ip) });
        let (mut blocks, none) = ([None; 10], [None; 10]);
        assert_eq!(gfx_level(&none), Err(Error::Open(OpenError::NoRings)));
        blocks[Ip::Compute.index()] = with(8)(Ip::Compute);
        assert_eq!(gfx_level(&blocks), Ok(GfxLevel::Gfx8));
        blocks[Ip::Gfx.index()] = with(9)(Ip::Gfx);
        assert_eq!(gfx_level(&blocks), Ok(GfxLevel::Gfx9));
        blocks[Ip::Gfx.index()] = with(13)(Ip::Gfx);
        assert_eq!(gfx_level(&blocks), Err(Error::Open(OpenError::UnknownGfxVersion { major: 13, minor: 0 })));
    }

    #[test]
    fn the_length_of_an_ib_is_padded_as_its_engine_wants() {
        let masks = Ip::ALL.map(ib_pad_dword_mask);
        assert_eq!(masks, [0x7, 0x7, 0xf, 0xf, 0x3f, 0x3f, 0xf, 0x3f, 0xf, 0xf]);
    }
}
