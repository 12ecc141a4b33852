//! One level of an image, with all its layers and samples.

use super::blocks::BlockTables;
use super::copy::{Detile, Direction, Tile, run};
use super::error::TilerError;
use super::legacy::TileTable;
use crate::equation::Texel;
use crate::{addr1, addr2, addr3};

/// A part of a level, in elements. Elements are texels, or blocks of compressed formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The first column, row, and layer or slice.
    pub first: [u32; 3],
    /// The numbers of columns, rows, and layers or slices.
    pub extent: [u32; 3],
    /// The sample.
    pub sample: u32,
}

impl Region {
    /// Returns the region of all elements from the start.
    pub const fn whole(width: u32, height: u32, depth: u32) -> Self {
        Self { first: [0; 3], extent: [width, height, depth], sample: 0 }
    }
}

/// The memory of a region in rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    /// Bytes from one row to the next.
    pub pitch: usize,
    /// Bytes from one slice to the next.
    pub slice: usize,
}

/// The order of elements.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "nothing lies on the heap")]
enum Order {
    Linear { base: u64, pitch: u64, slice: u64 },
    Blocks(BlockTables),
    Tiles { level: addr1::Addresser, start: u64 },
}

/// A level of an image, prepared for addresses and copies. It takes some kilobytes, none of them on the heap.
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
    /// Padded extent.
    extent: [u32; 3],
    samples: u32,
}

impl Subresource {
    /// Prepares a level of an image of GFX6 to GFX8, whose addresses count from the level's start.
    ///
    /// # Errors
    ///
    /// [`TilerError`] for a level without elements.
    pub fn gfx6(level: &addr1::Addresser) -> Result<Self, TilerError> {
        Ok(Self::gfx6_at(level, 0))
    }

    /// Prepares a level of an image of GFX6 to GFX8 that starts at an offset, from which addresses count.
    pub(crate) fn gfx6_at(level: &addr1::Addresser, start: u64) -> Self {
        let [width, height, depth, samples] = level.extent();
        let bytes = level.element_bytes();
        let order = if level.is_linear() {
            let pitch = u64::from(width) * u64::from(bytes);
            Order::Linear { base: start, pitch, slice: pitch * u64::from(height) }
        } else {
            Order::Tiles { level: *level, start }
        };
        Self { order, bytes, extent: [width, height, depth], samples }
    }

    /// Prepares a level of an image of GFX9 to GFX11.5.
    ///
    /// # Errors
    ///
    /// [`TilerError::Missing`] for a level that the image lacks.
    pub fn gfx9(image: &addr2::Addresser, level: u32) -> Result<Self, TilerError> {
        let count = image.level_count();
        let missing = TilerError::Missing { what: "level", number: level, count };
        let (extent, samples, bytes) = image.extent(level).ok_or(missing)?;
        let order = if let Some(plan) = image.plan(level) {
            Order::Blocks(BlockTables::new(&plan, bytes.ilog2()))
        } else {
            let (base, pitch, slice) = image.linear(level).ok_or(missing)?;
            Order::Linear { base, pitch, slice }
        };
        Ok(Self { order, bytes, extent, samples })
    }

    /// Prepares a level of an image of GFX12.
    ///
    /// # Errors
    ///
    /// [`TilerError`] for a level that the image lacks, and where addrlib has no addresses.
    pub fn gfx12(image: &addr3::Image, layout: &addr3::Layout, level: u32) -> Result<Self, TilerError> {
        Self::gfx12_spread(image, layout, level, 0)
    }

    /// Prepares a level of an image of GFX12 that is spread over channels, in units of 256 bytes.
    pub(crate) fn gfx12_spread(
        image: &addr3::Image,
        layout: &addr3::Layout,
        level: u32,
        swizzle: u32,
    ) -> Result<Self, TilerError> {
        let addresser = addr3::Addresser::new(image, layout)?;
        let count = addresser.level_count();
        let missing = TilerError::Missing { what: "level", number: level, count };
        let (extent, samples, bytes) = addresser.extent(level).ok_or(missing)?;
        let order = if let Some(mut plan) = addresser.plan(level) {
            plan.constant ^= swizzle << 8 & crate::bits::mask(plan.block_bits);
            Order::Blocks(BlockTables::new(&plan, bytes.ilog2()))
        } else {
            let (base, pitch, slice) = addresser.linear(level).ok_or(missing)?;
            Order::Linear { base, pitch, slice }
        };
        Ok(Self { order, bytes, extent, samples })
    }

