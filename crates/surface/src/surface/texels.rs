//! The addresses of an image's texels.

use amdgpu_hw::GfxLevel;

use super::config::{SurfaceConfig, SurfaceUsage};
use super::layout::{Stencil, SurfaceLayout};
use super::{gfx6, gfx9, gfx12};
use crate::chip::Chip;
use crate::error::{AddrError, Cause};
use crate::tiler::{Subresource, TilerError};
use crate::{addr2, addr3};

impl SurfaceLayout {
    /// Prepares a level of colour or depth for computing addresses, which are relative to the start of the buffer. The layout must
    /// have been computed from `config` and `chip`.
    ///
    /// # Errors
    /// [`TilerError`] if the image lacks the level, if it has only stencil, or if the hardware defines no addresses for it.
    pub fn texels(&self, chip: &Chip, config: &SurfaceConfig, level: u32) -> Result<Subresource, TilerError> {
        if config.has(SurfaceUsage::SBUFFER) && !config.has(SurfaceUsage::ZBUFFER) {
            return Err(AddrError::NotSupported(Cause::Usage).into());
        }
        if level >= config.levels {
            return Err(TilerError::Missing { what: "level", number: level, count: config.levels });
        }
        let mode = self.swizzle_mode;
        let missing = AddrError::Invalid(Cause::Mode(u32::from(mode)));
        match chip.level() {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => {
                let (addresser, offset) = gfx6::addresser(chip, config, self, level)?;
                Ok(Subresource::gfx6_at(&addresser, offset))
            }
            GfxLevel::Gfx12 => {
                let mode = addr3::Mode::new(mode).ok_or(missing)?;
                let pitch = if self.custom_pitch { self.pitch } else { 0 };
                let image = addr3::Image { mode, pitch, ..gfx12::describe(config) };
                let layout = addr3::layout(chip, &image)?;
                Subresource::gfx12_at(&image, &layout, level, self.tile_swizzle, 0)
            }
            _ => {
                let mode = addr2::SwizzleMode::new(mode).ok_or(missing)?;
                let image = addr2::Image { mode, ..gfx9::describe(chip, config) };
                let layout = addr2::layout(chip, &image)?;
                // The tile swizzle in descriptors of GFX11 starts two bits lower than in the address computation.
                let shift = if chip.level() >= GfxLevel::Gfx11 { 2 } else { 0 };
                let addresser = addr2::Addresser::new(chip, &image, &layout, self.tile_swizzle >> shift)?;
                Subresource::gfx9(&addresser, level)
            }
        }
    }
    /// Prepares a level of stencil, alone or beside depth, for computing addresses, which are relative to the start of the buffer.
    /// The layout must have been computed from `config` and `chip`.
    ///
    /// # Errors
    /// [`TilerError`] if the image lacks stencil or the level, or if the chip is older than GFX9.
    pub fn stencil_texels(&self, chip: &Chip, config: &SurfaceConfig, level: u32) -> Result<Subresource, TilerError> {
        if !config.has(SurfaceUsage::SBUFFER) || chip.level() <= GfxLevel::Gfx8 {
            return Err(AddrError::NotSupported(Cause::Usage).into());
        }
        if level >= config.levels {
            return Err(TilerError::Missing { what: "level", number: level, count: config.levels });
        }
        let Stencil { offset, swizzle_mode, .. } = self.stencil;
        let missing = AddrError::Invalid(Cause::Mode(u32::from(swizzle_mode)));
        if chip.level() >= GfxLevel::Gfx12 {
            let mut image = gfx12::describe(config);
            image.mode = addr3::Mode::new(swizzle_mode).ok_or(missing)?;
            (image.bits, image.format) = (8, addr2::Format::Plain);
            image.usage.remove(addr3::Usage::DEPTH);
            image.usage |= addr3::Usage::STENCIL;
            let layout = addr3::layout(chip, &image)?;
            return Subresource::gfx12_at(&image, &layout, level, 0, offset);
        }
        let mut image = gfx9::describe(chip, config);
        image.mode = addr2::SwizzleMode::new(swizzle_mode).ok_or(missing)?;
        (image.bits, image.format) = (8, addr2::Format::Plain);
        image.usage.remove(addr2::Usage::DEPTH);
        image.usage |= addr2::Usage::STENCIL;
        let layout = addr2::layout(chip, &image)?;
        Subresource::gfx9_at(&addr2::Addresser::new(chip, &image, &layout, 0)?, level, offset)
    }
}
