//! BO metadata: opaque words and data that an importer of the BO can read.

use amdgpu_hw::num::{count, index, wide};
use zerocopy::FromZeros;

use super::block::Bo;
use crate::{
    uapi::{Argument, GemMetadata, METADATA_OP_GET, METADATA_OP_SET},
    winsys::{KernelError, OutOfRange, SetMetadataError, own::send},
};

/// BO metadata: a tiling word, flags and opaque data that an importer of the BO can read.
///
/// The kernel stores the metadata with the BO, not with a handle: importers on the same GPU read it in any process. A BO
/// imported from another GPU starts without metadata.
///
/// ```
/// use amdgpu_winsys::winsys::BoMetadata;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let layout = BoMetadata { tiling: 0x1b, flags: 0, data: vec![1, 2, 3, 4] };
/// bo.set_metadata(&layout)?;
/// assert_eq!(bo.metadata()?, layout); // in every process that imports the BO
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoMetadata {
    /// The tiling word; its layout depends on the generation: see [`Tiling`](super::Tiling).
    pub tiling: u64,
    /// Flags that the kernel does not interpret.
    pub flags: u64,
    /// Up to 256 bytes that the driver defines.
    pub data: Vec<u8>,
}

/// The maximum size of the opaque data, in bytes.
const MOST_BYTES: usize = 256;

/// A BO's metadata without the opaque data, which [`Bo::metadata_into`] writes to the caller's buffer.
///
/// ```
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// bo.set_metadata_from(0, 0, &[1, 2, 3, 4, 5, 6])?;
/// let mut data = [0; 4];
/// let words = bo.metadata_into(&mut data)?;
/// assert_eq!((data, words.data_len > data.len()), ([1, 2, 3, 4], true)); // two bytes do not fit
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoWords {
    /// The tiling word, as in [`BoMetadata::tiling`].
    pub tiling: u64,
    /// Flags that the kernel does not interpret.
    pub flags: u64,
    /// Size of the BO's opaque data in bytes, which may be larger than the caller's buffer.
    pub data_len: usize,
}

impl Bo {
    /// Sets the metadata of the BO. If `data` is empty, the stored data is deleted; the tiling word and the flags are set
    /// in any case.
    ///
    /// Request: AMDGPU_GEM_METADATA (set).
    ///
    /// # Errors
    ///
    /// * [`SetMetadataError::OutOfRange`] if there are more than 256 bytes of data;
    /// * [`SetMetadataError::Kernel`] if the kernel refuses the request: `EINVAL` for a tile split above 6 on GFX6 to GFX8.
    pub fn set_metadata(&self, metadata: &BoMetadata) -> Result<(), SetMetadataError> {
        self.set_metadata_from(metadata.tiling, metadata.flags, &metadata.data)
    }

    /// Sets the metadata like [`Bo::set_metadata`], with data borrowed from the caller.
    ///
    /// # Errors
    ///
    /// The errors of [`Bo::set_metadata`].
    pub fn set_metadata_from(&self, tiling: u64, flags: u64, data: &[u8]) -> Result<(), SetMetadataError> {
        let mut argument = GemMetadata {
            handle: self.handle(),
            op: METADATA_OP_SET,
            flags,
            tiling_info: tiling,
            data_size_bytes: count(data.len()),
            ..GemMetadata::new_zeroed()
        };
        let room = size_of_val(&argument.data);
        let bytes = zerocopy::IntoBytes::as_mut_bytes(&mut argument.data);
        let Some(target) = bytes.get_mut(..data.len()) else {
            let (len, size) = (wide(data.len()), wide(room));
            return Err(OutOfRange { handle: self.handle(), offset: 0, len, size }.into());
        };
        target.copy_from_slice(data);
        send(self.device().kernel(), &mut argument).map_err(|errno| self.refused(GemMetadata::NAME, errno))?;
        Ok(())
    }

    /// Reads the metadata of the BO.
    ///
    /// Request: AMDGPU_GEM_METADATA (get).
    ///
    /// # Errors
    ///
    /// [`KernelError`] if the kernel refuses the request.
    pub fn metadata(&self) -> Result<BoMetadata, KernelError> {
        let mut data = vec![0; MOST_BYTES];
        let BoWords { tiling, flags, data_len } = self.metadata_into(&mut data)?;
        data.truncate(data_len);
        Ok(BoMetadata { tiling, flags, data })
    }

    /// Reads the metadata of the BO without allocating, and copies as much of the opaque data as fits into `data`. A buffer
    /// of 256 bytes holds all of it.
    ///
    /// Request: AMDGPU_GEM_METADATA (get).
    ///
    /// # Errors
    ///
    /// [`KernelError`] if the kernel refuses the request; `data` is then unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::{Bo, BoRequest, Device}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
    /// let device = Device::new(kernel)?;
    /// let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
    /// let bo = Bo::create(&device, request)?;
    /// bo.set_metadata_from(0x1b, 0, &[1, 2, 3, 4])?;
    /// let mut data = [0; 2];
    /// let words = bo.metadata_into(&mut data)?;
    /// assert_eq!((words.tiling, words.data_len, data), (0x1b, 4, [1, 2]));
    /// # Ok(()) }
    /// ```
    pub fn metadata_into(&self, data: &mut [u8]) -> Result<BoWords, KernelError> {
        let mut argument = GemMetadata { handle: self.handle(), op: METADATA_OP_GET, ..GemMetadata::new_zeroed() };
        send(self.device().kernel(), &mut argument).map_err(|errno| self.refused(GemMetadata::NAME, errno))?;
        let bytes = zerocopy::IntoBytes::as_bytes(&argument.data);
        let data_len = index(argument.data_size_bytes).min(bytes.len());
        let copied = data_len.min(data.len());
        if let (Some(to), Some(from)) = (data.get_mut(..copied), bytes.get(..copied)) {
            to.copy_from_slice(from);
        }
        Ok(BoWords { tiling: argument.tiling_info, flags: argument.flags, data_len })
    }
}
