//! The description of a level of an image for copy engines.

use amdgpu_surface::{
    Chip, GfxLevel,
    addr1::TileMode,
    surface::{Dimension, Legacy, LegacyLevel, LevelMode, MicroMode, SurfaceConfig, SurfaceLayout, SurfaceUsage},
};

use crate::{
    cs::{
        Target,
        commands::{CommandError, Result, Span, error::require_multiple},
        sdma::Version,
    },
    vamgr::GpuVa,
};

/// The tiling of a level on GFX7 and GFX8, as values of packet fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tiles {
    /// Tiles in a row (`pitch`) and in a slice (`slice`), minus one.
    pub(super) pitch: u64,
    pub(super) slice: u64,
    pub(super) array_mode: u64,
    pub(super) micro_mode: u64,
    pub(super) split: u64,
    pub(super) bank_width: u64,
    pub(super) bank_height: u64,
    pub(super) banks: u64,
    pub(super) aspect: u64,
    pub(super) pipe_config: u64,
}

/// The tiling of an image on GFX9 and later, as values of packet fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Elements of level 0 along each axis, minus one.
    pub(super) extent: [u64; 3],
    pub(super) mode: u64,
    pub(super) dimension: u64,
    pub(super) epitch: u64,
    pub(super) last_level: u64,
    pub(super) level: u64,
}

/// The order of elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Linear; `pitch` is the distance between rows and `slice` between slices, in elements.
    Rows {
        pitch: u64,
        slice: u64,
    },
    Tiles(Tiles),
    Blocks(Blocks),
}

/// A level of an image in bound memory, as copy engines address it.
///
/// ```
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_surface::surface::{SurfaceConfig, SurfaceLayout, SurfaceUsage};
/// use amdgpu_winsys::{
///     cs::{Stream, commands::{ImageLevel, ImageRows, Recorder, Span, TexelBox}, sdma},
///     vamgr::GpuVa,
///     winsys::Device,
/// };
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let chip = device.info().surface_chip()?;
/// let config = SurfaceConfig { usage: SurfaceUsage::DISABLE_DCC, ..SurfaceConfig::new(640, 480, 4) };
/// let layout = SurfaceLayout::new(&chip, &config)?;
/// // Recording does not require that memory is bound at the addresses.
/// let image = Span::new(GpuVa::new(0x1_0000_0000)?, layout.total_bytes)?;
/// let image = ImageLevel::new(&chip, &config, &layout, image, 0)?;
/// let rows = ImageRows { memory: Span::new(GpuVa::new(0x2_0000_0000)?, 640 * 480 * 4)?, pitch: 640, slice: 0 };
/// let mut recorder = Recorder::new(Stream::new(&device, sdma::Version::of(chip.level()), 64)?);
/// recorder.copy_to_image(&image, &TexelBox::whole(640, 480, 1), &rows)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLevel {
    /// The address of the image, or of the level if the packet takes the address of a level.
    pub(super) at: GpuVa,
    pub(super) order: Order,
    /// Bytes of an element.
    pub(super) bytes: u32,
    /// Elements of the level.
    pub(super) extent: [u32; 3],
    pub(super) micro: MicroMode,
    pub(super) is_volume: bool,
    /// `true` on chips whose copies between tiled images may not end at the largest coordinate.
    pub(super) ends_early: bool,
}

