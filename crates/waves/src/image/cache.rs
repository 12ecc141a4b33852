//! A cache of the images that a thread has accessed.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::Chip;

use super::{descriptor::Image, error::ImageError};

/// The maximum number of cached images. Each prepared level takes a few kilobytes.
const KEPT: usize = 32;

/// The images of the most recent descriptors.
pub(crate) struct Images {
    level: GfxLevel,
    chip: Option<Chip>,
    entries: Vec<([u32; 8], Image)>,
    /// The entry to replace next.
    oldest: usize,
}

impl Images {
    pub(crate) fn new(level: GfxLevel, chip: Option<&Chip>) -> Self {
        Self { level, chip: chip.copied(), entries: Vec::new(), oldest: 0 }
    }

    /// Returns the chip, if it is known.
    pub(crate) const fn chip(&self) -> Option<&Chip> {
        self.chip.as_ref()
    }

    /// Returns the image of a descriptor; `None` if the descriptor is not an image.
    pub(crate) fn get(&mut self, words: [u32; 8]) -> Result<Option<&mut Image>, ImageError> {
        let known = self.entries.iter().position(|(known, _)| *known == words);
        let place = if let Some(place) = known {
            place
        } else {
            let Some(image) = Image::new(self.level, words, self.chip.as_ref())? else { return Ok(None) };
            if self.entries.len() < KEPT {
                self.entries.push((words, image));
                self.entries.len() - 1
            } else {
                let place = self.oldest;
                self.entries[place] = (words, image);
                self.oldest = (place + 1) % KEPT;
                place
            }
        };
        Ok(self.entries.get_mut(place).map(|(_, image)| image))
    }
}
