//! IBs of video engines.

use crate::{
    uapi::CsChunkIb,
    winsys::{Binding, GpuInfo, Ip},
};

/// The maximum length of an IB in dwords.
///
/// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_p2_ib`, and `amdgpu_ring.h`, `AMDGPU_RING_MAX_IB_DW` of video rings.
pub(super) const MOST_DWORDS: u32 = 0x7f_fff0;

/// Commands for a video engine: dwords that the caller has written to memory.
///
/// ```
/// use amdgpu_winsys::cs::VideoIb;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let upload = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Upload).ok_or("no such type")?;
/// let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(upload, 4096))?;
/// memory.map()?.write_dwords(256, &[0x81ff, 0, 0x81ff, 0])?;
/// let ib = VideoIb { memory: memory.binding(), offset: 256, dwords: 4 };
/// assert_eq!(ib.memory.len(), 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct VideoIb<'a> {
    /// The memory with the commands. The submission lists it and keeps it alive.
    pub memory: &'a Binding,
    /// Offset of the first dword in bytes; a multiple of 4. The kernel recommends a multiple of
    /// [`IpBlock::ib_alignment`](crate::winsys::IpBlock::ib_alignment).
    pub offset: u64,
    /// Number of dwords, 1 to 0x7ffff0. See [`VideoQueue::padding`](super::VideoQueue::padding).
    pub dwords: u32,
}

/// The reason why a [`VideoIb`] is refused.
///
/// ```
/// use amdgpu_winsys::cs::VideoIbFault;
///
/// let fault = VideoIbFault::Outside { offset: 4096, dwords: 16, size: 4096 };
/// assert_eq!(fault.to_string(), "16 dwords at offset 4096 are not inside the memory of 4096 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VideoIbFault {
    /// The IB is not inside its memory.
    #[error("{dwords} dwords at offset {offset} are not inside the memory of {size} bytes")]
    Outside {
        /// Offset of the IB in bytes.
        offset: u64,
        /// Length of the IB in dwords.
        dwords: u32,
        /// Size of the memory in bytes.
        size: u64,
    },
    /// The offset is not a multiple of 4.
    #[error("offset {offset} is not a multiple of 4")]
    Misaligned {
        /// Offset of the IB in bytes.
        offset: u64,
    },
    /// The IB has no dwords, or more than 0x7ffff0.
    #[error("{dwords} dwords; an IB has 1 to {MOST_DWORDS}")]
    Length {
        /// Length of the IB in dwords.
        dwords: u32,
    },
}

impl VideoIb<'_> {
    /// Returns the IB as a chunk for the kernel, or an error if its offset or length is invalid.
    pub(super) fn chunk(&self, ip: Ip, ring: u32) -> Result<CsChunkIb, VideoIbFault> {
        let &Self { memory, offset, dwords } = self;
        if !offset.is_multiple_of(4) {
            return Err(VideoIbFault::Misaligned { offset });
        }
        if !(1..=MOST_DWORDS).contains(&dwords) {
            return Err(VideoIbFault::Length { dwords });
        }
        let ib_bytes = dwords * 4;
        let is_inside = offset.checked_add(ib_bytes.into()).is_some_and(|end| end <= memory.len());
        if !is_inside {
            return Err(VideoIbFault::Outside { offset, dwords, size: memory.len() });
        }
        let va_start = memory.address().as_u64() + offset;
        Ok(CsChunkIb { pad: 0, flags: 0, va_start, ib_bytes, ip_type: ip.raw(), ip_instance: 0, ring })
    }
}

/// Returns `true` if `ip` is a video engine.
pub(super) const fn is_video(ip: Ip) -> bool {
    matches!(ip, Ip::Uvd | Ip::Vce | Ip::UvdEnc | Ip::VcnDec | Ip::VcnEnc | Ip::VcnJpeg | Ip::Vpe)
}

/// Returns the unit of IB lengths in dwords.
pub(super) fn unit(info: &GpuInfo, ip: Ip) -> usize {
    info.ip_block(ip).map_or(1, |block| block.ib_pad_dword_mask as usize + 1)
}

/// Returns the dwords that pad an IB of `dwords` dwords to a length that the engine requires, see
/// [`VideoQueue::padding`](super::VideoQueue::padding).
pub(super) fn padding(info: &GpuInfo, ip: Ip, dwords: usize) -> impl Iterator<Item = u32> + use<> {
    nops(ip, dwords.next_multiple_of(unit(info, ip)) - dwords)
}

/// Returns NOP packets of `dwords` dwords, or of one less if a packet does not fit; none if the engine has no NOPs.
pub(super) fn nops(ip: Ip, dwords: usize) -> impl Iterator<Item = u32> + use<> {
    let filler = filler(ip);
    let whole = dwords - dwords.checked_rem(filler.len()).unwrap_or(dwords);
    filler.iter().copied().cycle().take(whole)
}

/// Returns a packet that the ring ignores; empty if commands state their own length.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `get_nop_packet`, and radeonsi's
/// `src/gallium/winsys/amdgpu/drm/amdgpu_cs.cpp`, `amdgpu_cs_flush`; Linux 6.12 `amdgpu_uvd.c`, `amdgpu_uvd_cs_reg` and its
/// caller, which passes packets of type 2, and `amdgpu_vpe.c`, `vpe_ring_funcs`.
fn filler(ip: Ip) -> &'static [u32] {
    match ip {
        Ip::Uvd => &[0x8000_0000],
        Ip::VcnDec => &[0x81ff, 0],
        Ip::VcnJpeg => &[0x6000_0000, 0],
        Ip::Vpe => &[0],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nops_are_whole_packets_of_engines_that_have_any() {
        let nops = |ip, dwords| nops(ip, dwords).collect::<Vec<_>>();
        assert_eq!(nops(Ip::Vpe, 3), [0; 3]);
        assert_eq!(nops(Ip::Uvd, 3), [0x8000_0000; 3]);
        assert_eq!((nops(Ip::VcnDec, 5), nops(Ip::VcnJpeg, 1)), (vec![0x81ff, 0, 0x81ff, 0], vec![]));
        for ip in [Ip::Vce, Ip::UvdEnc, Ip::VcnEnc] {
            assert_eq!(nops(ip, 16), [0; 0]);
        }
    }
}
