//! The vertex side: primitives, groups of vertices, and the rings of GFX11 and later.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::constants as r;

use super::{GeometryRings, Pipeline, Primitive, is_merged, sheet::Sheet};
use crate::error::DescriptorError;

/// The most vertices and primitives of a group: those of one wave, less what GFX10 adds before it looks.
const GROUP: u32 = 60;

impl Pipeline<'_> {
    /// Writes what makes primitives of vertices.
    pub(super) fn geometry(&self, sheet: &mut Sheet<'_>) -> Result<(), DescriptorError> {
        let level = sheet.level();
        let (topology, exported) = match self.primitive {
            Primitive::Triangles => (4, 2),
            Primitive::Rectangles => (17, 3),
        };
        sheet.fields(r::VGT_PRIMITIVE_TYPE, &[("PRIM_TYPE", topology)])?;
        sheet.zeroes(&[
            r::VGT_INDX_OFFSET,
            r::GE_INDX_OFFSET,
            r::VGT_MIN_VTX_INDX,
            r::GE_MIN_VTX_INDX,
            r::VGT_MULTI_PRIM_IB_RESET_EN,
            r::GE_MULTI_PRIM_IB_RESET_EN,
            r::VGT_PRIMITIVEID_EN,
            r::VGT_REUSE_OFF,
            r::VGT_GS_MODE,
            r::VGT_STRMOUT_CONFIG,
            r::VGT_STRMOUT_BUFFER_CONFIG,
            r::VGT_VTX_CNT_EN,
            r::VGT_OUTPUT_PATH_CNTL,
            r::VGT_HOS_CNTL,
            r::VGT_LS_HS_CONFIG,
            r::VGT_INSTANCE_BASE_ID,
            r::GE_STEREO_CNTL,
            r::GE_USER_VGPR_EN,
            r::GE_PC_ALLOC,
        ]);
        sheet.raw(r::VGT_MAX_VTX_INDX, u32::MAX);
        sheet.raw(r::GE_MAX_VTX_INDX, u32::MAX);
        if level <= GfxLevel::Gfx9 {
            // The safe way through the input assembler: engines switch at the end of a draw.
            let fields = [
                ("PRIMGROUP_SIZE", 127),
                ("PARTIAL_VS_WAVE_ON", 1),
                ("SWITCH_ON_EOP", 1),
                ("WD_SWITCH_ON_EOP", u32::from(level >= GfxLevel::Gfx7)),
                ("EN_INST_OPT_BASIC", 1),
                ("MAX_PRIMGRP_IN_WAVE", 2),
            ];
            sheet.fields(r::IA_MULTI_VGT_PARAM, &fields)?;
        }
        let waves = [("MAX_PRIMGRP_IN_WAVE", 2)];
        if !is_merged(level) {
            return sheet.fields(r::VGT_SHADER_STAGES_EN, &waves);
        }
        sheet.fields(
            r::VGT_SHADER_STAGES_EN,
            &[waves[0], ("ES_EN", 2), ("PRIMGEN_EN", 1), ("PRIMGEN_PASSTHRU_EN", 1)],
        )?;
        sheet.fields(r::VGT_GS_OUT_PRIM_TYPE, &[("OUTPRIM_TYPE", exported)])?;
        groups(sheet)?;
        self.rings.map_or(Ok(()), |rings| rings.write(sheet))
    }
}

/// Writes the limits of groups.
fn groups(sheet: &mut Sheet<'_>) -> Result<(), DescriptorError> {
    let level = sheet.level();
    // GFX10 may hang unless this is five less than the limit of vertices; GFX10.3 does not group vertices at all.
    let vertices = if level == GfxLevel::Gfx10 { GROUP - 5 } else { 256 };
    let primitives = match level {
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => GROUP,
        GfxLevel::Gfx12 => 256,
        _ => 252,
    };
    sheet.fields(
        r::GE_CNTL,
        &[
            ("PRIM_GRP_SIZE", primitives),
            ("VERT_GRP_SIZE", vertices),
            ("PRIMS_PER_SUBGRP", GROUP),
            ("VERTS_PER_SUBGRP", GROUP),
            ("DIS_PG_SIZE_ADJUST_FOR_STRIP", 1),
        ],
    )?;
    sheet.fields(
        r::VGT_GS_ONCHIP_CNTL,
        &[("ES_VERTS_PER_SUBGRP", GROUP), ("GS_PRIMS_PER_SUBGRP", GROUP), ("GS_INST_PRIMS_IN_SUBGRP", GROUP)],
    )?;
    sheet.fields(r::GE_MAX_OUTPUT_PER_SUBGROUP, &[("MAX_VERTS_PER_SUBGROUP", 64)])?;
    sheet.fields(r::GE_NGG_SUBGRP_CNTL, &[("PRIM_AMP_FACTOR", 1)])?;
    sheet.fields(r::VGT_GS_INSTANCE_CNT, &[("CNT", 1)])?;
    sheet.fields(r::VGT_ESGS_RING_ITEMSIZE, &[("ITEMSIZE", 1)])?;
    sheet.raw(r::VGT_GS_MAX_VERT_OUT, 1);
    sheet.fields(r::PA_CL_NGG_CNTL, &[("VERTEX_REUSE_DEPTH", 30)])
}

impl GeometryRings {
    fn write(&self, sheet: &mut Sheet<'_>) -> Result<(), DescriptorError> {
        let page = |va: amdgpu_hw::GpuVa| (va.low_48_bits() >> 16) as u32;
        let size = (self.attributes_per_engine >> 16).saturating_sub(1);
        sheet.raw(r::SPI_ATTRIBUTE_RING_BASE, page(self.attributes));
        sheet.fields(
            r::SPI_ATTRIBUTE_RING_SIZE,
            &[("MEM_SIZE", u32::try_from(size).unwrap_or(u32::MAX)), ("L1_POLICY", 1)],
        )?;
        let units = |bytes: u64| u32::try_from(bytes >> 5).unwrap_or(u32::MAX);
        sheet.raw(r::GE_POS_RING_BASE, page(self.positions));
        sheet.fields(r::GE_POS_RING_SIZE, &[("MEM_SIZE", units(self.positions_per_engine))])?;
        sheet.raw(r::GE_PRIM_RING_BASE, page(self.primitives));
        // Scope 2 is the device.
        let fields = [
            ("MEM_SIZE", units(self.primitives_per_engine)),
            ("SCOPE", 2),
            ("PAF_TEMPORAL", 0),
            ("PAB_TEMPORAL", 0),
            ("FORCE_SE_SCOPE", 1),
            ("PAB_NOFILL", 1),
        ];
        sheet.fields(r::GE_PRIM_RING_SIZE, &fields)
    }
}
