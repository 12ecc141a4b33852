//! The kinds of descriptors.

use core::fmt::Debug;

use amdgpu_hw::GfxLevel;

use crate::error::FieldError;
use crate::field::{Field, Place};
use crate::fields;
use crate::marker::{Buffer, Image, Sampler};

mod sealed {
    pub trait Sealed {}
}

/// A kind of descriptor: buffer, image or sampler. The trait is sealed.
pub trait Kind: sealed::Sealed + Sized + 'static {
    /// The name of the kind in AMD's headers.
    const NAME: &'static str;
    /// The name of the kind in dumps.
    const WORD: &'static str;
    /// All fields of the kind, on all generations.
    const FIELDS: &'static [Field<Self>];
    /// The array type that holds the descriptor's dwords.
    type Words: Copy + Default + Eq + Debug + AsRef<[u32]> + AsMut<[u32]>;
}

impl sealed::Sealed for Buffer {}
impl sealed::Sealed for Image {}
impl sealed::Sealed for Sampler {}

impl Kind for Buffer {
    const NAME: &'static str = "SQ_BUF_RSRC";
    const WORD: &'static str = "buffer";
    const FIELDS: &'static [Field<Self>] = fields::buffer::ALL;
    type Words = [u32; 4];
}

impl Kind for Image {
    const NAME: &'static str = "SQ_IMG_RSRC";
    const WORD: &'static str = "image";
    const FIELDS: &'static [Field<Self>] = fields::image::ALL;
    type Words = [u32; 8];
}

impl Kind for Sampler {
    const NAME: &'static str = "SQ_IMG_SAMP";
    const WORD: &'static str = "sampler";
    const FIELDS: &'static [Field<Self>] = fields::sampler::ALL;
    type Words = [u32; 4];
}

/// The kind of resource of a descriptor in memory, given by bit 31 of its fourth dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// A buffer. A descriptor of zeros is a valid null buffer descriptor.
    Buffer,
    /// The descriptor is an image descriptor.
    Image,
}

impl Resource {
    /// Returns the kind of resource for the fourth dword of a descriptor.
    pub const fn of(word3: u32) -> Self {
        if word3 >> 31 == 0 { Self::Buffer } else { Self::Image }
    }
}

impl<K: Kind> Field<K> {
    /// Returns the field's bits on a generation.
    ///
    /// # Errors
    ///
    /// [`FieldError::NoSuchField`] if the field does not exist on the generation.
    pub fn place(self, level: GfxLevel) -> Result<&'static Place, FieldError> {
        self.on(level).ok_or(FieldError::NoSuchField { descriptor: K::NAME, field: self.name(), level })
    }

    /// Returns the field with this name, ignoring case; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        K::FIELDS.iter().find(|field| field.name().eq_ignore_ascii_case(name)).copied()
    }

    /// Checks that the field can hold a number.
    pub(crate) fn check(self, place: &Place, value: i64) -> Result<(), FieldError> {
        let (descriptor, field, (least, most)) = (K::NAME, self.name(), place.range());
        if value < least || value > most {
            return Err(FieldError::OutOfRange { descriptor, field, value, least, most });
        }
        let alignment = place.alignment();
        // A field stores either the number less one or a multiple of a unit, never both.
        if value & (alignment - 1) != 0 && alignment > 1 {
            return Err(FieldError::Misaligned { descriptor, field, value, alignment });
        }
        Ok(())
    }
}