impl ImageLevel {
    /// Creates the description of a level of the image at the start of `memory`. `chip` and `config` must be the
    /// values from which the layout was computed. For an image with depth and stencil, this is the depth.
    ///
    /// # Errors
    ///
    /// * [`CommandError::Unsupported`] for GFX6, multisampled images, elements of 96 bits, stencil alone, texels that share chroma,
    ///   tiled 1D images, and thick or rotated tiles on GFX7 and GFX8;
    /// * [`CommandError::Compressed`] for an image with DCC or HTILE, which the copy would have to update;
    /// * [`CommandError::OutOfBounds`] if the memory is too short, [`CommandError::Misaligned`] if it is not aligned for the image;
    /// * [`CommandError::Texels`] if the image does not have the level.
    pub fn new(chip: &Chip, config: &SurfaceConfig, layout: &SurfaceLayout, memory: Span, level: u32) -> Result<Self> {
        let refuse = |what| Err(CommandError::Unsupported { what, target: Target::Sdma(Version::of(chip.level())) });
        if chip.level() == GfxLevel::Gfx6 {
            return refuse("a copy of an image");
        }
        if config.samples.max(config.storage_samples) > 1 {
            return refuse("a copy of samples");
        }
        if !config.bytes.is_power_of_two() {
            return refuse("a copy of elements of 96 bits");
        }
        if config.usage & (SurfaceUsage::ZBUFFER | SurfaceUsage::SBUFFER) == SurfaceUsage::SBUFFER {
            return refuse("a copy of stencil alone");
        }
        if config.block == (2, 1) {
            return refuse("a copy of texels that share chroma");
        }
        if let Some(meta) = layout.meta.filter(|meta| meta.bytes > 0) {
            return Err(CommandError::Compressed { bytes: meta.bytes });
        }
        if memory.len() < layout.bytes {
            return Err(CommandError::OutOfBounds { offset: 0, bytes: layout.bytes, size: memory.len() });
        }
        require_multiple("an image", memory.address().as_u64(), 1 << layout.align_log2.min(63))?;
        let texels = layout.texels(chip, config, level)?;
        let own = layout.legacy.as_ref().and_then(|legacy| Some((legacy, legacy.levels.get(level as usize)?)));
        let is_linear = own.map_or(layout.linear, |(_, own)| own.mode == LevelMode::Linear);
        let swizzle = u64::from(layout.tile_swizzle) << 8;
        let bytes = u64::from(config.bytes);
        let (offset, order) = if is_linear {
            let at = |y, z| texels.address(0, y, z, 0);
            let [width, height, depth] = texels.extent();
            let start = at(0, 0)?;
            let pitch = if height > 1 { (at(1, 0)? - start) / bytes } else { width.into() };
            let slice = if depth > 1 { (at(0, 1)? - start) / bytes } else { pitch * u64::from(height) };
            (start, Order::Rows { pitch, slice })
        } else if let Some((legacy, own)) = own {
            let tiles = Tiles::new(chip, config, legacy, own);
            if tiles.micro_mode > TILE_MODES_COPIED || tiles.is_thick() {
                return refuse("a copy of thick or rotated tiles");
            }
            let is_macro = own.mode == LevelMode::Tiled2d;
            (own.offset + if is_macro { swizzle } else { 0 }, Order::Tiles(tiles))
        } else {
            if layout.resource_type == 0 && chip.level() < GfxLevel::Gfx12 {
                return refuse("a copy of a tiled 1D image");
            }
            (swizzle, Order::Blocks(Blocks::new(chip, config, layout, level)))
        };
        let outside = CommandError::OutOfAddresses { va: memory.address(), bytes: offset };
        Ok(Self {
            at: memory.address().checked_add(offset).ok_or(outside)?,
            order,
            bytes: config.bytes,
            extent: extent(config, level),
            micro: layout.micro_mode,
            is_volume: config.dimension == Dimension::D3,
            ends_early: ends_early(chip),
        })
    }

    /// Returns the number of elements of the level: columns, rows, and slices or layers.
    pub const fn extent(&self) -> [u32; 3] {
        self.extent
    }

    /// Returns the size of an element in bytes.
    pub const fn element_bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the number of elements of a row that engines up to 3.0 access at once when they copy between rows and tiles. Returns
    /// `None` for images that are not tiled this way.
    ///
    /// Source: Mesa 25.0.7 `si_sdma_copy_image.c`, `cik_sdma_copy_texture`.
    pub(super) fn group(&self) -> Option<u64> {
        let Order::Tiles(tiles) = &self.order else { return None };
        let bytes = match (tiles.micro_mode, self.bytes) {
            (0, 1) | (1.., 1 | 2) => 8,
            (1.., 16) => 32,
            _ => 16,
        };
        Some(bytes / u64::from(self.bytes))
    }
}

