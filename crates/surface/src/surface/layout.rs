//! The layout of an image and its metadata in one buffer.

use super::config::{MicroMode, SurfaceConfig, SurfaceUsage};
use super::legacy::Legacy;
use super::parts::{DccSettings, LevelPlace, Levels};
use super::reason::Reasons;
use crate::addr2::meta::MetaImage;
use crate::bits::align64;
use crate::chip::Chip;
use amdgpu_hw::GfxLevel;

/// The layout of a partially resident image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prt {
    /// The size of a page in elements.
    pub tile: [u32; 3],
    /// The first level of the mip tail: it does not consist of whole pages.
    pub first_tail: u32,
    /// The offset of each level's pages, and the pitch in elements (GFX9 and later).
    pub levels: Levels,
}

/// The layout of stencil in an image with depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stencil {
    /// The offset of stencil in the image, in bytes.
    pub offset: u64,
    /// The swizzle mode of stencil.
    pub swizzle_mode: u8,
    /// The pitch field of the descriptor (GFX9).
    pub epitch: u32,
}

/// The layout of DCC of a colour image, or HTILE of a depth image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metadata {
    /// The offset in the buffer, in bytes; 0 if the metadata is not in the buffer.
    pub offset: u64,
    /// The size of the metadata in bytes.
    pub bytes: u64,
    /// The size of a slice in bytes.
    pub slice_bytes: u64,
    /// The base-2 logarithm of the alignment in bytes.
    pub align_log2: u32,
    /// The row pitch in elements, for HTILE.
    pub pitch: u32,
    /// The number of levels that have metadata.
    pub levels: u32,
    /// The offset and size of each level's metadata.
    pub places: Levels,
}

/// The DCC parameters of GFX9 to GFX11.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dcc {
    /// `true` if DCC is RB-aligned: the metadata of an element is at the element's render backend.
    pub rb_aligned: bool,
    /// `true` if DCC is pipe-aligned: the metadata of an element is in the element's pipe.
    pub pipe_aligned: bool,
    /// The size of a DCC block of 256 bytes, in elements.
    pub block: [u32; 3],
    /// The pitch in elements, minus one.
    pub pitch_max: u32,
    /// The height of the DCC in elements, including padding.
    pub height: u32,
    /// The inputs for computing the addresses of metadata; `None` if the image is not 2D.
    pub image: Option<MetaImage>,
}

/// The layout of the second DCC, which the display reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DisplayDcc {
    /// The offset in the buffer, in bytes.
    pub offset: u64,
    /// The size of the second DCC in bytes.
    pub bytes: u64,
    /// The base-2 logarithm of the alignment in bytes.
    pub align_log2: u32,
    /// The pitch in elements, minus one.
    pub pitch_max: u32,
    /// The height of the second DCC in elements, including padding.
    pub height: u32,
    /// The inputs for computing the addresses of metadata.
    pub image: Option<MetaImage>,
}

/// The layout of FMASK of a multisampled image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fmask {
    /// The offset in the buffer, in bytes.
    pub offset: u64,
    /// The size of the FMASK in bytes.
    pub bytes: u64,
    /// The size of a slice in bytes.
    pub slice_bytes: u64,
    /// The base-2 logarithm of the alignment in bytes.
    pub align_log2: u32,
    /// The tile swizzle, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// The swizzle mode (GFX9 and later).
    pub swizzle_mode: u8,
    /// The pitch in elements, minus one (GFX9 and later).
    pub epitch: u32,
}

/// The layout of HiZ or HiS on GFX12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HizHis {
    /// The offset in the buffer, in bytes.
    pub offset: u64,
    /// The size of the buffer in bytes.
    pub bytes: u64,
    /// The width in elements of 8x8 pixels.
    pub width: u32,
    /// The height in elements of 8x8 pixels.
    pub height: u32,
    /// The swizzle mode of the buffer.
    pub swizzle_mode: u8,
    /// The alignment, in bytes, that the mode requires. Mesa 25.0.7 ignores it, and so does the offset here.
    pub align: u32,
}

