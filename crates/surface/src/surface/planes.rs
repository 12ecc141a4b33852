//! The memory planes of an image with a format modifier. Source: `ac_surface_get_nplanes`, `-plane_offset`, `-plane_stride`.

use super::config::SurfaceConfig;
use super::layout::SurfaceLayout;
use crate::chip::Chip;
use crate::modifier::stores_with;

/// A memory plane of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plane {
    /// The offset in the buffer, in bytes.
    pub offset: u64,
    /// The distance between rows in bytes; for DCC, in elements.
    pub stride: u64,
    /// The size of the plane in bytes.
    pub bytes: u64,
}

/// The planes of an image: the texels, and with a modifier its compression metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planes {
    items: [Plane; 3],
    len: usize,
}

impl Planes {
    /// Returns the planes in the order texels, displayable DCC, DCC.
    pub fn as_slice(&self) -> &[Plane] {
        &self.items[..self.len]
    }
}

impl SurfaceLayout {
    /// Returns the planes of the image.
    pub fn planes(&self, config: &SurfaceConfig) -> Planes {
        let pitch = if self.linear { self.levels[0].pitch } else { self.pitch };
        let mut planes = Planes { items: [Plane::default(); 3], len: 1 };
        planes.items[0] = Plane { offset: 0, stride: u64::from(pitch) * u64::from(config.bytes), bytes: self.bytes };
        if config.modifier.is_none() {
            return planes;
        }
        if let Some(display) = &self.display_dcc {
            planes.items[planes.len] =
                Plane { offset: display.offset, stride: u64::from(display.pitch_max) + 1, bytes: display.bytes };
            planes.len += 1;
        }
        if let (Some(meta), Some(dcc)) = (&self.meta, &self.dcc)
            && meta.offset > 0
        {
            planes.items[planes.len] =
                Plane { offset: meta.offset, stride: u64::from(dcc.pitch_max) + 1, bytes: meta.bytes };
            planes.len += 1;
        }
        planes
    }

    /// Returns `true` if shaders can store to the image without decompressing it.
    pub fn supports_dcc_image_stores(&self, chip: &Chip) -> bool {
        let settings = self.dcc_settings;
        self.dcc.is_some() && stores_with(chip, settings.independent_64b, settings.independent_128b, settings.max_block)
    }
}
