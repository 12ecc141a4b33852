//! One level of an image, with all its layers and samples.

use super::blocks::BlockTables;
use super::copy::{Detile, Direction, Tile, too_short};
use super::error::TilerError;
use super::formula::Formula;
use super::line::{Line, LineOrder};
use super::plane::{self, Plane, RowsOrigin};
use super::tiles::TileTables;
use crate::blocks::BlockImage;
use crate::equation::Texel;
use crate::{addr1, addr2, addr3};

/// A region of a level, in elements. An element is a texel, or a block of a compressed format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first column, the first row, and the first layer or slice.
    pub first: [u32; 3],
    /// The number of columns, of rows, and of layers or slices.
    pub extent: [u32; 3],
    /// The index of the sample to copy.
    pub sample: u32,
}

impl Region {
    /// Creates a region of this size that starts at element 0, in sample 0.
    pub const fn whole(width: u32, height: u32, depth: u32) -> Self {
        Self { first: [0; 3], extent: [width, height, depth], sample: 0 }
    }
}

/// The layout of a region in linear rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// The distance between rows in bytes.
    pub pitch: usize,
    /// The distance between slices in bytes.
    pub slice: usize,
}

/// The order of elements in memory.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nothing lies on the heap")]
enum Order {
    Linear { base: u64, pitch: u64, slice: u64 },
    Blocks(BlockTables),
    Tiles(TileTables),
    Formula { level: addr1::Addresser, start: u64 },
}

/// A level of an image, prepared for computing addresses and for copies. It takes a few kilobytes, without heap allocation.
///
/// ```
/// use amdgpu_surface::tiler::{Region, Rows, Subresource};
/// use amdgpu_surface::{Chip, addr3};
///
/// /// Tiles 100x50 pixels of 4 bytes and takes them out again.
/// fn round_trip(chip: &Chip, pixels: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
///     let image = addr3::Image::new(addr3::Mode::D2_64K, 32, 100, 50);
///     let layout = addr3::layout(chip, &image)?;
///     let level = Subresource::gfx12(&image, &layout, 0)?;
///     let (all, rows) = (Region::whole(100, 50, 1), Rows { pitch: 400, slice: 20_000 });
///     let mut tiled = vec![0; layout.bytes as usize];
///     level.tile(&all, pixels, rows, &mut tiled)?;
///     let mut back = vec![0; 20_000];
///     level.detile(&all, &tiled, &mut back, rows)?;
///     Ok(back)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Subresource {
    order: Order,
    bytes: u32,
    /// The padded extent.
    extent: [u32; 3],
    samples: u32,
}

impl Subresource {
    /// Prepares a level of an image of GFX6 to GFX8. Addresses are relative to the start of the level.
    ///
    /// # Errors
    ///
    /// [`TilerError`] if the level has no elements.
    pub fn gfx6(level: &addr1::Addresser) -> Result<Self, TilerError> {
        Ok(Self::gfx6_at(level, 0))
    }

    /// Prepares a level of an image of GFX6 to GFX8 that starts at offset `start` of the image. Addresses count from the start of
    /// the image.
    pub(crate) fn gfx6_at(level: &addr1::Addresser, start: u64) -> Self {
        let [width, height, depth, samples] = level.extent();
        let bytes = level.element_bytes();
        let order = if level.is_linear() {
            let pitch = u64::from(width) * u64::from(bytes);
            Order::Linear { base: start, pitch, slice: pitch * u64::from(height) }
        } else {
            level.plan().map_or(Order::Formula { level: *level, start }, |plan| {
                Order::Tiles(TileTables::new(&plan, start, bytes.ilog2()))
            })
        };
        Self { order, bytes, extent: [width, height, depth], samples }
    }

    /// Prepares a level of an image of GFX9 to GFX11.5.
    ///
    /// # Errors
    ///
    /// [`TilerError::Missing`] if the image lacks the level.
    pub fn gfx9(image: &addr2::Addresser, level: u32) -> Result<Self, TilerError> {
        Self::gfx9_at(image, level, 0)
    }

    /// Prepares a level of an image of GFX9 to GFX11.5 that starts at offset `start` of its buffer. Addresses count from the start
    /// of the buffer.
    pub(crate) fn gfx9_at(image: &addr2::Addresser, level: u32, start: u64) -> Result<Self, TilerError> {
        Self::in_blocks(image.blocks(), level, 0, start)
    }

