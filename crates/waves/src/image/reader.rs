//! Fields of image descriptors.

use amdgpu_descriptors::{Field, FieldError, ImageDescriptor, fields::image as f};
use amdgpu_hw::GfxLevel;

use super::{error::ImageError, format::TexelFormat};

/// A reader of the fields of a descriptor on a generation.
pub(super) struct Reader {
    pub(super) words: ImageDescriptor,
    pub(super) level: GfxLevel,
}

impl Reader {
    /// Returns the number in a field; 0 if the generation does not have the field.
    pub(super) fn get(&self, field: Field<amdgpu_descriptors::Image>) -> u32 {
        let found: Result<i64, FieldError> = self.words.get(field, self.level);
        found.ok().and_then(|value| u32::try_from(value).ok()).unwrap_or(0)
    }

    /// Returns the address in a field.
    pub(super) fn address(&self, field: Field<amdgpu_descriptors::Image>) -> u64 {
        self.words.get(field, self.level).unwrap_or_default().cast_unsigned() & ((1 << 48) - 1)
    }

    /// Returns the name of a format field's number, without what all names begin with.
    fn name(&self, field: Field<amdgpu_descriptors::Image>) -> Option<String> {
        let name = field.on(self.level)?.name(self.get(field).into(), self.level)?.to_ascii_uppercase();
        Some(name.rsplit_once("FORMAT_").map_or(name.clone(), |(_, rest)| rest.to_owned()))
    }

    /// Returns the size of the depth beside stencil, whose HTILE the stencil is read through; `None` for other formats. GFX9 has
    /// formats of their own for it, which the tables call reserved.
    ///
    /// Source: Mesa's `radv_make_texture_descriptor`, `IMG_DATA_FORMAT_S8_16` (59) and `IMG_DATA_FORMAT_S8_32` (60).
    pub(super) fn depth_bits_of_stencil(&self) -> Option<u32> {
        match (self.level, self.get(f::DATA_FORMAT)) {
            (GfxLevel::Gfx9, 59) => Some(16),
            (GfxLevel::Gfx9, 60) => Some(32),
            _ => None,
        }
    }

    /// Returns `true` unless the format has the number 0, which stands for none on all generations.
    pub(super) fn has_format(&self) -> bool {
        let number = if self.level >= GfxLevel::Gfx10 { f::FORMAT } else { f::DATA_FORMAT };
        self.get(number) != 0
    }

    /// Returns the format.
    pub(super) fn format(&self) -> Result<TexelFormat, ImageError> {
        let name = if self.level >= GfxLevel::Gfx10 {
            self.name(f::FORMAT)
        } else {
            let data = self.name(f::DATA_FORMAT);
            match data {
                Some(data) if data.starts_with("FMASK") && self.level == GfxLevel::Gfx9 => {
                    self.name(f::NUM_FORMAT_FMASK)
                }
                Some(data) if data.starts_with("FMASK") => Some(data),
                Some(_) if self.depth_bits_of_stencil().is_some() => {
                    self.name(f::NUM_FORMAT).map(|number| format!("8_{number}"))
                }
                Some(data) => self.name(f::NUM_FORMAT).map(|number| format!("{data}_{number}")),
                None => None,
            }
        };
        let name = name.unwrap_or_else(|| "without a name".to_owned());
        TexelFormat::named(&name).ok_or(ImageError::Format(name))
    }
}
