//! Image copies of the copy engine.

use amdgpu_surface::surface::MicroMode;

use super::{
    level::{ImageLevel, Order},
    packets::{self, Linear},
    rows::{ImageRows, TexelBox},
};
use crate::cs::{
    Target,
    commands::{CommandError, Recorder, Result, error::require_multiple, packet::described},
    layout::sdma,
    sdma::Version,
};

/// Required multiples of positions and sizes in copies between tiled images, by the exponent of an element's bytes.
///
/// Source: Mesa 25.0.7 `radv_sdma.c`, `radv_sdma_t2t_alignment_2d_and_planar` and `radv_sdma_t2t_alignment_3d`.
const FLAT: [[u32; 3]; 5] = [[16, 16, 1], [16, 8, 1], [8, 8, 1], [8, 4, 1], [4, 4, 1]];
const VOLUMES: [[u32; 3]; 5] = [[8, 4, 8], [4, 4, 8], [4, 4, 4], [4, 2, 4], [2, 2, 4]];
/// Required multiples up to 3.0, the size of micro tiles.
///
/// Source: Mesa 17.0 `src/gallium/drivers/radeonsi/cik_sdma.c`, `cik_sdma_copy_texture`.
const TILES: [u32; 3] = [8, 8, 1];

impl Recorder<Version> {
    /// Copies rows of texels into a box of a level of an image.
    ///
    /// # Errors
    ///
    /// * [`CommandError::OutsideImage`] if the box is not inside the level, [`CommandError::Empty`] if it is empty;
    /// * [`CommandError::OutOfBounds`] if the rows are not inside their memory, [`CommandError::RowPitch`] if they overlap;
    /// * [`CommandError::Misaligned`] if the engine cannot access the rows at their address or pitch;
    /// * [`CommandError::Stream`] if the stream refuses the packet or a number does not fit its field: most fields have 14 bits up
    ///   to 6.0, and 16 in 7.0.
    pub fn copy_to_image(&mut self, to: &ImageLevel, texels: &TexelBox, from: &ImageRows) -> Result<()> {
        self.copy_rows(to, texels, from, false)
    }

    /// Copies a box of a level of an image into rows of texels.
    ///
    /// # Errors
    ///
    /// The errors of [`copy_to_image`](Self::copy_to_image).
    pub fn copy_from_image(&mut self, to: &ImageRows, from: &ImageLevel, texels: &TexelBox) -> Result<()> {
        self.copy_rows(from, texels, to, true)
    }

    /// Copies a box of a level of an image to position `first` in a level of another image.
    ///
    /// # Errors
    ///
    /// The errors of [`copy_to_image`](Self::copy_to_image) and [`CommandError::ElementBytes`] if the elements differ in size.
    /// Between tiled images also:
    /// * [`CommandError::Unsupported`] if the order of texels differs, or if one of the images has several levels up to 4.x;
    /// * [`CommandError::Misaligned`] if positions or sizes are not multiples of the unit that the engine copies;
    /// * [`CommandError::TilesEnd`] if the copy ends in the last column or row of 16384 on Bonaire, Kaveri, Kabini and Mullins.
    ///
    /// In these cases a driver copies through rows in a buffer.
    pub fn copy_image(&mut self, to: &ImageLevel, first: [u32; 3], from: &ImageLevel, texels: &TexelBox) -> Result<()> {
        texels.check(from.extent)?;
        let target = TexelBox { first, extent: texels.extent };
        target.check(to.extent)?;
        if to.bytes != from.bytes {
            return Err(CommandError::ElementBytes { to: to.bytes, from: from.bytes });
        }
        let version = self.stream.language();
        let rows = |image: &ImageLevel, first| match image.order {
            Order::Rows { pitch, slice } => Some(Linear { at: image.at, first, pitch, slice }),
            _ => None,
        };
        match (rows(to, first), rows(from, texels.first)) {
            (Some(to), Some(rows)) => self.copy_linear(from.bytes, &to, &rows, texels.extent),
            (Some(to), None) => self.copy_tiled(from, texels, &to, true),
            (None, Some(from)) => self.copy_tiled(to, &target, &from, false),
            (None, None) => {
                check_tiles(version, to, from, &target, texels)?;
                let fields = packets::between(version, (to, first), (from, texels.first), texels.extent);
                Ok(self.stream.push(&described::<Version>(&sdma::COPY_T2T_SUB_WINDOW, &fields))?)
            }
        }
    }

