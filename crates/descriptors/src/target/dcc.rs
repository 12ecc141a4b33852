//! The DCC control register.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::RegisterValue;
use amdgpu_registers::fields::{cb_color0_dcc_control as dcc, cb_color0_fdcc_control as fdcc};

use super::color::ColorTarget;
use crate::error::DescriptorError;

/// The code for 64 bytes; the next ones are 128 and 256 bytes.
const BYTES_64: u32 = 0;
const BYTES_128: u32 = 1;
const BYTES_256: u32 = 2;

impl ColorTarget {
    /// Returns the value of CB_COLOR0_DCC_CONTROL, or on GFX11 and later of CB_COLOR0_FDCC_CONTROL; `None` before GFX8.
    pub(super) fn dcc_control(&self, level: GfxLevel) -> Result<Option<u32>, DescriptorError> {
        let has_fragments = self.storage_samples > 1 && level <= GfxLevel::Gfx9;
        let max_uncompressed = match self.format.bytes() {
            1 if has_fragments => BYTES_64,
            2 if has_fragments => BYTES_128,
            _ => BYTES_256,
        };
        let min_compressed = u32::from(!self.dcc_block_32);
        let block = &self.dcc_blocks;
        if level < GfxLevel::Gfx8 {
            return Ok(None);
        }
        if level < GfxLevel::Gfx11 {
            let mut value = RegisterValue::new(level)
                .with(dcc::MAX_UNCOMPRESSED_BLOCK_SIZE, max_uncompressed)?
                .with(dcc::MIN_COMPRESSED_BLOCK_SIZE, min_compressed)?;
            let independent_64 = level <= GfxLevel::Gfx9 || block.independent_64;
            value = value.with(dcc::INDEPENDENT_64B_BLOCKS, independent_64.into())?;
            if level >= GfxLevel::Gfx10 {
                value = value.with(dcc::MAX_COMPRESSED_BLOCK_SIZE, block.max_compressed)?;
                value = value.with(dcc::INDEPENDENT_128B_BLOCKS, block.independent_128.into())?;
            }
            return Ok(Some(value.raw()));
        }
        let mut value = RegisterValue::new(level).with(fdcc::MAX_COMPRESSED_BLOCK_SIZE, block.max_compressed)?;
        if level >= GfxLevel::Gfx12 {
            let frags = match self.samples {
                0..4 => 0,
                4..8 => 2,
                _ => 3,
            };
            value = value
                .with(fdcc::MAX_UNCOMPRESSED_BLOCK_SIZE, BYTES_128)?
                .with(fdcc::ENABLE_MAX_COMP_FRAG_OVERRIDE, 1)?
                .with(fdcc::MAX_COMP_FRAGS, frags)?;
            return Ok(Some(value.raw()));
        }
        value = value
            .with(fdcc::MAX_UNCOMPRESSED_BLOCK_SIZE, max_uncompressed)?
            .with(fdcc::MIN_COMPRESSED_BLOCK_SIZE, min_compressed)?
            .with(fdcc::INDEPENDENT_64B_BLOCKS, block.independent_64.into())?
            .with(fdcc::INDEPENDENT_128B_BLOCKS, block.independent_128.into())?;
        if self.dcc.is_some() {
            value = value.with(fdcc::DISABLE_CONSTANT_ENCODE_REG, 1)?.with(fdcc::FDCC_ENABLE, 1)?;
            if level >= GfxLevel::Gfx11_5 {
                value = value
                    .with(fdcc::ENABLE_MAX_COMP_FRAG_OVERRIDE, 1)?
                    .with(fdcc::MAX_COMP_FRAGS, (self.samples >= 4).into())?;
            }
        }
        Ok(Some(value.raw()))
    }
}
