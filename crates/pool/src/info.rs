//! The request INFO on an open render node.
//!
//! Source: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `amdgpu_kms.c`, `amdgpu_info_ioctl`. The few numbers that are
//! needed are written down here, so that the crate needs no other; a test compares them with those of `amdgpu-uapi`.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use crate::seam;

/// The queries of INFO that are made.
pub mod query {
    /// Properties of the device.
    pub const DEV_INFO: u32 = 0x16;
    /// Sizes and usage of the memory pools.
    pub const MEMORY: u32 = 0x19;
}

/// Bytes of the answer to MEMORY.
const MEMORY_BYTES: usize = 96;
/// Bytes of the answer to DEV_INFO that are asked for: those up to the page size.
const DEVICE_BYTES: usize = 176;
/// Offset of the device's properties in the answer to DEV_INFO.
pub(crate) const IDS_FLAGS: usize = 136;
/// Offset of the page size of GTT in the answer to DEV_INFO.
pub(crate) const GART_PAGE_SIZE: usize = 168;
/// The bit of an APU in the device's properties.
pub(crate) const FUSION: u64 = 1;

/// An open GPU that answers INFO.
pub trait Info {
    /// Makes a query. The first `answer.len()` bytes of its answer replace those of `answer`; an answer that is shorter leaves the
    /// rest unchanged.
    ///
    /// # Errors
    ///
    /// The error of the kernel.
    fn info(&self, query: u32, answer: &mut [u8]) -> io::Result<()>;
}

/// An open render node of this computer.
#[derive(Debug)]
pub struct RenderNode(File);

impl RenderNode {
    /// Opens a node, such as `/dev/dri/renderD128`. This wakes the GPU.
    ///
    /// # Errors
    ///
    /// The errors of `open`.
    pub fn open(path: &Path) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(path).map(Self)
    }
}

impl Info for RenderNode {
    fn info(&self, query: u32, answer: &mut [u8]) -> io::Result<()> {
        seam::info(&self.0, query, answer)
    }
}

/// Facts about a GPU that never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// `true` if the GPU is an APU, whose memory is system memory.
    pub is_apu: bool,
    /// The page size of GTT in bytes.
    pub page_size: u32,
}

/// A memory pool, as INFO reports it: all figures in bytes, not validated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolInfo {
    /// The size.
    pub total: u64,
    /// The size without pinned and reserved memory.
    pub usable: u64,
    /// The memory in use by all processes and the kernel.
    pub used: u64,
    /// Three quarters of the usable size, which the kernel recommends and does not enforce.
    pub max_allocation: u64,
}

/// The three memory pools of a GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryInfo {
    /// Video memory.
    pub vram: PoolInfo,
    /// The video memory that the CPU can map.
    pub visible_vram: PoolInfo,
    /// System memory that the GPU can map.
    pub gtt: PoolInfo,
}

/// An opened GPU. What answers [`Info`] is one; programs that know the facts already supply their own.
pub trait Session {
    /// Returns the facts. They are asked for before the memory.
    ///
    /// # Errors
    ///
    /// A message for the user.
    fn facts(&mut self) -> Result<Facts, String>;

    /// Returns the memory pools.
    ///
    /// # Errors
    ///
    /// The error of the kernel.
    fn memory(&mut self) -> io::Result<MemoryInfo>;
}

impl<I: Info> Session for I {
    fn facts(&mut self) -> Result<Facts, String> {
        let mut answer = [0; DEVICE_BYTES];
        self.info(query::DEV_INFO, &mut answer).map_err(|error| format!("DEV_INFO: {error}"))?;
        Ok(Facts {
            is_apu: word(&answer, IDS_FLAGS) & FUSION != 0,
            page_size: (word(&answer, GART_PAGE_SIZE) & 0xffff_ffff) as u32,
        })
    }

    fn memory(&mut self) -> io::Result<MemoryInfo> {
        let mut answer = [0; MEMORY_BYTES];
        self.info(query::MEMORY, &mut answer)?;
        Ok(MemoryInfo::from_bytes(&answer))
    }
}

impl MemoryInfo {
    /// Reads the answer to MEMORY: total, usable, usage and largest allocation of each pool. What a short answer does not have is
    /// zero.
    pub fn from_bytes(answer: &[u8]) -> Self {
        let pool = |at: usize| PoolInfo {
            total: word(answer, at),
            usable: word(answer, at + 8),
            used: word(answer, at + 16),
            max_allocation: word(answer, at + 24),
        };
        Self { vram: pool(0), visible_vram: pool(32), gtt: pool(64) }
    }
}

/// The 64-bit word at an offset; 0 beyond the end.
fn word(bytes: &[u8], at: usize) -> u64 {
    let found = bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok());
    u64::from_ne_bytes(found.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use amdgpu_uapi::{Argument as _, DevInfo, IdsFlags, Layout as _, MemoryInfo as Answer};

    use super::*;

    #[test]
    fn numbers_and_offsets_are_those_of_the_kernel_header() {
        let offset = |name: &str| DevInfo::FIELDS.iter().find(|(field, _)| *field == name).unwrap().1;
        assert_eq!(u32::try_from(seam::INFO), Ok(amdgpu_uapi::Info::REQUEST.bits()));
        assert_eq!(size_of::<seam::InfoArgument>(), amdgpu_uapi::Info::REQUEST.size());
        assert_eq!((query::DEV_INFO, query::MEMORY), (amdgpu_uapi::query::DEV_INFO, amdgpu_uapi::query::MEMORY));
        assert_eq!((IDS_FLAGS, GART_PAGE_SIZE), (offset("ids_flags"), offset("gart_page_size")));
        assert_eq!((FUSION, MEMORY_BYTES), (IdsFlags::FUSION.bits(), Answer::SIZE));
        const { assert!(DevInfo::SIZE < seam::BUFFER) };
    }

    #[test]
    fn a_short_answer_has_zeros_and_no_end() {
        let bytes: Vec<u8> = (1..=12_u64).flat_map(u64::to_ne_bytes).collect();
        let whole = MemoryInfo::from_bytes(&bytes);
        assert_eq!(whole.visible_vram, PoolInfo { total: 5, usable: 6, used: 7, max_allocation: 8 });
        assert_eq!(MemoryInfo::from_bytes(&bytes[..40]).visible_vram, PoolInfo { total: 5, ..PoolInfo::default() });
        assert_eq!(MemoryInfo::from_bytes(&[]), MemoryInfo::default());
    }
}
