//! Layouts of whole images in one buffer: texels, FMASK, CMASK, DCC and HTILE.
//!
//! Reference: Mesa's `src/amd/common/ac_surface.c`, `ac_compute_surface`.

mod bo_metadata;
mod choose12;
mod config;
mod gfx12;
mod gfx6;
mod gfx9;
mod layout;
mod legacy;
mod nbc;
mod parts;
mod planes;
mod reason;
mod texels;

pub use bo_metadata::TilingFlagsError;
pub use config::{Dimension, MicroMode, SurfaceConfig, SurfaceUsage, TilingMode};
pub use layout::{Cmask, Dcc, DisplayDcc, Fmask, HizHis, Metadata, Prt, Stencil, SurfaceLayout};
pub use parts::{DccSettings, LevelPlace, Levels, SurfaceError};

pub use legacy::{Legacy, LegacyLevel, LegacyTiles, LevelMode};
pub use nbc::NbcView;
pub use planes::{Plane, Planes};
pub use reason::{Absence, Estimate, ModeReason, Presence, Reasons};

use crate::chip::Chip;
use amdgpu_hw::GfxLevel;

impl SurfaceLayout {
    /// Computes the layout of an image.
    ///
    /// # Errors
    /// [`SurfaceError::Config`] if no chip supports the description (`ac_compute_surface` returns EINVAL), [`SurfaceError::Addr`]
    /// or [`SurfaceError::Gfx12`] if addrlib rejects it.
    pub fn new(chip: &Chip, config: &SurfaceConfig) -> Result<Self, SurfaceError> {
        config.check()?;
        let mut config = *config;
        if !chip.registers().has_image_opcodes {
            config.mode = TilingMode::Linear;
        }
        let mut layout = match chip.level() {
            GfxLevel::Gfx9 | GfxLevel::Gfx10 | GfxLevel::Gfx10_3 | GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => {
                gfx9::compute(chip, &config)?
            }
            GfxLevel::Gfx12 => gfx12::compute(chip, &config).map_err(SurfaceError::Gfx12)?,
            _ => gfx6::compute(chip, &config)?,
        };
        if !chip.registers().has_image_opcodes {
            layout.reasons.mode = ModeReason::NoImageInstructions;
        }
        layout.stack(chip, &config);
        Ok(layout)
    }
}
