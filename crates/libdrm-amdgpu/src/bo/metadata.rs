//! Metadata, and what a BO was created with.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{GEM_OP_GET_CREATE_INFO, GemCreate, GemMetadata, GemOp, METADATA_OP_GET, METADATA_OP_SET};

use super::Bo;
use crate::border::{CValue, Failure, Handle, In, Out, entry};

/// The greatest number of bytes of opaque metadata.
const MOST: u32 = 256;

/// The structure `amdgpu_bo_metadata` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
struct Metadata {
    flags: u64,
    tiling_info: u64,
    bytes: u32,
    data: [u32; 64],
}

/// The structure `amdgpu_bo_info` of the header. What the compiler of C leaves as padding is cleared, as libdrm does.
#[repr(C)]
#[derive(Clone, Copy)]
struct BoInfo {
    alloc_size: u64,
    phys_alignment: u64,
    preferred_heap: u32,
    pad: u32,
    alloc_flags: u64,
    flags: u64,
    tiling_info: u64,
    bytes: u32,
    data: [u32; 64],
    end: u32,
}

const _: () = {
    assert!(size_of::<Metadata>() == 280 && std::mem::offset_of!(Metadata, data) == 20);
    assert!(size_of::<BoInfo>() == 312 && std::mem::offset_of!(BoInfo, data) == 52);
};

// SAFETY: integers.
unsafe impl CValue for Metadata {}
// SAFETY: integers.
unsafe impl CValue for BoInfo {}

/// Returns the first bytes of metadata; the rest is zero.
fn first(mut data: [u32; 64], bytes: u32) -> [u32; 64] {
    for (word, at) in data.iter_mut().zip((0..).step_by(4)) {
        let kept = bytes.saturating_sub(at).min(4);
        let mut parts = word.to_ne_bytes();
        parts[kept as usize..].fill(0);
        *word = u32::from_ne_bytes(parts);
    }
    data
}

/// Attaches metadata to a BO.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_set_metadata(bo: Handle<Bo>, metadata: In<Metadata>) -> c_int {
    entry(|| {
        let (bo, metadata) = (bo.get()?, metadata.read()?);
        if metadata.bytes > MOST {
            return Err(Failure::INVALID);
        }
        let mut argument = GemMetadata {
            handle: bo.handle(),
            op: METADATA_OP_SET,
            flags: metadata.flags,
            tiling_info: metadata.tiling_info,
            data_size_bytes: metadata.bytes,
            data: first(metadata.data, metadata.bytes),
            pad: 0,
        };
        Ok(bo.device().kernel()?.plain(&mut argument)?)
    })
}

/// Returns what a BO was created with, and its metadata.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_bo_query_info(bo: Handle<Bo>, place: Out<BoInfo>) -> c_int {
    entry(|| {
        let bo = bo.get()?;
        place.check()?;
        if bo.handle() == 0 {
            return Err(Failure::INVALID);
        }
        let kernel = bo.device().kernel()?;
        let mut metadata = GemMetadata { handle: bo.handle(), op: METADATA_OP_GET, ..GemMetadata::ZEROED };
        kernel.plain(&mut metadata)?;
        if metadata.data_size_bytes > MOST {
            return Err(Failure::INVALID);
        }
        let mut created = GemCreate::ZEROED;
        let mut question = GemOp {
            handle: bo.handle(),
            op: GEM_OP_GET_CREATE_INFO,
            value: (&raw mut created).expose_provenance() as u64,
        };
        // SAFETY: the kernel writes a `GemCreate` to the address, which is that of one.
        unsafe { kernel.follow(&mut question) }?;
        place.put(BoInfo {
            alloc_size: created.bo_size,
            phys_alignment: created.alignment,
            preferred_heap: created.domains as u32,
            pad: 0,
            alloc_flags: created.domain_flags,
            flags: metadata.flags,
            tiling_info: metadata.tiling_info,
            bytes: metadata.data_size_bytes,
            data: first(metadata.data, metadata.data_size_bytes),
            end: 0,
        });
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bytes_that_count_are_passed_on() {
        let data = [u32::from_ne_bytes([1, 2, 3, 4]); 64];
        let kept = first(data, 6);
        assert_eq!(kept[0], data[0]);
        assert_eq!(kept[1].to_ne_bytes(), [1, 2, 0, 0]);
        assert_eq!(kept[2..], [0; 62]);
        assert_eq!((first(data, 256), first(data, 0)), (data, [0; 64]));
    }
}