    /// Prepares a level of an image of GFX12.
    ///
    /// # Errors
    ///
    /// [`TilerError`] if the image lacks the level, or if addrlib does not define its addresses.
    pub fn gfx12(image: &addr3::Image, layout: &addr3::Layout, level: u32) -> Result<Self, TilerError> {
        Self::gfx12_at(image, layout, level, 0, 0)
    }

    /// Prepares a level of an image of GFX12 that starts at offset `start` of its buffer, with a tile swizzle in units of 256 bytes.
    /// Addresses count from the start of the buffer.
    pub(crate) fn gfx12_at(
        image: &addr3::Image,
        layout: &addr3::Layout,
        level: u32,
        swizzle: u32,
        start: u64,
    ) -> Result<Self, TilerError> {
        Self::in_blocks(addr3::Addresser::new(image, layout)?.blocks(), level, swizzle, start)
    }

    /// Prepares a level of an image in blocks, or of a linear one, with a tile swizzle in units of 256 bytes beside that of the
    /// image, and from offset `start` of its buffer on.
    fn in_blocks(image: &BlockImage, level: u32, swizzle: u32, start: u64) -> Result<Self, TilerError> {
        let missing = TilerError::Missing { what: "level", number: level, count: image.level_count };
        let (extent, samples, bytes) = image.extent(level).ok_or(missing)?;
        let order = if let Some(mut plan) = image.plan(level) {
            plan.base += start;
            plan.constant ^= swizzle << 8 & crate::bits::mask(plan.block_bits);
            Order::Blocks(BlockTables::new(&plan, bytes.ilog2()))
        } else {
            let (base, pitch, slice) = image.linear(level).ok_or(missing)?;
            Order::Linear { base: base + start, pitch, slice }
        };
        Ok(Self { order, bytes, extent, samples })
    }

    /// Returns the size of an element in bytes.
    pub const fn element_bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the padded extent of the level in elements.
    pub const fn extent(&self) -> [u32; 3] {
        self.extent
    }

    /// Returns the address tables of a level in blocks (GFX9 and later), the fastest way to compute addresses; `None` for other
    /// levels.
    pub const fn blocks(&self) -> Option<&BlockTables> {
        match &self.order {
            Order::Blocks(tables) => Some(tables),
            _ => None,
        }
    }

    /// Returns the address of an element in bytes, relative to the start of the image, or on GFX6 to GFX8 to the start of the
    /// level.
    ///
    /// # Errors
    ///
    /// [`TilerError`] if the element is outside the padded level.
    #[inline]
    pub fn address(&self, x: u32, y: u32, z: u32, sample: u32) -> Result<u64, TilerError> {
        let [width, height, depth] = self.extent;
        if x >= width || y >= height || z >= depth || sample >= self.samples {
            self.check(&Region { first: [x, y, z], extent: [1; 3], sample })?;
        }
        Ok(match &self.order {
            Order::Linear { base, pitch, slice } => {
                base + u64::from(z) * slice + u64::from(y) * pitch + u64::from(x) * u64::from(self.bytes)
            }
            Order::Blocks(tables) => tables.address(x, y, z, sample),
            Order::Tiles(tables) => tables.address(x, y, z, sample),
            Order::Formula { level, start } => start + level.address(Texel { x, y, z, sample, level: 0 })?,
        })
    }

