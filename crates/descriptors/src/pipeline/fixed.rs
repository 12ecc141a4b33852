//! The fixed functions behind the vertex shader: clipping, viewport, raster, depth and colour.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::constants as r;

use super::{Pipeline, sheet::Sheet};
use crate::error::DescriptorError;

/// The size of the largest scissor in pixels.
const MOST: u32 = 16384;
/// `FORCE_DISABLE` of ForceControl.
const OFF: u32 = 2;

impl Pipeline<'_> {
    /// Writes clipping, the viewport and the rasterizer.
    pub(super) fn raster(&self, sheet: &mut Sheet<'_>) -> Result<(), DescriptorError> {
        let level = sheet.level();
        self.scissors(sheet)?;
        self.viewport(sheet);
        sheet.fields(r::PA_CL_CLIP_CNTL, &[("DX_CLIP_SPACE_DEF", 1)])?;
        sheet.fields(
            r::PA_CL_VTE_CNTL,
            &[
                ("VPORT_X_SCALE_ENA", 1),
                ("VPORT_X_OFFSET_ENA", 1),
                ("VPORT_Y_SCALE_ENA", 1),
                ("VPORT_Y_OFFSET_ENA", 1),
                ("VPORT_Z_SCALE_ENA", 1),
                ("VPORT_Z_OFFSET_ENA", 1),
                ("VTX_W0_FMT", 1),
            ],
        )?;
        // Centres of pixels are at halves, and corners are rounded to even units of 1/256 pixel.
        sheet.fields(r::PA_SU_VTX_CNTL, &[("PIX_CENTER", 1), ("ROUND_MODE", 2), ("QUANT_MODE", 5)])?;
        sheet.fields(r::PA_SU_LINE_CNTL, &[("WIDTH", 8)])?;
        sheet.zeroes(&[
            r::PA_CL_VS_OUT_CNTL,
            r::PA_CL_NANINF_CNTL,
            r::PA_CL_VRS_CNTL,
            r::PA_SU_SC_MODE_CNTL,
            r::PA_SU_HARDWARE_SCREEN_OFFSET,
            r::PA_SU_PRIM_FILTER_CNTL,
            r::PA_SU_SMALL_PRIM_FILTER_CNTL,
            r::PA_SU_OVER_RASTERIZATION_CNTL,
            r::PA_SC_LINE_CNTL,
            r::PA_SC_SHADER_CONTROL,
            r::PA_SC_AA_CONFIG,
            r::PA_SC_AA_SAMPLE_LOCS_PIXEL_X0Y0_0,
            r::PA_SC_AA_SAMPLE_LOCS_PIXEL_X1Y0_0,
            r::PA_SC_AA_SAMPLE_LOCS_PIXEL_X0Y1_0,
            r::PA_SC_AA_SAMPLE_LOCS_PIXEL_X1Y1_0,
            r::PA_SC_VRS_OVERRIDE_CNTL,
            r::DB_VRS_OVERRIDE_CNTL,
        ]);
        for mask in [r::PA_SC_AA_MASK_X0Y0_X1Y0, r::PA_SC_AA_MASK_X0Y1_X1Y1] {
            sheet.raw(mask, u32::MAX);
        }
        // The rule of top and left edges.
        sheet.raw(r::PA_SC_EDGERULE, 0xaaaa_aaaa);
        sheet.fields(r::PA_SC_MODE_CNTL_0, &[("VPORT_SCISSOR_ENABLE", 1)])?;
        sheet.fields(
            r::PA_SC_MODE_CNTL_1,
            &[
                ("WALK_ALIGN8_PRIM_FITS_ST", 1),
                ("WALK_FENCE_ENABLE", 1),
                ("WALK_FENCE_SIZE", 3),
                ("SUPERTILE_WALK_ORDER_ENABLE", 1),
                ("TILE_WALK_ORDER_ENABLE", 1),
                ("MULTI_SHADER_ENGINE_PRIM_DISCARD_ENABLE", 1),
                ("FORCE_EOV_CNTDWN_ENABLE", 1),
                ("FORCE_EOV_REZ_ENABLE", 1),
            ],
        )?;
        sheet.fields(r::PA_SC_CONSERVATIVE_RASTERIZATION_CNTL, &[("NULL_SQUAD_AA_MASK_ENABLE", 1)])?;
        // Bins are off, each generation in its way: DISABLE_BINNING_USE_LEGACY_SC and ..._NEW_SC, then BINNING_DISABLED.
        let mode = if matches!(level, GfxLevel::Gfx10 | GfxLevel::Gfx10_3) { 2 } else { 3 };
        sheet.fields(r::PA_SC_BINNER_CNTL_0, &[("BINNING_MODE", mode), ("DISABLE_START_OF_PRIM", 1)])
    }

    /// Writes all scissors and clip rectangles. From GFX12 on the last pixel is inside, except that of the screen.
    fn scissors(&self, sheet: &mut Sheet<'_>) -> Result<(), DescriptorError> {
        let last = u32::from(sheet.level() >= GfxLevel::Gfx12);
        let [width, height] = self.size;
        sheet.zeroes(&[r::PA_SC_SCREEN_SCISSOR_TL, r::PA_SC_WINDOW_OFFSET]);
        sheet.fields(r::PA_SC_SCREEN_SCISSOR_BR, &[("BR_X", MOST), ("BR_Y", MOST)])?;
        for (first, end, [x, y]) in [
            (r::PA_SC_WINDOW_SCISSOR_TL, r::PA_SC_WINDOW_SCISSOR_BR, [MOST; 2]),
            (r::PA_SC_GENERIC_SCISSOR_TL, r::PA_SC_GENERIC_SCISSOR_BR, [MOST; 2]),
            (r::PA_SC_VPORT_SCISSOR_0_TL, r::PA_SC_VPORT_SCISSOR_0_BR, [width, height]),
        ] {
            sheet.fields(first, &[("WINDOW_OFFSET_DISABLE", 1)])?;
            sheet.fields(end, &[("BR_X", x.saturating_sub(last)), ("BR_Y", y.saturating_sub(last))])?;
        }
        sheet.raw(r::PA_SC_CLIPRECT_RULE, 0xffff);
        Ok(())
    }

    /// Writes the viewport, and the guard band in which primitives are not clipped.
    fn viewport(&self, sheet: &mut Sheet<'_>) {
        // Sizes are below 2^24, which floats hold exactly.
        let [x, y] = self.size.map(|size| u16::try_from(size).map_or(f32::from(u16::MAX), f32::from) / 2.0);
        for (scale, offset, half) in
            [(r::PA_CL_VPORT_XSCALE, r::PA_CL_VPORT_XOFFSET, x), (r::PA_CL_VPORT_YSCALE, r::PA_CL_VPORT_YOFFSET, y)]
        {
            sheet.raw(scale, half.to_bits());
            sheet.raw(offset, half.to_bits());
        }
        let one = 1.0_f32.to_bits();
        sheet.raw(r::PA_CL_VPORT_ZSCALE, one);
        sheet.zeroes(&[r::PA_CL_VPORT_ZOFFSET, r::PA_SC_VPORT_ZMIN_0]);
        sheet.raw(r::PA_SC_VPORT_ZMAX_0, one);
        let band = |half: f32| ((32767.0 - half) / half.max(0.5)).to_bits();
        sheet.raw(r::PA_CL_GB_VERT_CLIP_ADJ, band(y));
        sheet.raw(r::PA_CL_GB_VERT_DISC_ADJ, one);
        sheet.raw(r::PA_CL_GB_HORZ_CLIP_ADJ, band(x));
        sheet.raw(r::PA_CL_GB_HORZ_DISC_ADJ, one);
    }

    /// Writes the tests of depth and stencil and the operation of the colour block.
    pub(super) fn pixels(&self, sheet: &mut Sheet<'_>) -> Result<(), DescriptorError> {
        let test = u32::from(self.tests_depth);
        // FRAG_LESS.
        let fields = [("Z_ENABLE", test), ("Z_WRITE_ENABLE", test), ("ZFUNC", test)];
        sheet.fields(r::DB_DEPTH_CONTROL, &fields)?;
        // EARLY_Z_THEN_LATE_Z.
        sheet.fields(r::DB_SHADER_CONTROL, &[("Z_ORDER", 1)])?;
        sheet.fields(r::DB_RENDER_CONTROL, &[("OREO_MODE", 1)])?;
        sheet.fields(r::DB_RENDER_OVERRIDE, &[("FORCE_HIS_ENABLE0", OFF), ("FORCE_HIS_ENABLE1", OFF)])?;
        sheet.fields(r::DB_COUNT_CONTROL, &[("ZPASS_INCREMENT_DISABLE", 1)])?;
        sheet.fields(
            r::DB_EQAA,
            &[
                ("HIGH_QUALITY_INTERSECTIONS", 1),
                ("INCOHERENT_EQAA_READS", 1),
                ("INTERPOLATE_COMP_Z", 1),
                ("STATIC_ANCHOR_ASSOCIATIONS", 1),
            ],
        )?;
        sheet.zeroes(&[r::DB_STENCIL_CONTROL, r::DB_ALPHA_TO_MASK, r::DB_RENDER_OVERRIDE2, r::DB_VIEWPORT_CONTROL]);
        if !self.tests_depth {
            sheet.zeroes(&[
                r::DB_Z_INFO,
                r::DB_STENCIL_INFO,
                r::DB_HTILE_SURFACE,
                r::PA_SC_HIZ_INFO,
                r::PA_SC_HIS_INFO,
            ]);
        }
        // CB_NORMAL and ROP3_COPY.
        sheet.fields(r::CB_COLOR_CONTROL, &[("MODE", 1), ("ROP3", 0xcc)])?;
        sheet.raw(r::CB_TARGET_MASK, 15);
        sheet.raw(r::CB_SHADER_MASK, 15);
        sheet.zeroes(&[
            r::CB_BLEND0_CONTROL,
            r::CB_COLOR1_INFO,
            r::CB_COLOR2_INFO,
            r::CB_COLOR3_INFO,
            r::CB_COLOR4_INFO,
            r::CB_COLOR5_INFO,
            r::CB_COLOR6_INFO,
            r::CB_COLOR7_INFO,
            r::SX_PS_DOWNCONVERT,
            r::SX_BLEND_OPT_EPSILON,
            r::SX_BLEND_OPT_CONTROL,
        ]);
        // OPT_COMB_BLEND_DISABLED.
        sheet.fields(r::SX_MRT0_BLEND_OPT, &[("COLOR_COMB_FCN", 6), ("ALPHA_COMB_FCN", 6)])
    }
}