/// The layout of the CMASK of a colour image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cmask {
    /// The offset in the buffer, in bytes; 0 for a single-sampled image, whose CMASK is in a separate buffer.
    pub offset: u64,
    /// The size of the CMASK in bytes.
    pub bytes: u64,
    /// The size of a slice in bytes.
    pub slice_bytes: u64,
    /// The base-2 logarithm of the alignment in bytes.
    pub align_log2: u32,
    /// The pitch in pixels (GFX9 and later).
    pub pitch: u32,
    /// The height in pixels (GFX9 and later).
    pub height: u32,
    /// The offset and size of level 0 (GFX10).
    pub level0: LevelPlace,
    /// The inputs of the address computation.
    pub image: Option<MetaImage>,
}

/// The layout of an image and its metadata in one buffer. Lengths are in elements, sizes in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about an image")]
pub struct SurfaceLayout {
    /// The size of the texels in bytes.
    pub bytes: u64,
    /// The base-2 logarithm of the alignment of the texels.
    pub align_log2: u32,
    /// The size of the buffer in bytes.
    pub total_bytes: u64,
    /// The base-2 logarithm of the alignment of the buffer.
    pub total_align_log2: u32,
    /// The order of elements in a micro tile.
    pub micro_mode: MicroMode,
    /// `true` if the image is linear.
    pub linear: bool,
    /// `true` if the display can scan out the image.
    pub displayable: bool,
    /// `true` if the blocks or tiles have more than one slice.
    pub thick: bool,
    /// `true` if the image has stencil.
    pub has_stencil: bool,
    /// The uses and restrictions, including those that the layout added.
    pub usage: SurfaceUsage,
    /// The tile swizzle, in units of 256 bytes.
    pub tile_swizzle: u32,
    /// `true` if the image used its `surface_index`, even if its tile swizzle is 0. The next image of the driver gets the next
    /// index.
    pub takes_index: bool,
    /// The pages of a partially resident image.
    pub prt: Option<Prt>,
    /// The layout of DCC or HTILE.
    pub meta: Option<Metadata>,
    /// The DCC parameters of GFX9 to GFX11.
    pub dcc: Option<Dcc>,
    /// The compression settings of DCC.
    pub dcc_settings: DccSettings,
    /// The second DCC, which the display reads.
    pub display_dcc: Option<DisplayDcc>,
    /// The pitch, minus one, of the DCC that the display reads; also set if there is no second DCC.
    pub display_pitch_max: u32,
    /// The layout of FMASK, if the image has one.
    pub fmask: Option<Fmask>,
    /// The layout of CMASK, if the image has one.
    pub cmask: Option<Cmask>,
    /// The swizzle mode (GFX9 and later).
    pub swizzle_mode: u8,
    /// The resource type: 0 for 1D, 1 for 2D, 2 for 3D (GFX9 and later).
    pub resource_type: u8,
    /// The pitch of level 0 in elements.
    pub pitch: u32,
    /// The height of level 0 in elements.
    pub height: u32,
    /// The size of a slice in bytes.
    pub slice_bytes: u64,
    /// The pitch field of the descriptor (GFX9).
    pub epitch: u32,
    /// The padded width and height of level 0.
    pub base_mip: [u32; 2],
    /// The levels of a linear image.
    pub levels: Levels,
    /// The stencil part of a depth image.
    pub stencil: Stencil,
    /// `true` if texels may be compressed, which the page tables control (GFX12).
    pub enable_dcc: bool,
    /// `true` if the pitch differs from addrlib's default (GFX12).
    pub custom_pitch: bool,
    /// The HiZ of a depth image (GFX12).
    pub hiz: Option<HizHis>,
    /// The HiS of a stencil image (GFX12).
    pub his: Option<HizHis>,
    /// The inputs for computing the addresses of HTILE.
    pub htile_image: Option<MetaImage>,
    /// The values that only exist on GFX6 to GFX8.
    pub legacy: Option<Legacy>,
    /// The reasons for the mode and for the presence of metadata.
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

    /// Places texels and metadata one after the other in a buffer (`ac_compute_surface`).
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