    fn copy_rows(&mut self, image: &ImageLevel, texels: &TexelBox, rows: &ImageRows, detile: bool) -> Result<()> {
        let version = self.stream.language();
        texels.check(image.extent)?;
        rows.check(version, image, texels)?;
        let (pitch, slice) = (u64::from(rows.pitch), rows.slice_pitch(texels));
        let rows = Linear { at: rows.memory.address(), first: [0; 3], pitch, slice };
        let Order::Rows { pitch, slice } = image.order else {
            return self.copy_tiled(image, texels, &rows, detile);
        };
        let own = Linear { at: image.at, first: texels.first, pitch, slice };
        let (to, from) = if detile { (&rows, &own) } else { (&own, &rows) };
        self.copy_linear(image.bytes, to, from, texels.extent)
    }

    fn copy_linear(&mut self, bytes: u32, to: &Linear, from: &Linear, extent: [u32; 3]) -> Result<()> {
        let fields = packets::linear(self.stream.language(), bytes, to, from, extent);
        Ok(self.stream.push(&described::<Version>(&sdma::COPY_LINEAR_SUB_WINDOW, &fields))?)
    }

    fn copy_tiled(&mut self, image: &ImageLevel, texels: &TexelBox, rows: &Linear, detile: bool) -> Result<()> {
        let fields = packets::tiled(self.stream.language(), image, texels, rows, detile);
        Ok(self.stream.push(&described::<Version>(&sdma::COPY_TILED_SUB_WINDOW, &fields))?)
    }
}

/// The largest coordinate. Copies between tiled images of some chips may not end at it.
const TILES_END: u64 = 1 << 14;

/// Returns an error for copies that COPY_T2T_SUB_WINDOW does not support.
///
/// Source: Mesa 25.0.7 `radv_sdma.c`, `radv_sdma_use_t2t_scanline_copy`; for the last columns and rows Mesa 17.0
/// `src/gallium/drivers/radeonsi/cik_sdma.c`, `cik_sdma_copy_texture`.
fn check_tiles(
    version: Version,
    to: &ImageLevel,
    from: &ImageLevel,
    target: &TexelBox,
    texels: &TexelBox,
) -> Result<()> {
    let refuse = |what| Err(CommandError::Unsupported { what, target: Target::Sdma(version) });
    let has_levels = |image: &ImageLevel| matches!(image.order, Order::Blocks(own) if own.last_level > 0);
    if version < Version::V5_0 && (has_levels(to) || has_levels(from)) {
        return refuse("a copy between tiled images of several levels");
    }
    if to.micro != from.micro {
        return refuse("a copy between tiled images of different orders");
    }
    // The limit does not apply to the rows of the destination.
    for (axis, part, at) in [('x', texels, 0), ('y', texels, 1), ('x', target, 0)] {
        let first = part.first[at];
        let end = u64::from(first) + u64::from(part.extent[at]);
        if from.ends_early && end == TILES_END {
            return Err(CommandError::TilesEnd { axis, first, end });
        }
    }
    let is_thick = from.is_volume && matches!(from.micro, MicroMode::Display | MicroMode::Standard);
    let multiples = match version {
        Version::V2_0 | Version::V2_4 | Version::V3_0 => TILES,
        _ => {
            let table = if is_thick { &VOLUMES } else { &FLAT };
            table.get(from.bytes.ilog2() as usize).copied().unwrap_or(TILES)
        }
    };
    for (at, multiple) in multiples.into_iter().enumerate() {
        for value in [texels.first[at], target.first[at], texels.extent[at]] {
            require_multiple("a copy between tiled images", value.into(), multiple.into())?;
        }
    }
    Ok(())
}
