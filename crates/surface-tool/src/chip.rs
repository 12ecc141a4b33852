//! Chips by name, or from a capture.

use amdgpu_sim::{Profile, chip};
use amdgpu_surface::{Chip, ChipRegisters, Reported};

use crate::outcome::Error;

/// Offsets of registers, in dwords.
///
/// Source: Mesa `src/amd/common/amdgfxregs.h`, GB_ADDR_CONFIG at 0x98f8, GB_TILE_MODE0 at 0x9910, GB_MACROTILE_MODE0 at 0x9990.
mod registers {
    pub(super) const GB_ADDR_CONFIG: u32 = 0x98f8 / 4;
    pub(super) const GB_TILE_MODE0: u32 = 0x9910 / 4;
    pub(super) const GB_MACROTILE_MODE0: u32 = 0x9990 / 4;
}

/// A chip with its name.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) chip: Chip,
}

/// Returns the chip that a word stands for: a name, or the path of a capture.
pub(crate) fn named(word: &str, drm_minor: u32) -> Result<Named, Error> {
    let profile = chip(word)?;
    let name = profile.name.clone();
    let chip = Chip::new(&ChipRegisters::reported(&reported(&profile, drm_minor)));
    match chip {
        Ok(chip) => Ok(Named { name, chip }),
        Err(error) => Err(Error::Registers { name, error }),
    }
}

fn reported(profile: &Profile, drm_minor: u32) -> Reported {
    let info = &profile.dev_info;
    let read = |offset: u32| {
        let found = profile.registers.iter().find(|register| register.dword_offset == offset);
        found.map_or(0, |register| register.value)
    };
    let mut tile_modes = [0; 32];
    for (offset, mode) in (registers::GB_TILE_MODE0..).zip(&mut tile_modes) {
        *mode = read(offset);
    }
    let mut macrotile_modes = [0; 16];
    for (offset, mode) in (registers::GB_MACROTILE_MODE0..).zip(&mut macrotile_modes) {
        *mode = read(offset);
    }
    Reported {
        level: profile.gfx_level,
        family_id: info.family,
        external_rev: info.external_rev,
        chip_rev: info.chip_rev,
        gb_addr_config: read(registers::GB_ADDR_CONFIG),
        tile_modes,
        macrotile_modes,
        enabled_rb_mask: u64::from(info.enabled_rb_pipes_mask) | u64::from(info.enabled_rb_pipes_mask_hi) << 32,
        render_backends: info.num_rb_pipes,
        compute_units: info.cu_active_number,
        drm_minor,
        has_graphics: profile.gfx.available_rings != 0,
        is_apu: profile.is_apu(),
    }
}
