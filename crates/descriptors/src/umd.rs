//! UMD metadata: the words that drivers store with a BO for other drivers, beside the kernel's tiling flags.
//!
//! Source: Mesa 25.0.7 `src/amd/common/ac_surface.c`, `ac_surface_compute_umd_metadata` and
//! `ac_surface_apply_umd_metadata`.

use amdgpu_hw::GfxLevel;
use thiserror::Error;

use crate::descriptor::ImageDescriptor;
use crate::error::FieldError;
use crate::fields::image as f;

/// The maximum number of words that the kernel stores with a BO.
const MOST_WORDS: usize = 64;
/// The number of words for version, device and descriptor.
const HEADER: usize = 10;
/// The maximum number of levels of an image.
const MOST_LEVELS: usize = 15;
/// AMD's PCI vendor ID.
const VENDOR: u32 = 0x1002;

/// The UMD metadata of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UmdMetadata {
    /// The PCI device ID of the exporter. Tiling is valid on this device only.
    pub device: u16,
    /// The descriptor of the whole image with all levels and layers. Its address is 0, and its metadata address is the offset in
    /// the buffer.
    pub image: ImageDescriptor,
    /// The offset of each level in bytes (GFX6 to GFX8), multiples of 256.
    pub levels: [u64; MOST_LEVELS],
    /// The number of mip levels of the image.
    pub level_count: u32,
}

/// An error of encoding or decoding UMD metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UmdError {
    /// There are fewer words than the format needs.
    #[error("{len} words of metadata, where {least} are needed")]
    TooShort {
        /// The number of words found.
        len: usize,
        /// The smallest number of words needed.
        least: usize,
    },
    /// The version of the format is not supported.
    #[error("version {0} of the metadata")]
    Version(u32),
    /// The exporter is another vendor or device, whose tiling cannot be used here.
    #[error("metadata of device {found:#x}, not of {own:#x}")]
    Device {
        /// PCI vendor ID (bits 31..16) and device ID of the exporter.
        found: u32,
        /// PCI vendor ID and device ID of the importer.
        own: u32,
    },
    /// The number of levels or samples in the descriptor differs from that of the image.
    #[error("the descriptor ends with level {found}, the image with {own}")]
    Levels {
        /// The last level, or the base-2 logarithm of the samples, in the descriptor.
        found: i64,
        /// The same number for the image.
        own: i64,
    },
    /// The image has more than 15 levels.
    #[error("{0} levels")]
    TooManyLevels(u32),
    /// The offset of a level is not a multiple of 256, or does not fit.
    #[error("level {level} at {offset:#x}")]
    Offset {
        /// The index of the level.
        level: u32,
        /// The offset of the level in bytes.
        offset: u64,
    },
    /// The offset of the metadata does not fit its field.
    #[error(transparent)]
    Field(#[from] FieldError),
}

/// Encoded UMD metadata: up to 64 words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UmdWords {
    words: [u32; MOST_WORDS],
    len: usize,
}

impl UmdWords {
    /// Returns the words to store with the BO.
    pub fn as_slice(&self) -> &[u32] {
        self.words.get(..self.len).unwrap_or_default()
    }
}

impl UmdMetadata {
    /// Creates the metadata of an image from a descriptor of the whole image. `meta_offset` is the offset of DCC in the buffer; 0
    /// if there is none.
    ///
    /// # Errors
    ///
    /// [`UmdError::Field`] if the offset is not a multiple of 256 or too large, [`UmdError::TooManyLevels`] if the image has more
    /// than 15 levels.
    pub fn new(
        level: GfxLevel,
        device: u16,
        mut image: ImageDescriptor,
        meta_offset: u64,
        offsets: &[u64],
    ) -> Result<Self, UmdError> {
        image.set(f::BASE_ADDRESS, level, 0)?;
        if f::META_DATA_ADDRESS.on(level).is_some() {
            image.set(f::META_DATA_ADDRESS, level, i64::try_from(meta_offset).unwrap_or(i64::MAX))?;
        }
        let level_count = u32::try_from(offsets.len()).unwrap_or(u32::MAX);
        let mut levels = [0; MOST_LEVELS];
        let own = levels.get_mut(..offsets.len()).ok_or(UmdError::TooManyLevels(level_count))?;
        own.copy_from_slice(offsets);
        Ok(Self { device, image, levels, level_count })
    }

