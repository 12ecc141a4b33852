//! Chips by name, or from a capture.

use amdgpu_sim::chip;
use amdgpu_surface::{Chip, ChipRegisters};

use crate::outcome::Error;

/// A chip with its name.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) chip: Chip,
    /// The PCI device.
    pub(crate) device: u16,
}

/// Returns the chip that a word stands for: a name, or the path of a capture.
pub(crate) fn named(word: &str, drm_minor: u32) -> Result<Named, Error> {
    let profile = chip(word)?;
    let name = profile.name.clone();
    let chip = Chip::new(&ChipRegisters::reported(&profile.reported(drm_minor)));
    match chip {
        Ok(chip) => Ok(Named { name, chip, device: profile.dev_info.device_id as u16 }),
        Err(error) => Err(Error::Registers { name, error }),
    }
}