/// The last micro tile mode for copies to and from rows: display, thin and depth (`MICRO_TILE_MODE_NEW`).
const TILE_MODES_COPIED: u64 = 2;

/// Returns `true` for Bonaire, Kaveri, Kabini and Mullins, according to family and revision.
///
/// Source: Mesa 17.0 `src/gallium/drivers/radeonsi/cik_sdma.c`, `cik_sdma_copy_texture`; Mesa 25.0.7 `amdgpu_asic_addr.h`.
fn ends_early(chip: &Chip) -> bool {
    let registers = chip.registers();
    matches!((registers.family_id, registers.external_rev), (0x78, 0x14..0x28) | (0x7d, _))
}

/// Returns the number of elements of a level: columns, rows, and slices or layers.
fn extent(config: &SurfaceConfig, level: u32) -> [u32; 3] {
    let minify = |size: u32| (size >> level.min(31)).max(1);
    let (block_width, block_height) = config.block;
    let depth = match config.dimension {
        Dimension::D3 => minify(config.depth),
        Dimension::Cube => 6,
        _ => config.layers,
    };
    [minify(config.width).div_ceil(block_width.max(1)), minify(config.height).div_ceil(block_height.max(1)), depth]
}

impl Tiles {
    /// Returns `true` if a tile has more than one slice.
    fn is_thick(&self) -> bool {
        u32::try_from(self.array_mode).is_ok_and(|mode| TileMode::of_register(false, mode).thickness() > 1)
    }

    /// Source: Mesa 25.0.7 `si_sdma_copy_image.c`, `encode_legacy_tile_info`; `amdgfxregs.h`, `GB_TILE_MODE0` and
    /// `GB_MACROTILE_MODE0`.
    fn new(chip: &Chip, config: &SurfaceConfig, legacy: &Legacy, own: &LegacyLevel) -> Self {
        let registers = chip.registers();
        let tile_mode = usize::try_from(own.tile_index).ok().and_then(|index| registers.tile_modes.get(index));
        let macro_mode = registers.macrotile_modes.get(legacy.macro_index as usize);
        let bits = |word: Option<&u32>, low: u32, count: u32| {
            u64::from(word.copied().unwrap_or(0) >> low & ((1 << count) - 1))
        };
        let elements = own.slice_bytes / u64::from(config.bytes);
        Self {
            pitch: u64::from(own.pitch / 8).saturating_sub(1),
            slice: (elements / 64).saturating_sub(1),
            array_mode: bits(tile_mode, 2, 4),
            micro_mode: bits(tile_mode, 22, 3),
            split: (legacy.tiles.tile_split >> 6).checked_ilog2().unwrap_or(0).into(),
            bank_width: bits(macro_mode, 0, 2),
            bank_height: bits(macro_mode, 2, 2),
            banks: bits(macro_mode, 6, 2),
            aspect: bits(macro_mode, 4, 2),
            pipe_config: bits(tile_mode, 6, 5),
        }
    }
}

impl Blocks {
    /// Source: Mesa 25.0.7 `radv_sdma.c`, `radv_sdma_get_tiled_info_dword` and `radv_sdma_surface_resource_type`.
    fn new(chip: &Chip, config: &SurfaceConfig, layout: &SurfaceLayout, level: u32) -> Self {
        let is_thin = matches!(layout.micro_mode, MicroMode::Render | MicroMode::Depth);
        let dimension = match chip.level() {
            GfxLevel::Gfx12 => 0,
            GfxLevel::Gfx9 => layout.resource_type,
            _ if is_thin => 1,
            _ => layout.resource_type,
        };
        Self {
            extent: extent(config, 0).map(|count| u64::from(count).saturating_sub(1)),
            mode: layout.swizzle_mode.into(),
            dimension: dimension.into(),
            epitch: if chip.level() == GfxLevel::Gfx9 { layout.epitch.into() } else { 0 },
            last_level: config.levels.max(1).saturating_sub(1).into(),
            level: level.into(),
        }
    }
}