    /// Encodes the metadata.
    ///
    /// # Errors
    ///
    /// [`UmdError::Offset`] if the offset of a level is not a multiple of 256 or does not fit, [`UmdError::TooManyLevels`] if there
    /// are more than 15 levels.
    pub fn encode(&self, level: GfxLevel) -> Result<UmdWords, UmdError> {
        let mut out = UmdWords { words: [0; MOST_WORDS], len: HEADER };
        let header = [1, VENDOR << 16 | u32::from(self.device)];
        let words = header.into_iter().chain(self.image.words());
        out.words.iter_mut().zip(words).for_each(|(word, value)| *word = value);
        if level <= GfxLevel::Gfx8 {
            let own = self.levels.get(..self.level_count as usize).ok_or(UmdError::TooManyLevels(self.level_count))?;
            for (number, (slot, &offset)) in (0..).zip(out.words.iter_mut().skip(HEADER).zip(own)) {
                let stored = u32::try_from(offset >> 8).ok().filter(|_| offset % 256 == 0);
                *slot = stored.ok_or(UmdError::Offset { level: number, offset })?;
            }
            out.len += own.len();
        }
        Ok(out)
    }

    /// Decodes the words of an exporter for an image with this many levels and stored samples. The words need not be trusted.
    ///
    /// # Errors
    ///
    /// [`UmdError`] if the words have another format, come from another device, or contradict the image. For [`UmdError::Device`]
    /// and [`UmdError::Version`] an importer may continue without compression, as radeonsi does.
    pub fn decode(level: GfxLevel, device: u16, words: &[u32], levels: u32, samples: u32) -> Result<Self, UmdError> {
        let too_short = |least| UmdError::TooShort { len: words.len(), least };
        let (header, rest) = words.split_first_chunk::<HEADER>().ok_or(too_short(HEADER))?;
        let [version, found, image @ ..] = *header;
        if !matches!(version, 1 | 3) {
            return Err(UmdError::Version(version));
        }
        let own = VENDOR << 16 | u32::from(device);
        if found != own {
            return Err(UmdError::Device { found, own });
        }
        if levels == 0 || levels as usize > MOST_LEVELS {
            return Err(UmdError::TooManyLevels(levels));
        }
        let image = ImageDescriptor::from_words(image);
        let is_msaa = matches!(image.get(f::TYPE, level)?, 14 | 15);
        let own = i64::from(if is_msaa { samples.max(1).ilog2() } else { levels - 1 });
        let found = image.get(f::LAST_LEVEL, level)?;
        if found != own {
            return Err(UmdError::Levels { found, own });
        }
        let mut offsets = [0; MOST_LEVELS];
        if level <= GfxLevel::Gfx8 {
            let stored = rest.get(..levels as usize).ok_or(too_short(HEADER + levels as usize))?;
            offsets.iter_mut().zip(stored).for_each(|(offset, &word)| *offset = u64::from(word) << 8);
        }
        Ok(Self { device, image, levels: offsets, level_count: levels })
    }

    /// Returns the offset of DCC in the buffer; `None` if the image has none.
    pub fn meta_offset(&self, level: GfxLevel) -> Option<u64> {
        let compressed = self.image.get(f::COMPRESSION_EN, level).ok()? == 1;
        let offset = self.image.get(f::META_DATA_ADDRESS, level).ok()?;
        compressed.then_some(offset.cast_unsigned())
    }
}
