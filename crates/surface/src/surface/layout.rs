//! The layout of an image in one buffer.

use super::config::{MicroMode, SurfaceConfig, SurfaceUsage};
use super::legacy::Legacy;
use super::parts::{DccSettings, LevelPlace, Levels};
use super::reason::Reasons;
use crate::addr2::meta::MetaImage;
use crate::bits::align64;
use crate::chip::Chip;
use amdgpu_hw::GfxLevel;

/// Facts of a partially resident image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prt {
    /// Size of a page in elements.
    pub tile: [u32; 3],
    /// The first level that is not made of whole pages.
    pub first_tail: u32,
    /// Start of each level's pages, with the pitch in elements (GFX9 and later).
    pub levels: Levels,
}

/// Stencil beside depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stencil {
    /// Offset in bytes.
    pub offset: u64,
    /// Swizzle mode.
    pub swizzle_mode: u8,
    /// GFX9: the descriptor's pitch field.
    pub epitch: u32,
}

/// DCC of a colour image, or HTILE of a depth image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metadata {
    /// Offset in the buffer, in bytes; 0 when it lies elsewhere.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Bytes of a slice.
    pub slice_bytes: u64,
    /// Exponent of the alignment.
    pub align_log2: u32,
    /// Pitch in elements (HTILE).
    pub pitch: u32,
    /// Levels that have metadata.
    pub levels: u32,
    /// Offset and size of each level.
    pub places: Levels,
}

/// DCC of GFX9 to GFX11.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dcc {
    /// Aligned to render backends.
    pub rb_aligned: bool,
    /// Aligned to pipes.
    pub pipe_aligned: bool,
    /// Elements of 256 bytes.
    pub block: [u32; 3],
    /// Pitch in elements, less one.
    pub pitch_max: u32,
    /// Height in elements.
    pub height: u32,
    /// Inputs of the address computation, of a 2D image.
    pub image: Option<MetaImage>,
}

/// The DCC that the display reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisplayDcc {
    /// Offset in the buffer, in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Exponent of the alignment.
    pub align_log2: u32,
    /// Pitch in elements, less one.
    pub pitch_max: u32,
    /// Height in elements.
    pub height: u32,
    /// Inputs of the address computation.
    pub image: Option<MetaImage>,
}

/// FMASK of a multisampled image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fmask {
    /// Offset in the buffer, in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Bytes of a slice.
    pub slice_bytes: u64,
    /// Exponent of the alignment.
    pub align_log2: u32,
    /// Spreading over channels, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// Swizzle mode (GFX9 and later).
    pub swizzle_mode: u8,
    /// Pitch in elements, less one (GFX9 and later).
    pub epitch: u32,
}

/// HiZ or HiS of GFX12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HizHis {
    /// Offset in the buffer, in bytes.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Width in elements of 8x8 pixels.
    pub width: u32,
    /// Height in elements of 8x8 pixels.
    pub height: u32,
    /// Swizzle mode.
    pub swizzle_mode: u8,
    /// The alignment in bytes that the mode wants. Mesa 25.0.7 does not heed it, and neither does the offset.
    pub align: u32,
}

/// CMASK.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cmask {
    /// Offset in the buffer, in bytes; 0 for one sample, where it lies in a buffer of its own.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// Bytes of a slice.
    pub slice_bytes: u64,
    /// Exponent of the alignment.
    pub align_log2: u32,
    /// Pitch in pixels (GFX9 and later).
    pub pitch: u32,
    /// Height in pixels (GFX9 and later).
    pub height: u32,
    /// Offset and size of level 0 (GFX10).
    pub level0: LevelPlace,
    /// Inputs of the address computation.
    pub image: Option<MetaImage>,
}