    /// Returns a row of a layer and sample, whose addresses are those of [`address`](Self::address); `None` outside the padded level.
    #[inline]
    pub fn line(&self, y: u32, z: u32, sample: u32) -> Option<Line<'_>> {
        let [width, height, depth] = self.extent;
        if y >= height || z >= depth || sample >= self.samples {
            return None;
        }
        let order = match &self.order {
            Order::Linear { base, pitch, slice } => {
                let start = base + u64::from(z) * slice + u64::from(y) * pitch;
                LineOrder::Linear { start, bytes: self.bytes.into() }
            }
            Order::Blocks(tables) => {
                let plane = tables.plane(z, sample);
                let line = plane.line(y);
                LineOrder::Blocks(plane, line)
            }
            Order::Tiles(tables) => {
                let plane = tables.plane(z, sample);
                let line = plane.line(y);
                LineOrder::Tiles(plane, line)
            }
            Order::Formula { level, start } => LineOrder::Formula(Formula { level, start: *start, z, sample }, y),
        };
        Some(Line { width, order })
    }

    #[cold]
    fn check(&self, region: &Region) -> Result<(), TilerError> {
        for (at, axis) in ['x', 'y', 'z'].into_iter().enumerate() {
            let (first, extent) = (region.first[at], self.extent[at]);
            let end = u64::from(first) + u64::from(region.extent[at]);
            if end > u64::from(extent) {
                return Err(TilerError::Outside { axis, first, end, extent });
            }
        }
        if region.sample >= self.samples {
            return Err(TilerError::Missing { what: "sample", number: region.sample, count: self.samples });
        }
        Ok(())
    }

    /// Copies a region from rows into the tiled image.
    ///
    /// # Errors
    ///
    /// [`TilerError`] if the region is not inside the level, rows overlap, or either buffer is too short. The image may then
    /// contain a part of the region.
    pub fn tile(&self, region: &Region, rows: &[u8], layout: Rows, tiled: &mut [u8]) -> Result<(), TilerError> {
        self.copy(region, layout, &mut Tile { tiled, rows })
    }

    /// Copies a region from the tiled image into rows.
    ///
    /// # Errors
    ///
    /// The errors of [`tile`](Self::tile). The rows may then contain a part of the region.
    pub fn detile(&self, region: &Region, tiled: &[u8], rows: &mut [u8], layout: Rows) -> Result<(), TilerError> {
        self.copy(region, layout, &mut Detile { tiled, rows })
    }

    fn copy<D: Direction>(&self, region: &Region, layout: Rows, to: &mut D) -> Result<(), TilerError> {
        self.check(region)?;
        let [width, height, depth] = region.extent;
        if width == 0 || height == 0 || depth == 0 {
            return Ok(());
        }
        let row = u64::from(width) * u64::from(self.bytes);
        // The ends are computed in 128 bits, so that a pitch of any size has its true product.
        let end = |distance: usize, count: u32, last: u128| distance as u128 * u128::from(count - 1) + last;
        let slice = end(layout.pitch, height, u128::from(row));
        if height > 1 && (layout.pitch as u64) < row {
            return Err(TilerError::Overlap { what: "rows", bytes: layout.pitch, least: row });
        }
        if depth > 1 && (layout.slice as u128) < slice {
            let least = u64::try_from(slice).unwrap_or(u64::MAX);
            return Err(TilerError::Overlap { what: "slices", bytes: layout.slice, least });
        }
        // The end of the rows fits a usize, so no offset in them overflows.
        let end = end(layout.slice, depth, slice);
        if usize::try_from(end).is_err() {
            let [_, len] = to.lengths();
            return Err(TilerError::RowsTooShort { len, at: u64::try_from(end - 1).unwrap_or(u64::MAX) });
        }
        for z in 0..depth {
            let start = layout.slice * z as usize;
            let z = region.first[2] + z;
            let [x, y, _] = region.first;
            let sides = [x..x + width, y..y + height];
            let place = RowsOrigin { first: [x, y], start, pitch: layout.pitch, bytes: self.bytes as usize };
            match &self.order {
                Order::Linear { .. } => self.linear(region, z, start, layout.pitch, to)?,
                Order::Blocks(tables) => plane::copy(&tables.plane(z, region.sample), sides, &place, to)?,
                Order::Tiles(tables) => plane::copy(&tables.plane(z, region.sample), sides, &place, to)?,
                Order::Formula { level, start } => {
                    let slice = Formula { level, start: *start, z, sample: region.sample };
                    plane::copy(&slice, sides, &place, to)?;
                }
            }
        }
        Ok(())
    }

    fn linear<D: Direction>(
        &self,
        region: &Region,
        z: u32,
        start: usize,
        pitch: usize,
        to: &mut D,
    ) -> Result<(), TilerError> {
        let [x, y, _] = region.first;
        for row in 0..region.extent[1] {
            let at = self.address(x, y + row, z, region.sample)?;
            let (from, count) = (start + row as usize * pitch, region.extent[0] as usize * self.bytes as usize);
            let copied = usize::try_from(at).ok().and_then(|at| to.any(at, from, count));
            if copied.is_none() {
                return Err(too_short(to, at, from, [count, 1], 0));
            }
        }
        Ok(())
    }
}
