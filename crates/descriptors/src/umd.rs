//! Metadata that drivers keep with a BO for each other: the words behind the kernel's tiling flags.
//!
//! Source: Mesa 25.0.7 `src/amd/common/ac_surface.c`, `ac_surface_compute_umd_metadata` and
//! `ac_surface_apply_umd_metadata`.

use amdgpu_hw::GfxLevel;
use thiserror::Error;

use crate::descriptor::ImageDescriptor;
use crate::error::FieldError;
use crate::fields::image as f;

/// The most words that the kernel keeps with a BO.
const MOST_WORDS: usize = 64;
/// Version, chip and descriptor.
const HEADER: usize = 10;
/// The most levels of an image.
const MOST_LEVELS: usize = 15;
/// AMD's PCI vendor.
const VENDOR: u32 = 0x1002;

/// The metadata words of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UmdMetadata {
    /// The PCI device of the exporter, without which tiling means nothing.
    pub device: u16,
    /// The image, all levels and layers of it, at address 0 and with its metadata at the offset in the buffer.
    pub image: ImageDescriptor,
    /// The offset of each level in bytes (GFX6 to GFX8), multiples of 256.
    pub levels: [u64; MOST_LEVELS],
    /// The number of levels.
    pub level_count: u32,
}

/// The refusal of metadata words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UmdError {
    /// Fewer words than the format has.
    #[error("{len} words of metadata, where {least} are needed")]
    TooShort {
        /// The words that there are.
        len: usize,
        /// The words that are needed.
        least: usize,
    },
    /// A version of the format that is not known.
    #[error("version {0} of the metadata")]
    Version(u32),
    /// Another vendor or device than this: its tiling is not ours.
    #[error("metadata of device {found:#x}, not of {own:#x}")]
    Device {
        /// Vendor and device of the exporter.
        found: u32,
        /// Our own.
        own: u32,
    },
    /// The levels or samples of the descriptor are not those of the image.
    #[error("the descriptor ends with level {found}, the image with {own}")]
    Levels {
        /// The last level, or the exponent of the samples, that the exporter says.
        found: i64,
        /// That of the image.
        own: i64,
    },
    /// More levels than an image has.
    #[error("{0} levels")]
    TooManyLevels(u32),
    /// A level whose offset is no multiple of 256, or does not fit.
    #[error("level {level} at {offset:#x}")]
    Offset {
        /// The level.
        level: u32,
        /// Its offset.
        offset: u64,
    },
    /// The offset of the metadata does not fit its field.
    #[error(transparent)]
    Field(#[from] FieldError),
}

/// Metadata words, of which the first `len` are to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UmdWords {
    words: [u32; MOST_WORDS],
    len: usize,
}

impl UmdWords {
    /// Returns the words.
    pub fn as_slice(&self) -> &[u32] {
        self.words.get(..self.len).unwrap_or_default()
    }
}

impl UmdMetadata {
    /// Returns the metadata of an image that a descriptor shows in full; `meta_offset` is where its DCC begins in the buffer, 0
    /// for none.
    ///
    /// # Errors
    ///
    /// [`UmdError::Field`] for an offset that is no multiple of 256 or too large, [`UmdError::TooManyLevels`].
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

    /// Returns the words.
    ///
    /// # Errors
    ///
    /// [`UmdError::Offset`] for a level that the words cannot say, [`UmdError::TooManyLevels`].
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

    /// Reads the words of an exporter that may be hostile, for an image of this many levels and stored samples.
    ///
    /// # Errors
    ///
    /// [`UmdError`] for words of another form, of another device, or that contradict the image. An importer may then go on
    /// without compression, as radeonsi does for [`UmdError::Device`] and [`UmdError::Version`].
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

    /// Returns the offset of DCC in the buffer; `None` where the image has none.
    pub fn meta_offset(&self, level: GfxLevel) -> Option<u64> {
        let compressed = self.image.get(f::COMPRESSION_EN, level).ok()? == 1;
        let offset = self.image.get(f::META_DATA_ADDRESS, level).ok()?;
        compressed.then_some(offset.cast_unsigned())
    }
}
