//! The programs of a pipeline.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::{Register, constants as r};

use super::{Pipeline, Stage, is_merged, sheet::Sheet};
use crate::error::DescriptorError;

/// RADV's default of FLOAT_MODE: f32 denormals are flushed, f16 and f64 denormals are kept.
const FLOAT_MODE: u32 = 0xc0;

/// All compute units of a shader array.
const UNITS: u32 = 0xffff;
/// No limit of waves.
const NO_LIMIT: u32 = 0x3f;

impl Stage<'_> {
    /// Returns the fields of RSRC1 that tell the number of registers.
    ///
    /// On GFX8 a program is given 96 scalar registers, which Tonga and Iceland need.
    fn allocation(&self, level: GfxLevel) -> [(&'static str, u32); 5] {
        let scalars = match level {
            GfxLevel::Gfx8 => 96 / 8 - 1,
            GfxLevel::Gfx6 | GfxLevel::Gfx7 => (self.scalars + 6).div_ceil(8) - 1,
            GfxLevel::Gfx9 => (self.scalars + 6).next_multiple_of(16) / 8 - 1,
            _ => 0,
        };
        [
            ("VGPRS", self.vectors.max(1).div_ceil(4) - 1),
            ("SGPRS", scalars),
            ("FLOAT_MODE", FLOAT_MODE),
            ("DX10_CLAMP", 1),
            ("MEM_ORDERED", 1),
        ]
    }

    fn write(&self, sheet: &mut Sheet<'_>, names: &Names) -> Result<(), DescriptorError> {
        let level = sheet.level();
        let address = self.code.low_48_bits();
        sheet.raw(names.low, (address >> 8) as u32);
        sheet.raw(names.high, (address >> 40) as u32);
        sheet.fields(names.first, &self.allocation(level))?;
        sheet.fields(names.second, &[("USER_SGPR", self.user.len() as u32)])?;
        sheet.array(names.user_data, self.user);
        Ok(())
    }
}

/// The registers of a stage.
struct Names {
    low: Register,
    high: Register,
    first: Register,
    second: Register,
    user_data: Register,
}

impl Pipeline<'_> {
    /// Writes the programs and the registers with which their waves start.
    pub(super) fn stages(&self, sheet: &mut Sheet<'_>) -> Result<(), DescriptorError> {
        let level = sheet.level();
        let pixel = Names {
            low: r::SPI_SHADER_PGM_LO_PS,
            high: r::SPI_SHADER_PGM_HI_PS,
            first: r::SPI_SHADER_PGM_RSRC1_PS,
            second: r::SPI_SHADER_PGM_RSRC2_PS,
            user_data: r::SPI_SHADER_USER_DATA_PS_0,
        };
        let vertex = if is_merged(level) {
            Names {
                low: r::SPI_SHADER_PGM_LO_ES,
                high: r::SPI_SHADER_PGM_HI_ES,
                first: r::SPI_SHADER_PGM_RSRC1_GS,
                second: r::SPI_SHADER_PGM_RSRC2_GS,
                user_data: r::SPI_SHADER_USER_DATA_GS_0,
            }
        } else {
            Names {
                low: r::SPI_SHADER_PGM_LO_VS,
                high: r::SPI_SHADER_PGM_HI_VS,
                first: r::SPI_SHADER_PGM_RSRC1_VS,
                second: r::SPI_SHADER_PGM_RSRC2_VS,
                user_data: r::SPI_SHADER_USER_DATA_VS_0,
            }
        };
        self.vertex.write(sheet, &vertex)?;
        self.pixel.write(sheet, &pixel)?;
        let units = if is_merged(level) {
            [r::SPI_SHADER_PGM_RSRC3_GS, r::SPI_SHADER_PGM_RSRC3_PS]
        } else {
            [r::SPI_SHADER_PGM_RSRC3_VS, r::SPI_SHADER_PGM_RSRC3_PS]
        };
        if level < GfxLevel::Gfx12 {
            for register in units {
                sheet.fields(register, &[("CU_EN", UNITS), ("WAVE_LIMIT", NO_LIMIT)])?;
            }
        }
        if is_merged(level) && level < GfxLevel::Gfx12 {
            // From GFX11 on the mask has one bit in this register.
            let unit = if level >= GfxLevel::Gfx11 { 1 } else { UNITS };
            sheet.fields(r::SPI_SHADER_PGM_RSRC4_GS, &[("CU_EN", unit)])?;
            sheet.fields(r::SPI_SHADER_PGM_RSRC4_PS, &[("CU_EN", UNITS)])?;
        }
        sheet.zeroes(&[r::SPI_TMPRING_SIZE]);
        interface(sheet)
    }
}

/// Writes the exports of the vertex shader and the inputs and exports of the pixel shader.
fn interface(sheet: &mut Sheet<'_>) -> Result<(), DescriptorError> {
    // One position of four components, one parameter, one attribute.
    sheet.fields(r::SPI_SHADER_POS_FORMAT, &[("POS0_EXPORT_FORMAT", 4)])?;
    sheet.fields(r::SPI_SHADER_IDX_FORMAT, &[("IDX0_EXPORT_FORMAT", 1)])?;
    sheet.fields(r::SPI_VS_OUT_CONFIG, &[("VS_EXPORT_COUNT", 0)])?;
    sheet.fields(r::SPI_SHADER_GS_OUT_CONFIG_PS, &[("VS_EXPORT_COUNT", 0), ("NUM_INTERP", 1)])?;
    sheet.fields(r::SPI_PS_IN_CONTROL, &[("NUM_INTERP", 1)])?;
    for register in [r::SPI_PS_INPUT_ENA, r::SPI_PS_INPUT_ADDR] {
        sheet.fields(register, &[("PERSP_CENTER_ENA", 1)])?;
    }
    sheet.zeroes(&[r::SPI_PS_INPUT_CNTL_0, r::SPI_BARYC_CNTL, r::SPI_INTERP_CONTROL_0, r::SPI_SHADER_Z_FORMAT]);
    // SPI_SHADER_32_ABGR.
    sheet.fields(r::SPI_SHADER_COL_FORMAT, &[("COL0_EXPORT_FORMAT", 9)])
}
