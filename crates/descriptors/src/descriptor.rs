//! Descriptors as dwords that are read and written field by field.

use core::fmt;

use amdgpu_hw::{GfxLevel, GpuVa};

use crate::error::FieldError;
use crate::field::Field;
use crate::fields;
use crate::kind::Kind;
use crate::marker::{Buffer, Image, Sampler};

/// A descriptor, stored as its dwords.
#[repr(transparent)]
pub struct Descriptor<K: Kind> {
    words: K::Words,
}

/// A buffer descriptor (V#).
pub type BufferDescriptor = Descriptor<Buffer>;
/// An image descriptor (T#).
pub type ImageDescriptor = Descriptor<Image>;
/// A sampler descriptor (S#).
pub type SamplerDescriptor = Descriptor<Sampler>;

impl<K: Kind> Clone for Descriptor<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K: Kind> Copy for Descriptor<K> {}

impl<K: Kind> PartialEq for Descriptor<K> {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

impl<K: Kind> Eq for Descriptor<K> {}

impl<K: Kind> Default for Descriptor<K> {
    fn default() -> Self {
        Self { words: K::Words::default() }
    }
}

impl<K: Kind> fmt::Debug for Descriptor<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(K::WORD)?;
        self.words.as_ref().iter().try_for_each(|word| write!(f, " {word:#010x}"))
    }
}

/// A field of a descriptor with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldValue<K> {
    /// The field of the descriptor.
    pub field: Field<K>,
    /// The value, in the field's unit.
    pub value: i64,
    /// The name of the value; `None` if it has none.
    pub name: Option<&'static str>,
    /// The name of the field that occupies these bits in descriptors for another use; `None` if there is none.
    pub instead_of: Option<&'static str>,
}

impl<K: Kind> Descriptor<K> {
    /// Creates a descriptor from its dwords.
    pub const fn from_words(words: K::Words) -> Self {
        Self { words }
    }

    /// Returns the dwords of the descriptor.
    pub const fn words(self) -> K::Words {
        self.words
    }

    /// Returns the value of a field, in the field's unit: bytes for addresses, pixels for sizes, 1/256 for levels of detail.
    ///
    /// # Errors
    ///
    /// [`FieldError::NoSuchField`] if the generation lacks the field.
    pub fn get(self, field: Field<K>, level: GfxLevel) -> Result<i64, FieldError> {
        Ok(field.place(level)?.read(self.words.as_ref()))
    }

    /// Sets a field to a value, in the same unit as [`get`](Self::get).
    ///
    /// # Errors
    ///
    /// [`FieldError`] if the generation lacks the field, the value does not fit, or it is not a multiple of the field's unit.
    pub fn set(&mut self, field: Field<K>, level: GfxLevel, value: impl Into<i64>) -> Result<(), FieldError> {
        let (place, value) = (field.place(level)?, value.into());
        field.check(place, value)?;
        place.write(self.words.as_mut(), value);
        Ok(())
    }

    /// Returns the fields of the generation with their values.
    pub fn decode(self, level: GfxLevel) -> impl Iterator<Item = FieldValue<K>> {
        K::FIELDS.iter().filter_map(move |&field| {
            let place = field.on(level)?;
            let value = place.read(self.words.as_ref());
            Some(FieldValue { field, value, name: place.name(value, level), instead_of: place.instead_of_field() })
        })
    }

    /// Returns the reserved bits: the dwords with the bits of all known fields of the generation cleared. Reserved bits may be
    /// non-zero.
    pub fn reserved(self, level: GfxLevel) -> K::Words {
        let mut rest = self.words;
        for place in K::FIELDS.iter().filter_map(|field| field.on(level)) {
            for &(word, low, bits) in place.parts() {
                if let Some(word) = rest.as_mut().get_mut(usize::from(word)) {
                    *word &= !(u64::MAX >> (64 - bits) << low) as u32;
                }
            }
        }
        rest
    }
}

impl ImageDescriptor {
    /// Returns the address in the descriptor. Its low bits hold the tile swizzle.
    pub fn base_address(self, level: GfxLevel) -> GpuVa {
        let value = self.get(fields::image::BASE_ADDRESS, level).unwrap_or_default();
        GpuVa::from_48_bits(value.cast_unsigned())
    }

    /// Returns the address in the descriptor without the tile swizzle. `align_log2` is the base-2 logarithm of the image's
    /// alignment.
    pub fn base_address_aligned(self, level: GfxLevel, align_log2: u32) -> GpuVa {
        let mask = u64::MAX.checked_shl(align_log2).unwrap_or_default();
        GpuVa::from_48_bits(self.base_address(level).as_u64() & mask)
    }

    /// Returns `true` if the image is not linear. Returns `None` on GFX6 to GFX8, where this depends on the table of tile modes.
    pub fn is_tiled(self, level: GfxLevel) -> Option<bool> {
        Some(self.get(fields::image::SW_MODE, level).ok()? != 0)
    }

    /// Returns `true` if the image type has layers: arrays and cubes.
    pub fn is_array(self, level: GfxLevel) -> bool {
        matches!(self.get(fields::image::TYPE, level), Ok(11..=13 | 15))
    }

    /// Returns the number of samples; 1 for an image that is not multisampled.
    pub fn samples(self, level: GfxLevel) -> u32 {
        match self.get(fields::image::TYPE, level) {
            Ok(14 | 15) => 1 << self.get(fields::image::LAST_LEVEL, level).unwrap_or_default().clamp(0, 31),
            _ => 1,
        }
    }
}

impl BufferDescriptor {
    /// Returns the address of the buffer.
    pub fn base_address(self, level: GfxLevel) -> GpuVa {
        let value = self.get(fields::buffer::BASE_ADDRESS, level).unwrap_or_default();
        GpuVa::from_48_bits(value.cast_unsigned())
    }
}