    /// Returns the bytes of an element.
    pub const fn element_bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the padded extent of the level in elements.
    pub const fn extent(&self) -> [u32; 3] {
        self.extent
    }

    /// Returns the tables of a level in blocks (GFX9 and later), whose addresses cost least.
    pub const fn blocks(&self) -> Option<&BlockTables> {
        match &self.order {
            Order::Blocks(tables) => Some(tables),
            _ => None,
        }
    }

    /// Returns the address of an element in bytes: from the start of the image, up to GFX8 of the level.
    ///
    /// # Errors
    ///
    /// [`TilerError`] outside of the padded level.
    pub fn address(&self, x: u32, y: u32, z: u32, sample: u32) -> Result<u64, TilerError> {
        self.check(&Region { first: [x, y, z], extent: [1; 3], sample })?;
        Ok(match &self.order {
            Order::Linear { base, pitch, slice } => {
                base + u64::from(z) * slice + u64::from(y) * pitch + u64::from(x) * u64::from(self.bytes)
            }
            Order::Blocks(tables) => tables.address(x, y, z, sample),
            Order::Tiles { level, start } => start + level.address(Texel { x, y, z, sample, level: 0 })?,
        })
    }

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

    /// Copies a region from rows into the image.
    ///
    /// # Errors
    ///
    /// [`TilerError`] where the region is not inside the level, rows overlap, or either memory is too short; the image may
    /// then hold a part of the region.
    pub fn tile(&self, region: &Region, rows: &[u8], layout: Rows, tiled: &mut [u8]) -> Result<(), TilerError> {
        self.copy(region, layout, &mut Tile { tiled, rows })
    }