/// The layout of an image in one buffer. Lengths are in elements, sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about an image")]
pub struct SurfaceLayout {
    /// Bytes of the texels.
    pub bytes: u64,
    /// Exponent of the texels' alignment.
    pub align_log2: u32,
    /// Bytes of the buffer.
    pub total_bytes: u64,
    /// Exponent of the buffer's alignment.
    pub total_align_log2: u32,
    /// The order of elements.
    pub micro_mode: MicroMode,
    /// Rows.
    pub linear: bool,
    /// The display can read it.
    pub displayable: bool,
    /// Blocks extend in z.
    pub thick: bool,
    /// Stencil is stored.
    pub has_stencil: bool,
    /// The uses, as the layout settled them.
    pub usage: SurfaceUsage,
    /// Spreading over channels, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// `true` if the image took its `surface_index`, even where that spreads nothing: the driver's next image has the next number.
    pub takes_index: bool,
    /// Facts of a partially resident image.
    pub prt: Option<Prt>,
    /// DCC or HTILE.
    pub meta: Option<Metadata>,
    /// DCC of GFX9 to GFX11.
    pub dcc: Option<Dcc>,
    /// DCC settings.
    pub dcc_settings: DccSettings,
    /// DCC for the display.
    pub display_dcc: Option<DisplayDcc>,
    /// The pitch of the DCC that the display reads, less one; also without a second DCC.
    pub display_pitch_max: u32,
    /// FMASK.
    pub fmask: Option<Fmask>,
    /// CMASK.
    pub cmask: Option<Cmask>,
    /// Swizzle mode (GFX9 and later).
    pub swizzle_mode: u8,
    /// Resource type: 0 for 1D, 1 for 2D, 2 for 3D (GFX9 and later).
    pub resource_type: u8,
    /// Pitch of level 0.
    pub pitch: u32,
    /// Height of level 0.
    pub height: u32,
    /// Bytes of a slice.
    pub slice_bytes: u64,
    /// GFX9: the descriptor's pitch field.
    pub epitch: u32,
    /// Padded size of level 0.
    pub base_mip: [u32; 2],
    /// Levels of a linear image.
    pub levels: Levels,
    /// The stencil part of a depth image.
    pub stencil: Stencil,
    /// GFX12: texels may be compressed, which is a property of their pages.
    pub enable_dcc: bool,
    /// GFX12: the pitch is not the one addrlib gives by itself.
    pub custom_pitch: bool,
    /// GFX12: HiZ of depth.
    pub hiz: Option<HizHis>,
    /// GFX12: HiS of stencil.
    pub his: Option<HizHis>,
    /// Inputs of HTILE's address computation.
    pub htile_image: Option<MetaImage>,
    /// Values that only GFX6 to GFX8 have.
    pub legacy: Option<Legacy>,
    /// The reasons of the decisions.
    pub reasons: Reasons,
}

impl SurfaceLayout {
    pub(super) fn empty(config: &SurfaceConfig) -> Self {
        Self {
            bytes: 0,
            align_log2: 0,
            total_bytes: 0,
            total_align_log2: 0,
            micro_mode: MicroMode::Display,
            linear: false,
            displayable: false,
            thick: false,
            has_stencil: config.usage.contains(SurfaceUsage::SBUFFER),
            usage: config.usage,
            tile_swizzle: 0,
            takes_index: false,
            prt: None,
            meta: None,
            dcc: None,
            dcc_settings: config.dcc,
            display_dcc: None,
            display_pitch_max: 0,
            fmask: None,
            cmask: None,
            swizzle_mode: 0,
            resource_type: 0,
            pitch: 0,
            height: 0,
            slice_bytes: 0,
            epitch: 0,
            base_mip: [0; 2],
            levels: Levels::default(),
            stencil: Stencil::default(),
            enable_dcc: false,
            custom_pitch: false,
            hiz: None,
            his: None,
            htile_image: None,
            legacy: None,
            reasons: Reasons::default(),
        }
    }

    /// Places the pieces one after the other in a buffer (`ac_compute_surface`).
    pub(super) fn stack(&mut self, chip: &Chip, config: &SurfaceConfig) {
        let mut total = self.bytes;
        let mut align = self.align_log2;
        if chip.level() == GfxLevel::Gfx12 {
            for piece in [&mut self.hiz, &mut self.his].into_iter().flatten() {
                piece.offset = total;
                total += piece.bytes;
            }
            self.total_bytes = total;
            self.total_align_log2 = align;
            return;
        }
        let mut place = |bytes: u64, align_log2: u32| {
            let offset = align64(total, 1 << align_log2);
            total = offset + bytes;
            offset
        };
        if let Some(fmask) = &mut self.fmask {
            fmask.offset = place(fmask.bytes, fmask.align_log2);
            align = align.max(fmask.align_log2);
        }
        if let Some(cmask) = &mut self.cmask
            && config.samples >= 2
        {
            cmask.offset = place(cmask.bytes, cmask.align_log2);
            align = align.max(cmask.align_log2);
        }
        if self.displayable {
            self.usage |= SurfaceUsage::SCANOUT;
        }
        let in_buffer = chip.level() >= GfxLevel::Gfx9 || !config.is_display();
        if let Some(meta) = &mut self.meta
            && meta.bytes > 0
            && in_buffer
        {
            if let Some(display) = &mut self.display_dcc {
                display.offset = place(display.bytes, display.align_log2);
            }
            meta.offset = place(meta.bytes, meta.align_log2);
            align = align.max(meta.align_log2);
        }
        self.total_bytes = total;
        self.total_align_log2 = align;
    }
}
