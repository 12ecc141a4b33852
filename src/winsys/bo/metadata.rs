//! The words that travel with a BO to its importers.

use amdgpu_hw::num::{count, index, wide};
use zerocopy::FromZeros;

use super::bo::Bo;
use crate::{
    uapi::{Argument, GemMetadata, METADATA_OP_GET, METADATA_OP_SET},
    winsys::{Error, Result, kernel::send},
};

/// The opaque words that travel with a BO to its importers.
///
/// The kernel keeps them with the BO, not with a handle: an importer on the same GPU sees them in any process. A BO that
/// comes from another GPU starts without.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoMetadata {
    /// The tiling word; its layout depends on the generation: see [`Tiling`](super::Tiling).
    pub tiling: u64,
    /// Opaque flags.
    pub flags: u64,
    /// Up to 256 bytes of the driver's own.
    pub data: Vec<u8>,
}

impl Bo {
    /// Stores the words that travel with the BO. No data deletes what was stored, but not the flags.
    ///
    /// Request: AMDGPU_GEM_METADATA (set).
    ///
    /// # Errors
    ///
    /// [`Error::Range`] for more than 256 bytes, [`Error::Bo`] for what the kernel refuses: `EINVAL` for a tile split
    /// above 6 on GFX6 to GFX8.
    pub fn set_metadata(&self, metadata: &BoMetadata) -> Result<()> {
        let mut argument = GemMetadata {
            handle: self.handle(),
            op: METADATA_OP_SET,
            flags: metadata.flags,
            tiling_info: metadata.tiling,
            data_size_bytes: count(metadata.data.len()),
            ..GemMetadata::new_zeroed()
        };
        let room = size_of_val(&argument.data);
        let bytes = zerocopy::IntoBytes::as_mut_bytes(&mut argument.data);
        let Some(target) = bytes.get_mut(..metadata.data.len()) else {
            let (len, size) = (wide(metadata.data.len()), wide(room));
            return Err(Error::Range { handle: self.handle(), offset: 0, len, size });
        };
        target.copy_from_slice(&metadata.data);
        send(self.device().kernel(), &mut argument).map_err(|errno| self.refused(GemMetadata::NAME, errno))
    }

    /// Fetches the words that travel with the BO.
    ///
    /// Request: AMDGPU_GEM_METADATA (get).
    ///
    /// # Errors
    ///
    /// [`Error::Bo`].
    pub fn metadata(&self) -> Result<BoMetadata> {
        let mut argument = GemMetadata { handle: self.handle(), op: METADATA_OP_GET, ..GemMetadata::new_zeroed() };
        send(self.device().kernel(), &mut argument).map_err(|errno| self.refused(GemMetadata::NAME, errno))?;
        let bytes = zerocopy::IntoBytes::as_bytes(&argument.data);
        let len = index(argument.data_size_bytes).min(bytes.len());
        Ok(BoMetadata { tiling: argument.tiling_info, flags: argument.flags, data: bytes[..len].to_vec() })
    }
}