    /// Copies a region from the image into rows.
    ///
    /// # Errors
    ///
    /// [`TilerError`] as for [`tile`](Self::tile).
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
        let slice = (layout.pitch as u64).saturating_mul(u64::from(height) - 1).saturating_add(row);
        if height > 1 && (layout.pitch as u64) < row {
            return Err(TilerError::Overlap { what: "rows", bytes: layout.pitch, least: row });
        }
        if depth > 1 && (layout.slice as u64) < slice {
            return Err(TilerError::Overlap { what: "slices", bytes: layout.slice, least: slice });
        }
        // The end of the rows fits a usize, so no place in them overflows.
        let end = (layout.slice as u64).saturating_mul(u64::from(depth) - 1).saturating_add(slice);
        if usize::try_from(end).is_err() {
            return Err(TilerError::RowsTooShort { len: usize::MAX, at: end });
        }
        for z in 0..depth {
            let start = layout.slice * z as usize;
            let z = region.first[2] + z;
            match &self.order {
                Order::Linear { .. } => self.linear(region, z, start, layout.pitch, to)?,
                Order::Blocks(tables) => self.in_blocks(tables, region, z, start, layout.pitch, to)?,
                Order::Tiles { level, start: first } => {
                    self.in_tiles((level, *first), region, z, start, layout.pitch, to)?;
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
            to.any(at, start + row as usize * pitch, (region.extent[0] * self.bytes) as usize)?;
        }
        Ok(())
    }

    fn in_blocks<D: Direction>(
        &self,
        tables: &BlockTables,
        region: &Region,
        z: u32,
        start: usize,
        pitch: usize,
        to: &mut D,
    ) -> Result<(), TilerError> {
        let ([x0, y0, _], [width, height, _]) = (region.first, region.extent);
        let (x1, y1) = (x0 + width, y0 + height);
        let [w, h, _] = tables.block_log2();
        let (run_log2, origin) = tables.run();
        let bytes = self.bytes as usize;
        for by in y0 >> h..=(y1 - 1) >> h {
            let rows = y0.max(by << h)..y1.min((by + 1) << h);
            for bx in x0 >> w..=(x1 - 1) >> w {
                let (first, last) = (x0.max(bx << w), x1.min((bx + 1) << w));
                let base = tables.block(bx << w, by << h, z);
                // Whole runs in the middle, single elements before and behind.
                let lead = (first + origin).next_multiple_of(1 << run_log2).saturating_sub(origin).min(last);
                let runs = (last - lead) >> run_log2;
                let tail = lead + (runs << run_log2);
                let mut columns = [0_u32; COLUMNS];
                for (part, chunk) in (0..runs).step_by(COLUMNS).enumerate() {
                    let count = (runs - chunk).min(COLUMNS as u32) as usize;
                    let from = lead + ((part * COLUMNS) << run_log2) as u32;
                    for (at, column) in columns.iter_mut().take(count).enumerate() {
                        *column = tables.x(from + ((at as u32) << run_log2));
                    }
                    let columns = columns.get(..count).unwrap_or_default();
                    let line = start + (from - x0) as usize * bytes;
                    for y in rows.clone() {
                        let rest = tables.rest(y, z, region.sample);
                        let row = line + (y - y0) as usize * pitch;
                        row_of_runs(to, columns, base, rest, row, bytes << run_log2)?;
                    }
                }
                for x in (first..lead).chain(tail..last) {
                    let column = tables.x(x);
                    for y in rows.clone() {
                        let at = base + u64::from(column ^ tables.rest(y, z, region.sample));
                        run(to, bytes, at, start + (y - y0) as usize * pitch + (x - x0) as usize * bytes)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn in_tiles<D: Direction>(
        &self,
        (level, first): (&addr1::Addresser, u64),
        region: &Region,
        z: u32,
        start: usize,
        pitch: usize,
        to: &mut D,
    ) -> Result<(), TilerError> {
        let ([x0, y0, _], [width, height, _]) = (region.first, region.extent);
        let (x1, y1) = (x0 + width, y0 + height);
        let table = TileTable::new(level, z, region.sample, self.bytes)?;
        let bytes = self.bytes as usize;
        let step = 1 << table.run_log2;
        for ty in y0 >> 3..=(y1 - 1) >> 3 {
            for tx in x0 >> 3..=(x1 - 1) >> 3 {
                let corner = Texel { x: tx << 3, y: ty << 3, z, sample: region.sample, level: 0 };
                let bases = table.bases(level, corner)?;
                let (left, right) = (x0.max(tx << 3), x1.min((tx + 1) << 3));
                for y in y0.max(ty << 3)..y1.min((ty + 1) << 3) {
                    let line = start + (y - y0) as usize * pitch;
                    let mut x = left;
                    while x < right {
                        let at = ((y & 7) << 3 | x & 7) as usize;
                        let (Some(offset), Some(&piece)) = (table.offsets.get(at), table.pieces.get(at)) else { break };
                        let base = bases.get(usize::from(piece)).copied().unwrap_or_default();
                        let whole = x % step == 0 && x + step <= right;
                        let count = if whole { step } else { 1 };
                        let row = line + (x - x0) as usize * bytes;
                        run(to, bytes * count as usize, first + base + u64::from(*offset), row)?;
                        x += count;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The runs whose places are worked out at a time.
const COLUMNS: usize = 256;

/// Copies the runs of a row in one block; the size of a run is a constant inside the loop.
fn row_of_runs<D: Direction>(
    to: &mut D,
    columns: &[u32],
    base: u64,
    rest: u32,
    row: usize,
    bytes: usize,
) -> Result<(), TilerError> {
    macro_rules! runs {
        ($bytes:literal) => {
            columns
                .iter()
                .enumerate()
                .try_for_each(|(at, column)| to.fixed::<$bytes>(base + u64::from(column ^ rest), row + at * $bytes))
        };
    }
    match bytes {
        1 => runs!(1),
        2 => runs!(2),
        4 => runs!(4),
        8 => runs!(8),
        16 => runs!(16),
        32 => runs!(32),
        64 => runs!(64),
        other => columns
            .iter()
            .enumerate()
            .try_for_each(|(at, column)| to.any(base + u64::from(column ^ rest), row + at * other, other)),
    }
}
