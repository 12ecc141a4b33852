//! The targets of a draw.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::Chip;

use super::{
    dcc::Dcc,
    format::Format,
    htile::Htile,
    plane::{Plane, colour_plane, depth_plane},
    value::stored,
};
use crate::{Colour, DrawState, Feature};

/// The mode of the colour block that resolves the first target into the second.
pub(in crate::execute) const RESOLVE: u32 = 3;

/// The targets of a draw.
#[derive(Clone, Debug, Default)]
pub(in crate::execute) struct Targets {
    pub(in crate::execute) colours: Vec<(Colour, Format, Plane)>,
    /// The metadata of each of them.
    pub(in crate::execute) dcc: Vec<Vec<Dcc>>,
    /// `true` if colours are not written, only their metadata is opened.
    pub(in crate::execute) opens_only: bool,
    pub(in crate::execute) depth: Option<Plane>,
    pub(in crate::execute) stencil: Option<Plane>,
    pub(in crate::execute) htile: Option<Htile>,
    /// The size of the largest target; nothing is drawn outside.
    pub(in crate::execute) size: Option<[u32; 2]>,
}

impl Targets {
    /// Prepares the targets that the draw accesses.
    pub(in crate::execute) fn new(state: &DrawState, chip: Option<&Chip>) -> Result<Self, Feature> {
        let mode = state.operation.mode;
        let mut targets = Self { opens_only: mode > 1 && mode != RESOLVE, ..Self::default() };
        // The mode alone decides: with other modes than writing, masks do not count, and the first target is meant.
        let is_used = |colour: &&Colour| match mode {
            1 => colour.written() != 0,
            RESOLVE => colour.index < 2,
            _ => mode > 1 && colour.index == 0,
        };
        for colour in state.colours.iter().filter(is_used) {
            let format = Format::new(colour).ok_or(Feature::ColourFormat(colour.format))?;
            let plane = colour_plane(state.level, chip, colour, format.bits()).ok_or(Feature::Tiling(colour.mode))?;
            targets.dcc.push(Dcc::new(state.level, chip, colour, &format, &plane)?);
            targets.colours.push((*colour, format, plane));
        }
        let depth = &state.depth;
        let uses_htile = depth.has_htile && state.level < GfxLevel::Gfx12;
        let tests = depth.test.is_some()
            || depth.bounds.is_some()
            || depth.clears[0].is_some()
            || depth.copy.is_some_and(|copy| copy.depth)
            || uses_htile && depth.decompresses[0];
        if let Some(found) = depth.plane.filter(|_| tests) {
            let bits = if found.format == 1 { 16 } else { 32 };
            targets.depth =
                Some(depth_plane(state, chip, &found, bits, depth.splits[0]).ok_or(Feature::Tiling(found.mode))?);
        }
        let tests_stencil =
            depth.faces.is_some() || depth.copy.is_some_and(|copy| copy.stencil) || uses_htile && depth.decompresses[1];
        if let Some(found) = depth.stencil.filter(|_| tests_stencil) {
            targets.stencil =
                Some(depth_plane(state, chip, &found, 8, depth.splits[1]).ok_or(Feature::Tiling(found.mode))?);
        }
        if uses_htile && let Some(plane) = targets.depth.as_ref().or(targets.stencil.as_ref()) {
            let format = depth.plane.map_or(3, |plane| plane.format);
            let clear = stored(format, f32::from_bits(depth.htile.depth_clear));
            // The order of dwords is that of depth, even where only stencil is accessed.
            let bits = match depth.plane {
                Some(plane) if plane.format == 1 => 16,
                Some(_) => 32,
                None => 8,
            };
            targets.htile = Some(Htile::new(state, chip, plane, bits, clear).ok_or(Feature::Htile)?);
        }
        let planes = targets.colours.iter().map(|(_, _, plane)| plane).chain(&targets.depth).chain(&targets.stencil);
        targets.size = planes.map(Plane::size).reduce(|a, b| [a[0].max(b[0]), a[1].max(b[1])]);
        Ok(targets)
    }

    /// Returns `true` if different rows of 8 x 8 pixels share no byte of metadata, so that threads may draw them at the same time.
    pub(in crate::execute) fn have_rows_alone(&self) -> bool {
        self.dcc.iter().flatten().all(Dcc::has_rows_alone) && self.htile.as_ref().is_none_or(Htile::has_rows_alone)
    }
}
